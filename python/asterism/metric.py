# SPDX-License-Identifier: MIT
"""Exact nearest neighbours, and the linear map of rows that makes clusters round (docs/metric.md)."""
from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _compat
from ._base import FLOATS, whole_number
from ._library import array_at, constants, interruptible, lender, lib, points_of, sized, structs

KINDS = ("plain", "local", "auto")


def neighbors(X: Any, k: int, *, n_threads: int | None = None) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """The `k` nearest neighbours of every row of X among its other rows, by cosine: exact, as if all pairs were compared.

    Returns `indices` (N, k) int32, nearest first, equal cosines in order of rows, and `cosines` (N, k) float64. Where
    there are fewer than k other rows, and for rows with NaN or only zeros, they are -1 and NaN.

    >>> import asterism
    >>> indices, cosines = asterism.neighbors([[1, 0], [0, 1], [1, 0.1], [0.1, 1]], k=1)
    >>> indices.ravel(), cosines.ravel().round(3)
    (array([2, 3, 0, 1], dtype=int32), array([0.995, 0.995, 0.995, 0.995]))
    """
    X, k = checked_rows(X), whole_number("k", k, 1)
    indices, cosines, points = np.empty((len(X), k), np.int32), np.empty((len(X), k)), points_of(X)

    def call(cancel: Any) -> None:
        with lender.borrow(n_threads, X.size) as context, context.cancelled_by(cancel):
            context.check(lib.ast_neighbours(context.handle, ctypes.byref(points), k, indices.ctypes.data,
                                             cosines.ctypes.data))

    interruptible(call)
    return indices, cosines


class Metric:
    """A map of rows: z = N(matrix @ N(x / |x| - center) - mapped_center), where N(v) = v / |v|.

    `metric_` of an estimator that was fitted with `metric="local"`. It can be the `metric` of another one, which then
    learns none.

    >>> import asterism
    >>> X, truth = asterism.sample(200, dimension=12, clusters=5, kappa=90, separation=60)
    >>> model = asterism.DPVMFMeans(angle=60, metric="local").fit(X)
    >>> Z = model.metric_.apply(X)
    >>> Z.shape, bool(abs((Z * Z).sum(axis=1) - 1).max() < 1e-6)
    ((200, 12), True)
    """

    center: NDArray[np.float32]
    matrix: NDArray[np.float32]
    mapped_center: NDArray[np.float32]

    def __init__(self, center: Any, matrix: Any, mapped_center: Any) -> None:
        self.center, self.matrix, self.mapped_center = (
            np.ascontiguousarray(array, np.float32) for array in (center, matrix, mapped_center))
        dimension = len(self.center) if self.center.ndim == 1 else 0
        if self.matrix.shape != (dimension, dimension) or self.mapped_center.shape != (dimension,):
            raise ValueError(f"the shapes of center, matrix and mapped_center are {self.center.shape}, "
                             f"{self.matrix.shape} and {self.mapped_center.shape}; they must be (D,), (D, D) and (D,)")

    def apply(self, X: Any, *, n_threads: int | None = None) -> NDArray[np.float32]:
        """(N, D) float32: the mapped rows, unit vectors; NaN for rows without a direction."""
        X = checked_rows(X)
        rows, points, view = np.empty(X.shape, np.float32), points_of(X), self._view()
        with lender.borrow(n_threads, X.size) as context:
            context.check(lib.ast_metric_apply(context.handle, ctypes.byref(points), ctypes.byref(view),
                                               rows.ctypes.data))
        return rows

    def _view(self) -> Any:
        """The library's struct. It holds on to the arrays."""
        view = sized("ast_metric", dimension=len(self.center), center=self.center.ctypes.data,
                     matrix=self.matrix.ctypes.data, mapped_center=self.mapped_center.ctypes.data)
        view.keep = self
        return view

    def __repr__(self) -> str:
        return f"Metric({len(self.center)} dimensions)"


def checked_rows(X: Any) -> np.ndarray:
    """A dense array of floats of rows; NaN is for the library."""
    X = _compat.check_array(X, dtype=FLOATS, ensure_min_features=2, **_compat.ANY_VALUES)
    return X if X.dtype.isnative else X.astype(X.dtype.newbyteorder("="))


def metric_at(address: int | None) -> Metric | None:
    """A copy of an ast_metric of the library."""
    if not address:
        return None
    view = structs["ast_metric"].from_address(address)
    one = (view.dimension,)
    return Metric(array_at(view.center, one, np.float32), array_at(view.matrix, one * 2, np.float32),
                  array_at(view.mapped_center, one, np.float32))


def set_metric(options: Any, metric: Any, dimension: int) -> None:
    """The `metric` parameter of an estimator, as options of the library. None and "auto": plain, unless tuning says
    otherwise."""
    if isinstance(metric, Metric):
        if len(metric.center) != dimension:
            raise ValueError(f"metric has {len(metric.center)} dimensions, but X has {dimension} features")
        options.metric_view = metric._view()
        options.map = ctypes.addressof(options.metric_view)
    elif metric is not None and metric not in KINDS:
        raise ValueError(f"metric is {metric!r}; it must be None, 'plain', 'local', 'auto' or an asterism.Metric")
    local = isinstance(metric, Metric) or metric == "local"
    options.metric = constants["AST_METRIC_LOCAL" if local else "AST_METRIC_PLAIN"]
