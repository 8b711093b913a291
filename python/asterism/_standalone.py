# SPDX-License-Identifier: MIT
"""The parts of scikit-learn that the package uses, for machines where it is not installed.

_compat.py replaces them by scikit-learn's own if it can be imported. Names, signatures and kinds of errors are
scikit-learn's, as far as the package uses them; pipelines, `clone`, searches and `set_output` are not here.
"""
from __future__ import annotations

import inspect
import warnings
from numbers import Number
from typing import Any, Sequence, TypeVar

import numpy as np

Estimator = TypeVar("Estimator", bound="BaseEstimator")


class NotFittedError(ValueError, AttributeError):
    """A method that needs a fitted estimator was called before fit."""


class ConvergenceWarning(UserWarning):
    """A run stopped before it converged."""


class Bunch(dict[str, Any]):
    """A dictionary whose keys are attributes too."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"there is no {name!r} here; there are {', '.join(self)}") from None

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value

    def __dir__(self) -> list[str]:
        return list(self)


# ---- Estimators ------------------------------------------------------------------------------------------------------

class BaseEstimator:
    """Parameters are the arguments of __init__, kept under the same names."""

    n_features_in_: int

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name. No parameter is an estimator, so `deep` changes nothing."""
        return {name: getattr(self, name) for name in sorted(self._defaults())}

    def set_params(self: Estimator, **params: Any) -> Estimator:
        """Changes parameters and returns self."""
        known = sorted(self._defaults())
        for name in params:
            if name not in known:
                raise ValueError(f"Invalid parameter {name!r} for {type(self).__name__}. Valid parameters are: {known}")
        for name, value in params.items():
            setattr(self, name, value)
        return self

    @classmethod
    def _defaults(cls) -> dict[str, Any]:
        given = inspect.signature(cls.__init__).parameters.values()
        return {one.name: one.default for one in given if one.name != "self"}

    def __repr__(self) -> str:
        """The parameters that differ from their defaults."""
        defaults = self._defaults()
        changed = [f"{name}={value!r}" for name, value in self.get_params().items() if repr(value) != repr(defaults[name])]
        return f"{type(self).__name__}({', '.join(changed)})"

    def __getstate__(self) -> dict[str, Any]:
        return dict(self.__dict__)

    def _validate_data(self, X: Any, *, reset: bool, **how: Any) -> Any:
        """X as check_array returns it, with its features counted (reset) or compared with those of the fit."""
        check_names(self, X, reset)
        X = check_array(X, estimator=self, **how)
        if reset:
            self.n_features_in_ = X.shape[1]
        elif X.shape[1] != self.n_features_in_:
            raise ValueError(f"X has {X.shape[1]} features, but {type(self).__name__} is expecting "
                             f"{self.n_features_in_} features as input")
        return X


class ClusterMixin:
    """scikit-learn asks whether an estimator is a clusterer."""


class DensityMixin:
    """scikit-learn asks whether an estimator is a density."""


class TransformerMixin:
    """transform returns arrays."""

    def set_output(self, *, transform: str | None = None) -> Any:
        """Data frames as output: with scikit-learn only."""
        raise ImportError("set_output needs scikit-learn, which is not installed: pip install scikit-learn, or Debian's "
                          "python3-sklearn")


class ClassNamePrefixFeaturesOutMixin:
    """The columns of transform are named after the class."""

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray[Any, Any]:
        """Names of the columns of `transform`: dpvmfmeans0, dpvmfmeans1, ..."""
        check_is_fitted(self)
        name = type(self).__name__.lower()
        return np.array([f"{name}{i}" for i in range(getattr(self, "_n_features_out"))], object)


def check_is_fitted(estimator: Any) -> None:
    """Fitted estimators have attributes that end with an underscore."""
    if not any(name.endswith("_") and not name.startswith("__") for name in vars(estimator)):
        raise NotFittedError(f"This {type(estimator).__name__} instance is not fitted yet: call fit first")


# ---- Input -----------------------------------------------------------------------------------------------------------

def check_array(X: Any, *, accept_sparse: str | bool = False, dtype: Sequence[Any] = (np.float64,),
                force_all_finite: bool = True, ensure_min_samples: int = 1, ensure_min_features: int = 1,
                estimator: Any = None) -> Any:
    """X as a matrix of one of the types `dtype`, by default the first; not copied if it is one. Sparse matrices become
    CSR if they are accepted."""
    X = sparse_rows(X, accept_sparse) if has_sparse_rows(X) else dense_rows(X)
    X = X if X.dtype in dtype else numbers_of(X, dtype[0])
    context = f" by {type(estimator).__name__}" if estimator is not None else ""
    for axis, least, what in ((0, ensure_min_samples, "sample"), (1, ensure_min_features, "feature")):
        if X.shape[axis] < least:
            raise ValueError(f"Found array with {X.shape[axis]} {what}(s) (shape={X.shape}) while a minimum of {least} is "
                             f"required{context}")
    if force_all_finite:
        assert_all_finite(X, input_name="X")
    return X


