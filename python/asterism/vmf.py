# SPDX-License-Identifier: MIT
"""Mixtures of von Mises-Fisher distributions with known labels, to try things on."""
from __future__ import annotations

import ctypes

import numpy as np

from ._base import MOST_SEED, whole_number
from ._library import lender, lib, sized


def sample(points: int, *, dimension: int, clusters: int, kappa: float, separation: float = 0, noise: float = 0,
           random_state: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """X (N, D) float32 and its labels (N) int32: a mixture of vMF distributions, in random order.

    kappa: of every cluster; separation: degrees that the means are apart at least; noise: share of uniform points,
    which are labelled -1. The command `asterism sample` draws the same.

    >>> import asterism
    >>> X, truth = asterism.sample(6, dimension=3, clusters=2, kappa=100)
    >>> X.shape, sorted(set(truth.tolist()))
    ((6, 3), [0, 1])
    """
    points, dimension = whole_number("points", points, 1), whole_number("dimension", dimension, 2)
    clusters = whole_number("clusters", clusters, 1)
    random_state = whole_number("random_state", random_state, 0, MOST_SEED)
    mixture = sized("ast_mixture", points=points, dimension=dimension, clusters=clusters, kappa=kappa,
                    separation=separation, noise=noise, seed=random_state)
    X, labels = np.empty((points, dimension), np.float32), np.empty(points, np.int32)
    with lender.borrow(None, X.size) as context:
        context.check(lib.ast_sample_mixture(context.handle, ctypes.byref(mixture), X.ctypes.data, labels.ctypes.data,
                                             None))
    return X, labels
