# SPDX-License-Identifier: MIT
"""tune and angle="auto": against the command, and that what they recommend gives what they describe."""
import json
import math

import numpy as np
import pytest
import scipy.sparse

import asterism
from asterism import DPVMFMeans, tune


@pytest.fixture(scope="module")
def points():
    return asterism.sample(1200, dimension=4, clusters=5, kappa=100, separation=50, random_state=2)[0]


def same(ours, told):
    """What JSON has as null is NaN here, or None where it is no number."""
    if told is None:
        return ours is None or math.isnan(ours)
    if isinstance(told, list):
        return len(ours) == len(told) and all(same(a[key], b[key]) for a, b in zip(ours, told) for key in b)
    return ours == pytest.approx(told, rel=1e-12) if isinstance(told, float) else ours == told


@pytest.mark.parametrize("axial", [False, True])
def test_equals_the_command(points, command, tmp_path, axial):
    np.save(tmp_path / "x.npy", points)
    told = json.loads(command("tune", tmp_path / "x.npy", "--json", *(["--axial"] if axial else [])))
    found = tune(points, axial=axial)
    assert [key for key, value in told.items() if key != "command" and not same(found[key], value)] == []
    command(*found.command.replace("INPUT", str(tmp_path / "x.npy")).split()[1:], "--labels", tmp_path / "labels.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "labels.npy"), found.labels)


def test_auto_is_what_tune_recommends(points):
    found = tune(points)
    model = DPVMFMeans("auto").fit(points)
    np.testing.assert_array_equal(model.labels_, found.labels)
    assert (model.angle_, model.n_clusters_, model.tuning_.weak) == (found.angle, found.clusters, False)
    np.testing.assert_array_equal(DPVMFMeans(**found.parameters).fit(points).labels_, found.labels)
    rows = np.random.RandomState(1).permutation(len(points))
    np.testing.assert_array_equal(DPVMFMeans("auto").fit(points[rows]).labels_, model.labels_[rows])
    assert model.score(points) == pytest.approx(model.objective_, rel=0.05)
    assert DPVMFMeans(40).fit(points).tuning_ is None


def test_sparse_missing_and_weights(points):
    X = points.copy()
    X[::10] = 0
    found = tune(X)
    assert found.missing == 120 and (found.labels[::10] == -1).all()
    np.testing.assert_array_equal(tune(scipy.sparse.csr_matrix(X)).labels, found.labels)
    X[::10] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        tune(X)
    np.testing.assert_array_equal(tune(X, allow_missing=True).labels, found.labels)
    weights = np.where(np.arange(len(points)) % 10, 1.0, 0.0)
    assert tune(points, weights).clusters == found.clusters


def test_merging_of_the_user_stays():
    """As the command does, whose --merge-to and --merge evidence replace what auto would merge."""
    X, _ = asterism.sample(600, dimension=24, clusters=6, kappa=60, separation=70, random_state=2)
    assert DPVMFMeans("auto", merge_to=4).fit(X).n_clusters_ == 4
    model = DPVMFMeans("auto", merge="evidence").fit(X)
    plain = DPVMFMeans(model.angle_, order="content", merge="evidence").fit(X)
    np.testing.assert_array_equal(model.labels_, plain.labels_)


def test_small_clusters_of_auto_join_the_nearest():
    """The angle of clusters that are merged is that of their leaves: it says nothing about what fits a cluster."""
    X, truth = asterism.sample(530, dimension=24, clusters=6, kappa=60, separation=70, random_state=2)
    X = np.vstack([X[truth < 5], X[truth == 5][:30]])
    model = DPVMFMeans("auto", min_size=40).fit(X)
    assert model.n_clusters_ == 5 and model.n_leaves_ > 100
    assert len(model.outliers_) == 0 and (model.labels_ >= 0).all()


def test_noise_is_weak():
    noise = asterism.sample(1000, dimension=3, clusters=1, kappa=0)[0]
    with pytest.warns(UserWarning, match="nothing stands out"):
        model = DPVMFMeans("auto").fit(noise)
    assert model.tuning_.weak and model.tuning_.evidence == 0


@pytest.mark.parametrize("given, sentence", [
    ({"angle": "wide"}, "angle is 'wide'; it must be a number of degrees or 'auto'"),
    ({"angle": "auto", "merge": 5}, "angle='auto' chooses the angle together with its merging: merge must be None or 'ev"),
    ({"angle": "auto", "order": "random"}, "angle='auto' visits the rows by content"),
    ({"angle": "auto", "shuffle": True}, "angle='auto' visits the rows by content"),
])
def test_wrong_parameters(points, given, sentence):
    with pytest.raises(ValueError, match=sentence):
        DPVMFMeans(**given).fit(points)


@pytest.mark.parametrize("given, sentence", [
    ({"max_clusters": 1}, "max_clusters is 1; it must be at least 2"), ({"draws": 0}, "draws is 0"),
    ({"step": -1}, "step"), ({"largest": 200}, "200|180"),
])
def test_wrong_options(points, given, sentence):
    with pytest.raises(ValueError, match=sentence):
        tune(points, **given)


def test_layers():
    random, scale = np.random.default_rng(7), np.arange(1, 33) ** -0.8
    centers = np.repeat(random.standard_normal((3, 32)) * scale, 4, 0) * 0.8 + random.standard_normal((12, 32)) * scale * 0.7
    X = centers[np.repeat(np.arange(12), 60)] + random.standard_normal((720, 32)) * scale * 0.45 + 1
    model = DPVMFMeans("auto").fit(X)
    peaks = model.tuning_.peaks
    assert model.tuning_.metric == "local" and [peak["clusters"] for peak in peaks] == [len(set(one)) for one in model.layers_]
    for coarse, fine in zip(model.layers_, model.layers_[1:]):
        assert len(set(zip(coarse, fine))) == len(set(fine))
    assert DPVMFMeans(40).fit(X).layers_ == []
    assert model.tuning_.merge_to is not None
    kept = DPVMFMeans("auto", merge="evidence").fit(X)
    assert (kept.labels_ == model.labels_).all(), "merging by evidence throws nothing away"
    assert DPVMFMeans("auto", merge_to=3).fit(X).n_clusters_ == 3
    with pytest.raises(ValueError, match="metric is 'round'"):
        asterism.tune(X, metric="round")
