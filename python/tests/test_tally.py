# SPDX-License-Identifier: MIT
"""Iterations in parts: those of SphericalKMeans, whatever the parts; tallies that travel; arguments that are wrong."""
import copy
import pickle

import numpy as np
import pytest
import scipy.sparse

from asterism import SphericalKMeans, Tally


def iterations(X, start, cuts, dtype=np.float32, **options):
    """Labels, means, objective and number of iterations, with X in parts that end at `cuts`."""
    weights = options.pop("sample_weight", None)
    means, before, labels = Tally.start(start), None, np.full(X.shape[0], -7, np.int32)
    for iteration in range(1, 101):
        parts = []
        for first, end in zip((0, *cuts), (*cuts, X.shape[0])):
            tally = Tally(means, n_threads=1 + len(parts) % 2, **options)
            tally.add(X[first:end], first, labels=labels[first:end],
                      sample_weight=None if weights is None else weights[first:end])
            parts.append(pickle.loads(pickle.dumps(tally)))
        total = Tally(means, **options)
        for part in reversed(parts):
            total.merge(part)
        step = total.update()
        labels[step.moves[:, 0]] = step.moves[:, 2]
        means = step.means
        if step.fingerprint == before:
            break
        before = step.fingerprint
    return labels, means, step.objective, iteration


@pytest.fixture(scope="module")
def points():
    random = np.random.RandomState(5)
    return random.normal(size=(2000, 6)) + 2 * random.normal(size=(30, 6))[random.randint(30, size=2000)]


@pytest.mark.parametrize("cuts", [(), (1, 700, 701), (0, 1999)])
@pytest.mark.parametrize("kind", ["plain", "float16", "sparse", "axial", "weights", "doubles"])
def test_the_result_is_that_of_one_fit(points, kind, cuts):
    X, start = points.astype(np.float16) if kind == "float16" else points, points[:25]
    options, fit = {}, {}
    if kind == "sparse":
        X = scipy.sparse.csr_matrix(np.where(np.abs(points) > 0.5, points, 0))
    if kind == "doubles":  # means of which every second has no point at first
        start = np.repeat(start, 2, axis=0)
    if kind == "axial":
        options["axial"] = True
    if kind == "weights":
        weights = 0.5 + np.arange(len(points)) % 7
        options["weights"] = 0.5, sum(weights / 0.5)
        options["sample_weight"] = fit["sample_weight"] = weights
    model = SphericalKMeans(len(start), init=start, axial=kind == "axial").fit(X, **fit)
    labels, means, objective, count = iterations(X, start, cuts, **options)
    np.testing.assert_array_equal(labels, model.labels_)
    if kind == "axial":
        means = means * np.sign(np.take_along_axis(means, np.abs(means).argmax(axis=1)[:, None], 1))
    np.testing.assert_array_equal(means, model.cluster_centers_)
    assert (objective, count) == (model.objective_, model.n_iter_)


def test_bytes_depend_on_the_points_alone(points):
    means = Tally.start(points[:30])
    whole, parts = Tally(means), [Tally(means) for _ in range(3)]
    whole.add(points)
    for part, (first, end) in zip(parts, [(0, 5), (5, 1200), (1200, 2000)]):
        part.add(points[first:end], first)
    left = copy.copy(parts[0]).merge(parts[1]).merge(bytes(parts[2]))
    right = copy.copy(parts[2]).merge(copy.copy(parts[1]).merge(parts[0]))
    assert bytes(left) == bytes(right) == bytes(whole)
    assert len(bytes(whole)) == 8 * (15 + 30 * 6 + 30 + 30 + 1)


def test_totals(points):
    X = points.copy()
    X[7] = np.nan
    tally = Tally(Tally.start(points[:4]))
    labels = tally.add(X)
    totals = tally.totals()
    assert (totals.points, totals.missing, totals.changed) == (2000, 1, 1999) and labels[7] == -1
    assert totals.members.tolist() == np.bincount(labels[labels >= 0]).tolist() == totals.weights.tolist()
    units = points / np.linalg.norm(points, axis=1, keepdims=True)
    np.testing.assert_allclose(totals.sums[1] / totals.unit, units[labels == 1].sum(axis=0), atol=1e-4)
    assert totals.objective == pytest.approx(sum((units @ tally.means.T).max(axis=1)[labels >= 0]), rel=1e-6)
    again = Tally(tally.means)
    again.add(X, labels=labels)
    assert again.totals().changed == 0
    tally.update()
    assert tally.totals().points == 0 and not tally.totals().sums.any()


