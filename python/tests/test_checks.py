# SPDX-License-Identifier: MIT
"""scikit-learn's own checks of every estimator, with nothing left out."""
from sklearn.utils.estimator_checks import parametrize_with_checks

import asterism

ESTIMATORS = [getattr(asterism, name)() for name in asterism.ESTIMATORS] + [
    asterism.SphericalKMeans(n_clusters=3),
    asterism.VMFMixture(n_components=3),
    asterism.DPVMFMeans(angle=40, order="content"),
    asterism.DDPVMFMeans(angle=40),
]


@parametrize_with_checks(ESTIMATORS)
def test_check(estimator, check):
    check(estimator)


def test_nothing_is_excused():
    for estimator in ESTIMATORS:
        assert not estimator._get_tags()["_xfail_checks"]
        assert not estimator._get_tags()["no_validation"]
