# SPDX-License-Identifier: MIT
"""Blocks on executors: the labels of one process, whoever runs the work, and also if some of them die."""
import functools
import os
import pickle
import shutil
import signal
import subprocess
import sys
import warnings
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

import asterism
from asterism import Tally, distributed


@pytest.fixture(scope="module")
def points():
    X, _ = asterism.sample(6000, dimension=6, clusters=20, kappa=60, random_state=4)
    X[7], X[4000] = np.nan, 0
    return X.astype(np.float32)


@pytest.fixture(scope="module")
def expected(points):
    fit = {"allow_missing": True}
    return {"given": asterism.SphericalKMeans(20, init=points[10:30], **fit).fit(points),
            "random": asterism.SphericalKMeans(20, init="random", random_state=9, **fit).fit(points),
            "dp": asterism.DPVMFMeans(30, order="given", **fit).fit(points)}


def split(X, *cuts):
    return [X[first:end] for first, end in zip((0, *cuts), (*cuts, X.shape[0]))]


def same(model, other):
    np.testing.assert_array_equal(model.labels_, other.labels_)
    np.testing.assert_array_equal(model.cluster_centers_, other.cluster_centers_)
    np.testing.assert_array_equal(model.counts_, other.counts_)
    np.testing.assert_allclose(model.kappas_, other.kappas_)
    assert (model.objective_, model.n_iter_, model.n_clusters_) == (other.objective_, other.n_iter_, other.n_clusters_)


@pytest.mark.parametrize("executor", [lambda: None, lambda: ThreadPoolExecutor(3), lambda: ProcessPoolExecutor(2)],
                         ids=["here", "threads", "processes"])
def test_the_labels_are_those_of_one_process(points, expected, executor):
    blocks = split(points, 1, 2000, 2000, 3500)
    executor = executor()
    kmeans = functools.partial(distributed.SphericalKMeans, 20, executor=executor)
    same(kmeans(init=points[10:30]).fit(blocks), expected["given"])
    same(kmeans(init="random", random_state=9).fit(blocks), expected["random"])
    dp = distributed.DPVMFMeans(30, executor=executor)
    same(dp.fit(blocks), expected["dp"])
    weights = np.random.default_rng(1).integers(0, 4, len(points)) / 2
    same(distributed.DPVMFMeans(30, executor=executor).fit(blocks, sample_weight=split(weights, 1, 2000, 2000, 3500)),
         asterism.DPVMFMeans(30, order="given", allow_missing=True).fit(points, sample_weight=weights))
    with pytest.raises(ValueError, match="an array for each block"):
        distributed.DPVMFMeans(30, executor=executor).fit(blocks, sample_weight=weights)
    for merging in ({"merge": "evidence", "min_size": 250}, {"merge": 25, "min_size": 300}, {"merge_to": 12}):
        merged = distributed.DPVMFMeans(30, executor=executor, **merging).fit(blocks)
        one = asterism.DPVMFMeans(30, order="given", allow_missing=True, **merging).fit(points)
        same(merged, one)
        np.testing.assert_array_equal(merged.outliers_, one.outliers_)
    assert [len(own) for own in dp.block_labels_] == dp.block_sizes_ == [1, 1999, 0, 1500, 2500]
    labels = distributed.assign(blocks, dp, executor)
    np.testing.assert_array_equal(np.concatenate(labels), expected["dp"].predict(points))
    if executor is not None:
        executor.shutdown()


def test_starts_do_not_depend_on_the_blocks(points):
    fits = [distributed.SphericalKMeans(20, sample=500, random_state=2).fit(split(points, *cuts)) for cuts in [(), (3,), (999, 5000)]]
    for fit in fits:
        np.testing.assert_array_equal(fit.cluster_centers_, fits[0].cluster_centers_)
    drawn = Tally.draw(points, 20, 9)
    parts = np.concatenate([Tally.draw(part, 20, 9) for part in split(points, 50, 60, 3000)])
    np.testing.assert_array_equal(Tally.draw(parts, 20, 9), drawn)
    assert len(Tally.draw(np.ones((5, 3)), 4, 1)) == 1  # different rows
    assert len(Tally.draw(np.zeros((5, 3)), 4, 1)) == 0


