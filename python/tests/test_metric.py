# SPDX-License-Identifier: MIT
"""Neighbours against numpy, and the metric in estimators."""
import pickle

import numpy as np
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks

import asterism
from asterism import DPVMFMeans, Metric, SphericalKMeans


@parametrize_with_checks([DPVMFMeans(cosine=0.5, metric="local", n_jobs=1)])
def test_check(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def cone():
    """30 topics in a cone, whose members scatter along few axes."""
    random = np.random.default_rng(4)
    scales = np.arange(1, 97) ** -0.7
    scales /= np.linalg.norm(scales)
    centers, truth = random.normal(size=(30, 96)) * scales, np.arange(3000) % 30
    X = centers[truth] + 0.9 * random.normal(size=(3000, 96)) * scales + 2 / np.sqrt(96)
    return X.astype(np.float32), truth


def test_neighbours_are_those_of_all_pairs(cone):
    X = cone[0].copy()
    X[7, 3] = np.nan
    X[9] = 0
    indices, cosines = asterism.neighbors(X, 4)
    units = X.astype(float) / np.linalg.norm(X, axis=1, keepdims=True).clip(1e-30)
    pairs = units @ units.T
    np.fill_diagonal(pairs, -2)
    pairs[:, [7, 9]] = -2
    there = np.setdiff1d(np.arange(len(X)), [7, 9])
    best = np.argsort(-pairs[there], axis=1, kind="stable")[:, :4]
    assert (indices[there] == best).mean() > 0.999  # rounding of rows to float
    assert np.allclose(cosines[there], np.take_along_axis(pairs[there], best, 1), atol=1e-6)
    assert (indices[[7, 9]] == -1).all() and np.isnan(cosines[[7, 9]]).all()


def test_neighbours_refuse():
    with pytest.raises(ValueError, match="at least 1"):
        asterism.neighbors([[1, 0], [0, 1]], 0)
    with pytest.raises(TypeError):
        asterism.neighbors(scipy.sparse.eye(4, format="csr"), 1)
    with pytest.raises(ValueError, match="infinity"):
        asterism.neighbors([[1, 0], [np.inf, 1]], 1)
    assert asterism.neighbors([[1.0, 0], [0, 1]], 3)[0].tolist() == [[1, -1, -1], [0, -1, -1]]


def test_the_metric_finds_what_the_cone_hides(cone):
    X, truth = cone
    how = {"angle": 75, "merge": "evidence", "order": "content"}
    plain, local = DPVMFMeans(**how).fit(X), DPVMFMeans(metric="local", **how).fit(X)
    assert plain.metric_ is None and local.center_ is None
    assert adjusted_rand_score(truth, plain.labels_) < 0.5 < 0.95 < adjusted_rand_score(truth, local.labels_)


def test_auto(cone):
    X, truth = cone
    found, plain = DPVMFMeans("auto").fit(X), DPVMFMeans("auto", metric="plain").fit(X)
    local, centered = DPVMFMeans("auto", metric="local").fit(X), DPVMFMeans("auto", center=True).fit(X)
    assert adjusted_rand_score(truth, found.labels_) > 0.95
    assert found.metric_ is not None and np.array_equal(found.labels_, local.labels_)
    assert plain.metric_ is None and centered.metric_ is None and centered.center_ is not None


def test_rows_are_mapped_everywhere(cone):
    X, truth = cone
    model = SphericalKMeans(30, metric="local", random_state=1, representatives=2).fit(X)
    Z = model.metric_.apply(X)
    assert np.array_equal(model.predict(X), model.labels_)
    assert np.allclose(model.similarity(X), (Z * model.cluster_centers_[model.labels_]).sum(axis=1), atol=1e-6)
    assert np.allclose(model.transform(X), Z @ model.cluster_centers_.T, atol=1e-6)
    assert np.allclose(model.similarity_, model.similarity(X))
    again = clone(model).set_params(metric=model.metric_).fit(X)
    assert np.array_equal(again.labels_, model.labels_)
    other = pickle.loads(pickle.dumps(model))
    assert np.array_equal(other.predict(X[:50]), model.labels_[:50])


def test_the_map_is_its_formula(cone):
    X = cone[0].astype(float)
    metric = DPVMFMeans(80, metric="local").fit(X).metric_

    def units(rows):
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)

    expected = units(units(units(X) - metric.center) @ metric.matrix.astype(float) - metric.mapped_center)
    assert np.abs(metric.apply(X) - expected).max() < 1e-6
    assert np.array_equal(metric.matrix, metric.matrix.T) and metric.matrix.dtype == np.float32


def test_refused(cone):
    X = cone[0][:100]
    metric = DPVMFMeans(80, metric="local").fit(X).metric_
    with pytest.raises(ValueError, match="must be None, 'plain'"):
        DPVMFMeans(metric="round").fit(X)
    with pytest.raises(ValueError, match="with a Metric give degrees"):
        DPVMFMeans("auto", metric=metric).fit(X)
    with pytest.raises(ValueError, match="96 dimensions, but X has 5"):
        DPVMFMeans(metric=metric).fit(X[:, :5])
    with pytest.raises(ValueError, match="axial"):
        DPVMFMeans(metric="local", axial=True).fit(X)
    with pytest.raises(ValueError, match="sparse"):
        DPVMFMeans(metric="local").fit(scipy.sparse.csr_matrix(X))
    with pytest.raises(ValueError, match="shapes"):
        Metric(metric.center, metric.matrix[:3], metric.mapped_center)
