# SPDX-License-Identifier: MIT
"""What the estimators share: checked input, labels for new points, cosines to the means, the score.

Arrays of float32, float64 and float16 go to the library as they lie in memory, in any order, and so do sparse matrices
in CSR format whose rows are sorted; everything else is converted once. NaN and infinity are found by the library, not by
a pass of our own.
"""
from __future__ import annotations

import ctypes
import inspect
import operator
import os
import warnings
from numbers import Integral, Real
from typing import Any, Iterable

import numpy as np
from numpy.typing import NDArray

from . import _compat, arrow
from ._compat import (BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, DensityMixin, TransformerMixin,
                      assert_all_finite, check_is_fitted, check_random_state, check_sample_weight)
from ._library import Context, array_at, constants, lender, lib, points_of, sized
from ._standalone import issparse

FLOATS = [np.float64, np.float32, np.float16]
DEGREES = "a number of degrees"
MEASURES = ("cosine", "angle")
INDEX_NAMES = ("", "unnamed: 0", "none", "id", "index")  # in lower case
OF_ROWS = ("labels_", "leaf_labels_", "outliers_", "_similarity", "_fitted_X", "_index")  # as many as X has rows
MOST_SEED = 2 ** 64 - 1
NOTHING = 2.0 ** -20  # a row no farther from the centre has no direction, as in the library


