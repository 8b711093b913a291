# SPDX-License-Identifier: MIT
"""Options and results of what follows a converged run: merged clusters, the tree of joins, small clusters dissolved."""
from __future__ import annotations

import ctypes
import math
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._base import whole_number
from ._library import array_at, constants, lib, structs


class Merging:
    """A mixin of estimators with the parameters merge, merge_to and min_size."""

    tree_: NDArray[np.float64]
    leaf_labels_: NDArray[np.int32]
    n_leaves_: int
    outliers_: NDArray[np.intp]
    _results = ("tree_", "leaf_labels_", "n_leaves_")
    _merges = True
    _seat: Any = None

    def _merge_options(self, options: Any, rows: int) -> None:
        """Fills in the options of merging. The tree is always kept: it costs a fraction of the passes before it."""
        if self.merge is not None and self.merge_to is not None:
            raise ValueError("merge and merge_to exclude each other: give one of them")
        self._merge_by(options, self.merge, self.merge_to)
        options.merge.min_size = self._least_size()
        if self._seat:
            return  # one of several processes, which keep no tree
        options.merge.tree, leaves = 1, np.empty(rows, np.int32)
        options.merge.leaves = leaves.ctypes.data if rows else None
        options.leaf_labels = leaves  # the estimator's own name for them, which keeps them alive

    def _merge_by(self, options: Any, merge: Any, merge_to: Any) -> None:
        if merge_to is not None:
            options.merge.by = constants["AST_MERGE_COUNT"]
            options.merge.count = whole_number("merge_to", merge_to, 1)
        elif isinstance(merge, str) and merge == "evidence":
            options.merge.by = constants["AST_MERGE_EVIDENCE"]
        elif merge is not None:
            if not isinstance(merge, Real) or isinstance(merge, bool) or not 0 <= merge <= 180:
                raise ValueError(f"merge is {merge!r}; it must be None, 'evidence' or an angle of 0 to 180 degrees")
            options.merge.by, options.merge.angle = constants["AST_MERGE_ANGLE"], float(merge)

    def _least_size(self) -> float:
        """1 is the size of a cluster of one row and dissolves nothing, also if weights are below 1."""
        if not isinstance(self.min_size, Real) or not 0 <= self.min_size < math.inf:
            raise ValueError(f"min_size is {self.min_size!r}; it must be a number of at least 0")
        return 0.0 if self.min_size == 1 else float(self.min_size)


def read_joins(context: Any) -> np.ndarray:
    """A copy of the joins of the context's last result, with the fields of ast_tree_join."""
    count, kind = ctypes.c_size_t(), structs["ast_tree_join"]
    first = lib.ast_tree_records(context.handle, ctypes.sizeof(kind), ctypes.byref(count))
    return array_at(first, (count.value,), np.dtype(kind))


def linkage_of(joins: np.ndarray) -> np.ndarray:
    """(L - 1, 4): the joins as scipy's linkage matrix.

    The height of a join is what it and all joins before it lost of the objective's sum of lengths. Heights strictly
    increase, also where joins lose nothing, so that scipy's cuts follow the order of the joins. The size of a node is
    the number of its leaves, which scipy's functions rely on.
    """
    tree = np.empty((len(joins), 4))
    leaves = len(joins) + 1
    sizes = [1] * leaves
    height, least = 0.0, 0.0
    for row, a, b, loss in zip(tree, joins["a"].tolist(), joins["b"].tolist(), joins["loss"].tolist()):
        height = max(height + loss, least)
        sizes.append(sizes[a] + sizes[b])
        row[:] = a, b, height, sizes[-1]
        least = math.nextafter(height, math.inf)
    return tree


def outliers_of(X: Any, labels: np.ndarray) -> np.ndarray:
    """The numbers of the rows that have a direction, but no label."""
    without = np.flatnonzero(labels < 0)
    with np.errstate(over="ignore"):
        lengths = np.asarray(abs(X[without]).sum(axis=1)).ravel()  # NaN in rows with a NaN, 0 in rows of zeros
    return without[lengths > 0]
