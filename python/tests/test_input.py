# SPDX-License-Identifier: MIT
"""What may be given as X: types, orders, data frames, holes; and that nothing is copied that need not be."""
import numpy as np
import pandas
import pytest
import scipy.sparse

import asterism
import asterism._base
import asterism.means
from asterism import DPVMFMeans, VMFMixture


@pytest.fixture
def seen(monkeypatch):
    """The arrays whose memory the library is given."""
    arrays = []

    def spy(array, weights=None):
        arrays.append(array)
        return original(array, weights)

    original = asterism.means.points_of
    monkeypatch.setattr(asterism.means, "points_of", spy)
    monkeypatch.setattr(asterism._base, "points_of", spy)
    return arrays


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.float16])
@pytest.mark.parametrize("order", ["C", "F", "every other row", "reversed"])
def test_floats_are_not_copied(three_ways, seen, kind, order):
    X = three_ways[0].astype(kind, order="F" if order == "F" else "C")
    X = X[::2] if order == "every other row" else X[::-1] if order == "reversed" else X
    model = DPVMFMeans(30).fit(X)
    model.predict(X)
    assert [array.ctypes.data for array in seen] == [X.ctypes.data] * 2
    np.testing.assert_array_equal(model.labels_, DPVMFMeans(30).fit(np.ascontiguousarray(X)).labels_)


@pytest.mark.parametrize("convert", [
    lambda X: X.tolist(), lambda X: X.astype(">f8"), lambda X: X.astype(object), lambda X: X.astype(np.longdouble),
    lambda X: np.round(1000 * X).astype(int)])
def test_the_rest_is_converted_once(three_ways, seen, convert):
    X = three_ways[0].astype(np.float64)
    model = DPVMFMeans(30).fit(convert(X))
    assert len(seen) == 1 and seen[0].dtype == np.float64
    np.testing.assert_array_equal(model.labels_, three_ways[1])


def test_read_only_and_mapped(three_ways, tmp_path):
    X, truth = three_ways
    np.save(tmp_path / "x.npy", X)
    np.testing.assert_array_equal(DPVMFMeans(30).fit_predict(np.load(tmp_path / "x.npy", mmap_mode="r")), truth)


def test_data_frames(three_ways, seen):
    frame = pandas.DataFrame(three_ways[0], columns=["x", "y", "z"])
    model = DPVMFMeans(30).fit(frame)
    assert model.feature_names_in_.tolist() == ["x", "y", "z"] and model.n_features_in_ == 3
    assert np.shares_memory(seen[0], frame.to_numpy())
    np.testing.assert_array_equal(model.predict(frame), three_ways[1])
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame[["z", "y", "x"]])


@pytest.mark.parametrize("name", ["Unnamed: 0", "", "id", "Index"])
@pytest.mark.parametrize("first", [0, 100])
def test_the_index_that_pandas_wrote_is_no_coordinate(three_ways, name, first):
    X, truth = three_ways
    frame = pandas.DataFrame(X, columns=["x", "y", "z"])
    frame.insert(0, name, np.arange(first, first + len(X)))
    with pytest.warns(UserWarning, match="counts the rows and is left out as an index"):
        model = DPVMFMeans(30).fit(frame)
    assert model.n_features_in_ == 3
    np.testing.assert_array_equal(model.labels_, truth)
    np.testing.assert_array_equal(model.predict(frame[::-1]), truth[::-1])
    np.testing.assert_array_equal(model.predict(frame[:1]), truth[:1])
    with pytest.warns(UserWarning, match="left out as an index"):
        assert asterism.tune(frame).parameters == asterism.tune(X).parameters


def test_a_column_of_strings_is_no_coordinate(three_ways):
    X, truth = three_ways
    frame = pandas.DataFrame(X, columns=["x", "y", "z"])
    frame.insert(0, "word", [f"word {i}" for i in range(len(X))])
    with pytest.warns(UserWarning, match="column 'word' of X holds strings and is left out"):
        model = DPVMFMeans(30).fit(frame)
    np.testing.assert_array_equal(model.labels_, truth)
    np.testing.assert_array_equal(model.predict(frame), truth)


