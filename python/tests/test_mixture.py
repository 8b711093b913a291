# SPDX-License-Identifier: MIT
"""The mixture: what was drawn is found, probabilities are the library's, parameters that are wrong."""
import ctypes
import json

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

import asterism
from asterism import VMFMixture
from asterism._library import constants, defaults, lender, lib, points_of, sized


@pytest.fixture(scope="module")
def drawn():
    return asterism.sample(6000, dimension=4, clusters=3, kappa=25, separation=50, random_state=5)


def test_what_was_drawn_is_found(drawn):
    X, truth = drawn
    model = VMFMixture(3, n_init=3, random_state=1).fit(X)
    assert adjusted_rand_score(model.labels_, truth) > 0.9
    np.testing.assert_allclose(model.kappas_, 25, rtol=0.1)
    np.testing.assert_allclose(model.weights_, 1 / 3, atol=0.03)
    assert model.weights_.sum() == pytest.approx(1)
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    assert len(X) * model.score(X) == pytest.approx(model.objective_, rel=1e-4)
    assert model.bic_ < VMFMixture(2, n_init=3, random_state=1).fit(X).bic_


@pytest.mark.parametrize("hard", [False, True])
def test_probabilities_are_those_of_the_library(drawn, hard):
    X, _ = drawn
    model = VMFMixture(3, hard=hard, random_state=1).fit(X)
    points, labels, report = points_of(X), np.empty(len(X), np.int32), sized("ast_report")
    options = defaults("ast_options")
    options.method, options.clusters, options.seed, options.mixture.hard = constants["AST_MOVMF"], 3, 1, hard
    members, density = np.empty((len(X), 3), np.float32), np.empty(len(X))
    with lender.borrow(None, X.size) as context:
        context.check(lib.ast_cluster(context.handle, ctypes.byref(points), ctypes.byref(options), labels.ctypes.data,
                                      ctypes.byref(report)))
        context.check(lib.ast_memberships(context.handle, ctypes.byref(points), members.ctypes.data,
                                          density.ctypes.data))
    np.testing.assert_array_equal(model.labels_, labels)
    np.testing.assert_allclose(model.predict_proba(X), members, atol=1e-5)
    np.testing.assert_allclose(model.score_samples(X), density, atol=1e-5)


def test_labels_are_those_of_the_command(command, drawn, tmp_path):
    X, _ = drawn
    np.save(tmp_path / "x.npy", X)
    if "movmf" not in command("cluster", "--help"):
        pytest.skip("the command has no movmf")
    report = json.loads(command("cluster", tmp_path / "x.npy", "--method", "movmf", "--clusters", 3, "--seed", 4,
                                "--labels", tmp_path / "labels.npy", "--json"))
    model = VMFMixture(3, random_state=4).fit(X)
    np.testing.assert_array_equal(model.labels_, np.load(tmp_path / "labels.npy"))
    assert (model.objective_, model.n_iter_) == (report["objective"], report["iterations"])


def test_blocks_make_no_difference(drawn, monkeypatch):
    X, _ = drawn
    model = VMFMixture(3, random_state=1).fit(X)
    expected = model.predict(X), model.predict_proba(X), model.score_samples(X)
    monkeypatch.setattr(asterism.mixture, "BLOCK", 1000)
    for one, other in zip(expected, (model.predict(X), model.predict_proba(X), model.score_samples(X))):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)


def test_holes_and_outliers(drawn):
    X = drawn[0].copy()
    X[3], X[5, 0] = 0, np.nan
    model = VMFMixture(3, random_state=1, allow_missing=True).fit(X)
    assert model.labels_[[3, 5]].tolist() == [-1, -1] and (np.delete(model.labels_, [3, 5]) >= 0).all()
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    assert np.isnan(model.predict_proba(X)[[3, 5]]).all() and np.isnan(model.score_samples(X)[[3, 5]]).all()
    assert np.isfinite(model.score(X))
    model.set_params(outlier_angle=20)
    far = model.similarity(X) < np.cos(np.radians(21))
    assert far.any() and (model.predict(X)[far] == -1).all()
    with pytest.raises(ValueError, match="NaN"):
        model.set_params(allow_missing=False).predict(X)


def test_nothing_but_holes():
    with pytest.raises(ValueError, match="there is no usable row"):
        VMFMixture(1, allow_missing=True).fit(np.full((4, 3), np.nan))


def test_directions_that_are_equal():
    model = VMFMixture(3, random_state=0).fit(np.repeat(np.eye(3), 5, axis=0))
    assert sorted(model.predict(np.eye(3))) == [0, 1, 2]
    np.testing.assert_allclose(model.predict_proba(np.eye(3)).max(axis=1), 1)


def test_given_kappa_and_weights(drawn):
    X, truth = drawn
    assert VMFMixture(3, kappa=10, random_state=1).fit(X).kappas_.tolist() == [10] * 3
    model = VMFMixture(3, random_state=1).fit(X, sample_weight=np.where(truth == 0, 1.0, 0.0))
    assert model.score(X, sample_weight=truth == 0) > model.score(X)


