# SPDX-License-Identifier: MIT
"""Errors of means against formulas in numpy and scipy that share no code with the library."""
import json

import numpy as np
import pytest
import scipy.special
from scipy import optimize, stats

from asterism import DPVMFMeans, MiniBatchSphericalKMeans, SphericalKMeans, VMFMixture, sample
from conftest import SHARED

GEOLOGY = SHARED / "geology"
real = pytest.mark.skipif(not GEOLOGY.is_dir(), reason="there is no ../shared/data beside the project")


def resultant_of(kappa, D):
    """A_D(kappa), by ratios of exponentially scaled Bessel functions."""
    return scipy.special.ive(D / 2, kappa) / scipy.special.ive(D / 2 - 1, kappa)


def fisher(units):
    """The statistics of Fisher (1953) as palaeomagnetists print them."""
    total = units.sum(axis=0)
    N, R = len(units), np.linalg.norm(total)
    k = (N - 1) / (N - R)
    kappa = optimize.brentq(lambda x: 1 / np.tanh(x) - 1 / x - R / N, 1e-6, 1e5, xtol=1e-12, rtol=1e-14)
    return {"size": N, "resultant": R, "mean": total / R, "precision": k, "kappa": kappa, "csd": 81 / np.sqrt(k),
            "alpha95": np.degrees(np.arccos(1 - (N - R) / R * (20 ** (1 / (N - 1)) - 1))),
            "standard_error": np.degrees(np.arccos(1 - 1 / (k * R))),
            "kappa_interval": stats.chi2.ppf([0.025, 0.975], 2 * (N - 1)) / (2 * (N - R))}


def same(told, expected, digits=6):
    """Directions are floats: where points are only a few degrees apart, their angles have fewer digits."""
    scale = max(1, np.max(expected.get("kappa", 1)) / 100)
    for name, value in expected.items():
        np.testing.assert_allclose(told[name], value, rtol=0.5 * scale * 10.0 ** -digits, atol=1e-7, err_msg=name)


def poles(dip_direction, dip):
    a, d = np.radians(dip_direction), np.radians(dip)
    return np.stack([np.sin(d) * np.sin(a), np.sin(d) * np.cos(a), np.cos(d)], axis=1)


def lines(trend, plunge):
    a, p = np.radians(trend), np.radians(plunge)
    return np.stack([np.cos(p) * np.sin(a), np.cos(p) * np.cos(a), -np.sin(p)], axis=1)


def clusters_of(command, folder, path, *options):
    labels = folder / "labels.npy"
    told = json.loads(command("cluster", path, *options, "--labels", labels, "--json"))
    return told, np.load(labels)


@pytest.fixture(scope="module")
def scattered():
    """Directions around three means, in doubles."""
    random = np.random.RandomState(8)
    X = np.eye(3)[np.repeat([0, 1, 2], [30, 100, 7])] + 0.2 * random.normal(size=(137, 3))
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def test_fisher_statistics(scattered, command, tmp_path):
    np.save(tmp_path / "x.npy", scattered)
    told, labels = clusters_of(command, tmp_path, tmp_path / "x.npy", "--angle", 75)
    model = DPVMFMeans(75).fit(scattered)
    assert told["clusters"] == 3
    for k, one in enumerate(told["cluster"]):
        expected = fisher(scattered[labels == k])
        same(one, expected)
        same({"resultant": model.resultant_[k], "alpha95": model.alpha95_[k], "precision": model.precision_[k],
              "standard_error": model.standard_error_[k], "kappa_interval": model.kappa_interval_[k],
              "kappa": model.kappas_[k], "mean": model.cluster_centers_[k]},
             {name: value for name, value in expected.items() if name not in ("size", "csd")})
    R = np.linalg.norm(scattered.sum(axis=0))
    np.testing.assert_allclose(model.rayleigh_, (3 * R * R / 137, stats.chi2.sf(3 * R * R / 137, 3)), rtol=1e-6)


@pytest.mark.parametrize("D", [2, 4, 10, 50])
def test_other_dimensions(D):
    """The marginal likelihood of kappa, maximised and differentiated numerically."""
    X, _ = sample(40, dimension=D, clusters=1, kappa=2.0 * D, random_state=4)
    model = DPVMFMeans(180).fit(X)
    N, R = 40, np.linalg.norm(X.astype(np.float64).sum(axis=0))
    k = optimize.brentq(lambda x: N * resultant_of(x, D) - R * resultant_of(x * R, D), 0.01, 50 * D, xtol=1e-12)
    step = 1e-4 * k
    slope = lambda x: R * resultant_of(x * R, D) - N * resultant_of(x, D)
    s = -k * k * (slope(k + step) - slope(k - step)) / (2 * step)
    cone = (D - 1) / (2 * k * R) * stats.f.ppf(0.95, D - 1, 2 * s)
    same({"precision": model.precision_, "alpha95": model.alpha95_, "standard_error": model.standard_error_,
          "kappa_interval": model.kappa_interval_[0], "resultant": model.resultant_},
         {"precision": k, "alpha95": np.degrees(np.arccos(1 - cone)), "resultant": R,
          "standard_error": np.degrees(np.arccos(resultant_of(k * R, D))),
          "kappa_interval": k * stats.chi2.ppf([0.025, 0.975], 2 * s) / (2 * s)}, digits=5)


