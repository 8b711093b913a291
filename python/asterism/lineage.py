# SPDX-License-Identifier: MIT
"""Clusters that keep the ids of an earlier run (docs/lineage.md)."""
from __future__ import annotations

import contextlib
import ctypes
from typing import Any, Iterator, NamedTuple

import numpy as np

from ._library import array_at, constants, lib, opened, records, sized
from .model import Model, Saving

EVENTS = {constants[f"AST_LINEAGE_{name.upper()}"]: name for name in ("kept", "born", "merged", "split", "died")}


class Lineage(NamedTuple):
    """What became of a cluster: its id, the event, and the old ids that it comes from.

    >>> import asterism
    >>> model = asterism.DPVMFMeans(angle=20, previous=[7, 7, 3, 3]).fit([[1, 0], [9, 1], [0, 1], [1, 9]])
    >>> model.labels_.tolist(), model.lineage_[0]
    ([7, 7, 3, 3], Lineage(id=3, event='kept', from_=[3]))
    """

    id: int
    event: str
    from_: list[int]


def set_previous(options: Any, previous: Any, shape: tuple[int, ...]) -> None:
    """The `previous` parameter of an estimator, as options of the library."""
    if previous is None:
        return
    options.previous_view = view = sized("ast_previous", angle=np.nan)
    if isinstance(previous, Saving):
        previous = previous._model()
    if isinstance(previous, Model):
        options.previous_content = previous._content
        return
    given = np.asarray(previous)
    if given.ndim == 1 and np.issubdtype(given.dtype, np.integer):
        if len(given) != shape[0]:
            raise ValueError(f"previous has {len(given)} labels, but X has {shape[0]} rows: labels are those of the "
                             "same rows")
        if len(given) and not -2 ** 31 <= given.min() <= given.max() < 2 ** 31:
            raise ValueError("previous has a label that does not fit into 32 bits")
        options.previous_array = np.ascontiguousarray(given, np.int32)
        view.labels = options.previous_array.ctypes.data if len(given) else ctypes.addressof(view)
    elif given.ndim == 2 and np.issubdtype(given.dtype, np.floating):
        if given.shape[1] != shape[1]:
            raise ValueError(f"previous has means of {given.shape[1]} dimensions, but X has {shape[1]} features")
        if not len(given):
            raise ValueError("previous has no means")
        options.previous_array = np.ascontiguousarray(given, np.float32)
        view.means, view.means_count = options.previous_array.ctypes.data, len(given)
    else:
        raise ValueError(f"previous is {type(previous).__name__}; it must be a fitted estimator, an asterism.Model, "
                         "means (K, D) as floats, or labels (N) as integers")
    options.previous = ctypes.addressof(view)


@contextlib.contextmanager
def lent_previous(context: Any, options: Any) -> Iterator[None]:
    """A previous model is one of the context that runs."""
    content = getattr(options, "previous_content", None)
    if content is None:
        yield
        return
    handle = opened(lib.ast_model_load, context, content, len(content))
    options.previous_view.model = handle
    options.previous = ctypes.addressof(options.previous_view)
    try:
        yield
    finally:
        options.previous = None
        lib.ast_model_close(handle)


def lineage_of(context: Any, clusters: int) -> tuple[np.ndarray, list[Lineage] | None, int]:
    """The ids of the clusters of the last result, what became of the old ones, and the first id that is free."""
    found = [Lineage(one.id, EVENTS[one.event], array_at(getattr(one, "from"), (one.from_count,), np.int32).tolist())
             for one in records(lib.ast_lineage_records, context.handle, "ast_lineage")]
    if not found:
        return np.arange(clusters, dtype=np.int32), None, clusters
    info = sized("ast_model_info")
    if not clusters:
        return np.empty(0, np.int32), found, max(one.id for one in found) + 1
    context.check(lib.ast_model_of_result(context.handle, ctypes.byref(info)))
    return array_at(info.ids, (clusters,), np.int32), found, info.next_id
