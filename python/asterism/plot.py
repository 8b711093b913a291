# SPDX-License-Identifier: MIT
"""Pictures with matplotlib, which is imported when one is asked for. Every function takes axes and returns them."""
from __future__ import annotations

from typing import Any

import numpy as np

from ._base import unit_rows
from .depth import colors

MOST_POINTS = 20000  # of a picture of the sphere: more only make it slow


def sphere(X: Any, labels: Any = None, *, ax: Any = None, size: float = 4) -> Any:
    """The rows of X (N, 3) on the unit sphere, coloured by their labels; two-dimensional rows on the circle.

    Of more than 20,000 rows a random 20,000 are drawn. Rows without a direction are left out.
    """
    X = np.asarray(X, np.float64)
    if X.ndim != 2 or X.shape[1] not in (2, 3):
        raise ValueError(f"X has the shape {X.shape}; a picture takes (N, 3), or (N, 2)")
    labels = np.zeros(len(X), int) if labels is None else np.asarray(labels).ravel()
    if len(labels) != len(X):
        raise ValueError(f"there are {len(labels)} labels for {len(X)} rows")
    shown = np.flatnonzero(np.isfinite(X).all(axis=1) & X.any(axis=1))
    if len(shown) > MOST_POINTS:
        shown = np.random.RandomState(0).choice(shown, MOST_POINTS, replace=False)
    ax = ax or figure().add_subplot(projection="3d" if X.shape[1] == 3 else None)
    ax.scatter(*unit_rows(X[shown]).T, c=colors(labels[shown]) / 255, s=size)
    if X.shape[1] == 3:
        ax.set_box_aspect((1, 1, 1))
        ax.set(xlim=(-1, 1), ylim=(-1, 1), zlim=(-1, 1), xlabel="x", ylabel="y", zlabel="z")
    else:
        ax.set(xlim=(-1.1, 1.1), ylim=(-1.1, 1.1), aspect="equal", xlabel="x", ylabel="y")
    return ax


def shares(stream: Any, *, ax: Any = None) -> Any:
    """How large a share of each frame every cluster of a `DDPVMFMeans` had, as stacked areas over the frames.

    `stream` may also be a list of {id: share}, one a frame, such as `history_`.
    """
    history = list(getattr(stream, "history_", stream))
    names = getattr(stream, "names_", {})
    first = getattr(stream, "n_frames_", len(history)) - len(history)
    ids = sorted({one for frame in history for one in frame})
    values = [[frame.get(one, 0.0) for frame in history] for one in ids]
    ax = ax or figure().add_subplot()
    if ids:
        ax.stackplot(range(first, first + len(history)), values, colors=colors(ids) / 255,
                     labels=[str(names.get(one, one)) for one in ids])
        ax.legend(loc="center left", bbox_to_anchor=(1, 0.5))
    ax.set(xlabel="frame", ylabel="share", ylim=(0, 1))
    return ax


def figure() -> Any:
    """A new figure of pyplot's."""
    try:
        from matplotlib import pyplot
    except ImportError:
        raise ImportError("asterism.plot needs matplotlib: pip install matplotlib, or Debian's python3-matplotlib") \
            from None
    return pyplot.figure()
