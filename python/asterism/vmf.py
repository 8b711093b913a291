# SPDX-License-Identifier: MIT
"""Mixtures of directional distributions with known labels, to try things on."""
from __future__ import annotations

import ctypes

import numpy as np

from ._base import DEGREES, MOST_SEED, flag, real_number, whole_number
from ._library import constants, lender, lib, sized

DISTRIBUTIONS = {"vmf": "AST_VON_MISES_FISHER", "watson": "AST_WATSON", "kent": "AST_KENT", "bingham": "AST_BINGHAM",
                 "small-circle": "AST_SMALL_CIRCLE"}


def sample(points: int, *, dimension: int, clusters: int, kappa: float, separation: float = 0, noise: float = 0,
           random_state: int = 1, distribution: str = "vmf", beta: float | None = None, radius: float = 45,
           axial: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """X (N, D) float32 and its labels (N) int32: a mixture of distributions, in random order.

    kappa: of every cluster; separation: degrees that the means are apart at least; noise: share of uniform points,
    which are labelled -1. With t the cosine to the mean, distribution is "vmf": exp(kappa t); "watson":
    exp(kappa t^2), axes, or with kappa below 0 girdles; "kent": exp(kappa t + beta (u^2 - v^2)) in three dimensions,
    beta 0.4 kappa by default; "bingham": exp(kappa t^2 + beta u^2), beta 8/9 kappa by default; or "small-circle":
    exp(-kappa (t - cos radius)^2), radius in degrees. axial: rows have random signs. The command `asterism sample`
    draws the same.

    >>> import asterism
    >>> X, truth = asterism.sample(6, dimension=3, clusters=2, kappa=100)
    >>> X.shape, sorted(set(truth.tolist()))
    ((6, 3), [0, 1])
    """
    points, dimension = whole_number("points", points, 1), whole_number("dimension", dimension, 2)
    clusters = whole_number("clusters", clusters, 1)
    random_state = whole_number("random_state", random_state, 0, MOST_SEED)
    if not isinstance(distribution, str) or distribution not in DISTRIBUTIONS:
        raise ValueError(f"distribution must be one of {', '.join(DISTRIBUTIONS)}, not {distribution!r}")
    kappa, separation = real_number("kappa", kappa, "a number"), real_number("separation", separation, DEGREES)
    noise, radius = real_number("noise", noise, "a share from 0 to 1"), real_number("radius", radius, DEGREES)
    if beta is None:
        beta = {"kent": 0.4, "bingham": 8 / 9}.get(distribution, 0) * kappa
    mixture = sized("ast_mixture", points=points, dimension=dimension, clusters=clusters, kappa=kappa,
                    separation=separation, noise=noise, seed=random_state, axial=flag("axial", axial),
                    distribution=constants[DISTRIBUTIONS[distribution]], beta=real_number("beta", beta, "None or a number"), radius=radius)
    X, labels = np.empty((points, dimension), np.float32), np.empty(points, np.int32)
    with lender.borrow(None, X.size) as context:
        context.check(lib.ast_sample_mixture(context.handle, ctypes.byref(mixture), X.ctypes.data, labels.ctypes.data,
                                             None))
    return X, labels
