# SPDX-License-Identifier: MIT
"""The batch estimators: the command's labels, what the attributes hold, and parameters that are wrong."""
import json
import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from asterism import DPVMFMeans, MiniBatchSphericalKMeans, SphericalKMeans


@pytest.fixture(scope="module")
def w2(command, tmp_path_factory):
    """The benchmark's W2: a million points, thirty clusters."""
    folder = tmp_path_factory.mktemp("w2")
    command("sample", "--points", 1000000, "--dimension", 3, "--clusters", 30, "--kappa", 400, "--separation", 30,
            "--seed", 1, "--output", folder / "w2.npy")
    return folder / "w2.npy"


def from_command(command, points, *options):
    labels, means = points.with_name("labels.npy"), points.with_name("means.npy")
    report = json.loads(command("cluster", points, *options, "--labels", labels, "--means", means, "--json"))
    return report, np.load(labels), np.load(means)


@pytest.mark.parametrize("options, model", [
    (("--angle", 25), DPVMFMeans(25)),
    (("--angle", 25, "--shuffle", "--seed", 7, "--threads", 1), DPVMFMeans(25, shuffle=True, random_state=7)),
    (("--method", "spkm", "--clusters", 30, "--seed", 3), SphericalKMeans(30, random_state=3)),
])
def test_labels_are_those_of_the_command(command, w2, options, model):
    report, labels, means = from_command(command, w2, *options)
    model.fit(np.load(w2, mmap_mode="r"))
    assert model.labels_.dtype == np.int32
    np.testing.assert_array_equal(model.labels_, labels)
    np.testing.assert_array_equal(model.cluster_centers_, means)
    assert (model.objective_, model.n_iter_) == (report["objective"], report["iterations"])
    np.testing.assert_allclose(model.kappas_, [one["kappa"] for one in report["cluster"]], rtol=1e-6)
    assert model.counts_.tolist() == [one["size"] for one in report["cluster"]]


def test_threads_do_not_matter(three_ways):
    X, _ = three_ways
    one, many = DPVMFMeans(20, n_threads=1).fit(X), DPVMFMeans(20, n_threads=4).fit(X)
    np.testing.assert_array_equal(one.labels_, many.labels_)
    np.testing.assert_array_equal(one.cluster_centers_, many.cluster_centers_)


@pytest.mark.parametrize("model", [DPVMFMeans(40), SphericalKMeans(3, n_init=5, random_state=1)])
def test_attributes(three_ways, model):
    X, truth = three_ways
    model.fit(X)
    order = [int(model.labels_[100 * k]) for k in range(3)]
    np.testing.assert_array_equal(model.labels_, np.array(order)[truth])
    assert model.counts_.tolist() == [100, 100, 100]
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    units = X / np.linalg.norm(X, axis=1, keepdims=True)
    own = np.einsum("ij,ij->i", units, model.cluster_centers_[model.labels_])
    np.testing.assert_allclose(model.similarity_, own, atol=1e-6)
    np.testing.assert_allclose(model.similarity(X), own, atol=1e-6)
    np.testing.assert_allclose(model.transform(X), units @ model.cluster_centers_.T, atol=1e-6)
    assert model.score(X) == pytest.approx(model.objective_, rel=1e-5)
    assert np.all(model.kappas_ > 20)


def test_transform_in_degrees(three_ways):
    X, _ = three_ways
    model = DPVMFMeans(40, measure="angle").fit(X)
    angles = model.transform(model.cluster_centers_)
    np.testing.assert_allclose(np.diag(angles), 0, atol=0.05)
    assert 80 < angles[0, 1] < 100
    with pytest.raises(ValueError, match="measure is 'euclid'; it must be 'cosine' or 'angle'"):
        model.set_params(measure="euclid").transform(X)


def test_outliers(three_ways):
    X, _ = three_ways
    model = DPVMFMeans(40).fit(X)
    far = np.array([[-1, -1, -1], [1, 0.01, 0]])
    assert model.predict(far).tolist()[1] == 0 and model.predict(far)[0] >= 0
    assert model.set_params(outlier_angle=30).predict(far).tolist() == [-1, 0]


