# SPDX-License-Identifier: MIT
"""Clustering of rows that are in blocks, on the workers of an executor of `concurrent.futures` (processes, threads,
`mpi4py.futures`) or of a Dask client. The labels are those of one process, bit for bit.

A *block* is an array of rows, a function without arguments that a worker calls to get such an array, or a future of Dask. The
rows of all blocks are numbered in the order of the list."""
from __future__ import annotations

import functools
import os
import time
import warnings
from collections import deque
from concurrent.futures import FIRST_EXCEPTION, BrokenExecutor, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor, wait
from typing import Any, Callable, Iterator, NamedTuple, Sequence, TypeVar
from urllib.parse import urlparse

import numpy as np
from numpy.typing import NDArray

from . import means as single, tally
from ._base import OF_ROWS, DirectionClusterer, whole_number
from ._compat import ConvergenceWarning, check_random_state
from ._library import lib
from ._ranks import Hub, RankLost, Seat, in_child, own_address
from .model import Saving
from .tally import Tally

REPEATS = 3  # attempts after workers were lost
SHARED = 1 << 20  # bytes from which on an array is sent once to every worker of Dask, and not with every call
Fitted = TypeVar("Fitted", bound="Blocks")


# ---- Blocks ----------------------------------------------------------------------------------------------------------

def rows_of(block: Any) -> Any:
    """The rows of a block as the library takes them."""
    return tally.rows_of(block() if callable(block) else block)


def npy_blocks(path: str | os.PathLike[str], rows: int = 100_000) -> list[Callable[[], np.ndarray]]:
    """Blocks of so many rows of an .npy file that all workers see; each maps the file where it is needed."""
    count = len(np.load(path, mmap_mode="r"))
    return [functools.partial(part_of_npy, os.fspath(path), first, min(first + rows, count)) for first in range(0, count, rows)]


def part_of_npy(path: str, first: int, end: int) -> np.ndarray:
    return np.load(path, mmap_mode="r")[first:end]


# What workers do. The means stand before the block, the number of its first row after it.

def shape_of(block: Any) -> tuple[int, int]:
    return rows_of(block).shape


def drawn_of(block: Any, count: int, seed: int, axial: bool) -> np.ndarray:
    return Tally.draw(rows_of(block), count, seed, axial=axial)


def tally_of(means: np.ndarray, block: Any, first: int, axial: bool, n_threads: int | None) -> Tally:
    found = Tally(means, axial=axial, n_threads=n_threads)
    found.add(rows_of(block), first)
    return found


def labels_of(means: np.ndarray, block: Any, axial: bool, n_threads: int | None) -> NDArray[np.int32]:
    return Tally(means, axial=axial, n_threads=n_threads).add(rows_of(block))


def predicted(model: Any, block: Any) -> NDArray[np.int32]:
    rows = rows_of(block)
    return np.asarray(model.predict(rows), np.int32) if rows.shape[0] else np.empty(0, np.int32)


class Found(NamedTuple):
    """What a rank has found: attributes of the estimator, the labels of its blocks, which of its rows are outliers, and what
    is to be warned of."""

    attributes: dict[str, Any]
    labels: NDArray[np.int32]
    outliers: NDArray[np.intp]
    warnings: list[Any]


def rank_of(hub: tuple[Any, ...] | None, rank: int, ranks: int, settings: dict[str, Any],
            blocks: Sequence[Any], weights: NDArray[np.float64] | None = None) -> Found:
    """One rank of a DPVMFMeans."""
    model, seat = single.DPVMFMeans(**settings), None if hub is None else Seat(*hub, rank, ranks)
    parts = [rows_of(block) for block in blocks]
    rows = parts[0] if len(parts) == 1 else np.concatenate(parts)
    if seat is not None and rows.shape[1] <= 3 and (model.merge == "evidence" or model.merge_to is not None):
        raise ValueError("merge='evidence' and merge_to need rows of more than 3 components here: whether angles were rounded "
                         "is found with all rows in one process")

    def work() -> Found:
        model._seat = seat
        with warnings.catch_warnings(record=True) as said:
            model.fit(rows, sample_weight=weights)
        del model._seat
        found = {name: value for name, value in vars(model).items() if name not in (*settings, *OF_ROWS)}
        return Found(found, model.labels_, model.outliers_, [one.message for one in said])
    if seat is None:
        return work()
    if model.n_threads is None:
        model.n_threads = seat.threads()
    return in_child(seat, work)


