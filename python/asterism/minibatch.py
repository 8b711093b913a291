# SPDX-License-Identifier: MIT
"""Spherical k-means over mini-batches: of one X, by the library, or as they come, by `partial_fit`."""
from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ._base import checked_weights, refuse_nan, whole_number
from ._compat import ConvergenceWarning
from ._library import constants, lib
from .means import BatchFit, SphericalKMeans
from .tally import Tally


class MiniBatchSphericalKMeans(SphericalKMeans):
    """Spherical k-means learned from batches of rows, for an answer in seconds; then all rows are labelled once, exactly.

    Every batch moves the means towards its rows, by less the more they have seen. The same X and `random_state` give the
    same labels, bit for bit, on any number of threads. `improvement_` is what one further iteration over all rows would
    add to `objective_`: measured, so that what is lost against `SphericalKMeans` does not stay hidden.

    Parameters
    ----------
    n_clusters, init, n_init, axial, measure, outlier_angle, allow_missing, random_state, n_threads, n_jobs, verbose
        As in `SphericalKMeans`; "k-means++" draws among some of the rows.
    batch_size : int or None, default=None
        Rows in a batch; None: 1024, or 10 for each cluster if that is more.
    max_iter : int, default=100
        Batches at most. It ends before that when they gain nothing any more.

    Attributes
    ----------
    As of `SphericalKMeans`, and improvement_ : float. After `partial_fit`, `labels_`, `counts_`, `kappas_` and
    `objective_` are of the last batch, and there is no `improvement_`, `rayleigh_` or error of the means.

    Examples
    --------
    >>> import asterism
    >>> X, _ = asterism.sample(20000, dimension=8, clusters=12, kappa=100)
    >>> model = asterism.MiniBatchSphericalKMeans(12, random_state=1).fit(X)
    >>> model.improvement_ < 0.01 * model.objective_
    True
    >>> stream = asterism.MiniBatchSphericalKMeans(12, random_state=1)
    >>> for batch in X.reshape(10, 2000, 8):
    ...     _ = stream.partial_fit(batch)
    >>> stream.predict(X).shape, stream.n_iter_
    ((20000,), 10)
    """

    improvement_: float
    _model_method = "AST_MBSPKM"
    _results = (*BatchFit._results, "improvement_")
    _warns = False  # max_iter is a budget
    _merges = False  # clusters are learned from batches, and stay

    def __init__(self, n_clusters: int = 8, *, batch_size: int | None = None, init: Any = "k-means++", n_init: int = 1,
                 max_iter: int = 100, axial: bool = False, measure: str = "cosine",
                 outlier_angle: float | None = None, allow_missing: bool = False, random_state: Any = None,
                 n_threads: int | None = None, n_jobs: int | None = None, verbose: int = 0) -> None:
        super().__init__(n_clusters, init=init, n_init=n_init, max_iter=max_iter, axial=axial, measure=measure,
                         outlier_angle=outlier_angle, allow_missing=allow_missing, random_state=random_state,
                         n_threads=n_threads, n_jobs=n_jobs, verbose=verbose)
        self.batch_size = batch_size

    def _options(self, X: np.ndarray) -> Any:
        options = super()._options(X)
        options.method = constants["AST_MBSPKM"]
        options.minibatch.points = 0 if self.batch_size is None else whole_number("batch_size", self.batch_size, 1)
        return options

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> MiniBatchSphericalKMeans:
        super().fit(X, sample_weight=sample_weight)
        self._learned = Learned(self.cluster_centers_ * self.counts_[:, None], len(self.labels_), self.n_iter_)
        return self

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> MiniBatchSphericalKMeans:
        """Learns from X as from one batch. The first one must have at least `n_clusters` rows: the means begin with one
        iteration over it. After a `fit` it goes on from there."""
        first = "_learned" not in self.__dict__
        X = self._validated(X, reset=first)
        if first:
            self._begin(X, sample_weight)
        part = Part(self, X, checked_weights(sample_weight, X))
        if not self.allow_missing:
            refuse_nan(X, part.labels)
        self._learned.add(part.sums, X.shape[0])
        self.cluster_centers_ = self._learned.means(self.cluster_centers_, part.counts > 0)
        self.labels_, self.counts_, self.kappas_ = part.labels, part.counts, part.kappas()
        self.objective_, self.n_iter_ = float(np.linalg.norm(part.sums, axis=1).sum()), self._learned.batches
        for name in ("improvement_", "rayleigh_", *self._errors):
            self.__dict__.pop(name, None)
        self._keep_for_similarity(X)
        return self

    def _begin(self, X: np.ndarray, sample_weight: Any) -> None:
        start = SphericalKMeans(self.n_clusters, init=self.init, n_init=self.n_init, max_iter=1, axial=self.axial,
                                allow_missing=self.allow_missing, random_state=self.random_state,
                                n_threads=self._threads())
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            self.cluster_centers_ = start.fit(X, sample_weight=sample_weight).cluster_centers_
        self._learned = Learned(np.zeros(self.cluster_centers_.shape))


class Part:
    """What a batch adds up to with the means as they are. Sums are exact; here they are taken in doubles."""

    def __init__(self, model: MiniBatchSphericalKMeans, X: np.ndarray, weights: np.ndarray | None) -> None:
        positive = weights[weights > 0] if weights is not None else np.ones(1)
        if not len(positive):
            raise ValueError("every weight is 0: at least one point must count")
        smallest = positive.min()
        weighted = weights is not None and (weights != smallest).any()
        tally = Tally(Tally.start(model.cluster_centers_), axial=model.axial, n_threads=model._threads(),
                      weights=(smallest, float(np.sum(weights / smallest))) if weighted else None)
        self.labels = tally.add(X, sample_weight=weights if weighted else None)
        totals = tally.totals()
        self.sums = totals.sums / totals.unit * smallest
        self.weights = totals.weights / (totals.unit if weighted else 1) * smallest
        self.counts = np.bincount(self.labels[self.labels >= 0], minlength=len(self.sums))

    def kappas(self) -> np.ndarray:
        """NaN where undefined: fewer than two rows, or all of them equal."""
        lengths = np.linalg.norm(self.sums, axis=1)
        resultants = np.minimum(np.divide(lengths, self.weights, out=np.ones_like(lengths), where=self.weights > 0), 1)
        return np.array([lib.ast_vmf_kappa(self.sums.shape[1], one) if count > 1 and one < 1 - 2 ** -26 else np.nan
                         for one, count in zip(resultants, self.counts)])


class Learned:
    """The sum of all rows that each cluster was given, which its mean is the direction of. Whenever as many rows have
    come as at the last time and before it, all sums are halved: what was learned from poor means is forgotten."""

    def __init__(self, sums: np.ndarray, seen: int = 0, batches: int = 0) -> None:
        self.sums, self.seen, self.mark, self.batches = sums, seen, 2 * seen, batches

    def add(self, sums: np.ndarray, rows: int) -> None:
        self.seen, self.batches = self.seen + rows, self.batches + 1
        self.mark = self.mark or 2 * rows
        if self.seen >= self.mark:
            self.sums, self.mark = self.sums / 2, 2 * self.seen
        self.sums = self.sums + sums

    def means(self, before: np.ndarray, given: np.ndarray) -> np.ndarray:
        """The means after a batch; those that got no rows, or whose rows cancel out, stay."""
        lengths = np.linalg.norm(self.sums, axis=1)
        means, moved = before.copy(), given & (lengths > 1e-6)
        means[moved] = self.sums[moved] / lengths[moved, None]
        return means
