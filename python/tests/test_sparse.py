# SPDX-License-Identifier: MIT
"""scipy's sparse matrices: the labels of the dense rows, and nothing made dense on the way."""
import numpy as np
import pytest
import scipy.sparse

import asterism.means
from asterism import DPVMFMeans, SphericalKMeans

ESTIMATORS = [DPVMFMeans(70, n_threads=2), SphericalKMeans(5, random_state=3, n_init=2, n_threads=2)]
KINDS = [scipy.sparse.csr_matrix, scipy.sparse.csc_matrix, scipy.sparse.coo_matrix, scipy.sparse.lil_matrix]


@pytest.fixture
def counts():
    """300 documents about five subjects in 60 terms, most of which a document does not have."""
    rng = np.random.default_rng(4)
    subjects = rng.random((5, 60)) * (rng.random((5, 60)) < 0.3)
    return rng.poisson(3 * subjects[rng.integers(5, size=300)]).astype(np.float64)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda one: type(one).__name__)
@pytest.mark.parametrize("kind", KINDS, ids=lambda one: one.__name__)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, int])
def test_sparse_is_dense(counts, estimator, kind, dtype):
    dense, sparse = counts.astype(dtype), kind(counts.astype(dtype))
    expected = estimator.fit(dense)
    labels, means, similarity = expected.labels_, expected.cluster_centers_, expected.similarity_
    cosines, score, predicted = expected.transform(dense), expected.score(dense), expected.predict(dense)
    model = estimator.fit(sparse)
    np.testing.assert_array_equal(model.labels_, labels)
    np.testing.assert_array_equal(model.cluster_centers_, means)
    np.testing.assert_array_equal(model.similarity_, similarity)
    np.testing.assert_array_equal(model.predict(sparse), predicted)
    np.testing.assert_allclose(model.transform(sparse), cosines, rtol=2e-6, atol=2e-6)
    assert isinstance(model.transform(sparse), np.ndarray) and model.transform(sparse).dtype == cosines.dtype
    assert model.score(sparse) == score


def test_csr_is_not_copied(counts, monkeypatch):
    seen, original = [], asterism.means.points_of
    monkeypatch.setattr(asterism.means, "points_of", lambda X, w=None: seen.append(X) or original(X, w))
    X = scipy.sparse.csr_matrix(counts)
    SphericalKMeans(5, random_state=1).fit(X)
    assert [np.shares_memory(one.data, X.data) and np.shares_memory(one.indices, X.indices) for one in seen] == [True]


def test_unsorted_rows_duplicates_and_wide_indices(counts):
    X = scipy.sparse.coo_matrix(counts)
    twice = scipy.sparse.csr_matrix((np.r_[X.data, X.data], (np.r_[X.row, X.row], np.r_[X.col, X.col])), shape=X.shape)
    order = np.random.default_rng(1).permutation(X.nnz)
    messy = scipy.sparse.coo_matrix((X.data[order], (X.row[order], X.col[order])), shape=X.shape).tocsr()
    wide = scipy.sparse.csr_matrix(counts)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    expected = SphericalKMeans(5, random_state=1).fit(counts).labels_
    for one in (twice, messy, wide):
        np.testing.assert_array_equal(SphericalKMeans(5, random_state=1).fit(one).labels_, expected)
    raw = scipy.sparse.csr_matrix(counts)
    raw.indices[:2] = raw.indices[1::-1]  # as users make them: out of order, with nobody told
    raw.data[:2] = raw.data[1::-1]
    raw.has_sorted_indices = raw.has_canonical_format = False
    kept = raw.indices.copy()
    np.testing.assert_array_equal(SphericalKMeans(5, random_state=1).fit(raw).labels_, expected)
    np.testing.assert_array_equal(raw.indices, kept)


def test_a_hundred_thousand_terms_stay_sparse(counts):
    X = scipy.sparse.csr_matrix(counts)
    X = scipy.sparse.csr_matrix((X.data, X.indices * 2000, X.indptr), shape=(300, 120000))  # 288 MB if it were dense
    model = DPVMFMeans(70, order="given").fit(X)  # by content other columns are another order
    np.testing.assert_array_equal(model.labels_, DPVMFMeans(70, order="given").fit(counts).labels_)
    assert model.cluster_centers_.shape == (len(model.counts_), 120000)
    assert model.transform(X).shape == (300, len(model.counts_))


def test_empty_rows_nan_and_infinity(counts):
    counts[7] = 0
    X = scipy.sparse.csr_matrix(counts)
    model = SphericalKMeans(5, random_state=1).fit(X)
    assert model.labels_[7] == -1 and np.isnan(model.similarity_[7]) and not model.transform(X)[7].any()
    X.data[0] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        SphericalKMeans(5).fit(X)
    with pytest.raises(ValueError, match="NaN"):
        model.predict(X)
    assert SphericalKMeans(5, allow_missing=True, random_state=1).fit(X).labels_[0] == -1
    X.data[0] = np.inf
    with pytest.raises(ValueError, match="row 1 .* infinity"):
        SphericalKMeans(5).fit(X)


def test_sample_weight(counts):
    weights = np.random.default_rng(2).integers(0, 4, 300).astype(float)
    expected = DPVMFMeans(70).fit(counts, sample_weight=weights)
    model = DPVMFMeans(70).fit(scipy.sparse.csr_matrix(counts), sample_weight=weights)
    np.testing.assert_array_equal(model.labels_, expected.labels_)
    assert model.objective_ == expected.objective_


@pytest.mark.parametrize("part, at, value, why", [("indptr", 3, 9999, "X.indptr must not decrease"),
                                                  ("indptr", 3, -7, "X.indptr must not decrease"),
                                                  ("indptr", 0, 1, "X.indptr must not decrease"),
                                                  ("indices", 5, 60, "X.indices must be columns, 0 to 59"),
                                                  ("indices", 5, -1, "X.indices must be columns, 0 to 59")])
def test_forged_indices_are_refused(counts, part, at, value, why):
    """scipy does not look at them, and writes where they point."""
    model, X = SphericalKMeans(5).fit(counts), scipy.sparse.csr_matrix(counts)
    forged = getattr(X, part).copy()
    forged[at] = value
    setattr(X, part, forged)
    for call in (SphericalKMeans(5).fit, model.predict, model.transform, model.score):
        with pytest.raises(ValueError, match=why):
            call(X)
