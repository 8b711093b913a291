# SPDX-License-Identifier: MIT
"""The words of people with embeddings: cosine, center, representatives, verbose, n_jobs. Against numpy and the command."""
import json
import pickle

import numpy as np
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

import asterism
from asterism import DDPVMFMeans, DPVMFMeans, MiniBatchSphericalKMeans, SphericalKMeans, VMFMixture

ESTIMATORS = [DPVMFMeans(cosine=0.5, order="given"), SphericalKMeans(4, init=np.eye(12)[:4])]


@parametrize_with_checks([DPVMFMeans(cosine=0.7, center=True, representatives=2, n_jobs=1)])
def test_check(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def shifted():
    """Five clusters in 12 dimensions with a large common part."""
    X, truth = asterism.sample(800, dimension=12, clusters=5, kappa=90, separation=60, random_state=2)
    return (X + 0.5).astype(np.float32), truth


def units(X):
    return X / np.linalg.norm(X, axis=1, keepdims=True)


@pytest.mark.parametrize("cosine, angle", [(0.5, 60), (0, 90), (-1, 180), (1, 0), (np.sqrt(0.5), 45)])
def test_a_cosine_is_an_angle(shifted, cosine, angle):
    one, other = DPVMFMeans(cosine=cosine).fit(shifted[0]), DPVMFMeans(angle).fit(shifted[0])
    assert one.angle_ == pytest.approx(angle, abs=1e-9)
    assert np.array_equal(one.labels_, other.labels_)


def test_an_angle_that_is_a_cosine(shifted):
    with pytest.warns(UserWarning, match="cluster of their own: angle=0.5 is in degrees; if it is a cosine, give cosine=0.5"):
        DPVMFMeans(0.5).fit(shifted[0])


@pytest.mark.parametrize("cosine", [1.5, -2, np.nan, "0.5", True])
def test_a_wrong_cosine(shifted, cosine):
    with pytest.raises(ValueError, match="it must be a number from -1 to 1"):
        DPVMFMeans(cosine=cosine).fit(shifted[0])


@pytest.mark.parametrize("model", ESTIMATORS, ids=str)
@pytest.mark.parametrize("weighted", [False, True])
def test_centred_rows(shifted, model, weighted):
    X, _ = shifted
    weights = np.random.RandomState(1).uniform(0, 2, len(X)) if weighted else None
    model = clone(model).set_params(center=True).fit(X, sample_weight=weights)
    mean = np.average(units(X.astype(np.float64)), axis=0, weights=weights)
    assert np.allclose(model.center_, mean, atol=1e-7) and model.center_.dtype == np.float32
    centred = units(units(X.astype(np.float64)) - model.center_)
    plain = clone(model).set_params(center=False).fit(centred.astype(np.float32), sample_weight=weights)
    assert np.array_equal(model.labels_, plain.labels_) and plain.center_ is None
    assert np.allclose(model.cluster_centers_, plain.cluster_centers_, atol=1e-6)
    assert np.allclose(model.transform(X), centred @ model.cluster_centers_.T, atol=1e-5)
    assert np.allclose(model.similarity_, model.transform(X).max(axis=1), atol=1e-5)
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.predict(X), model.transform(X).argmax(axis=1))


def test_centring_finds_what_the_common_part_hides(shifted):
    X, truth = shifted
    assert DPVMFMeans(cosine=0.5).fit(X).n_clusters_ == 1
    model = DPVMFMeans(cosine=0.5, center=True).fit(X)
    assert model.n_clusters_ == 5
    assert len(set(zip(model.labels_, truth))) == 5
    assert asterism.tune(X, center=True).clusters == DPVMFMeans("auto", center=True).fit(X).n_clusters_ == 5
    assert "--center" in asterism.tune(X, center=True).command


