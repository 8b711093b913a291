# SPDX-License-Identifier: MIT
"""What the package uses of scikit-learn, in any version of it, or from _standalone.py where it is not installed
or cannot be imported.

Type checkers see _standalone.py. scikit-learn 1.6 moved `BaseEstimator._validate_data` to the function `validate_data`,
renamed `force_all_finite` to `ensure_all_finite`, and replaced `_more_tags` by `__sklearn_tags__`.
"""
from __future__ import annotations

import contextlib
import warnings
from typing import TYPE_CHECKING, Any

from ._standalone import (BaseEstimator, Bunch, ClassNamePrefixFeaturesOutMixin, ClusterMixin, ConvergenceWarning,
                          DensityMixin, TransformerMixin, assert_all_finite, check_array, check_is_fitted,
                          check_random_state, check_sample_weight)

new_validate_data: Any = None
if not TYPE_CHECKING:
    try:  # all of it or nothing: the two do not mix
        from ._sklearn import (BaseEstimator, Bunch, ClassNamePrefixFeaturesOutMixin, ClusterMixin, ConvergenceWarning,
                               DensityMixin, TransformerMixin, assert_all_finite, check_array, check_is_fitted,
                               check_random_state, check_sample_weight)
        with contextlib.suppress(ImportError):
            from sklearn.utils.validation import validate_data as new_validate_data
    except Exception as error:  # such as ValueError, of one that was compiled for another numpy
        if getattr(error, "name", None) != "sklearn":  # it is installed
            warnings.warn(f"scikit-learn cannot be imported, so asterism works as if it were not installed: {error}",
                          RuntimeWarning, stacklevel=2)

__all__ = ["BaseEstimator", "Bunch", "ClassNamePrefixFeaturesOutMixin", "ClusterMixin", "ConvergenceWarning",
           "DensityMixin", "TransformerMixin", "assert_all_finite", "check_array", "check_is_fitted",
           "check_random_state", "check_sample_weight"]

# For check_array: values are not looked at.
ANY_VALUES = {"force_all_finite": False} if new_validate_data is None else {"ensure_all_finite": False}


def validate(estimator: Any, X: Any, *, reset: bool, **how: Any) -> Any:
    """X as an array, with its features counted (reset) or compared with those of the fit. Values are not looked at:
    the library finds NaN and infinity on its way."""
    if new_validate_data is not None:
        return new_validate_data(estimator, X, reset=reset, ensure_all_finite=False, **how)
    return estimator._validate_data(X, reset=reset, force_all_finite=False, **how)


class Tags:
    """A mixin: what scikit-learn asks about an estimator, old way and new. It stands before every class of
    scikit-learn's own in the list of bases."""

    _takes_sparse = False  # whether X may be a scipy sparse matrix

    def _more_tags(self) -> dict[str, Any]:
        kinds = ["2darray", "sparse"] if self._takes_sparse else ["2darray"]
        return {"allow_nan": self.allow_missing, "preserves_dtype": list(KEPT), "X_types": kinds}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.allow_missing
        tags.input_tags.sparse = self._takes_sparse
        if tags.transformer_tags is not None:
            tags.transformer_tags.preserves_dtype = list(KEPT)
        return tags


KEPT = ("float64", "float32")  # types of X that transform answers in
