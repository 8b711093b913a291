# SPDX-License-Identifier: MIT
"""Without scikit-learn and scipy: the same results, and stand-ins that accept and refuse what scikit-learn does."""
import json
import pickle
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas
import pytest
import scipy.sparse
import scipy.special
import sklearn.exceptions
from sklearn.utils import validation

import standalone
from asterism import DPVMFMeans, _standalone
from asterism._base import logsumexp

FLOATS = [np.float64, np.float32, np.float16]


def test_the_same_results_without_scikit_learn(tmp_path):
    model, X = DPVMFMeans(40, random_state=7).fit(np.eye(4)), np.eye(4)
    (tmp_path / "model").write_bytes(pickle.dumps(model))
    done = subprocess.run([sys.executable, standalone.__file__, tmp_path / "model"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    expected = {**standalone.results(), "unpickled": standalone.unpickled(tmp_path / "model", X)}
    assert json.loads(done.stdout) == json.loads(json.dumps(expected))


def test_a_broken_scikit_learn_is_as_good_as_none(tmp_path):
    (tmp_path / "sklearn").mkdir()
    (tmp_path / "sklearn" / "__init__.py").write_text("raise ImportError('compiled for another numpy')")
    program = f"""
import sys, warnings
sys.path.insert(0, {str(tmp_path)!r})
with warnings.catch_warnings(record=True) as heard:
    warnings.simplefilter("always")
    import asterism, numpy as np
assert ["compiled for another numpy" in str(one.message) for one in heard] == [True], heard
assert asterism.DPVMFMeans(40).fit(np.eye(4)).n_clusters_ == 4
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=Path(__file__).parent, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_sparse_rows_need_scipy_alone():
    program = """
import sys, standalone
sys.meta_path.insert(0, standalone.Blocked("sklearn"))
import asterism, numpy as np, scipy.sparse
X = np.random.default_rng(1).poisson(0.2, size=(200, 50)).astype(float)
for model in (asterism.DPVMFMeans(70), asterism.SphericalKMeans(5, random_state=1)):
    for kind in (scipy.sparse.csr_matrix, scipy.sparse.coo_matrix, scipy.sparse.csr_array):
        np.testing.assert_array_equal(model.fit(kind(X)).labels_, model.fit(X).labels_)
        np.testing.assert_allclose(model.transform(kind(X)), model.transform(X))
        np.testing.assert_array_equal(model.predict(kind(X)), model.predict(X))
asterism.tune(scipy.sparse.csr_matrix(X))
standalone.refuses(TypeError, "dense data is required", asterism.VMFMixture(2).fit, scipy.sparse.csr_matrix(X))
assert "sklearn" not in sys.modules
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=Path(__file__).parent, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


INPUTS = {
    "floats": np.eye(3), "float16": np.eye(3, dtype=np.float16), "columns": np.asfortranarray(np.eye(3)),
    "integers": np.eye(3, dtype=int), "list": [[1, 2], [3, 4]], "objects": np.eye(2).astype(object),
    "big endian": np.eye(3).astype(">f8"), "frame": pandas.DataFrame(np.eye(3), columns=list("xyz")),
    "mixed frame": pandas.DataFrame({"x": [1, 2], "y": [0.5, 1]}), "csr": scipy.sparse.csr_matrix(np.eye(3)),
    "coo": scipy.sparse.coo_matrix(np.eye(3, dtype=int)), "one row": [1.0, 2.0], "a number": 3.0, "images": np.ones((2, 2, 2)),
    "no rows": np.empty((0, 3)), "one column": np.ones((3, 1)), "words": [["a", "b"], ["c", "d"]],
    "complex": np.eye(2) * 1j, "ragged": [[1, 2], [3]], "infinity": [[1, np.inf], [1, 2]], "NaN": [[1, np.nan], [1, 2]],
}


def outcome(call, *arguments, **options):
    """What a call returns, or the exception that it raises."""
    try:
        return call(*arguments, **options)
    except (TypeError, ValueError) as error:
        return error


@pytest.mark.parametrize("sparse", ["csr", False])
@pytest.mark.parametrize("name", INPUTS)
def test_input_is_checked_as_scikit_learn_does(name, sparse):
    X, how = INPUTS[name], dict(accept_sparse=sparse, dtype=FLOATS, ensure_min_features=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # numpy's, of ragged lists
        theirs, ours = outcome(validation.check_array, X, **how), outcome(_standalone.check_array, X, **how)
    assert type(ours) is type(theirs), (ours, theirs)
    if not isinstance(theirs, Exception):
        assert ours.dtype == theirs.dtype and np.array_equal(dense(ours), dense(theirs))
        assert np.shares_memory(values(ours), values(X)) == np.shares_memory(values(theirs), values(X))


def dense(X):
    return X.toarray() if scipy.sparse.issparse(X) else X


def values(X):
    return X.data if scipy.sparse.issparse(X) else np.asarray(X)


@pytest.mark.parametrize("weights", [2, 0.5, [1, 2, 3], np.arange(3, dtype=np.float32), [1, 2], [[1, 2, 3]],
                                     [1, np.nan, 2], [1, np.inf, 2], "abc"])
def test_weights_are_checked_as_scikit_learn_does(weights):
    theirs = outcome(validation._check_sample_weight, weights, np.eye(3), dtype=np.float64)
    ours = outcome(_standalone.check_sample_weight, weights, np.eye(3), dtype=np.float64)
    assert type(ours) is type(theirs), (ours, theirs)
    if isinstance(theirs, np.ndarray):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("seed", [None, 3, np.int64(4), -1, 0.5, "a", np.random.RandomState(1), np.random.default_rng(1)])
def test_seeds_are_those_of_scikit_learn(seed):
    state = np.random.get_state()
    draws = []
    for check in (validation.check_random_state, _standalone.check_random_state):
        np.random.set_state(state)
        generator = outcome(check, seed if not isinstance(seed, np.random.RandomState) else np.random.RandomState(1))
        draws.append(type(generator) if isinstance(generator, Exception) else generator.randint(1 << 30))
    assert draws[0] == draws[1]


class Model(_standalone.BaseEstimator):
    def __init__(self, angle=60, *, order="given"):
        self.angle, self.order = angle, order


def test_feature_names():
    frame, model = pandas.DataFrame(np.eye(3), columns=list("xyz")), Model()
    model._validate_data(frame, reset=True)
    assert model.feature_names_in_.tolist() == list("xyz") and model.n_features_in_ == 3
    with pytest.raises(ValueError, match="feature names should match"):
        model._validate_data(frame[["y", "x", "z"]], reset=False)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        model._validate_data(np.eye(3), reset=False)
    model._validate_data(np.eye(3), reset=True)
    assert not hasattr(model, "feature_names_in_")
    with pytest.warns(UserWarning, match="has feature names, but"):
        model._validate_data(frame, reset=False)


def test_parameters():
    model = Model(30)
    assert model.set_params(order="content") is model
    assert model.get_params() == {"angle": 30, "order": "content"}
    assert repr(model) == "Model(angle=30, order='content')" and repr(Model()) == "Model()"
    with pytest.raises(ValueError, match=r"Invalid parameter 'angel' for Model. Valid parameters are: \['angle', 'order'\]"):
        model.set_params(angle=3, angel=3)
    assert model.angle == 30
    assert issubclass(_standalone.NotFittedError, (ValueError, AttributeError))
    assert sklearn.exceptions.NotFittedError.__bases__ == _standalone.NotFittedError.__bases__


def test_bunch():
    bunch = _standalone.Bunch(angle=3)
    bunch.merge = None
    assert (bunch.angle, bunch["merge"], dir(bunch)) == (3, None, ["angle", "merge"])
    assert pickle.loads(pickle.dumps(bunch)) == bunch and not hasattr(bunch, "other")


def test_logsumexp():
    a = np.random.default_rng(1).normal(scale=300, size=(500, 7))
    a[3] = -np.inf
    a[5, 2] = -np.inf
    for keepdims in (False, True):
        expected = scipy.special.logsumexp(a, axis=1, keepdims=keepdims)
        np.testing.assert_array_equal(logsumexp(a, axis=1, keepdims=keepdims), expected)


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"])
def test_sparse_matrices_are_known_by_their_class(kind):
    for make in (scipy.sparse.csr_matrix, scipy.sparse.csr_array):
        assert _standalone.issparse(make(np.eye(2)).asformat(kind))
    assert not _standalone.issparse(np.eye(2)) and not _standalone.issparse(scipy.sparse.linalg.aslinearoperator(np.eye(2)))
