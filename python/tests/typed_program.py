# SPDX-License-Identifier: MIT
"""A program of a user with type annotations: test_typing.py has mypy check it, in strict mode. It is not run."""
from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

import asterism
from asterism import DDPVMFMeans, DPVMFMeans, MiniBatchSphericalKMeans, SphericalKMeans, VMFMixture

Array = np.ndarray[Any, Any]


def biggest(X: NDArray[np.float32], angle: float) -> NDArray[np.float32]:
    """The mean of the biggest cluster."""
    model = DPVMFMeans(angle, random_state=1).fit(X)
    mean: NDArray[np.float32] = model.cluster_centers_[model.counts_.argmax()]
    return mean


def every_method() -> None:
    X, truth = asterism.sample(1000, dimension=3, clusters=5, kappa=200, separation=60)
    assert_type(truth, Array)
    means = DPVMFMeans(angle=40, merge="evidence").fit(X, sample_weight=np.ones(1000))
    assert_type(means, DPVMFMeans)
    assert_type(means.set_params(angle=3.0), DPVMFMeans)
    assert_type(means.get_params(), dict[str, Any])
    assert_type(means.labels_, NDArray[np.int32])
    assert_type(means.tree_, NDArray[np.float64])
    assert_type(means.silhouette_, float)
    assert_type(means.n_clusters_, int)
    assert_type(means.representatives_, list[NDArray[np.intp]])
    assert_type(DPVMFMeans(cosine=0.5, center=True, representatives=3, n_jobs=-1, verbose=1).center_,
                NDArray[np.float32] | None)
    assert_type(means.rayleigh_, tuple[float, float])
    assert_type(means.similarity_, NDArray[np.float32])
    assert_type(means.predict(X), NDArray[np.int32])
    assert_type(means.transform(X), Array)
    assert_type(means.score(X), float)
    assert_type(means.n_features_in_, int)
    assert_type(means.get_feature_names_out(), Array)
    assert_type(SphericalKMeans(5).fit(X), SphericalKMeans)
    assert_type(SphericalKMeans(5).fit_predict(X), NDArray[np.int32])
    assert_type(MiniBatchSphericalKMeans(5).partial_fit(X).fit(X), MiniBatchSphericalKMeans)
    assert_type(MiniBatchSphericalKMeans(5).fit(X).improvement_, float)
    assert_type(VMFMixture(5).fit(X), VMFMixture)
    assert_type(VMFMixture(5).fit(X).bic_, float)
    assert_type(VMFMixture(5).fit(X).predict_proba(X), Array)


def streams(frames: list[Array]) -> dict[int, float]:
    stream = DDPVMFMeans(angle=30).enroll(np.eye(3), names=["x", "y", "z"])
    for frame in frames:
        stream.rotate(np.eye(3)).partial_fit(frame)
    for event in stream.events_:
        assert_type(event, asterism.Event)
        assert_type(event.share, float)
    assert_type(stream.ids_, NDArray[np.int32])
    assert_type(stream.names_, dict[int, Any])
    return stream.history_[-1]


def functions(X: Array) -> float:
    found = asterism.tune(X)
    assert_type(found.weak, bool)
    assert_type(found.labels, NDArray[np.int32])
    DPVMFMeans(**found.parameters).fit(X)
    depth, truth = asterism.hallway(3, size=(320, 240))
    camera = asterism.hallway_intrinsics((320, 240))
    assert_type(asterism.normals(depth, camera, smooth="planes"), Array)
    labels = asterism.segment(depth, camera, stream=DDPVMFMeans(60, allow_missing=True))
    assert_type(asterism.colors(labels), Array)
    asterism.plot.sphere(X, labels)
    tally = asterism.Tally(asterism.Tally.start(X[:5]))
    assert_type(tally.add(X), Array)
    assert_type(tally.totals().members, Array)
    assert_type(tally.merge(bytes(tally)).update().means, Array)
    return found.angle
