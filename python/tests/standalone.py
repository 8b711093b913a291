# SPDX-License-Identifier: MIT
"""The package in a process without scikit-learn and scipy: test_standalone.py and install.sh run this program.

    standalone.py [PICKLE]     a fitted estimator, pickled by a process that has scikit-learn

Prints `results()` as JSON.
"""
import copy
import hashlib
import json
import pickle
import sys
import warnings

import numpy as np


class Blocked:
    """A finder of modules that pretends that some are not installed."""

    def __init__(self, *names):
        self.names = names

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in self.names:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def digest(*arrays):
    return hashlib.sha256(b"".join(np.ascontiguousarray(one).tobytes() for one in arrays)).hexdigest()


def results():
    """What every estimator finds, by name. The same with scikit-learn and without it."""
    import asterism
    X, _ = asterism.sample(3000, dimension=5, clusters=6, kappa=80, separation=50)
    weights = np.linspace(0.5, 2, len(X))
    models = [asterism.DPVMFMeans(35, random_state=1), asterism.DPVMFMeans(25, merge="evidence", order="content"),
              asterism.SphericalKMeans(6, random_state=1), asterism.MiniBatchSphericalKMeans(6, random_state=1),
              asterism.VMFMixture(6, random_state=1)]
    found = {}
    for model in models:
        model.fit(X, sample_weight=weights)
        found[repr(model)] = [digest(model.labels_, model.cluster_centers_, model.predict(X), model.transform(X),
                                     model.similarity_), model.objective_, model.score(X),
                              model.get_feature_names_out().tolist(), model.get_params()]
    found["mixture"] = digest(models[-1].predict_proba(X), models[-1].score_samples(X))
    stream = asterism.DDPVMFMeans(40)
    for frame in np.split(X, 3):
        stream.partial_fit(frame)
    found["stream"] = digest(stream.labels_, copy.deepcopy(stream).partial_fit(X).labels_, stream.kappas_)
    tuned = asterism.tune(X)
    found["tune"] = [tuned.angle, tuned["clusters"], tuned.reason, sorted(tuned), digest(tuned.labels)]
    depth, _ = asterism.hallway(0, size=(80, 60))
    found["segment"] = digest(asterism.segment(depth, asterism.hallway_intrinsics((80, 60))))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        asterism.SphericalKMeans(6, max_iter=1).fit(X)
    found["warning"] = [[one.category.__name__, str(one.message)] for one in caught]
    return found


def unpickled(path, X):
    """The labels of an estimator that was pickled elsewhere, and of its copy by parameters."""
    with open(path, "rb") as file:
        model = pickle.load(file)
    again = type(model)(**model.get_params()).fit(X)
    return digest(model.predict(X), again.labels_)


def refuses(kind, words, call, *arguments, **options):
    try:
        call(*arguments, **options)
    except kind as error:
        assert words in str(error), error
    else:
        raise AssertionError(f"nothing was refused; expected: {words}")


def check_refusals():
    """Where somebody would miss scikit-learn or scipy, or calls wrongly."""
    import asterism
    model, X = asterism.DPVMFMeans(30), np.eye(3)
    refuses(ValueError, "not fitted yet", model.predict, X)
    refuses(AttributeError, "not fitted yet", model.transform, X)
    refuses(ValueError, "Invalid parameter 'angel'", model.set_params, angel=3)
    model.fit(X)
    refuses(ImportError, "needs scikit-learn", model.set_output, transform="pandas")
    refuses(ValueError, "X has 2 features, but DPVMFMeans is expecting 3", model.predict, X[:, :2])

    class Foreign:
        """A sparse matrix of another library."""
        tocsr = toarray = None
    refuses(TypeError, "not one of scipy", model.fit, Foreign())
    refuses(TypeError, "dense data is required", asterism.VMFMixture(2).fit, Foreign())


if __name__ == "__main__":
    sys.meta_path.insert(0, Blocked("sklearn", "scipy"))
    import asterism
    check_refusals()
    found = results()
    for path in sys.argv[1:]:
        found["unpickled"] = unpickled(path, np.eye(4))
    assert not {"sklearn", "scipy"} & set(sys.modules)
    print(json.dumps(found))
