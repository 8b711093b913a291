# SPDX-License-Identifier: MIT
"""Near-duplicates: `dedup`."""
from __future__ import annotations

import ctypes
from typing import Any, Sequence

import numpy as np
from numpy.typing import NDArray

from ._base import real_number
from ._compat import Bunch
from ._library import constants, defaults, interruptible, lender, lib, points_of, sized
from .tuning import checked_rows

MODES = {"connected": "AST_CONNECTED", "star": "AST_STAR"}
KEEPS = {"first": "AST_KEEP_FIRST", "central": "AST_KEEP_CENTRAL", "longest-named": "AST_KEEP_RANKED"}
PAIR = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_double, ctypes.c_void_p)


class Duplicates(Bunch):
    """What `dedup` returns."""

    kept: NDArray[np.intp]
    groups: NDArray[np.int32]
    n_pairs: int
    n_groups: int
    n_matched: int
    n_missing: int
    pairs: NDArray[np.intp] | None
    cosines: NDArray[np.float64] | None


def dedup(X: Any, cosine: float, mode: str = "connected", keep: str = "first", against: Any = None, *,
          names: Sequence[str] | None = None, pairs: bool = False, n_threads: int | None = None) -> Duplicates:
    """Finds all pairs of rows whose cosine is at least `cosine`, exactly, and groups the rows.

    Parameters
    ----------
    X : (N, D) array or data frame
        A row with a NaN or of zeros is missing.
    cosine : float, -1 to 1
    mode : "connected" or "star"
        connected: rows that a chain of near rows connects are one group. star: every row of a group is near its kept
        row.
    keep : "first", "central" or "longest-named"
        Which row of a group is kept; central: with the largest sum of cosines with its group, for star with the most
        near rows.
    against : (M, D) array or None
        Rows that are kept already: a row near one of them is dropped, and the others are compared with each other.
    names : N strings, for keep="longest-named"
    pairs : bool, default=False
        Return the pairs, too. They take memory; their number may grow as N^2.
    n_threads : as in `DPVMFMeans`

    Returns
    -------
    A dictionary whose keys are attributes too (scikit-learn's Bunch).
        kept : numbers of the kept rows, increasing
        groups : (N) int32, the group of each row, from 0 in order of the first row; -1 for missing rows. With `against`,
            0..M-1 stand for its rows: the nearest one, and the other groups begin with M
        n_pairs : int, near pairs; n_groups : groups without those of `against`; n_matched : rows near `against`;
        n_missing : rows without a direction
        pairs, cosines : (P, 2) and (P), in order, or None; j - N is a row of `against`

    Examples
    --------
    >>> import asterism
    >>> X = [[1, 0], [0, 1], [1, 0.1], [0, 2]]
    >>> found = asterism.dedup(X, 0.99)
    >>> found.kept.tolist(), found.groups.tolist(), found.n_pairs
    ([0, 1], [0, 1, 0, 1], 2)
    >>> asterism.dedup([[1, 1], [1, 0.01]], 0.99, against=X).kept.tolist()
    [0]
    """
    X = checked_rows(X)
    others = None if against is None else points_of(checked_rows(against))
    options = options_of(cosine, mode, keep)
    rank = ranks_of(names, keep, X.shape[0])
    options.rank = None if rank is None else rank.ctypes.data
    options.against = None if others is None else ctypes.cast(ctypes.byref(others), ctypes.c_void_p)
    found: list[tuple[int, int, float]] = []
    callback = PAIR(lambda i, j, cosine, _: found.append((i, j, cosine)) or 0)
    if pairs:
        options.pair = ctypes.cast(callback, ctypes.c_void_p)
    groups, kept, report = interruptible(lambda cancel: run(n_threads, points_of(X), options, cancel))
    listed = np.array(found, dtype=[("i", np.intp), ("j", np.intp), ("cosine", np.float64)]) if pairs else None
    return Duplicates(
        kept=np.flatnonzero(kept), groups=groups, n_pairs=report.pairs, n_groups=report.groups,
        n_matched=report.matched, n_missing=report.missing,
        pairs=None if listed is None else np.stack([listed["i"], listed["j"]], axis=1),
        cosines=None if listed is None else listed["cosine"].copy())


def options_of(cosine: float, mode: str, keep: str) -> Any:
    for name, value, choices in (("mode", mode, MODES), ("keep", keep, KEEPS)):
        if not isinstance(value, str) or value not in choices:
            raise ValueError(f"{name} is {value!r}; it must be one of {', '.join(map(repr, choices))}")
    options = defaults("ast_dedup_options")
    options.cosine = real_number("cosine", cosine, "a number from -1 to 1")
    options.mode, options.keep = constants[MODES[mode]], constants[KEEPS[keep]]
    return options


def ranks_of(names: Sequence[str] | None, keep: str, count: int) -> np.ndarray | None:
    """The lengths of the names."""
    if keep != "longest-named":
        return None
    if names is None:
        raise ValueError("keep='longest-named' needs names, one for every row")
    rank = np.array([len(str(name)) for name in names], dtype=np.float64)
    if len(rank) != count:
        raise ValueError(f"there are {len(rank)} names for {count} rows")
    return rank


def run(n_threads: int | None, points: Any, options: Any, cancel: Any) -> tuple[np.ndarray, np.ndarray, Any]:
    """One call of ast_dedup."""
    groups, kept = np.empty(points.count, np.int32), np.empty(points.count, np.uint8)
    report = sized("ast_dedup_report")
    with lender.borrow(n_threads, points.count * points.dimension) as context, context.cancelled_by(cancel):
        context.check(lib.ast_dedup(context.handle, ctypes.byref(points), ctypes.byref(options), groups.ctypes.data,
                                    kept.ctypes.data, ctypes.byref(report)))
    return groups, kept, report