@pytest.mark.parametrize("kind", ["sparse", "frame", "axial", "float16", "few"])
def test_blocks_are_what_estimators_take(points, kind):
    X, options = points[100:900].copy(), {"axial": kind == "axial"}
    if kind == "sparse":
        X = scipy.sparse.csr_matrix(np.where(np.abs(X) > 0.3, X, 0))
    if kind == "float16":
        X = X.astype(np.float16)
    start = points[100:110] if kind != "few" else np.repeat(points[100:110], 2, axis=0)  # every second one is empty at first
    blocks = split(X, 300, 301)
    if kind == "frame":
        blocks = [functools.partial(pd.DataFrame, block) for block in blocks]
    model = distributed.SphericalKMeans(len(start), init=start, **options).fit(blocks)
    other = asterism.SphericalKMeans(len(start), init=start, **options).fit(X)
    np.testing.assert_array_equal(model.labels_, other.labels_)
    np.testing.assert_array_equal(model.counts_, other.counts_)
    np.testing.assert_allclose(model.kappas_, other.kappas_, rtol=1e-6)


def die_once(mark, block, calls=1):
    """The block; its process dies when this is called for the `calls`-th time in all."""
    with open(mark, "ab") as file:
        file.write(b"x")
        file.flush()
        if file.tell() == calls:
            os.kill(os.getpid(), signal.SIGKILL)
    return block


@pytest.mark.parametrize("calls", [1, 4])
def test_a_worker_that_dies_changes_nothing(points, expected, tmp_path, calls):
    blocks = split(points, 2000, 4000)
    two = functools.partial(ProcessPoolExecutor, 2)
    blocks[1] = functools.partial(die_once, tmp_path / "kmeans", blocks[1], calls)
    same(distributed.SphericalKMeans(20, init=points[10:30], executor=two).fit(blocks), expected["given"])
    blocks[1] = functools.partial(die_once, tmp_path / "dp", blocks[1].args[1], min(calls, 2))  # measured, then held
    same(distributed.DPVMFMeans(30, executor=two).fit(blocks), expected["dp"])


def test_a_rank_that_ends_is_noticed(points, tmp_path):
    """Without somebody who makes another pool it is an error."""
    blocks = split(points, 3000)
    blocks[1] = functools.partial(die_once, tmp_path / "mark", blocks[1], 2)
    with ProcessPoolExecutor(2) as executor, pytest.raises(RuntimeError):
        distributed.DPVMFMeans(30, executor=executor).fit(blocks)


class OneByOne(Executor):
    """Says that it runs two functions at once, and runs one."""

    _max_workers = 2

    def __init__(self):
        self.inner = ThreadPoolExecutor(1)

    def submit(self, function, *arguments):
        return self.inner.submit(function, *arguments)


def bad():
    raise ValueError("no such file")