def test_what_cannot_be_centred(shifted):
    with pytest.raises(ValueError, match="centring does not take sparse rows, which are for DP-vMF-means, spherical k-m"):
        DPVMFMeans(center=True).fit(scipy.sparse.csr_matrix(shifted[0]))
    with pytest.raises(ValueError, match="axial rows cannot be centred"):
        DPVMFMeans(center=True, axial=True).fit(shifted[0])
    equal = DPVMFMeans(center=True).fit(np.ones((4, 3)))
    assert equal.n_clusters_ == 0 and (equal.labels_ == -1).all() and len(equal.outliers_) == 0


@pytest.mark.parametrize("model", [*ESTIMATORS, DPVMFMeans(40, axial=True), DPVMFMeans(30, center=True, min_size=9)], ids=str)
def test_representatives(shifted, model):
    X, _ = shifted
    model = clone(model).set_params(representatives=4).fit(X)
    cosines = model.transform(X)
    assert len(model.representatives_) == model.n_clusters_
    for k, rows in enumerate(model.representatives_):
        own = np.flatnonzero(model.labels_ == k)
        assert rows.dtype == np.intp and len(rows) == min(4, len(own)) and set(rows) <= set(own)
        assert np.allclose(cosines[rows, k], np.sort(cosines[own, k])[::-1][:4], atol=1e-6)
    assert [len(rows) for rows in clone(model).set_params(representatives=0).fit(X).representatives_] == [0] * model.n_clusters_


def test_representatives_of_equal_rows():
    X = np.eye(3)[[0, 1, 0, 1, 0]]
    with pytest.warns(UserWarning, match="distinct"):
        model = SphericalKMeans(4, random_state=1, representatives=2).fit(X)
    found = {tuple(rows) for rows in model.representatives_ if len(rows)}
    assert found == {(0, 2), (1, 3)}


def test_equals_the_command(shifted, command, tmp_path):
    np.save(tmp_path / "x.npy", shifted[0])
    told = json.loads(command("cluster", tmp_path / "x.npy", "--cosine", 0.6, "--center", "--representatives", 3, "--json",
                              "--center-file", tmp_path / "c.npy", "--labels", tmp_path / "l.npy"))
    model = DPVMFMeans(cosine=0.6, center=True, representatives=3).fit(shifted[0])
    assert np.array_equal(np.load(tmp_path / "c.npy")[0], model.center_)
    assert np.array_equal(np.load(tmp_path / "l.npy"), model.labels_)
    assert [one["representatives"] for one in told["cluster"]] == [rows.tolist() for rows in model.representatives_]


def test_one_line_per_pass(shifted, capsys):
    model = DPVMFMeans(40, verbose=1).fit(shifted[0])
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == model.n_iter_
    assert lines[0].startswith("DPVMFMeans: pass 1: ") and f"{model.n_clusters_} clusters" in lines[-1]
    SphericalKMeans(3, n_init=2, random_state=1, verbose=1).fit(shifted[0])
    assert "SphericalKMeans: run 2, pass 1: 3 clusters" in capsys.readouterr().out
    DPVMFMeans(40).fit(shifted[0])
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("model", [DPVMFMeans(), SphericalKMeans(3), MiniBatchSphericalKMeans(3), VMFMixture(3), DDPVMFMeans()],
                         ids=lambda one: type(one).__name__)
def test_n_jobs(shifted, model):
    expected = clone(model).set_params(n_threads=1).fit(shifted[0]).labels_ if not hasattr(model, "random_state") else None
    for jobs in (1, 2, -1, -2):
        model = clone(model).set_params(n_jobs=jobs).fit(shifted[0])
        assert expected is None or np.array_equal(model.labels_, expected)
        assert len(model.predict(shifted[0])) == len(shifted[0])
    with pytest.raises(ValueError, match="give one of them"):
        clone(model).set_params(n_jobs=2, n_threads=2).fit(shifted[0])
    with pytest.raises(ValueError, match="n_jobs is 0"):
        clone(model).set_params(n_jobs=0).fit(shifted[0])
