# SPDX-License-Identifier: MIT
"""The estimators among scikit-learn's own tools."""
import copy
import pickle

import numpy as np
import pandas
import pytest
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import asterism
from asterism import DPVMFMeans, SphericalKMeans


@pytest.mark.parametrize("again", [lambda m: pickle.loads(pickle.dumps(m)), copy.deepcopy, copy.copy])
@pytest.mark.parametrize("name", asterism.ESTIMATORS)
def test_pickles_and_copies(three_ways, name, again):
    X, _ = three_ways
    model = getattr(asterism, name)().fit(X)
    model.pickle_labels = True
    other = again(model)
    np.testing.assert_array_equal(other.labels_, model.labels_)
    np.testing.assert_array_equal(other.predict(X), model.predict(X))
    np.testing.assert_array_equal(other.similarity_, model.similarity_)
    assert other.get_params() == model.get_params()


def test_a_pickle_does_not_hold_the_points(three_ways):
    X = np.tile(three_ways[0], (100, 1))
    model = DPVMFMeans(30).fit(X)
    assert len(pickle.dumps(model)) < X.nbytes


@pytest.mark.parametrize("name", sorted({*asterism.ESTIMATORS} - {"DDPVMFMeans"}))
def test_a_pickle_holds_what_predict_needs(three_ways, name):
    X = np.tile(three_ways[0], (100, 1))
    model = getattr(asterism, name)().fit(X)
    saved = pickle.dumps(model)
    other = pickle.loads(saved)
    assert len(saved) < 20000 and len(saved) < len(X) * 4
    np.testing.assert_array_equal(other.predict(X), model.predict(X))
    np.testing.assert_array_equal(other.transform(X), model.transform(X))
    assert not hasattr(other, "labels_")
    with pytest.raises(AttributeError, match="pickle_labels was set to True"):
        other.similarity_
    np.testing.assert_array_equal(copy.copy(model).labels_, model.labels_)  # copies in memory have all
    deep = copy.deepcopy(model)
    np.testing.assert_array_equal(deep.similarity_, model.similarity_)
    assert deep.labels_ is not model.labels_


@pytest.mark.parametrize("name", asterism.ESTIMATORS)
def test_clones_are_not_fitted(three_ways, name):
    model = getattr(asterism, name)(outlier_angle=12).fit(three_ways[0])
    other = clone(model)
    assert other.outlier_angle == 12 and not hasattr(other, "labels_")


def test_pipelines(three_ways):
    X, truth = three_ways
    clusters = make_pipeline(PCA(3), DPVMFMeans(30)).fit_predict(X)
    assert adjusted_rand_score(clusters, truth) > 0.5
    classifier = make_pipeline(SphericalKMeans(5, random_state=1), LogisticRegression()).fit(X, truth)
    assert classifier.score(X, truth) == 1


def test_grid_search(three_ways):
    X, truth = three_ways
    search = GridSearchCV(DPVMFMeans(), {"angle": [5, 40, 179]}, cv=3,
                          scoring=lambda model, X, y: adjusted_rand_score(model.predict(X), y))
    shuffled = np.random.RandomState(0).permutation(300)
    assert search.fit(X[shuffled], truth[shuffled]).best_params_ == {"angle": 40}
    search = GridSearchCV(SphericalKMeans(random_state=1), {"n_clusters": [1, 3]}, cv=3).fit(X[shuffled])
    assert search.best_params_ == {"n_clusters": 3}


def test_set_output(three_ways):
    frame = pandas.DataFrame(three_ways[0], columns=list("xyz"), index=range(1000, 1300))
    cosines = DPVMFMeans(30).set_output(transform="pandas").fit_transform(frame)
    assert cosines.columns.tolist() == ["dpvmfmeans0", "dpvmfmeans1", "dpvmfmeans2"]
    assert cosines.index.tolist() == frame.index.tolist()


def test_where_kmeans_goes_this_goes(three_ways):
    """The attributes and methods that people use of KMeans are here."""
    ours, theirs = SphericalKMeans(3, random_state=0).fit(three_ways[0]), KMeans(3, n_init=1).fit(three_ways[0])
    for name in ("labels_", "cluster_centers_", "n_iter_", "n_features_in_"):
        assert np.shape(getattr(ours, name)) == np.shape(getattr(theirs, name))
    assert ours.transform(three_ways[0]).shape == theirs.transform(three_ways[0]).shape