@pytest.mark.parametrize("model, words", [
    (VMFMixture(0), "n_components is 0"), (VMFMixture(7000), "n_samples=6000 should be at least n_components=7000"),
    (VMFMixture(3, kappa=-1), "kappa"), (VMFMixture(3, tol=-1.0), "tolerance"),
    (VMFMixture(3, init="best"), "init is 'best'")])
def test_wrong_parameters(drawn, model, words):
    with pytest.raises(ValueError, match=words):
        model.fit(drawn[0])


def five_unequal(seed):
    """Three clusters of unequal size and concentration, and a tenth of noise."""
    rng, rows, truth = np.random.default_rng(seed), [], []
    for k, (size, spread) in enumerate([(600, 0.2), (300, 0.1), (100, 0.05)]):
        rows.append(np.eye(4)[k] + spread * rng.standard_normal((size, 4)))
        truth += [k] * size
    rows.append(rng.standard_normal((100, 4)))
    return np.concatenate(rows), np.array(truth + [-1] * 100)


def test_auto_finds_the_number_and_the_background():
    X, truth = five_unequal(3)
    model = asterism.VMFMixture(n_components="auto", background=True).fit(X)
    inside = truth >= 0
    assert model.n_clusters_ == 3
    assert adjusted_rand_score(truth[inside], model.labels_[inside]) > 0.98
    assert model.background_ == pytest.approx(0.1, abs=0.03)
    assert model.weights_.sum() + model.background_ == pytest.approx(1)
    np.testing.assert_array_equal(model.outliers_, np.flatnonzero(model.labels_ < 0))
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    proba = model.predict_proba(X)
    assert proba.shape == (1100, 3) and (proba.sum(axis=1) <= 1 + 1e-9).all()
    assert (proba[model.outliers_].sum(axis=1) < 0.75).all()
    plain = asterism.VMFMixture(n_components="auto").fit(X[inside])
    assert plain.n_clusters_ == 3 and np.isnan(plain.background_) and len(plain.outliers_) == 0
    with pytest.raises(ValueError, match="hard"):
        asterism.VMFMixture(n_components="auto", hard=True).fit(X)
    with pytest.raises(ValueError, match="'auto'"):
        asterism.VMFMixture(n_components="many").fit(X)


def test_runs_are_those_of_the_command():
    """Without a random_state the seed is that of the command: n_init finds what --restarts finds."""
    X, _ = five_unequal(4)
    first, second = (asterism.VMFMixture(6, n_init=4, random_state=state).fit(X) for state in (None, 1))
    assert first.bic_ == second.bic_
    np.testing.assert_array_equal(first.labels_, second.labels_)


def test_axes_are_watson_components(tmp_path):
    X, truth = asterism.sample(600, dimension=3, clusters=3, kappa=20, separation=60, noise=0.2, distribution="watson",
                               random_state=4)
    model = VMFMixture("auto", axial=True, background=True).fit(X)
    assert model.n_clusters_ == 3 and model.cluster_posterior_.argmax() == 3
    assert adjusted_rand_score(model.labels_, truth) > 0.8
    np.testing.assert_allclose(model.kappas_, 20, rtol=0.3)
    assert 0.15 < model.background_ < 0.27
    np.testing.assert_array_equal(model.predict(-X), model.labels_)
    assert model.predict_proba(X).shape == (600, 3)
    assert len(X) * model.score(X) == pytest.approx(
        VMFMixture(3, axial=True, background=True, init=model.cluster_centers_).fit(X).objective_, rel=2e-3)
    model.save(tmp_path / "axes.model")
    again = asterism.load(tmp_path / "axes.model")
    np.testing.assert_array_equal(again.predict(X), model.labels_)
    assert again.summary()


def test_kent_components_are_elliptical(tmp_path):
    X, _ = asterism.sample(1000, dimension=3, clusters=1, kappa=50, distribution="kent", random_state=1)
    assert VMFMixture("auto").fit(X).n_clusters_ > 1
    model = VMFMixture("auto", shape="kent").fit(X)
    assert model.n_clusters_ == 1 and model.axes_.shape == (1, 2, 3)
    assert model.betas_[0] == pytest.approx(20, rel=0.2)
    assert model.ellipse95_[0, 0] > 2 * model.ellipse95_[0, 1]
    assert len(X) * model.score(X) == pytest.approx(VMFMixture(1, shape="kent").fit(X).objective_, rel=1e-3)
    model.save(tmp_path / "kent.model")
    np.testing.assert_allclose(asterism.load(tmp_path / "kent.model").betas_, model.betas_)
    with pytest.raises(ValueError, match="axial cannot be combined"):
        VMFMixture(1, shape="kent", axial=True).fit(X)
    with pytest.raises(ValueError, match="it must be 'vmf' or 'kent'"):
        VMFMixture(1, shape="oval").fit(X)


@pytest.mark.parametrize("distribution", ["vmf", "watson", "kent", "bingham", "small-circle"])
def test_every_distribution_is_drawn(distribution):
    X, labels = asterism.sample(50, dimension=3, clusters=2, kappa=30, distribution=distribution)
    np.testing.assert_allclose((X ** 2).sum(axis=1), 1, atol=1e-5)
    assert set(labels) == {0, 1}
    with pytest.raises(ValueError, match="distribution must be one of"):
        asterism.sample(5, dimension=3, clusters=1, kappa=1, distribution=distribution + "s")
