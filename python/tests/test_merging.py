# SPDX-License-Identifier: MIT
"""Orders, restarts, merging, the tree and small clusters: against the command, against scipy, and by definition."""
import json
import pickle

import numpy as np
import pytest
import scipy.sparse
from scipy.cluster.hierarchy import cophenet, dendrogram, fcluster, is_valid_linkage
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks

import asterism
from asterism import DPVMFMeans, SphericalKMeans

MERGES = [{}, {"merge": 25}, {"merge": "evidence"}, {"merge_to": 4}, {"min_size": 30}, {"merge_to": 9, "min_size": 30}]


@parametrize_with_checks([DPVMFMeans(angle=40, order="content"), DPVMFMeans(angle=40, merge="evidence"),
                          DPVMFMeans(angle=40, order="content", n_init=3, merge="evidence")])
def test_check(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def six():
    """Six clusters and a little noise, 1,500 rows in 5 dimensions."""
    return asterism.sample(1500, dimension=5, clusters=6, kappa=50, separation=50, noise=0.02, random_state=3)


@pytest.fixture(scope="module")
def weights():
    drawn = np.random.RandomState(4).uniform(0.2, 3, 1500)
    drawn[::7] = 0
    return drawn


def command_options(given):
    return [word for name, value in given.items() for word in (f"--{name.replace('_', '-')}", value)]


@pytest.mark.parametrize("given", MERGES, ids=str)
@pytest.mark.parametrize("how", ["plain", "weights", "axial", "missing", "restarts", "sparse"])
def test_equals_the_command(six, weights, command, tmp_path, given, how):
    X, extra, fit, parameters = six[0].copy(), [], {}, {}
    if how == "weights":
        np.save(tmp_path / "weights.npy", weights)
        extra, fit = ["--weights", tmp_path / "weights.npy"], {"sample_weight": weights}
    if how == "axial":
        extra, parameters = ["--axial"], {"axial": True}
    if how == "missing":
        X[::11] = np.nan
        parameters = {"allow_missing": True}
    if how == "restarts":
        extra, parameters = ["--restarts", 3], {"n_init": 3}
    np.save(tmp_path / "points.npy", X)
    told = json.loads(command("cluster", tmp_path / "points.npy", "--angle", 30, "--order", "content", "--seed", 5, "--json",
                              "--tree", tmp_path / "tree.json", "--labels", tmp_path / "labels.npy", *extra,
                              *command_options(given)))
    model = DPVMFMeans(30, order="content", random_state=5, **parameters, **given)
    model.fit(scipy.sparse.csr_matrix(X) if how == "sparse" else X, **fit)
    tree = json.loads((tmp_path / "tree.json").read_text())
    np.testing.assert_array_equal(model.labels_, np.load(tmp_path / "labels.npy"))
    np.testing.assert_array_equal(model.leaf_labels_, tree["leaves"])
    np.testing.assert_array_equal(model.tree_[:, :2], [[join["a"], join["b"]] for join in tree["joins"]])
    assert (model.n_clusters_, model.n_leaves_, len(model.outliers_)) == (told["clusters"], told["merged"], told["outliers"])
    assert model.objective_ == pytest.approx(told["objective"], rel=1e-12)
    if how == "restarts":
        assert model.stability_ == pytest.approx(told["stability"]) and model.silhouette_ == pytest.approx(told["silhouette"])
        np.testing.assert_allclose(model.cluster_stability_, [one["stability"] for one in told["cluster"]])
    else:
        assert np.isnan([model.stability_, model.silhouette_]).all() and np.isnan(model.cluster_stability_).all()


def cut(tree, count):
    """The level of the tree with `count` nodes: the node that every leaf belongs to."""
    leaves = len(tree) + 1
    node = np.arange(leaves)
    for step, (a, b) in enumerate(tree[:leaves - count, :2]):
        node[(node == a) | (node == b)] = leaves + step
    return node


@pytest.mark.parametrize("axial", [False, True])
def test_scipy_cuts_the_tree_where_we_do(six, axial):
    X = np.concatenate([six[0][:300], six[0][:50]])  # from 3 degrees nearly every row is a leaf
    model = DPVMFMeans(3, order="content", axial=axial).fit(X)
    assert is_valid_linkage(model.tree_) and (np.diff(model.tree_[:, 2]) > 0).all() and model.n_leaves_ > 250
    assert model.tree_[-1, 3] == model.n_leaves_
    for count in range(1, model.n_leaves_ - 1):  # of any tree, scipy undoes all joins but the first two at most
        theirs, ours = fcluster(model.tree_, count, "maxclust"), cut(model.tree_, count)
        assert len(set(theirs)) == count and adjusted_rand_score(theirs, ours) == 1
    dendrogram(model.tree_, no_plot=True)
    assert cophenet(model.tree_).max() == model.tree_[-1, 2]


def test_the_heights_are_what_is_lost_of_the_objective(six):
    X = six[0].astype(np.float64)
    model = DPVMFMeans(30).fit(X)
    units = X / np.linalg.norm(X, axis=1, keepdims=True)

    def lengths(labels):
        return sum(np.linalg.norm(units[labels == one].sum(axis=0)) for one in set(labels))

    for count in (1, 2, 5, model.n_leaves_ - 1):
        lost = lengths(model.leaf_labels_) - lengths(cut(model.tree_, count)[model.leaf_labels_])
        assert model.tree_[model.n_leaves_ - 1 - count, 2] == pytest.approx(lost, rel=1e-6)


def test_equal_leaves_lose_nothing_and_are_cut_in_order():
    X = np.repeat(np.eye(4), 3, axis=0)
    model = SphericalKMeans(4, init=np.eye(4)[[0, 0, 1, 2]], max_iter=1)
    with pytest.warns(UserWarning):
        model.fit(X)
    assert is_valid_linkage(model.tree_) and (np.diff(model.tree_[:, 2]) > 0).all()


def test_merging_finds_the_clusters(six):
    X, truth = six
    there = truth >= 0
    for given in ({"merge": "evidence"}, {"merge_to": 6}):
        model = DPVMFMeans(30, order="content", **given).fit(X[there])
        assert model.n_leaves_ > 10 and model.n_clusters_ == 6
        assert adjusted_rand_score(truth[there], model.labels_) > 0.99
        level = fcluster(model.tree_, 6, "maxclust")[model.leaf_labels_]
        assert adjusted_rand_score(level, model.labels_) > 0.97  # the passes after the cut move a few rows
        assert model.predict(X).min() == 0
    assert SphericalKMeans(30, merge_to=6, random_state=1).fit(X[there]).n_clusters_ == 6


@pytest.mark.parametrize("given", MERGES, ids=str)
def test_permuted_rows_get_permuted_labels(six, weights, given):
    rows = np.random.RandomState(5).permutation(1500)
    model = DPVMFMeans(30, order="content", n_init=2, **given).fit(six[0], sample_weight=weights)
    other = clone(model).fit(six[0][rows], sample_weight=weights[rows])
    np.testing.assert_array_equal(other.labels_, model.labels_[rows])
    np.testing.assert_array_equal(other.leaf_labels_, model.leaf_labels_[rows])
    np.testing.assert_array_equal(other.tree_, model.tree_)
    np.testing.assert_array_equal(np.sort(rows[other.outliers_]), model.outliers_)
    np.testing.assert_array_equal(other.cluster_centers_, model.cluster_centers_)


def test_outliers_are_not_missing_rows(three_ways):
    X = np.concatenate([three_ways[0], -np.ones((2, 3), np.float32), np.zeros((1, 3), np.float32), [[np.nan, 0, 1]]])
    model = DPVMFMeans(30, min_size=5, allow_missing=True).fit(X)
    assert model.n_clusters_ == 3 and model.n_leaves_ == 4
    assert np.flatnonzero(model.labels_ < 0).tolist() == [300, 301, 302, 303]
    assert model.outliers_.tolist() == [300, 301]
    assert (model.predict(X)[:302] >= 0).all()
    model = SphericalKMeans(4, init=X[[0, 100, 200, 300]], min_size=5, allow_missing=True).fit(X)
    assert model.n_clusters_ == 3 and model.outliers_.tolist() == [] and model.labels_[300] >= 0
    model = DPVMFMeans(30, min_size=1000).fit(X[:302])
    assert model.n_clusters_ == 0 and len(model.outliers_) == 302 and (model.predict(X[:5]) == -1).all()


def test_a_least_size_of_1_dissolves_nothing(three_ways):
    model = DPVMFMeans(30).fit(three_ways[0], sample_weight=np.full(300, 1e-3))
    assert model.n_clusters_ == 3 and len(model.outliers_) == 0
    assert DPVMFMeans(30, min_size=0.5).fit(three_ways[0], sample_weight=np.full(300, 1e-3)).n_clusters_ == 0


def test_the_default_order():
    """The paper's up to 8 dimensions, by content above: permuted rows get permuted labels."""
    for dimension, order in ((8, "given"), (9, "content")):
        X, _ = asterism.sample(600, dimension=dimension, clusters=12, kappa=20, separation=40, random_state=3)
        labels = {name: DPVMFMeans(35, order=name).fit(X).labels_ for name in ("given", "content")}
        assert (labels["given"] != labels["content"]).any()
        np.testing.assert_array_equal(DPVMFMeans(35).fit(X).labels_, labels[order])
    rows = np.random.default_rng(1).permutation(600)
    np.testing.assert_array_equal(DPVMFMeans(35).fit(X[rows]).labels_, labels["content"][rows])
    assert DPVMFMeans().order is None


def test_orders(three_ways):
    X = three_ways[0]
    first = DPVMFMeans(8, order="random", random_state=3).fit(X).labels_
    np.testing.assert_array_equal(DPVMFMeans(8, shuffle=True, random_state=3).fit(X).labels_, first)
    np.testing.assert_array_equal(DPVMFMeans(8, shuffle=True, order="random", random_state=3).fit(X).labels_, first)
    content = DPVMFMeans(8, order="content").fit(X).labels_
    np.testing.assert_array_equal(DPVMFMeans(8, order="content").fit(X).labels_, content)
    assert any((DPVMFMeans(8, order="content", random_state=seed).fit(X).labels_ != content).any() for seed in range(2, 5))


def test_one_cluster_has_an_empty_tree(three_ways):
    model = DPVMFMeans(180).fit(three_ways[0])
    assert model.tree_.shape == (0, 4) and model.n_leaves_ == model.n_clusters_ == 1


def test_copies_of_weight_0_before_the_rows_change_nothing():
    X, _ = asterism.sample(600, dimension=10, clusters=5, kappa=60, separation=60)
    model = DPVMFMeans(30, order="content", merge="evidence")
    alone = model.fit(X).labels_
    weights = np.repeat([0.0, 1.0], len(X))
    assert model.n_clusters_ == 5
    np.testing.assert_array_equal(model.fit(np.vstack([X, X]), sample_weight=weights).labels_[len(X):], alone)


def test_pickles_have_the_tree(six):
    model = DPVMFMeans(30, merge_to=5).fit(six[0])
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).tree_, model.tree_)
    model.pickle_labels = True
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.tree_, model.tree_)
    np.testing.assert_array_equal(again.leaf_labels_, model.leaf_labels_)


@pytest.mark.parametrize("given, sentence", [
    ({"order": "sideways"}, "order is 'sideways'; it must be 'given', 'content' or 'random'"),
    ({"order": "content", "shuffle": True}, "shuffle=True is order='random', but order is 'content'"),
    ({"merge": "bic"}, "merge is 'bic'; it must be None, 'evidence' or an angle"),
    ({"merge": True}, "merge is True"),
    ({"merge": 181}, "merge is 181"),
    ({"merge": 10, "merge_to": 3}, "merge and merge_to exclude each other"),
    ({"merge_to": 0}, "merge_to is 0; it must be at least 1"),
    ({"merge_to": 1000}, "1000"),
    ({"min_size": -1}, "min_size is -1; it must be a number of at least 0"),
    ({"min_size": np.nan}, "min_size is nan"),
    ({"min_size": "small"}, "min_size is 'small'"),
])
def test_wrong_parameters(three_ways, given, sentence):
    with pytest.raises(ValueError) as raised:
        DPVMFMeans(30, **given).fit(three_ways[0])
    assert sentence in str(raised.value)