class DirectionMethods(_compat.Tags, ClassNamePrefixFeaturesOutMixin, TransformerMixin):
    """What every estimator with `cluster_centers_` can do. It stands before scikit-learn's classes."""

    pickle_labels = False  # whether a pickle holds what was found of every row; to be set on an estimator

    labels_: NDArray[np.int32]
    cluster_centers_: NDArray[np.float32]
    objective_: float
    n_iter_: int
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    axial: bool
    measure: str
    outlier_angle: float | None
    allow_missing: bool
    random_state: Any
    n_threads: int | None
    n_jobs: int | None
    center_: NDArray[np.float32] | None
    metric_: Any

    @property
    def labels_arrow_(self) -> arrow.ArrowLabels:
        """`labels_` for whoever takes Arrow arrays: pyarrow.array(model.labels_arrow_), polars, DuckDB. Not copied."""
        return arrow.ArrowLabels(self.labels_)

    @property
    def labels_series_(self) -> Any:
        """`labels_` as a pandas Series of the name "cluster", with the index of the frame or series that was fitted."""
        import pandas
        return pandas.Series(self.labels_, index=getattr(self, "_index", None), name="cluster")

    # ---- What users call -------------------------------------------------------------------------------------------

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None, **params: Any) -> NDArray[np.int32]:
        """Clusters X and returns `labels_`. params: as `fit` takes them."""
        return self.fit(X, sample_weight=sample_weight, **params).labels_

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None, **params: Any) -> np.ndarray:
        """Clusters X and returns `transform(X)`. params: as `fit` takes them."""
        return self.fit(X, sample_weight=sample_weight, **params).transform(X)

    def predict(self, X: Any) -> NDArray[np.int32]:
        """The label of the nearest mean for every row of X, int32; -1 for rows that are farther than `outlier_angle`
        degrees from every mean, and for rows without a direction."""
        thresholds = getattr(self, "thresholds_", None)
        if thresholds is None or not len(thresholds):
            return self._named(self._assign(X, self.outlier_angle)[0])
        labels, cosines = self._assign(X, self.outlier_angle, cosines=True)
        return self._named(np.where((labels >= 0) & (cosines >= thresholds[labels]), labels, -1).astype(np.int32))

    def similarity(self, X: Any) -> NDArray[np.float32]:
        """The cosine of every row of X to its nearest mean, float32; NaN for rows without a direction."""
        return self._assign(X, None, cosines=True)[1]

    def runner_up(self, X: Any) -> tuple[NDArray[np.float32], NDArray[np.int32]]:
        """For every row of X the second largest cosine to a mean, and which mean that is, as `predict` numbers it: the
        nearer it is to `similarity`, the less sure the label. NaN and -1 for rows without a direction, and if there is
        one mean only. Computed by comparing all rows with all means."""
        X = self._validated(X, reset=False)
        if issparse(X):
            raise ValueError("runner_up does not take sparse rows")
        labels, number = np.empty(X.shape[0], np.int32), np.full(X.shape[0], -1, np.int32)
        cosine = np.full(X.shape[0], np.nan, np.float32)
        if len(self.cluster_centers_):
            self._label(X, None, labels, None, (cosine, number))
        ids = getattr(self, "ids_", None)
        return cosine, self._named(number) if ids is None else np.append(ids, np.int32(-1))[number]

    def transform(self, X: Any) -> np.ndarray:
        """(N, K): the cosine of every row of X to every mean, or with `measure="angle"` the angle in degrees."""
        X = self._validated(X, reset=False)
        one_of("measure", self.measure, MEASURES)
        assert_all_finite(X, allow_nan=self.allow_missing, input_name="X")
        units = sparse_unit_rows(X) if issparse(X) else self._units(X)
        cosines = np.clip(units @ self.cluster_centers_.T.astype(units.dtype), -1, 1)
        cosines = np.abs(cosines) if self.axial else cosines
        return cosines if self.measure == "cosine" else np.degrees(np.arccos(cosines))

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """The objective of X with the means as they are, larger is better: the sum of the cosines to the nearest mean,
        for an estimator with an angle plus (cos(angle) - 1) for each cluster. NaN rows count nothing."""
        cosines = self.similarity(X).astype(np.float64)
        weights = checked_weights(sample_weight, cosines)
        return float(np.nansum(cosines if weights is None else cosines * weights) + self._penalty())

    def _named(self, labels: NDArray[np.int32]) -> NDArray[np.int32]:
        """Numbers of means become the ids of their clusters, where an earlier run has given them."""
        if getattr(self, "lineage_", None) is None or not len(self.ids_):
            return labels
        return np.where(labels < 0, -1, self.ids_[labels]).astype(np.int32)

    # ---- What they share -------------------------------------------------------------------------------------------

    @property
    def _n_features_out(self) -> int:
        return len(self.cluster_centers_)

    def _threads(self) -> int | None:
        """`n_threads`, or what `n_jobs` means: -1 is all processors, -2 all but one."""
        if self.n_jobs is None:
            return self.n_threads
        if self.n_threads is not None:
            raise ValueError("n_jobs is scikit-learn's name for n_threads: give one of them")
        if isinstance(self.n_jobs, bool) or not isinstance(self.n_jobs, (int, np.integer)) or self.n_jobs == 0:
            raise ValueError(f"n_jobs is {self.n_jobs!r}; it must be None, at least 1, or -1 for all processors")
        processors = len(os.sched_getaffinity(0))
        return int(self.n_jobs) if self.n_jobs > 0 else max(1, min(256, processors + 1 + int(self.n_jobs)))

    def _units(self, X: np.ndarray) -> np.ndarray:
        """The dense rows as unit vectors, centred or mapped like the fitted ones; a row that equals the centre is zero."""
        metric = getattr(self, "metric_", None)
        if metric is not None:
            mapped = metric.apply(X, n_threads=self._threads())
            mapped[np.isnan(mapped[:, 0]) & ~np.isnan(X).any(axis=1)] = 0
            return mapped.astype(X.dtype) if X.dtype == np.float64 else mapped
        units, center = unit_rows(X), getattr(self, "center_", None)
        if center is None:
            return units
        rest = units - center.astype(units.dtype)
        lengths = np.sqrt(np.einsum("ij,ij->i", rest, rest))[:, None]
        there = (lengths > NOTHING) & units.any(axis=1, keepdims=True)
        return np.where(np.isnan(lengths), np.nan, np.where(there, rest / np.where(there, lengths, 1), 0))

    def _penalty(self) -> float:
        """What the clusters cost in the objective."""
        return 0.0

    def _validated(self, X: Any, reset: bool, **how: Any) -> np.ndarray:
        if not reset:
            check_is_fitted(self)
        else:
            self._check_words()
            self._index = X.index if hasattr(X, "iloc") else None
        X = without_index(X, None if reset else self.n_features_in_)
        X = _compat.validate(self, X, reset=reset, dtype=FLOATS, ensure_min_features=2,
                             accept_sparse="csr" if self._takes_sparse else False, **how)
        X = X if X.dtype.isnative else X.astype(X.dtype.newbyteorder("="))
        return canonical(X) if issparse(X) else X

    def _check_words(self) -> None:
        """The parameters that are no numbers: flags, which have a flag as their default, `measure` and `verbose`."""
        for name, parameter in inspect.signature(type(self).__init__).parameters.items():
            if isinstance(parameter.default, bool):
                flag(name, getattr(self, name))
        one_of("measure", self.measure, MEASURES)
        if not isinstance(getattr(self, "verbose", 0), (bool, np.bool_)):
            whole_number("verbose", getattr(self, "verbose", 0), 0)

    def _assign(self, X: Any, angle: float | None, cosines: bool = False) -> tuple[np.ndarray, np.ndarray | None]:
        """Labels, and cosines if they are asked for, with the means as they are."""
        X = self._validated(X, reset=False)
        labels = np.full(X.shape[0], -1, np.int32)
        similarity = np.full(X.shape[0], np.nan, np.float32) if cosines else None
        if len(self.cluster_centers_):
            self._label(X, angle, labels, similarity)
        if not self.allow_missing:
            refuse_nan(X, labels)
        return labels, similarity

    def _label(self, X: np.ndarray, angle: float | None, labels: np.ndarray, similarity: np.ndarray | None,
               second: tuple[np.ndarray, np.ndarray] | None = None) -> None:
        """One call of ast_assign; with arrays for the second nearest mean of ast_assign_compare."""
        means, points = np.ascontiguousarray(self.cluster_centers_, np.float32), points_of(X)
        options = sized("ast_assign_options", means=means.ctypes.data, means_count=len(means), axial=bool(self.axial),
                        angle=np.nan if angle is None else real_number("outlier_angle", angle, DEGREES))
        center = getattr(self, "center_", None)
        if center is not None:
            center = np.ascontiguousarray(center, np.float32)
            options.center = center.ctypes.data
        metric = getattr(self, "metric_", None)
        view = None if metric is None else metric._view()
        if view is not None:
            options.metric = ctypes.addressof(view)
        with lender.borrow(self._threads(), X.size) as context:
            given = (context.handle, ctypes.byref(points), ctypes.byref(options), labels.ctypes.data,
                     None if similarity is None else similarity.ctypes.data)
            if second is None:
                context.check(lib.ast_assign(*given))
            else:
                context.check(lib.ast_assign_compare(*given, *(one.ctypes.data for one in second)))

    def _keep_for_similarity(self, X: np.ndarray) -> None:
        """Fitting does not pay for `similarity_`, which costs more than a pass; who asks for it does."""
        self.__dict__.pop("_similarity", None)
        self._fitted_X = X

    @property
    def similarity_(self) -> NDArray[np.float32]:
        """(N) the cosine of each row of the fitted X to its nearest mean, float32; NaN for rows without a direction.
        Computed when it is first asked for, from X as it is then."""
        if "_similarity" not in self.__dict__:
            if "_fitted_X" not in self.__dict__ and "cluster_centers_" in self.__dict__:
                raise AttributeError("there is no similarity_ here: a pickle holds labels and similarities if pickle_labels "
                                     "was set to True before")
            if "_fitted_X" not in self.__dict__:
                raise AttributeError(f"this {type(self).__name__} is not fitted yet, and has no similarity_")
            X, similarity = self._fitted_X, np.full(self._fitted_X.shape[0], np.nan, np.float32)
            if len(self.cluster_centers_):
                self._label(X, None, np.empty(X.shape[0], np.int32), similarity)
            self._similarity = similarity
            del self._fitted_X
        return self._similarity

    def __getstate__(self) -> dict[str, Any]:
        """A pickle holds what `predict` and its like need, and never X. It holds what was found of every row (labels,
        similarities, outliers) if `pickle_labels` was set to True."""
        if self.pickle_labels and "_fitted_X" in self.__dict__:
            self.similarity_
        state = dict(super().__getstate__())
        return state if self.pickle_labels else {name: value for name, value in state.items() if name not in OF_ROWS}

    def _seed(self) -> int:
        """An integer is the library's own seed, so that the command and this give the same labels."""
        if isinstance(self.random_state, (int, np.integer)) and self.random_state >= 0:
            return whole_number("random_state", self.random_state, 0, MOST_SEED)
        return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))


