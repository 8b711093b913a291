# SPDX-License-Identifier: MIT
"""scikit-learn 1.6 and later, played by stand-ins: what the compatibility module calls, and what it answers."""
import types

import numpy as np

from asterism import DPVMFMeans, _compat


def test_new_validate_data_is_preferred(monkeypatch):
    calls = []

    def validate_data(estimator, X, *, reset, ensure_all_finite, **how):
        calls.append((type(estimator).__name__, reset, ensure_all_finite, how))
        estimator.n_features_in_ = 3
        return np.asarray(X, np.float64)

    monkeypatch.setattr(_compat, "new_validate_data", validate_data)
    model = DPVMFMeans(30)
    monkeypatch.setattr(DPVMFMeans, "_validate_data", None, raising=False)  # 1.6 has none
    model.fit(np.eye(3)).predict(np.eye(3))
    assert [(name, reset, finite) for name, reset, finite, _ in calls] == [("DPVMFMeans", True, False),
                                                                         ("DPVMFMeans", False, False)]
    assert all(how["ensure_min_features"] == 2 for *_, how in calls)


class BaseOfTheFuture:
    """What scikit-learn 1.6's BaseEstimator, ClusterMixin and TransformerMixin come to."""

    def __sklearn_tags__(self):
        return types.SimpleNamespace(input_tags=types.SimpleNamespace(allow_nan=False, sparse=True),
                                     transformer_tags=types.SimpleNamespace(preserves_dtype=["float64"]))


class Estimator(_compat.Tags, BaseOfTheFuture):
    def __init__(self, allow_missing):
        self.allow_missing = allow_missing


def test_new_tags():
    tags = Estimator(True).__sklearn_tags__()
    assert tags.input_tags.allow_nan and not tags.input_tags.sparse
    assert tags.transformer_tags.preserves_dtype == ["float64", "float32"]
    assert not Estimator(False).__sklearn_tags__().input_tags.allow_nan


def test_old_tags():
    assert DPVMFMeans(allow_missing=True)._get_tags()["allow_nan"]
    assert not DPVMFMeans()._get_tags()["allow_nan"]


def test_the_mixin_comes_before_scikit_learns_classes():
    """1.6 warns where BaseEstimator comes before a mixin; ours has to be asked first."""
    names = [kind.__name__ for kind in DPVMFMeans.__mro__]
    assert names.index("Tags") < names.index("ClusterMixin") < names.index("BaseEstimator")