# ---- Engines ---------------------------------------------------------------------------------------------------------

class Engine:
    """Runs functions on an executor of concurrent.futures, a Dask client, or in this process (None). A function that
    makes an executor may be given instead: if a worker of a process pool dies, it is called again to make another pool."""

    def __init__(self, executor: Any) -> None:
        self.client = executor if hasattr(executor, "get_executor") else getattr(executor, "_client", None)
        self.make = executor if callable(executor) and not isinstance(executor, Executor) and self.client is None else None
        self.executor = self.make() if self.make else executor
        if self.client is None and executor is not None and not hasattr(self.executor, "submit"):
            raise TypeError(f"executor is of type {type(executor).__name__}; it must be None, an executor of concurrent.futures, "
                            "a function that makes one, or a Dask client")
        self.places = self._places()

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *error: Any) -> None:
        if self.make:
            self.executor.shutdown(wait=error[0] is None, cancel_futures=True)

    def _places(self) -> list[Any]:
        """Executors, one for each function that can run at once."""
        if self.client is not None:  # those of Dask prefer one worker each
            return [self.client.get_executor(workers=[worker], allow_other_workers=True, pure=False)
                    for worker in self.client.scheduler_info()["workers"]] or [self.client.get_executor(pure=False)]
        if hasattr(self.executor, "bootup"):  # mpi4py.futures
            self.executor.bootup()
        known = (getattr(self.executor, "_max_workers", None), getattr(self.executor, "num_workers", None),
                 getattr(getattr(self.executor, "_pool", None), "size", None))
        return [self.executor] * next((count for count in known if count), 1)

    def renew(self) -> None:
        """After workers were lost."""
        if self.make:
            self.executor.shutdown(wait=False, cancel_futures=True)
            self.executor = self.make()
        self.places = self._places()

    def submit(self, place: int | None, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        if self.client is not None and place is None:
            return self.client.get_executor(pure=False).submit(function, *arguments)
        if self.executor is not None or self.client is not None:
            return self.places[(place or 0) % len(self.places)].submit(function, *arguments)
        done: Future[Any] = Future()
        done.set_result(function(*arguments))
        return done

    def share(self, array: np.ndarray) -> Any:
        """The array, as an argument of many calls."""
        large = self.client is not None and array.nbytes >= SHARED
        return self.client.scatter(array, broadcast=True, hash=False) if large else array

    def map(self, function: Callable[..., Any], calls: Sequence[tuple[Any, ...]]) -> Iterator[Any]:
        """What the calls return, in their order. Calls that were lost with a pool are made again."""
        start, repeats = 0, REPEATS if self.make else 0
        while start < len(calls):
            futures: deque[Future[Any]] = deque()
            try:
                for call in calls[start:]:
                    futures.append(self.submit(None, function, *call))
                while futures:
                    result = futures.popleft().result()
                    start += 1
                    yield result
            except BrokenExecutor:
                if repeats == 0:
                    raise
                repeats -= 1
                self.renew()
            finally:
                for future in futures:
                    future.cancel()

    def host(self) -> str:
        """The address under which the workers reach this process."""
        if self.client is not None:
            found = urlparse(self.client.scheduler_info()["address"]).hostname
            return own_address(found) if found else "127.0.0.1"
        return "127.0.0.1" if isinstance(self.executor, (ProcessPoolExecutor, ThreadPoolExecutor)) else own_address(None)


# ---- Estimators ------------------------------------------------------------------------------------------------------

class Blocks:
    """What both estimators do with their blocks."""

    executor: Any
    n_features_in_: int
    labels_: NDArray[np.int32]
    block_sizes_: list[int]
    block_labels_: list[NDArray[np.int32]]

    def fit(self: Fitted, blocks: Sequence[Any], y: Any = None) -> Fitted:
        """Clusters the rows of all blocks. A row with a NaN or without a direction is missing, and has the label -1."""
        with Engine(self.executor) as engine:
            self._fit(engine, self._measured(engine, blocks))
        return self

    def fit_predict(self, blocks: Sequence[Any], y: Any = None) -> NDArray[np.int32]:
        """Clusters the rows of all blocks and returns `labels_`."""
        return self.fit(blocks).labels_

    @property
    def similarity_(self) -> Any:
        raise AttributeError("the rows of blocks are not kept: similarity(rows) computes their similarities")

    def _fit(self, engine: Engine, blocks: list[Any]) -> None:
        raise NotImplementedError

    def _split_labels(self) -> None:
        self.block_labels_ = np.split(self.labels_, np.cumsum(self.block_sizes_)[:-1])

    def _measured(self, engine: Engine, blocks: Any) -> list[Any]:
        """The blocks, of which the sizes are known now."""
        if hasattr(blocks, "shape") or isinstance(blocks, (str, bytes)) or not hasattr(blocks, "__len__"):
            raise TypeError("blocks must be a list: each item is rows, a function that returns rows, or a Dask future")
        shapes = list(engine.map(shape_of, [(block,) for block in blocks]))
        wide = {width: number for number, (_, width) in reversed(list(enumerate(shapes)))}
        if len(wide) > 1:
            (a, first), (b, second) = sorted(((number, width) for width, number in wide.items()))[:2]
            raise ValueError(f"the rows of block {b} have {second} components, those of block {a} {first}; all need the same")
        self.block_sizes_ = [count for count, _ in shapes]
        if sum(self.block_sizes_) == 0:
            raise ValueError("the blocks have no rows")
        self.n_features_in_ = shapes[0][1]
        return list(blocks)

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "executor": None}  # type: ignore[misc]