class DirectionClusterer(DirectionMethods, ClusterMixin, BaseEstimator):
    """Base of the clusterers. Not to be used by itself."""


class DirectionMixture(DirectionMethods, DensityMixin, BaseEstimator):
    """Base of the densities: scikit-learn expects of them what it does of GaussianMixture. Not to be used by itself."""


# ---- Values ----------------------------------------------------------------------------------------------------------

def checked_weights(sample_weight: Any, X: np.ndarray) -> np.ndarray | None:
    """(N) doubles, or None where every row counts 1."""
    if sample_weight is None:
        return None
    if np.ma.is_masked(sample_weight):
        raise ValueError("sample_weight has masked values; every row needs a weight, 0 where it does not count")
    return np.ascontiguousarray(check_sample_weight(sample_weight, X, dtype=np.float64))


def set_groups(options: Any, groups: Any, rows: int) -> None:
    """The groups of the rows as numbers, which the options hold on to."""
    if groups is None:
        return
    given = np.ma.filled(np.ma.asarray(groups), -1) if np.ma.is_masked(groups) else np.asarray(groups)
    if given.shape != (rows,):
        raise ValueError(f"groups has the shape {given.shape}; one group for each of {rows} rows is needed")
    none = given < 0 if given.dtype.kind in "if" else np.array([value is None for value in given.tolist()], bool)
    if given.dtype.kind == "f" and (given != np.floor(given)).any():
        raise ValueError("groups holds fractions; a group is a whole number or a name")
    numbers = np.full(rows, -1, np.int32)
    numbers[~none] = np.unique(given[~none], return_inverse=True)[1]
    options.group_numbers = numbers
    options.groups = numbers.ctypes.data
    options.merge.tree, options.merge.leaves, options.leaf_labels, options.layers = 0, None, (), []  # not with groups


