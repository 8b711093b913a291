# SPDX-License-Identifier: MIT
"""One iteration of spherical k-means in parts: what Spark, Dask, Ray or a pool of processes need of it.

A Tally holds no handle of the library, only its means, its options and the bytes of asterism_tally.h: it can be pickled,
copied, sent, and used in a forked child.
"""
from __future__ import annotations

import ctypes
import hashlib
from typing import Any, NamedTuple

import numpy as np

from ._base import FLOATS, MOST_SEED, canonical, whole_number, without_index
from ._library import array_at, lender, lib, opened, points_of, sized, structs
from ._standalone import issparse


class Step(NamedTuple):
    """What an iteration came to: see `Tally.update`."""

    means: np.ndarray  # (K, D) float32, those of the next one
    objective: float
    fingerprint: int  # equal to that of the iteration before: no label has changed
    moves: np.ndarray  # (M, 3) int64: point, from, to; who went to a cluster that was empty


class Totals(NamedTuple):
    """What a tally holds: see `Tally.totals`."""

    points: int
    missing: int
    changed: int  # points that had another label, or none
    objective: float  # the sum of the cosines to the given means
    unit: float  # sums are whole numbers of 1 / unit; so are weights, where there are some
    sums: np.ndarray  # (K, D) int64
    weights: np.ndarray  # (K) int64
    members: np.ndarray  # (K) int64