def test_what_is_wrong_is_said(points):
    blocks = split(points, 3000)
    with pytest.raises(ValueError, match="block 1 have 5 components, those of block 0 6"):
        distributed.SphericalKMeans(5).fit([points, points[:, :5]])
    with pytest.raises(TypeError, match="must be a list"):
        distributed.SphericalKMeans(5).fit(points)
    with pytest.raises(ValueError, match="no rows"):
        distributed.DPVMFMeans(30).fit([points[:0]])
    with pytest.raises(ValueError, match="1 different rows .* fewer than n_clusters = 5"):
        distributed.SphericalKMeans(5, init="random").fit([np.ones((9, 3))])
    with pytest.raises(ValueError, match="init has the shape"):
        distributed.SphericalKMeans(5, init=points[:5, :3]).fit(blocks)
    with pytest.raises(ValueError, match="no such file"):
        distributed.SphericalKMeans(5).fit([points, bad])
    with pytest.raises(TypeError, match="executor is of type int"):
        distributed.SphericalKMeans(5, executor=3).fit(blocks)
    with pytest.raises(RuntimeError, match="only 1 of 2 processes have begun within 0.5 s"):
        distributed.DPVMFMeans(30, executor=OneByOne(), timeout=0.5).fit(blocks)
    infinite = points.copy()
    infinite[5000, 2] = np.inf
    with ThreadPoolExecutor(2) as executor, pytest.raises(ValueError, match="5001"):  # of all ranks together
        distributed.DPVMFMeans(30, executor=executor).fit(split(infinite, 3000))
    with warnings.catch_warnings(record=True) as said, ThreadPoolExecutor(2) as executor:
        warnings.simplefilter("always")
        distributed.DPVMFMeans(30, executor=executor, max_iter=1).fit(blocks)
    assert "before it converged" in str(said[0].message)


def test_totals_have_64_bits(points):
    """More than 2^31 rows: a tally that is merged with itself again and again."""
    means = Tally.start(points[10:30])
    total = Tally(means)
    total.add(points[:10])
    for doubling in range(28):
        total.merge(bytes(total))
    assert total.totals().points == 10 << 28 > 2 ** 31
    few = Tally(means)
    few.add(points[:10])
    np.testing.assert_array_equal(few.totals().sums << 28, total.totals().sums)
    with pytest.raises(ValueError, match="less than 4294967296 points"):
        total.merge(bytes(total))
    far = Tally(means)
    far.add(points[:100], 2 ** 40)  # a number of a row
    assert bytes(far) != bytes(few)


def test_a_model_travels_and_is_saved(points, expected, tmp_path):
    model = distributed.SphericalKMeans(20, init=points[10:30], executor=ThreadPoolExecutor(1)).fit(split(points, 100))
    other = pickle.loads(pickle.dumps(model))
    assert other.executor is None and not hasattr(other, "labels_")
    np.testing.assert_array_equal(other.predict(points), expected["given"].predict(points))
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(asterism.load(tmp_path / "model").predict(points), other.predict(points))
    with pytest.raises(AttributeError, match="not kept"):
        model.similarity_


def test_parts_of_a_file(points, expected, tmp_path):
    np.save(tmp_path / "points.npy", points)
    blocks = distributed.npy_blocks(tmp_path / "points.npy", 2500)
    assert [len(block()) for block in blocks] == [2500, 2500, 1000]
    same(distributed.DPVMFMeans(30).fit(blocks), expected["dp"])


MPI = """
import sys
import numpy as np
from mpi4py.futures import MPIPoolExecutor
from asterism import distributed

if __name__ == "__main__":
    blocks = distributed.npy_blocks(sys.argv[1], 1000)
    with MPIPoolExecutor() as executor:
        kmeans = distributed.SphericalKMeans(20, init="random", random_state=9, executor=executor).fit(blocks)
        dp = distributed.DPVMFMeans(30, executor=executor).fit(blocks)
    np.savez(sys.argv[2], kmeans=kmeans.labels_, dp=dp.labels_)
"""


def test_mpi(points, expected, tmp_path):
    pytest.importorskip("mpi4py")
    if not shutil.which("mpirun"):
        pytest.skip("there is no mpirun")
    (tmp_path / "run.py").write_text(MPI)
    np.save(tmp_path / "points.npy", points)
    environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    subprocess.run(["mpirun", "--oversubscribe", "-n", "3", sys.executable, "-m", "mpi4py.futures", tmp_path / "run.py",
                    tmp_path / "points.npy", tmp_path / "labels.npz"], check=True, env=environment, timeout=200)
    found = np.load(tmp_path / "labels.npz")
    np.testing.assert_array_equal(found["kmeans"], expected["random"].labels_)
    np.testing.assert_array_equal(found["dp"], expected["dp"].labels_)