def whole_number(name: str, value: Any, least: int, most: int = 2 ** 31 - 1) -> int:
    """A parameter that has to be an integer. ctypes would take it modulo 2^32 or 2^64."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} is {value!r}; it must be an integer, at least {least}") from None
    if isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} is {value!r}; it must be an integer, at least {least}")
    if number < least:
        raise ValueError(f"{name} is {number}; it must be at least {least}")
    if number > most:
        raise ValueError(f"{name} is {number}; it must be at most {most}")
    return number


def real_number(name: str, value: Any, what: str) -> float:
    """A parameter that has to be a number; the library knows its range. `what` it must be, for the sentence."""
    if np.asarray(value).dtype.kind not in "iuf" and not isinstance(value, Real):
        raise TypeError(f"{name} is {value!r}; it must be {what}")
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (Real, np.ndarray)) or np.ndim(value) > 0:
        raise TypeError(f"{name} is {value!r}; it must be {what}")
    if np.isnan(float(value)):
        raise ValueError(f"{name} is nan; it must be {what}")
    return float(value)


def flag(name: str, value: Any) -> bool:
    """A parameter that has to be True or False: any text, such as "no", would be true."""
    if not isinstance(value, (bool, np.bool_)) and not (isinstance(value, Integral) and value in (0, 1)):
        raise TypeError(f"{name} is {value!r}; it must be True or False")
    return bool(value)


def one_of(name: str, value: Any, choices: Iterable[str | None]) -> Any:
    """A parameter that has to be one of these words."""
    words = [choice for choice in choices if choice is not None]
    if not (isinstance(value, str) and value in words) and not (value is None and None in choices):
        raise ValueError(f"{name} is {value!r}; it must be {', '.join(map(repr, words[:-1]))} or {words[-1]!r}")
    return value


def float_array(name: str, value: Any, what: str) -> NDArray[np.float32]:
    """A parameter that has to be an array of numbers."""
    try:
        return np.ascontiguousarray(value, np.float32)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be {what}, and it is no array of numbers: {value!r:.60}") from None


def as_rows(X: Any) -> Any:
    """X, where rows are in a way of their own: Arrow's lists become a matrix (arrow.py), masked values become NaN, and a Series, an array or a data frame that
    holds an array for every row becomes a matrix. Everything else is returned as it is."""
    if arrow.is_arrow(X):
        return arrow.arrow_rows(X)
    if hasattr(X, "__dlpack__") and not hasattr(X, "__array__"):
        return np.from_dlpack(X)
    if isinstance(X, np.ma.MaskedArray):
        return np.ma.filled(X if X.dtype.kind == "f" else X.astype(np.float64), np.nan)
    if hasattr(X, "iloc") and hasattr(X, "columns"):
        nested = [place for place in range(X.shape[1]) if holds_rows(X.iloc[:, place])]
        if len(nested) > 1:
            name = X.columns[nested[0]]
            raise ValueError(f"{len(nested)} columns of X hold an array in every row: pass one of them, such as X[{name!r}]")
        return stacked(X.iloc[:, nested[0]]) if nested else X
    return stacked(X) if holds_rows(X) else X


def holds_rows(X: Any) -> bool:
    """Whether every item of a one-dimensional object is an array or a list, or None for a missing row."""
    if getattr(X, "dtype", None) != np.dtype(object) or getattr(X, "ndim", 0) != 1:
        return False
    there = [row for row in X if row is not None]
    return len(there) > 0 and all(isinstance(row, (np.ndarray, list, tuple)) for row in there)


def stacked(X: Any) -> np.ndarray:
    """(N, D) from N arrays of D numbers."""
    rows = [None if row is None else np.asarray(row) for row in X]
    first = next(i for i, row in enumerate(rows) if row is not None)
    kinds, shape = set(), rows[first].shape
    for i, row in enumerate(rows):
        if row is None:
            continue
        if row.ndim != 1 or row.dtype.kind not in "fiub":
            raise ValueError(f"row {i} of X is no list of numbers, but of type {row.dtype} and shape {row.shape}")
        if row.shape != shape:
            raise ValueError(f"row {i} of X has {row.shape[0]} numbers, but row {first} has {shape[0]}; all rows need the "
                             "same number")
        kinds.add(row.dtype)
    kind = np.result_type(*kinds) if kinds <= set(map(np.dtype, FLOATS)) else np.dtype(np.float64)
    matrix = np.full((len(rows), *shape), np.nan, kind)
    for i, row in enumerate(rows):
        if row is not None:
            matrix[i] = row
    return matrix


def refuse_nan(X: np.ndarray, labels: np.ndarray) -> None:
    """Raises scikit-learn's own sentence if a row without a label holds a NaN. Other such rows are outliers or zero."""
    without = labels < 0
    rows = X[without] if without.any() else X[:0]
    if np.isnan(rows.data if issparse(X) else rows).any():
        assert_all_finite(X, input_name="X")