def test_wrong_arguments(points):
    means = Tally.start(points[:4])
    tally = Tally(means)
    tally.add(points)
    with pytest.raises(ValueError, match="no unit vector; ast_tally_start makes it one"):
        Tally(points[:4]).add(points)
    with pytest.raises(ValueError, match="another set of means"):
        tally.merge(Tally(means[::-1]))
    with pytest.raises(ValueError, match="its checksum does not match"):
        tally.merge(bytes(tally)[:300] + bytes([bytes(tally)[300] ^ 1]) + bytes(tally)[301:])
    with pytest.raises(ValueError, match="it has only 3 bytes"):
        tally.merge(b"abc")
    with pytest.raises(ValueError, match="mean 1 .* has no direction"):
        Tally.start([[0, 0]])
    with pytest.raises(ValueError, match="the points have dimension 5, the means 6"):
        tally.add(points[:, :5], 2000)
    with pytest.raises(ValueError, match=r"the means have the shape \(3,\)"):
        Tally([1, 0, 0])
    with pytest.raises(ValueError, match="labels must be 2000 contiguous numbers"):
        tally.add(points, labels=np.zeros(2000))
    with pytest.raises(ValueError, match="there are 4 clusters, but only 2 usable points"):
        few = Tally(means)
        few.add(points[:2])
        few.update()
    assert tally.totals().points == 2000


def test_labels_that_cannot_be_written(points, tmp_path):
    """Neither a mapped file nor a bytes object is written to, and the tally stays as it was."""
    tally, kept = Tally(Tally.start(points[:4])), bytes(8000)
    np.full(2000, 3, np.int32).tofile(tmp_path / "labels")
    for labels in (np.frombuffer(kept, np.int32), np.memmap(tmp_path / "labels", np.int32, "r")):
        with pytest.raises(ValueError, match="labels cannot be written"):
            tally.add(points, labels=labels)
    with pytest.raises(ValueError, match="labels must be 2000 contiguous numbers"):
        tally.add(points, labels=kept)
    assert kept == bytes(8000) and tally.totals().points == 0
    mapped = np.memmap(tmp_path / "labels", np.int32, "r+")
    assert (tally.add(points, labels=mapped) == np.fromfile(tmp_path / "labels", np.int32)).all()


def test_rows_that_would_count_twice(points):
    means = Tally.start(points[:4])
    parts = [Tally(means) for _ in range(3)]
    for part, first in zip(parts, (0, 1000, 1000)):
        part.add(points[first:first + 1000], first)
    all_of_it = Tally(means).merge(parts[0]).merge(parts[1])
    before = bytes(all_of_it)
    with pytest.raises(ValueError, match="row 1000 would count twice"):
        all_of_it.merge(parts[2])
    with pytest.raises(ValueError, match="row 500 would count twice: rows 0 to 1999 are there"):
        all_of_it.add(points[:10], 500)
    with pytest.raises(ValueError, match="was merged before"):
        all_of_it.merge(bytes(parts[1]))
    pieces = Tally(means).merge(bytes(parts[0]))
    with pytest.raises(ValueError, match="was merged before"):
        pieces.merge(parts[0])
    assert bytes(all_of_it) == before and bytes(pieces) == bytes(parts[0])
    pieces.merge(Tally(means)).merge(Tally(means))  # nothing counts as often as one likes
    assert bytes(pickle.loads(pickle.dumps(pieces)).merge(parts[1])) == before
    all_of_it.update()
    all_of_it.add(points[:1000], 0)  # the next iteration


def test_numbers_of_rows(points):
    means = Tally.start(points[:4])
    for first, kind in ((-1, ValueError), (2 ** 64 + 5, ValueError), (True, TypeError), (0.5, TypeError)):
        with pytest.raises(kind, match="first is"):
            Tally(means).add(points, first)
    tally = Tally(means)
    tally.add(points[:1000], 0)
    tally.add(points[1000:], 1500)
    with pytest.raises(ValueError, match="rows 1000 to 1499 were not added, but row 1500 was"):
        tally.update()
