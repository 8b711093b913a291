# SPDX-License-Identifier: MIT
"""Parameters that ctypes would take modulo 2^32, and rows in a way of their own."""
import numpy as np
import pytest

import asterism

pandas = pytest.importorskip("pandas")
X = asterism.sample(60, dimension=4, clusters=3, kappa=80, separation=60)[0]

WHOLE = [(asterism.DPVMFMeans, "max_iter"), (asterism.DPVMFMeans, "n_init"), (asterism.DPVMFMeans, "sample"),
         (asterism.DPVMFMeans, "representatives"), (asterism.DPVMFMeans, "merge_to"),
         (asterism.SphericalKMeans, "n_clusters"), (asterism.SphericalKMeans, "levels"),
         (asterism.SphericalKMeans, "random_state"), (asterism.MiniBatchSphericalKMeans, "batch_size"),
         (asterism.VMFMixture, "n_components"), (asterism.DDPVMFMeans, "lifetime"), (asterism.DDPVMFMeans, "max_clusters"),
         (asterism.DDPVMFMeans, "history")]


@pytest.mark.parametrize("kind, name", WHOLE)
def test_integers_do_not_wrap(kind, name):
    with pytest.raises(ValueError, match=f"{name} is {2 ** 64 + 2}; it must be at most"):
        kind(**{name: 2 ** 64 + 2}).fit(X)
    with pytest.raises(TypeError, match=f"{name} is True; it must be an integer"):
        kind(**{name: True}).fit(X)
    if name not in ("random_state", "lifetime"):
        with pytest.raises(ValueError, match=f"{name} is {2 ** 32 + 1}; it must be at most 2147483647"):
            kind(**{name: 2 ** 32 + 1}).fit(X)
    kind(**{name: np.int64(2)}).fit(X)


def test_seeds_have_64_bits():
    found = [asterism.SphericalKMeans(3, random_state=seed).fit(X).objective_ for seed in (1, 2 ** 64 - 1)]
    assert np.isfinite(found).all()
    with pytest.raises(ValueError, match="points is 4294967297; it must be at most"):
        asterism.sample(2 ** 32 + 1, dimension=3, clusters=2, kappa=5)
    with pytest.raises(ValueError, match="random_state is -1; it must be at least 0"):
        asterism.sample(5, dimension=3, clusters=2, kappa=5, random_state=-1)


def test_numbers_of_threads():
    for name in ("n_threads", "n_jobs"):
        with pytest.raises(ValueError, match=f"{name} is True"):
            asterism.DPVMFMeans(**{name: True}).fit(X)


@pytest.mark.parametrize("kind", [asterism.DPVMFMeans, asterism.DDPVMFMeans])
def test_an_angle_is_a_number(kind):
    for angle in (None, True, [60], "60"):
        with pytest.raises((TypeError, ValueError), match="angle is .*; it must be a number of degrees"):
            kind(angle=angle).fit(X)
    with pytest.raises(TypeError, match="outlier_angle is '30'; it must be a number of degrees"):
        asterism.DPVMFMeans(outlier_angle="30").fit(X).predict(X)


def test_masks_are_missing_values():
    mask = np.zeros(X.shape, bool)
    mask[7, 2] = mask[31] = True
    masked, holes = np.ma.MaskedArray(X, mask), X.copy()
    holes[mask] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        asterism.DPVMFMeans(angle=40).fit(masked)
    found, wanted = (asterism.DPVMFMeans(angle=40, allow_missing=True).fit(rows) for rows in (masked, holes))
    np.testing.assert_array_equal(found.labels_, wanted.labels_)
    assert found.labels_[7] == found.labels_[31] == -1
    np.testing.assert_array_equal(found.predict(masked), wanted.labels_)
    whole = np.ma.MaskedArray((100 * X).astype(int))
    assert (asterism.DPVMFMeans(angle=40).fit(whole).labels_ == asterism.DPVMFMeans(angle=40).fit(whole.data).labels_).all()
    means = asterism.Tally.start(X[:3])
    assert asterism.Tally(means).add(masked)[7] == -1
    with pytest.raises(ValueError, match="sample_weight has masked values"):
        asterism.DPVMFMeans().fit(X, sample_weight=np.ma.MaskedArray(np.ones(60), mask[:, 2]))


def column(rows):
    """An array that holds one object for every row."""
    objects = np.empty(len(rows), object)
    objects[:] = rows
    return objects


