# SPDX-License-Identifier: MIT
"""Collections of Dask: lazy labels that are those of one process, also if a worker is killed."""
import functools
import os
import pickle
import signal

import numpy as np
import pandas as pd
import pytest

import asterism
from asterism import distributed

dask = pytest.importorskip("dask")
cluster_of = pytest.importorskip("distributed")
da, dd = pytest.importorskip("dask.array"), pytest.importorskip("dask.dataframe")

import asterism.dask as lazy  # noqa: E402


@pytest.fixture(scope="module")
def points():
    X, _ = asterism.sample(4000, dimension=6, clusters=20, kappa=60, random_state=4)
    X[7] = np.nan
    return X.astype(np.float32)


@pytest.fixture(scope="module")
def expected(points):
    return (asterism.SphericalKMeans(20, init=points[10:30], allow_missing=True).fit(points),
            asterism.DPVMFMeans(30, order="given", allow_missing=True).fit(points))


@pytest.fixture(scope="module")
def client():
    with cluster_of.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster, \
            cluster_of.Client(cluster) as client:
        yield client


def collections(X):
    index = np.arange(50, 50 + len(X))
    frame = dd.from_pandas(pd.DataFrame(X, index=index), npartitions=3)
    lists = dd.from_pandas(pd.DataFrame({"id": index, "embedding": list(X)}, index=index), npartitions=3)
    return {"array": da.from_array(X, chunks=(1500, 4)), "unknown": frame.to_dask_array(), "frame": frame, "series": lists["embedding"]}


def check(X, expected, kind):
    kmeans, dp = expected
    collection = collections(X)[kind]
    one = lazy.SphericalKMeans(20, init=X[10:30]).fit(collection)
    two = lazy.DPVMFMeans(30).fit(collection)
    for model, other in ((one, kmeans), (two, dp)):
        assert dask.is_dask_collection(model.labels_)
        np.testing.assert_array_equal(np.asarray(model.labels_), other.labels_)
        np.testing.assert_array_equal(model.cluster_centers_, other.cluster_centers_)
        found, similarity = model.predict(collection), model.similarity(collection)
        assert dask.is_dask_collection(found)
        np.testing.assert_array_equal(np.asarray(found), other.predict(X))
        np.testing.assert_array_equal(np.asarray(similarity), other.similarity(X))
    if kind in ("frame", "series"):
        labels = two.labels_.compute()
        assert (labels.name, labels.index[0], labels.dtype) == ("cluster", 50, np.int32)
    return collection, two


@pytest.mark.parametrize("kind", ["array", "unknown", "frame", "series"])
def test_without_a_client(points, expected, kind):
    collection, model = check(points, expected, kind)
    if kind == "frame":
        joined = collection.assign(cluster=model.labels_).compute()
        np.testing.assert_array_equal(joined["cluster"], model.labels_.compute())
    pickle.loads(pickle.dumps(model)).predict(collection).compute()


@pytest.mark.parametrize("kind", ["array", "unknown", "frame", "series"])
def test_with_two_workers(client, points, expected, kind):
    check(points, expected, kind)


def die_once(mark, block, calls):
    """The block; the worker is killed when this is called for the `calls`-th time in all."""
    with open(mark, "ab") as file:
        file.write(b"x")
        file.flush()
        if file.tell() == calls:
            os.kill(os.getpid(), signal.SIGKILL)
    return block


@pytest.mark.parametrize("which", ["client", "executor"])
def test_a_killed_worker_changes_nothing(client, points, expected, tmp_path, which):
    executor = client if which == "client" else client.get_executor()
    for model, other, calls in ((distributed.SphericalKMeans(20, init=points[10:30], executor=executor), expected[0], 4),
                                (distributed.DPVMFMeans(30, executor=executor), expected[1], 2)):
        blocks = [points[:1000], functools.partial(die_once, tmp_path / f"{calls}", points[1000:2500], calls), points[2500:]]
        np.testing.assert_array_equal(model.fit(blocks).labels_, other.labels_)
        assert (tmp_path / f"{calls}").stat().st_size > calls  # called again


def test_a_killed_worker_loses_its_chunks(client, points, expected):
    """Chunks that were on it are made again from what the collection was made of."""
    collection = collections(points)["array"].persist()
    cluster_of.wait(collection)
    model = lazy.SphericalKMeans(20, init=points[10:30], max_iter=1)
    os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
    with pytest.warns(UserWarning, match="before it converged"):
        model.fit(collection)
    once = asterism.SphericalKMeans(20, init=points[10:30], max_iter=1, allow_missing=True)
    with pytest.warns(UserWarning, match="before it converged"):
        once.fit(points)
    np.testing.assert_array_equal(np.asarray(model.labels_), once.labels_)


def test_other_types_are_refused(points):
    with pytest.raises(TypeError, match="array, a data frame or a series of Dask"):
        lazy.DPVMFMeans(30).fit(points)