class SphericalKMeans(Blocks, Saving, DirectionClusterer):
    """Spherical k-means over blocks of rows.

    An iteration asks every block for a `Tally` and adds them up; where an engine repeats the work of a worker that died, nothing
    changes. Labels and means are those of `asterism.SphericalKMeans(init=...)` from the same means, and with init="random" from
    the same `random_state`.

    Parameters
    ----------
    n_clusters : int, default=8
    executor : an executor of concurrent.futures, a function that makes one, a Dask client or None, default=None
        What runs the work. None: this process.
    init : {"k-means++", "random"} or array (K, D), default="k-means++"
        Where it starts. "k-means++": from the means of a sample of the rows, which this process clusters. "random": rows,
        all equally likely. Neither depends on how the rows are split.
    sample : int or None, default=None
        With "k-means++" the number of rows in the sample; None: 50 for each cluster, at least 10,000.
    max_iter, axial, measure, outlier_angle, random_state
        As in `asterism.SphericalKMeans`.
    n_threads : int or None, default=1
        Of each call on a worker.

    Attributes
    ----------
    labels_ : (N) int32, of the rows of all blocks; `block_labels_` is the same as a list, one array for each block
    block_sizes_ : list of int, rows of each block
    cluster_centers_, counts_, kappas_, objective_, n_iter_, n_clusters_, n_features_in_
        As in `asterism.SphericalKMeans`.

    Examples
    --------
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> import asterism
    >>> from asterism import distributed
    >>> X, truth = asterism.sample(3000, dimension=3, clusters=5, kappa=200, separation=60)
    >>> with ThreadPoolExecutor(2) as executor:
    ...     model = distributed.SphericalKMeans(5, init=X[:5], executor=executor).fit([X[:1000], X[1000:]])
    >>> bool((model.labels_ == asterism.SphericalKMeans(5, init=X[:5]).fit(X).labels_).all())
    True
    """

    counts_: NDArray[np.int64]
    kappas_: NDArray[np.float64]
    n_clusters_: int
    allow_missing = True
    n_jobs = None
    _model_method = "AST_SPKM"

    def __init__(self, n_clusters: int = 8, *, executor: Any = None, init: Any = "k-means++", sample: int | None = None,
                 max_iter: int = 100, axial: bool = False, measure: str = "cosine", outlier_angle: float | None = None,
                 random_state: Any = None, n_threads: int | None = 1) -> None:
        self.n_clusters = n_clusters
        self.executor = executor
        self.init = init
        self.sample = sample
        self.max_iter = max_iter
        self.axial = axial
        self.measure = measure
        self.outlier_angle = outlier_angle
        self.random_state = random_state
        self.n_threads = n_threads

    def _fit(self, engine: Engine, blocks: list[Any]) -> None:
        limit, before = whole_number("max_iter", self.max_iter, 1), None
        means = Tally.start(self._starts(engine, blocks))
        for self.n_iter_ in range(1, limit + 1):
            used, total = means, Tally(means, axial=bool(self.axial))
            for part in engine.map(tally_of, self._calls(engine, used, blocks)):
                total.merge(part)
            sums = total.totals()
            step = total.update()
            means, converged = step.means, step.fingerprint == before
            if converged:
                break
            before = step.fingerprint
        if not converged:
            warnings.warn(f"{type(self).__name__} stopped at max_iter = {limit} before it converged", ConvergenceWarning,
                          stacklevel=3)
        self.cluster_centers_, self.objective_, self.n_clusters_ = means, step.objective, len(means)
        self._count(sums, step)
        self._label_blocks(engine, used, blocks, step.moves)

    def _calls(self, engine: Engine, means: np.ndarray, blocks: list[Any]) -> list[tuple[Any, ...]]:
        shared, firsts = engine.share(means), np.cumsum([0, *self.block_sizes_]).tolist()
        return [(shared, block, first, bool(self.axial), self.n_threads)
                for block, first, size in zip(blocks, firsts, self.block_sizes_) if size]

    def _starts(self, engine: Engine, blocks: list[Any]) -> np.ndarray:
        if not isinstance(self.init, str):
            given = np.asarray(self.init, np.float32)
            if given.ndim != 2 or given.shape[1] != self.n_features_in_:
                raise ValueError(f"init has the shape {given.shape}; it must be (clusters, {self.n_features_in_}) as the blocks "
                                 f"have {self.n_features_in_} components")
            return given
        if self.init not in ("k-means++", "random"):
            raise ValueError(f"init is {self.init!r}; it must be 'k-means++', 'random' or an array")
        clusters, seed = whole_number("n_clusters", self.n_clusters, 1), self._seed()
        if self.init == "random":
            return self._drawn(engine, blocks, clusters, clusters, seed)
        count = max(50 * clusters, 10_000) if self.sample is None else whole_number("sample", self.sample, clusters)
        rows = self._drawn(engine, blocks, count, clusters, seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            found = single.SphericalKMeans(clusters, axial=self.axial, random_state=seed, max_iter=20).fit(rows)
        return found.cluster_centers_

    def _drawn(self, engine: Engine, blocks: list[Any], count: int, least: int, seed: int) -> np.ndarray:
        calls = [(block, count, seed, bool(self.axial)) for block, size in zip(blocks, self.block_sizes_) if size]
        rows = np.concatenate(list(engine.map(drawn_of, calls)))
        if len(rows):
            rows = Tally.draw(rows, count, seed, axial=bool(self.axial))
        if len(rows) < least:
            raise ValueError(f"the blocks have {len(rows)} different rows with a direction, fewer than n_clusters = {least}")
        return rows

    def _count(self, sums: Any, step: Any) -> None:
        """Counts and concentrations, also of clusters that were empty and have taken a point."""
        self.counts_, lengths = sums.members.copy(), sums.sums / sums.unit
        for _, old, new in step.moves:
            point = step.means[new].astype(np.float64)
            self.counts_[[old, new]] += [-1, 1]
            lengths[old] -= point
            lengths[new] = point
        resultants = np.sqrt(np.einsum("ij,ij->i", lengths, lengths)) / np.maximum(self.counts_, 1)
        self.kappas_ = np.array([lib.ast_vmf_kappa(lengths.shape[1], min(one, 1.0)) if n > 1 else np.nan
                                 for one, n in zip(resultants, self.counts_)])

    def _label_blocks(self, engine: Engine, means: np.ndarray, blocks: list[Any], moves: np.ndarray) -> None:
        shared = engine.share(means)
        found = engine.map(labels_of, [(shared, block, bool(self.axial), self.n_threads)
                                       for block, size in zip(blocks, self.block_sizes_) if size])
        self.labels_ = np.concatenate(list(found))
        self.labels_[moves[:, 0]] = moves[:, 2]
        self._split_labels()

    def _seed(self) -> int:
        return super()._seed() if self.random_state is not None else int(check_random_state(None).randint(2 ** 31 - 1))


class DPVMFMeans(Blocks, single.DPVMFMeans):
    """DP-vMF-means over blocks of rows, with the labels of `asterism.DPVMFMeans(order="given")`.

    Processes on the workers hold the blocks together, the first ones the first process. They visit the rows in order and
    exchange sums with this process over TCP, so that it must be reachable from the workers. If one is lost, all begin again,
    with as many as there are then.

    Parameters
    ----------
    angle, cosine, merge, merge_to, min_size, center, init, max_iter, axial, measure, outlier_angle, representatives
        As in `asterism.DPVMFMeans`.
    executor : an executor of concurrent.futures, a function that makes one, a Dask client or None, default=None
        What runs the work. None: this process.
    ranks : int or None, default=None
        How many processes; they must all run at once. None: as many as the executor runs, one for each worker of Dask.
    n_threads : int or None, default=None
        Of each process; None: its share of the processors of its machine.
    address : str or None, default=None
        Of this machine, for the workers; None: the one that leads to them.
    timeout : float, default=60
        Seconds in which all processes must have begun.

    Attributes
    ----------
    labels_ : (N) int32, of the rows of all blocks; `block_labels_` is the same as a list, one array for each block
    block_sizes_ : list of int, rows of each block
    cluster_centers_ and further attributes
        As in `asterism.DPVMFMeans`, without the tree of joins.

    Examples
    --------
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> import asterism
    >>> from asterism import distributed
    >>> X, truth = asterism.sample(3000, dimension=3, clusters=5, kappa=200, separation=60)
    >>> with ThreadPoolExecutor(2) as executor:
    ...     model = distributed.DPVMFMeans(40, executor=executor).fit([X[:1000], X[1000:]])
    >>> bool((model.labels_ == asterism.DPVMFMeans(40).fit(X).labels_).all())
    True
    """

    def __init__(self, angle: float = 60, *, cosine: float | None = None, executor: Any = None, ranks: int | None = None,
                 merge: float | str | None = None, merge_to: int | None = None, min_size: float = 1, center: bool = False,
                 init: Any = None, max_iter: int = 100, axial: bool = False, measure: str = "cosine",
                 outlier_angle: float | None = None, representatives: int = 0, n_threads: int | None = None,
                 address: str | None = None, timeout: float = 60) -> None:
        super().__init__(angle, cosine=cosine, order="given", merge=merge, merge_to=merge_to, min_size=min_size, center=center, init=init, max_iter=max_iter, axial=axial,
                         measure=measure, outlier_angle=outlier_angle, representatives=representatives, allow_missing=True,
                         n_threads=n_threads)
        self.executor = executor
        self.ranks = ranks
        self.address = address
        self.timeout = timeout

    _weights: list[NDArray[np.float64]] | None = None  # of the blocks, within fit

    def fit(self: DPVMFMeans, blocks: Sequence[Any], y: Any = None, sample_weight: Sequence[Any] | None = None) -> DPVMFMeans:
        """Clusters the rows of all blocks. A row with a NaN or without a direction is missing, and has the label -1.
        sample_weight: a list with an array for each block, one weight for each row."""
        self._weights = None if sample_weight is None else [np.asarray(own, np.float64) for own in sample_weight]
        try:
            return super().fit(blocks)
        finally:
            self._weights = None

    def _weights_of(self, own: list[int]) -> NDArray[np.float64] | None:
        """The weights of these blocks."""
        return None if self._weights is None else np.concatenate([self._weights[block] for block in own])

    def _fit(self, engine: Engine, blocks: list[Any]) -> None:
        sizes = None if self._weights is None else [own.size if own.ndim == 1 else -1 for own in self._weights]
        if sizes is not None and sizes != self.block_sizes_:
            raise ValueError("sample_weight must be a list with an array for each block, one weight for each row: the blocks have "
                             f"{self.block_sizes_} rows")
        for attempt in range(REPEATS + 1):
            try:
                found = self._attempt(engine, blocks)
                break
            except (RankLost, BrokenExecutor):
                if attempt == REPEATS or (engine.client is None and engine.make is None):
                    raise
                time.sleep(1)  # until the engine knows
                engine.renew()
        self.__dict__.update(found[0].attributes)
        before = np.cumsum([0, *(len(one.labels) for one in found)])
        self.outliers_ = np.concatenate([one.outliers + first for one, first in zip(found, before)])
        self.labels_ = np.concatenate([one.labels for one in found])
        for warning in found[0].warnings:
            warnings.warn(warning, stacklevel=3)
        self._split_labels()

    def _attempt(self, engine: Engine, blocks: list[Any]) -> list[Found]:
        """What every rank found."""
        groups = self._groups(engine)
        settings = {name: getattr(self, name) for name in single.DPVMFMeans._get_param_names()}
        held = [([blocks[block] for block in own], self._weights_of(own)) for own in groups]
        if len(groups) == 1:
            return [engine.submit(None, rank_of, None, 0, 1, settings, *held[0]).result()]
        with Hub(self.address or engine.host(), len(groups), self.timeout) as hub:
            futures = [engine.submit(rank, rank_of, (hub.address, hub.token), rank, len(groups), settings, *own)
                       for rank, own in enumerate(held)]
            try:
                while wait(futures, 0.5, FIRST_EXCEPTION).not_done and not hub.closed and not any_failed(futures):
                    pass
                if any_failed(futures) or hub.closed:
                    hub.close()
                    wait(futures, timeout=5)  # who has failed first is not who says so first
            finally:
                for future in futures:
                    future.cancel()
            return results_of(futures, hub, self.timeout)

    def _groups(self, engine: Engine) -> list[list[int]]:
        """The numbers of the blocks of every rank: neighbours, with about as many rows as those of any other."""
        filled = [(block, size) for block, size in enumerate(self.block_sizes_) if size]
        ranks = len(engine.places) if self.ranks is None else whole_number("ranks", self.ranks, 1)
        ranks = min(ranks, len(engine.places) if engine.client is not None else ranks, len(filled))
        middles = np.cumsum([size for _, size in filled]) - np.array([size for _, size in filled]) / 2
        ranks_of = np.minimum(middles * ranks // sum(self.block_sizes_), ranks - 1)
        groups = [[block for (block, _), own in zip(filled, ranks_of) if own == rank] for rank in range(ranks)]
        return [group for group in groups if group]


def any_failed(futures: Sequence[Future[Any]]) -> bool:
    return any(future.done() and (future.cancelled() or future.exception() is not None) for future in futures)


def results_of(futures: Sequence[Future[Any]], hub: Hub, timeout: float) -> list[Any]:
    """What the ranks returned, or the error that explains those of the others."""
    errors = [future.exception() for future in futures if future.done() and not future.cancelled()]
    for error in errors:
        if error is not None and not isinstance(error, (RankLost, BrokenExecutor)):
            raise error
    if hub.began < hub.ranks and not any(isinstance(error, BrokenExecutor) for error in errors):
        raise RankLost(f"only {hub.began} of {hub.ranks} processes have begun within {timeout:g} s: ranks must be at most the number "
                       f"of functions that the executor runs at once, and their machines must reach {hub.address[0]} (address)")
    for error in errors:
        if error is not None:
            raise error
    if len(errors) < len(futures):
        raise RankLost("a process of the clustering was lost")
    return [future.result() for future in futures]


def assign(blocks: Sequence[Any], model: Any, executor: Any = None) -> list[NDArray[np.int32]]:
    """The labels that `model.predict` gives to the rows of each block, computed where the block is. model: an estimator that is
    fitted, or what `asterism.load` returns."""
    with Engine(executor) as engine:
        return list(engine.map(predicted, [(model, block) for block in blocks]))