def test_weights_move_means_and_zero_takes_no_part():
    X = np.array([[1, 0], [0.8, 0.6], [0, 1]])
    heavy = DPVMFMeans(60).fit(X, sample_weight=[9, 1, 1])
    plain = DPVMFMeans(60).fit(X)
    assert heavy.cluster_centers_[0, 0] > plain.cluster_centers_[0, 0]
    without = DPVMFMeans(60).fit(X, sample_weight=[1, 1, 0])
    assert len(without.cluster_centers_) == 1 and without.labels_.tolist() == [0, 0, -1]
    score = heavy.score(X, sample_weight=[9, 1, 1])
    assert score == pytest.approx(heavy.similarity_ @ [9, 1, 1] + (0.5 - 1) * len(heavy.cluster_centers_), rel=1e-6)
    with pytest.raises(ValueError, match="weight 2 .* is -1"):
        DPVMFMeans(60).fit(X, sample_weight=[1, -1, 1])


def test_init(three_ways):
    X, truth = three_ways
    start = np.eye(3)[::-1]
    model = SphericalKMeans(3, init=start).fit(X)
    np.testing.assert_array_equal(model.labels_, 2 - truth)
    np.testing.assert_array_equal(DPVMFMeans(40, init=start).fit(X).labels_, 2 - truth)
    with pytest.raises(ValueError, match=r"init has the shape \(3, 2\); it must be \(clusters, 3\)"):
        SphericalKMeans(3, init=np.ones((3, 2))).fit(X)
    with pytest.raises(ValueError, match="number of clusters differs"):
        SphericalKMeans(4, init=start).fit(X)


def test_random_state(three_ways):
    X, _ = three_ways
    def labels(state):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            return SphericalKMeans(20, init="random", max_iter=1, random_state=state).fit(X).labels_
    np.testing.assert_array_equal(labels(5), labels(np.int64(5)))
    np.testing.assert_array_equal(labels(np.random.RandomState(5)), labels(np.random.RandomState(5)))
    assert not np.array_equal(labels(5), labels(6))


