# SPDX-License-Identifier: MIT
"""Ids that clusters keep: against all permutations of small cases, and the three kinds of `previous`."""
import itertools

import numpy as np
import pytest

import asterism
from asterism import DPVMFMeans


def slow_sum(old, new):
    """The largest sum of overlaps, one to one, over pairs that share more than half of either cluster."""
    olds, news = np.unique(old[old >= 0]), np.unique(new[new >= 0])
    shared = np.array([[np.sum((old == o) & (new == n)) for n in news] for o in olds])
    fits = [[2 * shared[i, j] > min(np.sum(old == o), np.sum(new == n)) for j, n in enumerate(news)]
            for i, o in enumerate(olds)]
    shared = np.where(fits, shared, 0)
    shared = shared if len(olds) <= len(news) else shared.T
    return max(sum(shared[i, j] for i, j in enumerate(places))
               for places in itertools.permutations(range(shared.shape[1]), len(shared)))


def slow_event(one, old, labels, lineage):
    """What the definitions say of a cluster, from the labels alone."""
    rows = labels == one.id
    olds = np.unique(old[old >= 0])
    inside = [o for o in olds if 2 * np.sum(rows & (old == o)) > np.sum(old == o)]
    if len(inside) > 1:
        return "merged"
    kept = one.id in olds
    for o in olds:
        pieces = [n for n in np.unique(labels[labels >= 0]) if 2 * np.sum((labels == n) & (old == o)) > np.sum(labels == n)]
        cover = np.isin(labels, pieces) & (old == o)
        if one.id in pieces and len(pieces) > 1 and 2 * cover.sum() > np.sum(old == o) and (not kept or one.id == o):
            return "split"
    return "kept" if kept else "born"


@pytest.mark.parametrize("seed", range(60))
def test_labels_against_all_permutations(seed):
    random = np.random.default_rng(seed)
    axes = np.eye(6)
    new = random.integers(0, random.integers(1, 7), 40)
    old = np.where(random.random(40) < 0.6, random.permutation(9)[new], random.integers(-1, random.integers(1, 6), 40))
    fitted = DPVMFMeans(angle=30, order="given", previous=old).fit(axes[new])
    labels, plain = fitted.labels_, DPVMFMeans(angle=30, order="given").fit(axes[new]).labels_
    assert len(set(zip(labels, plain))) == fitted.n_clusters_ == len(fitted.ids_)  # the same clusters
    kept = set(fitted.ids_.tolist()) & set(old[old >= 0].tolist())
    assert sum(np.sum((old == i) & (labels == i)) for i in kept) == slow_sum(old, plain)
    assert (np.diff(fitted.ids_) > 0).all() and all(i in kept or i > old.max() for i in fitted.ids_)
    events = {one.id: one for one in fitted.lineage_ if one.event != "died"}
    assert sorted(events) == fitted.ids_.tolist()
    for one in events.values():
        assert one.event == slow_event(one, old, labels, fitted.lineage_)
    named = {i for one in events.values() for i in one.from_}
    assert [one.id for one in fitted.lineage_ if one.event == "died"] == sorted(set(old[old >= 0].tolist()) - named)
    assert np.array_equal(fitted.predict(axes[new]), labels)
    assert np.allclose(fitted.cluster_centers_[np.searchsorted(fitted.ids_, labels)], axes[new])


@pytest.fixture(scope="module")
def rows():
    return asterism.sample(900, dimension=12, clusters=6, kappa=300, separation=60, random_state=4)


def test_a_model_keeps_old_topics_and_adds_new(rows, tmp_path):
    X, truth = rows
    first = DPVMFMeans(angle=50, center=True).fit(X[truth != 2])
    for previous in (first, first._model()):
        second = DPVMFMeans(angle=50, previous=previous).fit(X)
        old = first.predict(X)
        assert second.ids_[: first.n_clusters_].tolist() == first.ids_.tolist()
        new = second.labels_ >= first.n_clusters_
        assert (truth[new] == 2).mean() > 0.95 and new[truth == 2].mean() > 0.95
        assert (second.labels_[~new] == old[~new]).all()
        means = second.cluster_centers_
        assert np.array_equal(means[: first.n_clusters_], first.cluster_centers_)
        units = X / np.linalg.norm(X, axis=1, keepdims=True) - second.center_
        cosines = units / np.linalg.norm(units, axis=1, keepdims=True) @ means.T
        assert (second.ids_[cosines.argmax(axis=1)] == second.labels_).mean() > 0.999
        second.save(tmp_path / "b.model")
        loaded = asterism.load(tmp_path / "b.model")
        assert (loaded.predict(X) == second.labels_).all() and loaded.ids_.tolist() == second.ids_.tolist()
        assert np.array_equal(loaded.fits_[: first.n_clusters_], first._model().fits_)


def test_means(rows):
    X, _ = rows
    first = DPVMFMeans(angle=50).fit(X[:450])
    second = DPVMFMeans(angle=50, previous=first.cluster_centers_[::-1]).fit(X[450:])
    cosines = second.cluster_centers_ @ first.cluster_centers_[::-1].T
    for place, one in enumerate(second.ids_):
        if one < first.n_clusters_:
            assert cosines[place].argmax() == one and cosines[:, one].argmax() == place
    assert sum(one.event == "kept" for one in second.lineage_) == 6


def test_wrong_previous(rows):
    X, _ = rows
    for previous, message in [(np.zeros(5, int), "previous has 5 labels, but X has 900 rows"),
                              (np.ones((2, 3)), "means of 3 dimensions, but X has 12 features"),
                              ("text", "previous is str; it must be a fitted estimator"),
                              (DPVMFMeans(angle=40).fit(np.eye(4)), "the points have dimension 12, but the previous model 4")]:
        with pytest.raises(ValueError, match=message):
            DPVMFMeans(angle=40, previous=previous).fit(X)
    with pytest.raises(ValueError, match="with a previous model give degrees"):
        DPVMFMeans(angle="auto", previous=DPVMFMeans(angle=40).fit(X)).fit(X)
    plain = DPVMFMeans(angle=40).fit(X)
    assert plain.lineage_ is None and plain.ids_.tolist() == list(range(plain.n_clusters_))