def column_of(name: Any) -> int:
    """What a column of that name holds, an ast_field_column: 0 for anything but angles."""
    return int(lib.ast_field_column_of(name.encode("utf-8", "replace"))) if isinstance(name, str) else 0


def refuse_angles(names: Any) -> None:
    """Two columns of angles are no vectors in the plane."""
    notations = {"AST_COLUMN_DIP_DIRECTION": "dip-direction", "AST_COLUMN_DIP": "dip-direction",
                 "AST_COLUMN_STRIKE": "strike-dip", "AST_COLUMN_PLUNGE": "trend-plunge"}
    kinds = [column_of(name) for name in names]
    for name, kind in zip(names, kinds):
        found = next((notations[key] for key in notations if constants[key] == kind), None)
        if found is not None and len(kinds) == 2:
            found = "strike-dip" if constants["AST_COLUMN_STRIKE"] in kinds else found
            raise ValueError(f"the column {name!r} of X says that its columns are angles and no components of vectors: "
                             f"asterism.field_vectors(..., notation={found!r}) makes vectors of them")


def without_index(X: Any, width: int | None = None) -> Any:
    """A data frame without a first column that is no coordinate: it has no name or is called an id, and counts up by one (or,
    if the width is known, there is one column too many), or it holds strings. Arrays are taken as they are."""
    X = as_rows(X)
    if hasattr(X, "iloc") and hasattr(X, "columns"):
        refuse_angles(list(X.columns))
    if not hasattr(X, "iloc") or not hasattr(X, "columns") or X.shape[1] < 2:
        return X
    first = X.iloc[:, 0].to_numpy()
    if holds_strings(first):
        return left_out(X, "holds strings and is left out", width)
    if str(X.columns[0]).lower() not in INDEX_NAMES:
        return X
    whole = np.issubdtype(first.dtype, np.number) and len(first) > 0 and bool((first == np.floor(first)).all())
    if X.shape[1] - 1 != width and not (width is None and whole and bool((np.diff(first) == 1).all())):
        return X
    return left_out(X, "counts the rows and is left out as an index; rename it, or pass an array, to keep it", width)


