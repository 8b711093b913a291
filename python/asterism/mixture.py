# SPDX-License-Identifier: MIT
"""Mixtures of von Mises-Fisher, Watson or Kent distributions: clusters that overlap, each with a concentration and a
weight."""
from __future__ import annotations

from typing import Any, Iterator

import numpy as np
from numpy.typing import NDArray

from ._base import DEGREES, DirectionMixture, checked_weights, logsumexp, one_of, real_number, unit_rows, whole_number
from ._compat import assert_all_finite
from ._library import constants, lib
from ._merging import outliers_of
from .means import DEFAULT_SEED, BatchFit

SHAPES = {"vmf": "AST_COMPONENT_ROUND", "kent": "AST_COMPONENT_KENT"}
BLOCK = 1 << 16  # rows that (rows, K) doubles are held of at a time


class VMFMixture(BatchFit, DirectionMixture):
    """A mixture of von Mises-Fisher distributions by expectation maximisation (Banerjee, Dhillon, Ghosh and Sra 2005):
    what GaussianMixture is in space, on the sphere.

    Parameters
    ----------
    n_components : int or "auto", default=1
        K, 1 to the number of rows. "auto" starts from too many components, which join as long as a lower bound of the
        evidence rises (docs/mixtures.md).
    background : bool, default=False
        Whether there is one more component, uniform on the sphere. It is no cluster: rows that most probably belong to
        it are outliers, label -1.
    init : {"k-means++", "random"} or array (K, D), default="k-means++"
        Where it starts.
    n_init : int, default=1
        Runs, each from another start; the best `objective_` is kept. The runs are those of --restarts of the command.
    max_iter : int, default=100
        Passes at most; with "auto" at each number of components.
    tol : float, default=1e-6
        Converged once a pass raises the log-likelihood by no more than so many nats a point.
    kappa : float or None, default=None
        The concentration of every component. None: each has its own, which is estimated.
    axial : bool, default=False
        Whether x and -x are the same: components are Watson distributions, in up to 100 dimensions. Those with kappa
        below 0 are girdles, and their mean is the pole.
    shape : {"vmf", "kent"}, default="vmf"
        "kent": components are elliptical, in three dimensions.
    hard : bool, default=False
        Whether every point belongs to its most probable component alone.
    measure, outlier_angle, allow_missing, random_state, n_threads, n_jobs, verbose
        As in `DPVMFMeans`; `outlier_angle` is to the mean of the row's component. With random_state=None the seed is
        that of the command, 1, so that both find the same.

    Attributes
    ----------
    weights_ : (K) of the components, which add up to 1
    kappas_ : (K) their concentrations: by maximum likelihood, or with "auto" the most probable ones, which draws those
        of few rows together
    betas_, axes_, ellipse95_ : with shape="kent" (K), (K, 2, 3) and (K, 2): how elliptical components are, their long
        and short axes, and the half-axes in degrees of the 95% confidence ellipses of their means; None otherwise
    cluster_posterior_ : with "auto" the probability of 0, 1, 2 ... components by their evidence; None otherwise
    background_ : float, the share of the background; NaN without one. `weights_` and it add up to 1
    outliers_ : row numbers of the rows of the background
    bic_ : float, the Bayesian information criterion of the fit; the smaller, the better
    resultant_, alpha95_, standard_error_, kappa_interval_, precision_ : (K) of the components
    labels_, cluster_centers_, counts_, rayleigh_, similarity_, objective_, n_iter_, n_features_in_, feature_names_in_
        As of `DPVMFMeans`; labels are the most probable components. The objective is the log-likelihood, with "auto"
        the lower bound of the log evidence.

    Examples
    --------
    >>> import asterism
    >>> X, truth = asterism.sample(3000, dimension=3, clusters=3, kappa=50, separation=60)
    >>> model = asterism.VMFMixture(n_components=3, random_state=1).fit(X)
    >>> sorted(model.kappas_.round(-1).astype(int).tolist())
    [50, 50, 50]
    >>> model.predict_proba(X[:2]).shape
    (2, 3)
    >>> asterism.VMFMixture(n_components="auto").fit(X).n_clusters_
    3
    """

    weights_: NDArray[np.float64]
    bic_: float
    betas_: NDArray[np.float64] | None
    axes_: NDArray[np.float32] | None
    ellipse95_: NDArray[np.float64] | None
    cluster_posterior_: NDArray[np.float64] | None
    background_: float
    outliers_: NDArray[np.intp]
    _model_method = "AST_MOVMF"
    _results = (*BatchFit._results, "weights_", "bic_", "background_", "betas_", "axes_", "ellipse95_",
                "cluster_posterior_")

    def __init__(self, n_components: int | str = 1, *, background: bool = False, init: Any = "k-means++",
                 n_init: int = 1, max_iter: int = 100, tol: float = 1e-6, kappa: float | None = None,
                 hard: bool = False, axial: bool = False, shape: str = "vmf", measure: str = "cosine", outlier_angle: float | None = None,
                 allow_missing: bool = False, random_state: Any = None, n_threads: int | None = None,
                 n_jobs: int | None = None, verbose: int = 0) -> None:
        self.n_components = n_components
        self.background = background
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.kappa = kappa
        self.hard = hard
        self.axial = axial
        self.shape = shape
        self.measure = measure
        self.outlier_angle = outlier_angle
        self.allow_missing = allow_missing
        self.random_state = random_state
        self.n_threads = n_threads
        self.n_jobs = n_jobs
        self.verbose = verbose

    def predict(self, X: Any) -> np.ndarray:
        """The most probable component for every row of X, int32; -1 for rows that most probably belong to the background,
        rows farther than `outlier_angle` degrees from the mean, and rows without a direction."""
        least = -2 if self.outlier_angle is None else np.cos(np.radians(
            real_number("outlier_angle", self.outlier_angle, DEGREES)))
        parts = []
        for joint, cosines, there in self._joint(X):
            best = joint.argmax(axis=1)
            there = there & (best < cosines.shape[1])  # not the background
            own = np.take_along_axis(cosines, np.minimum(best, cosines.shape[1] - 1)[:, None], axis=1)[:, 0]
            parts.append(np.where(there & (own >= least), best, -1).astype(np.int32))
        return np.concatenate(parts)

    def predict_proba(self, X: Any) -> np.ndarray:
        """(N, K): the probability of every component given the row; NaN for rows without a direction. A row adds up to 1
        minus the probability that it belongs to the background."""
        return np.concatenate([
            np.where(there[:, None], np.exp(joint - logsumexp(joint, axis=1, keepdims=True))[:, :cosines.shape[1]], np.nan)
            for joint, cosines, there in self._joint(X)])

    def score_samples(self, X: Any) -> np.ndarray:
        """(N) the log density of the mixture at every row, in nats; NaN for rows without a direction."""
        return np.concatenate([np.where(there, logsumexp(joint, axis=1), np.nan) for joint, _, there in self._joint(X)])

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """The average log density of the rows, as of GaussianMixture: larger is better."""
        densities = self.score_samples(X)
        weights = checked_weights(sample_weight, densities)
        there = ~np.isnan(densities)
        return float(np.average(densities[there], weights=None if weights is None else weights[there]))

    def _joint(self, X: Any) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """In blocks of rows: log of weight times density of every component (n, K), and of the background in one more
        column if there is one; cosines (n, K); and which rows have a direction (n)."""
        X = self._validated(X, reset=False)
        assert_all_finite(X, allow_nan=self.allow_missing, input_name="X")
        means, kappas = self.cluster_centers_.astype(np.float64), self._kappas()
        with np.errstate(divide="ignore"):
            constant = np.log(self.weights_) + self._constants(X.shape[1])
        for first in range(0, X.shape[0], BLOCK):
            rows = X[first:first + BLOCK].astype(np.float64)
            units = unit_rows(rows)
            cosines = np.clip(units @ means.T, -1, 1)
            if self.axial:
                cosines = np.abs(cosines)
                joint = constant + kappas * cosines ** 2
            elif self.betas_ is not None:
                along, across = (units @ self.axes_[:, axis].astype(np.float64).T for axis in (0, 1))
                joint = constant + kappas * cosines + self.betas_ * (along ** 2 - across ** 2)
            else:
                joint = constant + kappas * cosines
            if not np.isnan(self.background_):
                with np.errstate(divide="ignore"):
                    uniform = np.log(self.background_) + lib.ast_vmf_log_density(X.shape[1], 0.0, 0.0)
                joint = np.column_stack([joint, np.full(len(joint), uniform)])
            yield joint, cosines, rows.any(axis=1) & ~np.isnan(rows).any(axis=1)

    def _constants(self, dimension: int) -> list[float]:
        """The log density of each component where its cosines are 0."""
        if self.axial:
            return [lib.ast_watson_log_density(dimension, k, 0.0) for k in self._kappas()]
        if self.betas_ is not None:
            return [lib.ast_kent_log_density(k, b, 0.0, 0.0) for k, b in zip(self._kappas(), self.betas_)]
        return [lib.ast_vmf_log_density(dimension, k, 0.0) for k in self._kappas()]

    def _kappas(self) -> np.ndarray:
        """Concentrations to compute with. A component of one direction alone has none: it is as sharp as floats are."""
        return np.where(np.isfinite(self.kappas_), self.kappas_, 1e6)

    def _options(self, X: np.ndarray) -> Any:
        options = super()._options(X)
        options.method = constants["AST_MOVMF"]
        options.mixture.auto_clusters, options.mixture.background = self._automatic(), bool(self.background)
        options.clusters = 0 if options.mixture.auto_clusters else whole_number("n_components", self.n_components, 1)
        one_of("shape", self.shape, SHAPES)
        if self.axial and self.shape != "vmf":
            raise ValueError("shape='kent' is for directions: axial cannot be combined with it")
        options.mixture.shape = constants[SHAPES[self.shape]]
        if options.clusters > X.shape[0]:
            raise ValueError(f"n_samples={X.shape[0]} should be at least n_components={options.clusters}")
        options.mixture.tolerance, options.mixture.hard = real_number("tol", self.tol, "a number"), bool(self.hard)
        options.mixture.kappa = np.nan if self.kappa is None else real_number("kappa", self.kappa, "None or a number")
        self._start(options, X.shape[1])
        return options

    def _automatic(self) -> bool:
        if isinstance(self.n_components, str) and self.n_components != "auto":
            raise ValueError(f"n_components is {self.n_components!r}; it must be an integer or 'auto'")
        if self.n_components == "auto" and self.hard:
            raise ValueError("n_components='auto' needs soft memberships: hard cannot be combined with it")
        return isinstance(self.n_components, str)

    def _seed(self) -> int:
        return DEFAULT_SEED if self.random_state is None else super()._seed()

    def _finish(self, X: np.ndarray) -> None:
        self.outliers_ = outliers_of(X, self.labels_)