def test_fewer_directions_than_clusters():
    X = np.repeat(np.eye(3), 4, axis=0)
    for order in range(5):
        shuffled = np.random.RandomState(order).permutation(12)
        with pytest.warns(ConvergenceWarning, match="there are 3 distinct directions, fewer than n_clusters = 7"):
            model = SphericalKMeans(7, random_state=order).fit(X[shuffled])
        assert model.counts_.tolist() == [4, 4, 4, 0, 0, 0, 0]
        np.testing.assert_array_equal(model.cluster_centers_, np.eye(3)[[2, 1, 0, 2, 1, 0, 2]])
        np.testing.assert_array_equal(model.labels_, 2 - np.arange(12)[shuffled] // 4)


@pytest.mark.parametrize("model, kind, words", [
    (DPVMFMeans(200), ValueError, "the angle must be between 0 and 180 degrees"),
    (DPVMFMeans(max_iter=0), ValueError, "max_iter is 0; it must be at least 1"),
    (DPVMFMeans(n_init=1.5), TypeError, "n_init is 1.5; it must be an integer"),
    (DPVMFMeans(n_threads=0), ValueError, "n_threads is 0; it must be None"),
    (SphericalKMeans(0), ValueError, "n_clusters is 0; it must be at least 1"),
    (SphericalKMeans(301), ValueError, "n_samples=300 should be at least n_clusters=301"),
    (SphericalKMeans(3, init="best"), ValueError, "init is 'best'; it must be 'k-means\\+\\+', 'random' or an array"),
])
def test_wrong_parameters(three_ways, model, kind, words):
    with pytest.raises(kind, match=words):
        model.fit(three_ways[0])


def test_not_fitted_and_not_converged(three_ways):
    X, _ = three_ways
    with pytest.raises(NotFittedError):
        DPVMFMeans().predict(X)
    with pytest.raises(AttributeError, match="not fitted"):
        DPVMFMeans().similarity_
    with pytest.warns(ConvergenceWarning, match="max_iter = 1"):
        SphericalKMeans(30, init="random", max_iter=1, random_state=1).fit(X)


@pytest.mark.parametrize("model", [DPVMFMeans(30, axial=True),
                                   SphericalKMeans(3, axial=True, n_init=5, random_state=1)])
def test_axial(three_ways, model):
    X, truth = three_ways[0].copy(), three_ways[1]
    model.fit(X)
    plain = model.labels_.copy()
    X[::2] *= -1
    model.fit(X)
    np.testing.assert_array_equal(model.labels_[:, None] == model.labels_, truth[:, None] == truth)
    np.testing.assert_array_equal(model.labels_, plain)
    np.testing.assert_array_equal(model.predict(-X), model.labels_)
    np.testing.assert_allclose(model.transform(X), model.transform(-X))
    assert model.transform(X).min() >= 0 and model.similarity_.min() > 0.5
    assert model.score(X) == pytest.approx(model.objective_, rel=1e-5)


def test_mini_batches(command, w2):
    X = np.load(w2)[:50_000]
    np.save(w2.with_name("some.npy"), X)
    report, labels, means = from_command(command, w2.with_name("some.npy"), "--method", "mbspkm", "--clusters", 30,
                                         "--seed", 3, "--batch", 2000)
    model = MiniBatchSphericalKMeans(30, batch_size=2000, random_state=3, n_threads=1).fit(X)
    np.testing.assert_array_equal(model.labels_, labels)
    np.testing.assert_array_equal(model.cluster_centers_, means)
    assert (model.objective_, model.n_iter_, model.improvement_) == (report["objective"], report["iterations"],
                                                                     report["improvement"])
    further = SphericalKMeans(30, init=means, max_iter=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        assert further.fit(X).objective_ - model.objective_ == pytest.approx(model.improvement_, abs=1e-6)


def test_partial_fit_learns_batch_by_batch(three_ways):
    X, truth = three_ways
    order = np.random.RandomState(1).permutation(300)
    model = MiniBatchSphericalKMeans(3, n_init=10, random_state=1)
    for rows in order.reshape(6, 50):
        assert model.partial_fit(X[rows], sample_weight=1 + np.arange(50) % 3) is model
    assert model.n_iter_ == 6 and model.counts_.sum() == 50 and len(model.labels_) == 50
    np.testing.assert_array_equal(model.predict(X)[:, None] == model.predict(X), truth[:, None] == truth)
    assert model.score(X) == pytest.approx(SphericalKMeans(3, n_init=5, random_state=1).fit(X).objective_, rel=0.01)
    assert not hasattr(model, "improvement_") and np.isfinite(model.kappas_).all()
    model.partial_fit(X[:1])  # any number of rows, once it has begun
    with pytest.raises(ValueError, match="features"):
        model.partial_fit(X[:, :2])
    with pytest.raises(ValueError, match="n_samples=2 should be at least n_clusters=3"):
        MiniBatchSphericalKMeans(3).partial_fit(X[:2])
    fitted = MiniBatchSphericalKMeans(3, random_state=1).fit(X)
    before, batches = fitted.cluster_centers_.copy(), fitted.n_iter_
    fitted.partial_fit(X)
    np.testing.assert_allclose(fitted.cluster_centers_, before, atol=0.01)
    assert fitted.n_iter_ == batches + 1


def test_a_sample(command, w2):
    report, labels, means = from_command(command, w2, "--angle", 25, "--sample", 5000, "--seed", 2)
    model = DPVMFMeans(25, sample=5000, random_state=2).fit(np.load(w2, mmap_mode="r"))
    np.testing.assert_array_equal(model.labels_, labels)
    assert (model.objective_, model.improvement_) == (report["objective"], report["improvement"])
    assert np.isnan(DPVMFMeans(25, sample=300).fit(model.cluster_centers_).improvement_)
    with pytest.raises(ValueError, match="sample is 0; it must be at least 1"):
        DPVMFMeans(25, sample=0).fit(model.cluster_centers_)
    with pytest.raises(TypeError, match="batch_size is 'all'; it must be an integer"):
        MiniBatchSphericalKMeans(2, batch_size="all").fit(model.cluster_centers_)


def test_levels_find_very_many_clusters():
    model = SphericalKMeans(60, levels=2, random_state=1).fit(X := np.random.default_rng(1).normal(size=(500, 6)))
    assert sorted(set(model.labels_)) == list(range(60))
    assert 0 <= model.level_misplaced_ < 0.2 and 0 <= model.level_loss_ < 0.1
    assert np.isnan(SphericalKMeans(60, random_state=1).fit(X).level_loss_)
    with pytest.raises(ValueError, match="levels"):
        SphericalKMeans(60, levels=0).fit(X)
    with pytest.raises(ValueError, match="levels must be between 1 and 4"):
        SphericalKMeans(60, levels=5).fit(X)
    with pytest.raises(ValueError, match="levels draw their own starts"):
        SphericalKMeans(3, levels=2, init=np.eye(3)).fit(np.eye(3))


def test_groups_never_share_a_cluster():
    random = np.random.RandomState(5)
    people = random.normal(size=(6, 24))
    people[1] = people[0] + .5 * people[1]
    who = np.concatenate([random.permutation(6)[:3] for _ in range(60)])
    photo = np.repeat(np.arange(60), 3)
    X = people[who] + .4 * random.normal(size=(180, 24))
    def doubles(labels):
        return sum(len(x) - len(np.unique(x)) for x in (labels[(photo == p) & (labels >= 0)] for p in range(60)))
    assert doubles(DPVMFMeans(angle=60).fit_predict(X)) > 0
    for model in (DPVMFMeans(angle=60), DPVMFMeans(angle=35, merge="evidence"), DPVMFMeans(angle=35, merge_to=9),
                  DPVMFMeans(angle=50, min_size=5), SphericalKMeans(6, random_state=1)):
        assert doubles(model.fit(X, groups=photo).labels_) == 0
    names = np.array([f"photo {p}" for p in photo], dtype=object)
    same = DPVMFMeans(angle=60).fit_predict(X, groups=photo)
    np.testing.assert_array_equal(DPVMFMeans(angle=60).fit_predict(X, groups=names), same)
    none = DPVMFMeans(angle=60).fit_predict(X, groups=np.full(180, -1))
    np.testing.assert_array_equal(none, DPVMFMeans(angle=60).fit_predict(X))
    with pytest.raises(ValueError, match=r"groups has the shape \(3,\); one group for each of 180 rows is needed"):
        DPVMFMeans(angle=60).fit(X, groups=[1, 2, 3])
    with pytest.raises(ValueError, match="there are only 2 clusters"):
        SphericalKMeans(2).fit(X, groups=photo)


def test_rows_that_count_for_nothing_respect_the_angle():
    labels = DPVMFMeans(angle=30).fit_predict([[1, 0, 0], [1, .1, 0], [0, 0, 1], [1, .2, 0]], sample_weight=[1, 1, 0, 0])
    assert labels.tolist() == [0, 0, -1, 0]


def test_the_second_nearest_mean():
    X = np.random.RandomState(3).normal(size=(300, 12))
    model = SphericalKMeans(6, random_state=1).fit(X)
    cosines, numbers = model.runner_up(X)
    all_cosines = model.transform(X)
    order = np.argsort(-all_cosines, axis=1)
    np.testing.assert_array_equal(numbers, order[:, 1])
    np.testing.assert_allclose(cosines, np.take_along_axis(all_cosines, order, 1)[:, 1], atol=1e-6)
    assert (cosines <= model.similarity(X)).all()
    cosines, numbers = DPVMFMeans(180).fit(X).runner_up(X)
    assert np.isnan(cosines).all() and (numbers == -1).all()