def issparse(X: Any) -> bool:
    """Whether X is a sparse matrix of scipy, which need not be imported to find out."""
    return has_sparse_rows(X) and any(kind.__module__.startswith("scipy.sparse") for kind in type(X).__mro__)


def has_sparse_rows(X: Any) -> bool:
    """Whether X is a sparse matrix, of scipy or of a library like it."""
    return hasattr(X, "tocsr") and hasattr(X, "toarray")


def sparse_rows(X: Any, accept: str | bool) -> Any:
    if not accept:
        raise TypeError("X is a sparse matrix, but dense data is required here: use X.toarray()")
    if not issparse(X):
        raise TypeError("X is a sparse matrix, but not one of scipy, which sparse rows need (pip install scipy, or "
                        "Debian's python3-scipy): use X.toarray()")
    return X.tocsr()


def dense_rows(X: Any) -> np.ndarray[Any, Any]:
    X = np.asarray(X)
    if X.dtype.kind == "c":
        raise ValueError("Complex data not supported: X must be real numbers")
    if X.ndim != 2:
        shape = f"{X.ndim}D array" if X.ndim else "scalar array"
        raise ValueError(f"Expected 2D array, got {shape} instead (shape={X.shape}): a single row is X.reshape(1, -1)")
    return X


def numbers_of(X: Any, dtype: Any) -> Any:
    try:
        return X.astype(dtype)
    except (TypeError, ValueError) as error:
        raise ValueError(f"X must be numbers: {error}") from None


def assert_all_finite(X: Any, *, allow_nan: bool = False, input_name: str = "") -> None:
    """Refuses infinity, and NaN unless it is allowed."""
    values = X.data if has_sparse_rows(X) else X
    if not allow_nan and np.isnan(values).any():
        raise ValueError(f"Input {input_name} contains NaN")
    if np.isinf(values).any():
        raise ValueError(f"Input {input_name} contains infinity or a value too large for {values.dtype!r}")


def check_names(estimator: Any, X: Any, reset: bool) -> None:
    """Keeps the names of a data frame's columns (reset), or compares them with those of the fit."""
    names, fitted = names_of(X), getattr(estimator, "feature_names_in_", None)
    name = type(estimator).__name__
    if reset:
        estimator.__dict__.pop("feature_names_in_", None)
        if names is not None:
            estimator.feature_names_in_ = names
    elif names is not None and fitted is None:
        warnings.warn(f"X has feature names, but {name} was fitted without feature names", UserWarning, stacklevel=4)
    elif names is None and fitted is not None:
        warnings.warn(f"X does not have valid feature names, but {name} was fitted with feature names", UserWarning,
                      stacklevel=4)
    elif names is not None and names.tolist() != fitted.tolist():
        raise ValueError(f"The feature names should match those that were passed during fit, in the same order: "
                         f"{fitted.tolist()}, not {names.tolist()}")


def names_of(X: Any) -> np.ndarray[Any, Any] | None:
    """The names of a data frame's columns, if all of them are strings."""
    columns = getattr(X, "columns", None)
    names = np.asarray([] if columns is None else list(columns), object)
    return names if len(names) and all(isinstance(one, str) for one in names) else None


def check_sample_weight(sample_weight: Any, X: Any, dtype: Any) -> np.ndarray[Any, Any]:
    """One weight per row of X, from as many numbers or from one."""
    rows = X.shape[0]
    if isinstance(sample_weight, Number):
        sample_weight = np.full(rows, sample_weight)
    weights: np.ndarray[Any, Any] = numbers_of(np.asarray(sample_weight), dtype)
    if weights.ndim != 1:
        raise ValueError("Sample weights must be 1D array or scalar")
    assert_all_finite(weights, input_name="sample_weight")
    if weights.shape != (rows,):
        raise ValueError(f"sample_weight.shape == {weights.shape}, expected {(rows,)}!")
    return weights


def check_random_state(seed: Any) -> Any:
    """Something with the methods of a RandomState: numpy's own generator for None, a new one for an integer."""
    if seed is None or seed is np.random:
        return np.random
    if isinstance(seed, (int, np.integer)):
        return np.random.RandomState(seed)
    if isinstance(seed, np.random.RandomState):
        return seed
    raise ValueError(f"{seed!r} cannot be used to seed a numpy.random.RandomState instance")
