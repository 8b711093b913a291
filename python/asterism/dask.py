# SPDX-License-Identifier: MIT
"""Estimators of `asterism.distributed` for arrays, data frames and series of Dask. They work on the workers of the session's
client, or in this process if there is none, and return lazy labels: an array for an array, a series for a data frame, with its
index. Chunk sizes need not be known."""
from __future__ import annotations

import functools
from typing import Any, Callable

import numpy as np
from numpy.typing import NDArray

from dask import delayed

from . import distributed as blocks
from .distributed import assign, labels_of, rows_of  # noqa: F401


def session_client() -> Any:
    """The Dask client of this session; None: there is none."""
    try:
        from distributed import default_client
        return default_client()
    except (ImportError, ValueError):
        return None


def is_frame(X: Any) -> bool:
    return hasattr(X, "divisions")


def parts_of(X: Any) -> list[Any]:
    """The chunks of X, delayed."""
    if not hasattr(X, "to_delayed"):
        raise TypeError(f"X is of type {type(X).__name__}; an array, a data frame or a series of Dask is needed")
    if not is_frame(X) and X.ndim == 2 and len(X.chunks[1]) > 1:
        X = X.rechunk({1: -1})
    return list(np.ravel(X.to_delayed()))


def computed(part: Any) -> Any:
    return part.compute(scheduler="synchronous")


def as_series(values: np.ndarray, part: Any, name: str) -> Any:
    import pandas
    return pandas.Series(values, index=part.index, name=name)


def collection(X: Any, parts: list[Any], values: list[Any], sizes: list[Any], dtype: Any, name: str) -> Any:
    """The delayed values of all parts as one lazy array or series."""
    if is_frame(X):
        import dask.dataframe
        import pandas
        series = [delayed(as_series)(own, part, name) for own, part in zip(values, parts)]
        return dask.dataframe.from_delayed(series, meta=pandas.Series([], dtype=dtype, name=name), divisions=X.divisions)
    import dask.array
    return dask.array.concatenate([dask.array.from_delayed(own, (size,), dtype) for own, size in zip(values, sizes)])


def predicted_by(model: Any, method: str, dtype: Any, part: Any) -> np.ndarray:
    rows = rows_of(part)
    return np.asarray(getattr(model, method)(rows), dtype) if rows.shape[0] else np.empty(0, dtype)


def labelled(used: np.ndarray, part: Any, moves: np.ndarray, axial: bool, n_threads: int | None) -> NDArray[np.int32]:
    """The labels of a chunk in the last iteration. moves: (M, 3) point of the chunk, from, to."""
    rows = rows_of(part)
    labels = labels_of(used, rows, axial, n_threads) if rows.shape[0] else np.empty(0, np.int32)
    labels[moves[:, 0]] = moves[:, 2]
    return labels


class Lazy:
    """What the estimators do with a collection of Dask in place of a list of blocks."""

    _parts: list[Any]

    def fit(self, X: Any, y: Any = None) -> Any:
        """Clusters the rows of X. Workers hold its chunks until this returns."""
        client = self.executor or session_client()
        self._X, self._parts = X, parts_of(X)
        given, self.executor = self.executor, client
        try:
            held = client.compute(self._parts) if client else [functools.partial(computed, part) for part in self._parts]
            return super().fit(held)  # type: ignore[misc]
        finally:
            self.executor = given
            del self._X, self._parts

    def predict(self, X: Any) -> Any:
        """The label of the nearest mean for every row of X, lazy."""
        return self._lazily(X, "predict", np.int32, "cluster")

    def similarity(self, X: Any) -> Any:
        """The cosine of every row of X to its nearest mean, lazy."""
        return self._lazily(X, "similarity", np.float32, "similarity")

    def _lazily(self, X: Any, method: str, dtype: Any, name: str) -> Any:
        parts, model = parts_of(X), delayed(self._model(), pure=False)  # type: ignore[attr-defined]
        values = [delayed(predicted_by)(model, method, dtype, part) for part in parts]
        sizes = [np.nan] * len(parts) if is_frame(X) else X.chunks[0]
        return collection(X, parts, values, sizes, dtype, name)

    def _collect(self, values: list[Any]) -> None:
        self.labels_ = collection(self._X, self._parts, values, self.block_sizes_, np.int32, "cluster")


class SphericalKMeans(Lazy, blocks.SphericalKMeans):
    __doc__ = (blocks.SphericalKMeans.__doc__ or "").partition("Parameters\n")[0] + """`fit` and `predict` take arrays, data frames and series of Dask; `labels_` is lazy.

    Parameters
    ----------
    As of `asterism.distributed.SphericalKMeans`; executor None is the client of the session.
    """

    def _label_blocks(self, engine: Any, means: np.ndarray, held: list[Any], moves: np.ndarray) -> None:
        used, firsts, values = delayed(means), np.cumsum([0, *self.block_sizes_]), []
        for part, first, size in zip(self._parts, firsts, self.block_sizes_):
            own = moves[(moves[:, 0] >= first) & (moves[:, 0] < first + size)] - [first, 0, 0]
            values.append(delayed(labelled)(used, part, own, bool(self.axial), self.n_threads))
        self._collect(values)


class DPVMFMeans(Lazy, blocks.DPVMFMeans):
    __doc__ = (blocks.DPVMFMeans.__doc__ or "").partition("Parameters\n")[0] + """`fit` and `predict` take arrays, data frames and series of Dask; `labels_` is a collection of Dask whose numbers, 4
    bytes a row, are in this process.

    Parameters
    ----------
    As of `asterism.distributed.DPVMFMeans`; executor None is the client of the session.
    """

    def _split_labels(self) -> None:
        labels = np.split(self.labels_, np.cumsum(self.block_sizes_)[:-1])
        self._collect([delayed(own) for own in labels])