class Tally:
    """The sums of points in one iteration of spherical k-means.

    Sums are exact integers: however the points are split into parts, and in whatever order parts are merged, the next
    means are the same, bit for bit, and so are all iterations those of `SphericalKMeans` from the same start.

    Parameters
    ----------
    means : array (K, D)
        Those of `Tally.start` or of the last `Step`, unit vectors.
    axial : bool, default=False
        Whether x and -x are the same.
    weights : (smallest, total) or None, default=None
        None: points have no weights. Otherwise the smallest positive weight of all points that are not missing, and the
        sum of all weights divided by it, in the order of the points.
    n_threads : int or None, default=None
        Of each call; None: one for each processor.

    Examples
    --------
    >>> import numpy as np, asterism
    >>> X, _ = asterism.sample(1000, dimension=3, clusters=5, kappa=50)
    >>> means, before = asterism.Tally.start(X[:5]), None
    >>> while True:
    ...     parts = [asterism.Tally(means) for _ in range(2)]       # in two places
    ...     labels = [parts[0].add(X[:600], 0), parts[1].add(X[600:], 600)]
    ...     step = parts[0].merge(parts[1]).update()
    ...     means = step.means
    ...     if step.fingerprint == before:
    ...         break
    ...     before = step.fingerprint
    >>> model = asterism.SphericalKMeans(5, init=X[:5]).fit(X)
    >>> bool((model.labels_ == np.concatenate(labels)).all() and (model.cluster_centers_ == means).all())
    True
    """

    def __init__(self, means: Any, *, axial: bool = False, weights: tuple[float, float] | None = None,
                 n_threads: int | None = None) -> None:
        self.means = two_dimensional(means)
        self.axial, self.weights, self.n_threads = bool(axial), weights, n_threads
        self._bytes = b""
        self._blocks: list[tuple[int, int]] | None = []  # first row and end of what was added; None: not known
        self._merged: set[bytes] = set()  # digests of what was merged

    @staticmethod
    def start(means: Any) -> np.ndarray:
        """(K, D) float32: the means that a run begins with when it is given these, normalised as the library does it."""
        given = two_dimensional(means)
        started = np.empty_like(given)
        with lender.borrow(1, given.size) as context:
            context.check(lib.ast_tally_start(context.handle, given.ctypes.data, *given.shape, started.ctypes.data))
        return started

    @staticmethod
    def draw(X: Any, count: int, seed: int, *, axial: bool = False) -> np.ndarray:
        """(count, D) float32: different rows of X as unit vectors, all equally likely; fewer if there are no more. They are the
        start of `SphericalKMeans(count, init="random", random_state=seed)`. Those drawn from what was drawn of all parts are
        those drawn from all rows."""
        X = rows_of(X)
        count, seed = whole_number("count", count, 1), whole_number("seed", seed, 0, MOST_SEED)
        drawn, found, points = np.empty((count, X.shape[1]), np.float32), ctypes.c_size_t(), points_of(X)
        with lender.borrow(1, X.size) as context:
            context.check(lib.ast_tally_draw(context.handle, ctypes.byref(points), count, seed, bool(axial),
                                             drawn.ctypes.data, ctypes.byref(found)))
        return drawn[:found.value]

    def add(self, X: Any, first: int = 0, *, sample_weight: Any = None, labels: np.ndarray | None = None) -> np.ndarray:
        """Adds the rows of X, an array or a sparse matrix, of which the first has this number among the rows of all
        parts. Returns their labels, int32: the nearest mean, -1 for rows without a direction. `labels`, if given (int32,
        contiguous), are those of the iteration before; they are overwritten, and `totals().changed` counts what
        changed."""
        X = rows_of(X)
        points = points_of(X, None if sample_weight is None else checked_weights(sample_weight, X.shape[0]))
        labels = np.full(X.shape[0], -1, np.int32) if labels is None else checked_labels(labels, X.shape[0])
        first = whole_number("first", first, 0, 2 ** 62)
        blocks = joined(self._blocks, [(first, first + X.shape[0])])
        with Handle(self, X.size) as tally:
            tally.check(lib.ast_tally_add(tally.handle, ctypes.byref(points), first, labels.ctypes.data))
            self._bytes = tally.save()
        self._blocks = blocks
        return labels

    def merge(self, other: Tally | bytes) -> Tally:
        """Adds what another tally of the same iteration has, given as it is or as bytes. Returns self. A tally whose
        rows are in this one already is refused; of bytes only the same bytes are known again."""
        given = bytes(other)
        digest = hashlib.sha256(given).digest()
        blocks = joined(self._blocks, other._blocks if isinstance(other, Tally) else None)
        merged = {digest, *(other._merged if isinstance(other, Tally) else ())}
        with Handle(self, 0) as tally:
            tally.merge(given)
            saved = tally.save()
        if merged & self._merged and saved != self._bytes:  # an empty one can come twice
            raise ValueError("this tally was merged before: its rows would count twice")
        self._bytes, self._blocks = saved, blocks
        self._merged |= merged
        return self

    def totals(self) -> Totals:
        """The counts and sums of all points added so far."""
        found, (clusters, dimension) = sized("ast_tally_totals"), self.means.shape
        with Handle(self, 0) as tally:
            tally.check(lib.ast_tally_look(tally.handle, ctypes.byref(found)))
            return Totals(found.points, found.missing, found.changed, found.objective, found.unit,
                          array_at(found.sums, (clusters, dimension), np.int64),
                          array_at(found.weights, (clusters,), np.int64), array_at(found.members, (clusters,), np.int64))

    def update(self) -> Step:
        """Ends the iteration, once all parts are merged: empty clusters take the points that fit worst, and every mean
        becomes that of its points. Labels that were kept change as `moves` says. The tally is empty then, and stands
        against the new means."""
        refuse_gaps(self._blocks)
        found = sized("ast_tally_step")
        with Handle(self, 0) as tally:
            tally.check(lib.ast_tally_update(tally.handle, ctypes.byref(found)))
            means = array_at(found.means, self.means.shape, np.float32)
            records = (structs["ast_tally_move"] * found.moved).from_address(found.moves) if found.moved else []
            moves = np.array([(one.point, one.__getattribute__("from"), one.to) for one in records], np.int64)
        self.means, self._bytes, self._blocks, self._merged = means, b"", [], set()
        return Step(means, found.objective, found.fingerprint, moves.reshape(-1, 3))

    def __bytes__(self) -> bytes:
        """As asterism_tally.h lays them out, in the machine's byte order."""
        if not self._bytes:
            with Handle(self, 0) as tally:
                return tally.save()
        return self._bytes