def test_weights(scattered):
    """Only ratios of weights matter; equal weights are none; a row of weight 0 changes nothing."""
    weights = np.linspace(0.5, 3, 137)
    names = ("alpha95_", "standard_error_", "precision_", "resultant_", "kappa_interval_")
    one, ten = (DPVMFMeans(75).fit(scattered, sample_weight=f * weights) for f in (1, 10))
    plain, equal = DPVMFMeans(75).fit(scattered), DPVMFMeans(75).fit(scattered, sample_weight=np.full(137, 2.0))
    for name in names:
        np.testing.assert_allclose(getattr(one, name), getattr(ten, name), rtol=1e-9)
        np.testing.assert_allclose(getattr(plain, name), getattr(equal, name), rtol=1e-9)
    own = weights[one.labels_ == 1]
    n = own.sum() ** 2 / (own ** 2).sum()
    mean = np.linalg.norm((own[:, None] * scattered[one.labels_ == 1]).sum(axis=0)) / own.sum()
    np.testing.assert_allclose(one.resultant_[1], n * mean, rtol=1e-6)
    np.testing.assert_allclose(one.precision_[1], (n - 1) / (n * (1 - mean)), rtol=1e-6)
    np.testing.assert_allclose(one.rayleigh_[0], ten.rayleigh_[0], rtol=1e-9)


def test_axes(scattered):
    """Signs do not matter; the whole is tested by Bingham's statistic."""
    signs = np.where(np.random.RandomState(1).rand(137) < 0.5, -1, 1)[:, None]
    plain, mirrored = DPVMFMeans(75, axial=True).fit(scattered), DPVMFMeans(75, axial=True).fit(signs * scattered)
    np.testing.assert_array_equal(plain.alpha95_, mirrored.alpha95_)
    own = scattered[plain.labels_ == 0] * np.sign(scattered[plain.labels_ == 0] @ plain.cluster_centers_[0])[:, None]
    np.testing.assert_allclose(plain.alpha95_[0], fisher(own)["alpha95"], rtol=1e-6)
    tensor = scattered.T @ scattered / 137
    statistic = 7.5 * 137 * (np.trace(tensor @ tensor) - 1 / 3)
    np.testing.assert_allclose(mirrored.rayleigh_, (statistic, stats.chi2.sf(statistic, 5)), rtol=1e-5)
    assert np.isnan(DPVMFMeans(75, axial=True).fit(np.eye(20)).rayleigh_).all()


def test_where_there_is_none():
    model = DPVMFMeans(10).fit([[1, 0, 0], [0, 1, 0], [0, 1, 0]])
    for name in ("alpha95_", "standard_error_", "precision_"):
        assert np.isnan(getattr(model, name)).all(), name
    assert model.kappa_interval_.shape == (2, 2) and model.resultant_.tolist() == [1, 2]
    assert DPVMFMeans(10).fit(np.zeros((2, 3))).kappa_interval_.shape == (0, 2)


def test_mixtures_and_batches(scattered):
    model = VMFMixture(3, random_state=1).fit(scattered)
    assert ((model.kappa_interval_[:, 0] < model.kappas_) & (model.kappas_ < model.kappa_interval_[:, 1])).all()
    np.testing.assert_allclose(model.resultant_, 137 * model.weights_ * resultant_of(model.kappas_, 3), rtol=1e-6)
    batches = MiniBatchSphericalKMeans(3, random_state=1).fit(scattered)
    assert np.isfinite(batches.alpha95_).all()
    assert not hasattr(batches.partial_fit(scattered), "alpha95_")
    restarted = SphericalKMeans(3, n_init=4, random_state=1).fit(scattered)
    assert np.isfinite(restarted.alpha95_).all() and restarted.rayleigh_ == DPVMFMeans(75).fit(scattered).rayleigh_


# ---- Measured in the field -------------------------------------------------------------------------------------------

@real
def test_palaeomagnetic_directions(command, tmp_path):
    """91 directions of both polarities: declination and inclination are trend and plunge."""
    path = GEOLOGY / "pmagpy_revtest_example.txt"
    units = lines(*np.loadtxt(path).T)
    told, labels = clusters_of(command, tmp_path, path, "--trend-plunge", "--angle", 90)
    assert told["clusters"] == 2
    for k, one in enumerate(told["cluster"]):
        same(one, fisher(units[labels == k]))
    R = np.linalg.norm(units.sum(axis=0))
    same(told["rayleigh"], {"statistic": 3 * R * R / 91, "p": stats.chi2.sf(3 * R * R / 91, 3)}, digits=5)


@real
@pytest.mark.parametrize("name, angle", [("rjs_my_set.txt", 60), ("rjs_dirbuz_buz.txt", 40)])
def test_joints(command, tmp_path, name, angle):
    """Poles are axes: they are mirrored to the side of their mean."""
    path = GEOLOGY / name
    text = path.read_text().replace("\r", "\n")
    units = poles(*np.array([row.split() for row in text.split("\n") if row and row[0] != "#"], float).T)
    told, labels = clusters_of(command, tmp_path, path, "--dip-direction", "--axial", "--angle", angle)
    assert told["clusters"] >= 3
    for k, one in enumerate(told["cluster"]):
        own = units[labels == k]
        own = own * np.where(own @ np.array(one["mean"]) < 0, -1, 1)[:, None]
        if len(own) > 1:
            same(one, fisher(own))
    tensor = units.T @ units / len(units)
    statistic = 7.5 * len(units) * (np.trace(tensor @ tensor) - 1 / 3)
    same(told["rayleigh"], {"statistic": statistic, "p": stats.chi2.sf(statistic, 5)}, digits=5)


@real
def test_fault_surface(command, tmp_path):
    path = GEOLOGY / "mplstereonet_normal_vectors.txt"
    units = np.loadtxt(path)
    units /= np.linalg.norm(units, axis=1, keepdims=True)
    told, labels = clusters_of(command, tmp_path, path, "--angle", 180)
    same(told["cluster"][0], fisher(units[labels == 0]))