def test_columns_of_arrays():
    fitted = asterism.DPVMFMeans(angle=40).fit(X)
    series = pandas.Series(list(X))
    for rows in (series, pandas.Series([row.tolist() for row in X]), pandas.DataFrame({"embedding": list(X)}), column(list(X))):
        found = asterism.DPVMFMeans(angle=40).fit(rows)
        np.testing.assert_array_equal(found.labels_, fitted.labels_)
        np.testing.assert_array_equal(found.predict(rows), fitted.labels_)
        assert found.n_features_in_ == 4
    assert asterism.tune(series).angle == asterism.tune(X).angle
    series[9] = None
    assert asterism.DPVMFMeans(angle=40, allow_missing=True).fit(series).labels_[9] == -1
    series[5] = X[5, :3]
    with pytest.raises(ValueError, match="row 5 of X has 3 numbers, but row 0 has 4; all rows need the same number"):
        asterism.DPVMFMeans().fit(series)
    series[5] = ["a", "b", "c", "d"]
    with pytest.raises(ValueError, match="row 5 of X is no list of numbers"):
        asterism.DPVMFMeans().fit(series)
    frame = pandas.DataFrame({"id": range(60), "embedding": list(X)}, index=range(5, 65))
    found = asterism.DPVMFMeans(angle=40).fit(frame)
    np.testing.assert_array_equal(found.labels_, fitted.labels_)
    clusters = found.labels_series_
    assert clusters.name == "cluster" and clusters.index.equals(frame.index) and (clusters == fitted.labels_).all()
    with pytest.raises(ValueError, match="2 columns of X hold an array in every row: pass one of them, such as X"):
        asterism.DPVMFMeans().fit(frame.assign(other=frame["embedding"]))


ESTIMATORS = [asterism.DPVMFMeans, asterism.SphericalKMeans, asterism.MiniBatchSphericalKMeans, asterism.VMFMixture,
              asterism.DDPVMFMeans]


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_flags_are_flags(kind):
    """Any text is true for Python: "no" would be yes."""
    names = [name for name in ("axial", "allow_missing", "center", "shuffle", "background", "hard", "rigid", "exclusive")
             if isinstance(kind().get_params().get(name), bool)]
    assert names[0] == "axial"
    for name in names:
        for value in ("no", None, 2, 0.0, [], np.nan):
            with pytest.raises(TypeError, match=f"{name} is .*; it must be True or False"):
                kind(**{name: value}).fit(X)
    kind(axial=np.bool_(False), allow_missing=0).fit(X)
    with pytest.raises(ValueError, match="measure is 'x'; it must be 'cosine' or 'angle'"):
        kind(measure="x").fit(X)
    if "verbose" in kind().get_params():
        with pytest.raises(TypeError, match="verbose is 'yes'; it must be an integer"):
            kind(verbose="yes").fit(X)


@pytest.mark.parametrize("kind, name, words", [
    (asterism.DPVMFMeans, "order", "'given', 'content' or 'random'"), (asterism.VMFMixture, "shape", "'vmf' or 'kent'"),
    (asterism.DDPVMFMeans, "score", "'nearest' or 'geodesic'"), (asterism.DDPVMFMeans, "revive", "'near' or 'any'")])
def test_words_are_words(kind, name, words):
    for value in ("x", [], {}, np.array(3.0), np.array("given"), 1):
        with pytest.raises(ValueError, match=f"{name} is .*; it must be {words}"):
            kind(**{name: value}).fit(X)


def test_numbers_are_numbers():
    for kind, name in ((asterism.VMFMixture, "kappa"), (asterism.VMFMixture, "tol"), (asterism.DDPVMFMeans, "beta"),
                       (asterism.DDPVMFMeans, "drift"), (asterism.DPVMFMeans, "outlier_angle")):
        with pytest.raises(TypeError, match=f"{name} is .*; it must be"):
            kind(**{name: np.array("a")}).fit(X).predict(X)
        with pytest.raises(ValueError, match=f"{name} is nan; it must be"):
            kind(**{name: np.nan}).fit(X).predict(X)
    for kind in ESTIMATORS[:4]:
        for value in ({}, 1j, b"a", np.array("a")):
            with pytest.raises(ValueError, match="init must be means of shape .*, and it is no array of numbers"):
                kind(init=value).fit(X)
    with pytest.raises(ValueError, match="center must be one row of 4 numbers"):
        asterism.DDPVMFMeans(center="mean").fit(X)


@pytest.mark.parametrize("call, name", [
    (lambda value: asterism.tune(X, largest=value), "largest"), (lambda value: asterism.tune(X, step=value), "step"),
    (lambda value: asterism.tune(X, axial=value), "axial"), (lambda value: asterism.dedup(X, value), "cosine"),
    (lambda value: asterism.dedup(X, 0.9, mode=value), "mode"), (lambda value: asterism.hallway(value), "frame"),
    (lambda value: asterism.hallway(0, size=(value, 8)), "size"),
    (lambda value: asterism.sample(5, dimension=3, clusters=2, kappa=value), "kappa"),
    (lambda value: asterism.sample(5, dimension=3, clusters=2, kappa=5, noise=value), "noise"),
    (lambda value: asterism.sample(5, dimension=3, clusters=2, kappa=5, distribution=value), "distribution"),
    (lambda value: asterism.normals(np.ones((8, 8), "u2"), "kinect", units_per_metre=value), "units_per_metre")])
def test_functions_name_their_parameters(call, name):
    for value in ("x", [], {}, np.array([1.0, 2.0]), 1j):
        with pytest.raises((TypeError, ValueError), match=f"{name} (is|must be) "):
            call(value)