class Handle:
    """An ast_tally for the time of a call, with what the Tally holds."""

    def __init__(self, tally: Tally, numbers: int) -> None:
        self.tally, self.lent = tally, lender.borrow(tally.n_threads, numbers)

    def __enter__(self) -> Handle:
        means, options = self.tally.means, sized("ast_tally_options", axial=self.tally.axial)
        options.smallest_weight, options.total_weight = self.tally.weights or (0, 0)
        self.context, self.handle = self.lent.__enter__(), None
        try:
            self.handle = opened(lib.ast_tally_open, self.context, means.ctypes.data, *means.shape,
                                 ctypes.byref(options))
            if self.tally._bytes:
                self.merge(self.tally._bytes)
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(self, *error: Any) -> None:
        lib.ast_tally_close(self.handle)
        self.lent.__exit__(None, None, None)

    def check(self, status: int) -> None:
        self.context.check(status)

    def merge(self, saved: bytes) -> None:
        self.check(lib.ast_tally_merge(self.handle, saved, len(saved)))

    def save(self) -> bytes:
        size = ctypes.c_size_t()
        address = lib.ast_tally_save(self.handle, ctypes.byref(size))
        if not address:
            raise MemoryError(self.context.message())
        return ctypes.string_at(address, size.value)


def rows_of(X: Any) -> Any:
    """X as the library takes it."""
    X = canonical(X.tocsr()) if issparse(X) else np.asarray(without_index(X))
    if X.ndim != 2:
        raise ValueError(f"X has the shape {X.shape}; rows of a matrix are needed")
    return X if X.dtype in FLOATS and X.dtype.isnative else X.astype(np.float64)


def two_dimensional(means: Any) -> np.ndarray:
    means = np.array(means, np.float32, order="C")
    if means.ndim != 2:
        raise ValueError(f"the means have the shape {means.shape}; they must be (clusters, dimension)")
    return means


def checked_weights(weights: Any, count: int) -> np.ndarray:
    weights = np.ascontiguousarray(weights, np.float64)
    if weights.shape != (count,):
        raise ValueError(f"sample_weight has the shape {weights.shape}; one number for each of {count} rows is needed")
    return weights


def checked_labels(labels: np.ndarray, count: int) -> np.ndarray:
    if not isinstance(labels, np.ndarray) or labels.dtype != np.int32 or labels.shape != (count,) or not labels.flags.c_contiguous:
        raise ValueError(f"labels must be {count} contiguous numbers of type int32, one for each row")
    if not labels.flags.writeable:
        raise ValueError("labels cannot be written: they are overwritten by those of this iteration; pass a copy")
    return labels


def joined(blocks: list[tuple[int, int]] | None, more: list[tuple[int, int]] | None) -> list[tuple[int, int]] | None:
    """Both lists of blocks in order, neighbours as one; None if one is not known. A row that is in both is refused."""
    if blocks is None or more is None:
        return None
    found: list[tuple[int, int]] = []
    for first, end in sorted(block for block in blocks + more if block[0] < block[1]):
        if found and first < found[-1][1]:
            raise ValueError(f"row {first} would count twice: rows {found[-1][0]} to {found[-1][1] - 1} are there already. "
                             "Is `first` the number of the block's first row among all rows?")
        if found and first == found[-1][1]:
            first = found.pop()[0]
        found.append((first, end))
    return found


def refuse_gaps(blocks: list[tuple[int, int]] | None) -> None:
    """Rows are numbered from 0 without gaps, where it is known which were added."""
    end = 0
    for first, after in blocks or ():
        if first != end:
            raise ValueError(f"rows {end} to {first - 1} were not added, but row {first} was. Is `first` the number of the "
                             "block's first row among all rows?")
        end = after
