# SPDX-License-Identifier: MIT
"""What the package takes from scikit-learn. Importing this module fails if any of it is missing."""
# mypy: ignore-errors
from sklearn.base import (BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, DensityMixin,
                          TransformerMixin)
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Bunch, assert_all_finite, check_array, check_random_state
from sklearn.utils.validation import _check_sample_weight as check_sample_weight, check_is_fitted

__all__ = ["BaseEstimator", "Bunch", "ClassNamePrefixFeaturesOutMixin", "ClusterMixin", "ConvergenceWarning",
           "DensityMixin", "TransformerMixin", "assert_all_finite", "check_array", "check_is_fitted",
           "check_random_state", "check_sample_weight"]