def test_columns_that_are_no_index_are_kept(three_ways, recwarn):
    X = three_ways[0]
    named = pandas.DataFrame(X)
    named.insert(0, "day", np.arange(len(X)))
    uneven = pandas.DataFrame(X)
    uneven.insert(0, "Unnamed: 0", np.arange(len(X))[::-1])
    counted = np.column_stack([np.arange(len(X)), X])
    for kept in (named, uneven, counted):
        kept = kept if isinstance(kept, np.ndarray) else kept.rename(columns=str)
        assert DPVMFMeans(30).fit(kept).n_features_in_ == 4
    assert not recwarn.list


@pytest.mark.parametrize("kind", [scipy.sparse.csr_matrix, scipy.sparse.csc_matrix, scipy.sparse.coo_matrix])
def test_sparse_is_refused_where_rows_must_be_dense(three_ways, kind):
    with pytest.raises(TypeError, match="sparse .* dense .*toarray"):
        VMFMixture(3).fit(kind(three_ways[0]))
    with pytest.raises(ValueError, match="axial clustering does not take sparse rows"):
        DPVMFMeans(30, axial=True).fit(kind(three_ways[0]))


def test_missing_rows(three_ways):
    X, truth = three_ways[0].copy(), three_ways[1].copy()
    X[5, 1] = np.nan
    X[7] = 0
    with pytest.raises(ValueError, match="NaN"):
        DPVMFMeans(30).fit(X)
    truth[[5, 7]] = -1
    model = DPVMFMeans(30, allow_missing=True).fit(X)
    np.testing.assert_array_equal(model.labels_, truth)
    np.testing.assert_array_equal(model.predict(X), truth)
    assert np.flatnonzero(np.isnan(model.similarity_)).tolist() == [5, 7]
    assert np.isnan(model.transform(X)[5]).all() and (model.transform(X)[7] == 0).all()
    assert model.score(X) == pytest.approx(model.objective_, rel=1e-5)
    with pytest.raises(ValueError, match="NaN"):
        model.set_params(allow_missing=False).predict(X)
    with pytest.raises(ValueError, match="NaN"):
        model.transform(X)


def test_infinity_is_always_refused(three_ways):
    X = three_ways[0].copy()
    X[9, 2] = np.inf
    model = DPVMFMeans(30, allow_missing=True)
    with pytest.raises(ValueError, match="infin"):
        model.fit(X)
    model.fit(three_ways[0])
    for method in (model.predict, model.transform, model.similarity, model.score):
        with pytest.raises(ValueError, match="infin"):
            method(X)


def test_nothing_but_holes():
    model = DPVMFMeans(30, allow_missing=True).fit(np.full((4, 3), np.nan))
    assert model.labels_.tolist() == [-1] * 4 and model.cluster_centers_.shape == (0, 3)
    assert model.predict(np.eye(3)).tolist() == [-1] * 3
    assert model.transform(np.eye(3)).shape == (3, 0)
    assert np.isnan(model.similarity_).all()


@pytest.mark.parametrize("scale", [1e-30, 1e-3, 1e30])
def test_length_does_not_matter(three_ways, scale):
    X = three_ways[0].astype(np.float64)
    model = DPVMFMeans(30).fit(X * scale)
    np.testing.assert_array_equal(model.labels_, three_ways[1])
    np.testing.assert_allclose(model.transform(X * scale), model.transform(X), atol=1e-12)
    np.testing.assert_allclose(model.transform(X * 1e200), model.transform(X), atol=1e-12)


@pytest.mark.parametrize("X, words", [([[1.0], [2.0]], "1 feature"), ([1.0, 2.0], "1D array"),
                                      (np.ones((3, 5000)), "2 to 4096"), (np.empty((0, 3)), "0 sample")])
def test_shapes_that_are_no_directions(X, words):
    with pytest.raises(ValueError, match=words):
        DPVMFMeans(30).fit(X)