def left_out(X: Any, why: str, width: int | None) -> Any:
    """X without its first column. Who has been told when X was fitted is not told again."""
    if width is None:
        warnings.warn(f"column {X.columns[0]!r} of X {why}", UserWarning, stacklevel=5)
    return X.iloc[:, 1:]


def holds_strings(column: np.ndarray) -> bool:
    return column.dtype.kind == "U" or (column.dtype == np.dtype(object) and len(column) > 0 and
                                        all(isinstance(value, str) for value in column))


def unit_rows(X: np.ndarray) -> np.ndarray:
    """The rows as unit vectors, in X's type and at least float32; a row of zeros stays one. The largest component is
    taken out first, so that nothing overflows."""
    X = X if X.dtype != np.float16 else X.astype(np.float32)
    largest = np.abs(X).max(axis=1, keepdims=True)
    scaled = X / np.where(largest > 0, largest, 1)
    lengths = np.sqrt(np.einsum("ij,ij->i", scaled, scaled))[:, None]
    return scaled / np.where(lengths > 0, lengths, 1)


def canonical(X: Any) -> Any:
    """A CSR matrix as the library wants it: columns in order, none twice, both kinds of indices of one type."""
    starts, columns = X.indptr, X.indices  # scipy writes wherever they point
    if starts[0] != 0 or starts[-1] > min(len(columns), len(X.data)) or (np.diff(starts) < 0).any():
        raise ValueError(f"X.indptr must not decrease, from 0 to at most {len(X.data)}, the number of entries")
    if len(columns) and not 0 <= columns.min() <= columns.max() < X.shape[1]:
        raise ValueError(f"X.indices must be columns, 0 to {X.shape[1] - 1}")
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    if X.indices.dtype != X.indptr.dtype:
        X = type(X)((X.data, X.indices.astype(np.int64), X.indptr.astype(np.int64)), shape=X.shape)
    return X


def sparse_unit_rows(X: Any) -> Any:
    """unit_rows for a CSR matrix: as many entries, and nothing dense."""
    counts, filled = np.diff(X.indptr), np.diff(X.indptr) > 0
    largest = np.zeros(X.shape[0], X.dtype)
    if filled.any():
        largest[filled] = np.maximum.reduceat(np.abs(X.data), X.indptr[:-1][filled])
    scaled = X.data / np.repeat(np.where(largest == 0, 1, largest), counts)
    rows = np.repeat(np.arange(X.shape[0]), counts)
    lengths = np.sqrt(np.bincount(rows, weights=scaled * scaled, minlength=X.shape[0]))
    data = scaled / np.repeat(np.where(lengths == 0, 1, lengths), counts)
    return type(X)((data.astype(X.dtype, copy=False), X.indices, X.indptr), shape=X.shape)


def logsumexp(a: np.ndarray, axis: int, keepdims: bool = False) -> np.ndarray:
    """The logarithm of the sum of exp(a) along an axis, without overflow."""
    largest = a.max(axis=axis, keepdims=True)
    largest[~np.isfinite(largest)] = 0
    with np.errstate(divide="ignore"):
        found = np.log(np.exp(a - largest).sum(axis=axis, keepdims=True)) + largest
    return found if keepdims else found.squeeze(axis)
