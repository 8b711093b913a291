# SPDX-License-Identifier: MIT
"""Batch estimators: DP-vMF-means, which needs no number of clusters, and spherical k-means, which is given one."""
from __future__ import annotations

import copy
import ctypes
import math
import warnings
from contextlib import nullcontext
from numbers import Real
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ._base import (DEGREES, DirectionClusterer, checked_weights, float_array, one_of, real_number, refuse_nan,
                    set_groups, whole_number)
from ._compat import ConvergenceWarning
from ._library import array_at, constants, defaults, interruptible, lender, lib, points_of, records, sized, structs
from ._merging import Merging, linkage_of, outliers_of, read_joins
from .metric import Metric, metric_at, set_metric
from .lineage import Lineage, lent_previous, lineage_of, set_previous
from .model import Saving
from .tuning import Tuning, tune_for

Fitted = TypeVar("Fitted", bound="BatchFit")


PROGRESS = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(structs["ast_progress"]), ctypes.c_void_p)
EXAMPLES = ("center_", "metric_", "representatives_")


def degrees_of(cosine: Any) -> float:
    """The angle of a cosine, as the command has it: rounded, so that 0.5 is 60 degrees."""
    if isinstance(cosine, bool) or not isinstance(cosine, Real) or not -1 <= cosine <= 1:
        raise ValueError(f"cosine is {cosine!r}; it must be a number from -1 to 1")
    return round(math.degrees(math.acos(cosine)) * 1e11) / 1e11


def outlier_share(outliers: Any) -> float:
    """What the library calls it."""
    if outliers is None or outliers == "auto":
        return math.nan if outliers is None else math.inf
    if isinstance(outliers, bool) or not isinstance(outliers, Real) or not 0 <= outliers <= 1:
        raise ValueError(f"outliers is {outliers!r}; it must be None, 'auto' or a share from 0 to 1")
    return float(outliers)


class BatchFit(Saving):
    """What batch estimators have in common: a call of ast_cluster and its result as attributes."""

    kappas_: NDArray[np.float64]
    counts_: NDArray[np.int64]
    n_clusters_: int
    representatives_: list[NDArray[np.intp]]
    stability_: float
    cluster_stability_: NDArray[np.float64]
    resultant_: NDArray[np.float64]
    precision_: NDArray[np.float64]
    kappa_interval_: NDArray[np.float64]
    standard_error_: NDArray[np.float64]
    alpha95_: NDArray[np.float64]
    rayleigh_: tuple[float, float]

    _errors = ("resultant_", "precision_", "kappa_interval_", "standard_error_", "alpha95_")
    _results = ("cluster_centers_", "kappas_", "counts_", "objective_", "n_iter_", "stability_", "cluster_stability_",
                *_errors, "rayleigh_")
    _warns = True  # if the run stops at max_iter before it converged
    _seat: Any = None  # of _ranks.py, if this process is one of several

    def fit(self: Fitted, X: Any, y: Any = None, sample_weight: Any = None, groups: Any = None) -> Fitted:
        """Clusters the rows of X.

        X: (N, D) array, data frame or scipy sparse matrix; rows need not have length 1. sample_weight: (N), not negative; a row of weight 0
        gets a label but takes no part. groups (N), for DPVMFMeans and SphericalKMeans: rows of one group, such as the
        faces of one photo, never share a cluster; None or a number below 0 is no group. Ctrl-C leaves the estimator as it was.
        """
        X = self._validated(X, reset=True)
        weights = checked_weights(sample_weight, X)
        options = self._options(X)
        self._tune(options, X, weights)
        set_groups(options, groups, X.shape[0])
        points, labels = points_of(X, weights), np.empty(X.shape[0], np.int32)
        threads = self._threads()
        found = interruptible(lambda cancel: run(threads, points, options, labels, cancel, self._seat))
        if found["missing"] and not self.allow_missing:
            refuse_nan(X, labels)
        self.labels_ = labels
        self._keep_for_similarity(X)
        for name in self._results:
            setattr(self, name, found[name])
        self._finish(X)
        if found["lineage_"] is not None:
            self.labels_ = np.where(labels < 0, -1, found["ids_"][labels] if len(found["ids_"]) else -1).astype(np.int32)
        self.n_clusters_ = len(self.cluster_centers_)
        if np.array_equal(labels, found["leaf_labels_"]):
            self.leaf_labels_ = labels  # nothing was merged: one array is enough
        if not found["converged"] and self._warns:
            warnings.warn(f"{type(self).__name__} stopped at max_iter = {self.max_iter} before it converged",
                          ConvergenceWarning, stacklevel=2)
        return self

    def __copy__(self: Fitted) -> Fitted:
        return self._copied(self.__dict__)

    def __deepcopy__(self: Fitted, memo: dict[int, Any]) -> Fitted:
        return self._copied(copy.deepcopy({name: value for name, value in self.__dict__.items() if name != "_fitted_X"},
                                          memo))

    def _copied(self: Fitted, state: dict[str, Any]) -> Fitted:
        """A copy in memory has the labels, other than a pickle; X, of which similarities are still to be computed, is
        never copied."""
        other = type(self).__new__(type(self))
        other.__dict__.update(state)
        if "_fitted_X" in self.__dict__:
            other._fitted_X = self._fitted_X
        return other

    def _options(self, X: np.ndarray) -> Any:
        options = defaults("ast_options")
        options.max_iterations = whole_number("max_iter", self.max_iter, 1)
        options.restarts = whole_number("n_init", self.n_init, 1)
        options.seed = self._seed()
        options.axial = bool(self.axial)
        options.center = bool(getattr(self, "center", False))
        set_metric(options, getattr(self, "metric", None), X.shape[1])
        options.representatives = whole_number("representatives", getattr(self, "representatives", 0), 0)
        if self.verbose:
            options.teller = PROGRESS(self._tell)
            options.progress = ctypes.cast(options.teller, ctypes.c_void_p)
        return options

    def _tell(self, state: Any, data: Any) -> int:
        """A line for every pass."""
        now = state.contents
        if now.iteration > 0:
            run_number = f"run {now.restart + 1}, " if self.n_init > 1 else ""
            print(f"{type(self).__name__}: {run_number}pass {now.iteration}: {now.clusters} clusters, {now.changed} rows "
                  f"changed, objective {now.objective:.8g}, {now.seconds:.3g} s", flush=True)
        return 0

    def _tune(self, options: Any, X: np.ndarray, weights: np.ndarray | None) -> None:
        """Options that depend on the values of X."""

    def _finish(self, X: np.ndarray) -> None:
        """What is left to do once the result is there."""

    def _start(self, options: Any, dimension: int) -> None:
        """`init` of the estimators with a number of clusters."""
        if not isinstance(self.init, str):
            return self._start_from(options, self.init, dimension)
        if self.init not in STARTS:
            raise ValueError(f"init is {self.init!r}; it must be 'k-means++', 'random' or an array")
        options.start.by = constants[STARTS[self.init]]

    def _start_from(self, options: Any, means: Any, dimension: int) -> None:
        means = float_array("init", means, f"means of shape (clusters, {dimension})")
        if means.ndim != 2 or means.shape[1] != dimension:
            raise ValueError(f"init has the shape {means.shape}; it must be (clusters, {dimension}) as X has "
                             f"{dimension} features")
        options.start.by = constants["AST_GIVEN"]
        options.start.means, options.start.means_count = means.ctypes.data, len(means)
        options.keep = means


def run(n_threads: int | None, points: Any, options: Any, labels: np.ndarray, cancel: Any, seat: Any = None) -> dict[str, Any]:
    """One call of ast_cluster; what the library returned, copied."""
    report = sized("ast_report")
    with lender.borrow(n_threads, points.count * points.dimension) as context, context.cancelled_by(cancel), \
            lent_previous(context, options), seat.joined(context) if seat else nullcontext():
        context.check(lib.ast_cluster(context.handle, ctypes.byref(points), ctypes.byref(options), labels.ctypes.data,
                                      ctypes.byref(report)))
        clusters = records(lib.ast_cluster_records, context.handle, "ast_cluster_info")
        means = array_at(clusters[0].mean if clusters else None, (len(clusters), points.dimension), np.float32)
        tree = linkage_of(read_joins(context)) if options.merge.tree else None
        center = array_at(report.center, (points.dimension,), np.float32) if report.center else None
        metric = metric_at(report.metric)
        thresholds = of_model(context, len(clusters), "thresholds") if not math.isnan(options.outliers) else None
        fits = of_model(context, len(clusters), "fits") if options.calibrate else None
        ids, lineage, next_id = lineage_of(context, len(clusters))
        layers = [cut(context, options.leaf_labels, level) for level in getattr(options, "layers", ())
                  if level <= report.merged]
        posterior = array_at(report.cluster_posterior, (report.cluster_posterior_count,), np.float64) \
            if report.cluster_posterior else None
        nearest = [array_at(one.representatives, (one.representative_count,), np.uintp).astype(np.intp)
                   for one in clusters]
    return {"cluster_centers_": means, "kappas_": np.array([one.kappa for one in clusters], np.float64),
            "counts_": np.array([one.count for one in clusters], np.int64), "objective_": report.objective,
            "weights_": np.array([one.share for one in clusters], np.float64), "bic_": report.bic, "background_": report.background,
            "improvement_": report.improvement, "level_misplaced_": report.level_misplaced, "level_loss_": report.level_loss, "n_iter_": report.iterations, "missing": report.missing,
            "converged": bool(report.converged), "stability_": report.stability, "silhouette_": report.silhouette,
            "cluster_stability_": np.array([one.stability for one in clusters], np.float64), "tree_": tree,
            "leaf_labels_": getattr(options, "leaf_labels", ()), "n_leaves_": report.merged, "layers_": layers,
            "rayleigh_": (report.rayleigh, report.rayleigh_p), "center_": center, "metric_": metric,
            "thresholds_": thresholds, "_fits": fits, "ids_": ids, "lineage_": lineage, "_next_id": next_id,
            "representatives_": nearest, "cluster_posterior_": posterior, **ellipses_of(clusters),
            **errors_of(clusters)}


def of_model(context: Any, clusters: int, name: str) -> np.ndarray | None:
    """An array of floats that a model of the context's last result has; None without it."""
    if not clusters:
        return np.empty(0, np.float32)
    info = sized("ast_model_info")
    context.check(lib.ast_model_of_result(context.handle, ctypes.byref(info)))
    address = getattr(info, name)
    return array_at(address, (clusters,), np.float32) if address else None


def cut(context: Any, leaves: np.ndarray, clusters: int) -> np.ndarray:
    """The labels of a level of the last run's tree."""
    labels = np.empty(len(leaves), np.int32)
    context.check(lib.ast_tree_cut(context.handle, leaves.ctypes.data, len(leaves), clusters, labels.ctypes.data))
    return labels


def errors_of(clusters: list[Any]) -> dict[str, np.ndarray]:
    """How well the means are known: the arrays of `BatchFit._errors`."""
    columns = {"resultant_": "length", "precision_": "precision", "standard_error_": "standard_error",
               "alpha95_": "alpha95"}
    found = {name: np.array([getattr(one, field) for one in clusters], np.float64) for name, field in columns.items()}
    limits = np.array([list(one.kappa_interval) for one in clusters], np.float64)
    return {**found, "kappa_interval_": limits.reshape(len(clusters), 2)}


def ellipses_of(clusters: list[Any]) -> dict[str, np.ndarray | None]:
    """What Kent components have besides; None each for other clusters."""
    if not clusters or not clusters[0].axes:
        return {"betas_": None, "axes_": None, "ellipse95_": None}
    return {"betas_": np.array([one.beta for one in clusters], np.float64),
            "axes_": np.array([array_at(one.axes, (2, 3), np.float32) for one in clusters]),
            "ellipse95_": np.array([list(one.ellipse95) for one in clusters], np.float64)}


class DPVMFMeans(Merging, BatchFit, DirectionClusterer):
    """DP-vMF-means: clusters of directions, as many as the angle asks for.

    A point farther than `angle` from every mean begins a cluster of its own (Straub, Campbell, How and Fisher,
    "Small-Variance Nonparametric Clustering on the Hypersphere", CVPR 2015). The same X gives the same labels, bit for
    bit, on any number of threads.

    Parameters
    ----------
    angle : float or "auto", default=60
        Degrees, 0 to 180: how far a point may be from its mean. The larger, the fewer clusters. "auto" chooses the angle
        and the merging by `asterism.tune` and visits the rows by content; if nothing stands out in X, it warns. `merge_to`
        replaces the level that it finds; `merge="evidence"` keeps the level, and merges where it finds an angle alone.
    cosine : float or None, default=None
        The same as a cosine similarity, -1 to 1: how similar a row must be to its mean. It replaces `angle`: 0.5 is 60
        degrees.
    order : {None, "given", "content", "random"}, default=None
        The order in which the first run visits the rows. The result depends on it. "given": row by row, as in the paper.
        "content": by a seeded hash of the rows, so that permuted rows get permuted labels, bit for bit, and rows of
        weight 0 have no influence. "random": by a random permutation of the row numbers. None: "content" if X has more
        than 8 columns, otherwise "given".
    merge : None, float or "evidence", default=None
        Which clusters become one after the run has converged. A number: clusters whose means are closer than this many
        degrees, the nearest first. "evidence": as many as a mixture of von Mises-Fisher distributions explains best. A
        row may then be farther than `angle` from its mean.
    merge_to : int or None, default=None
        Join clusters until this many are left. Excludes `merge`.
    min_size : float, default=1
        Clusters of fewer rows (by weight, if there are weights) are dissolved after convergence and merging: their rows
        join the nearest remaining mean if it is within `angle`, and are outliers otherwise, label -1. 1 dissolves
        nothing, whatever the weights.
    outliers : None, float or "auto", default=None
        Which rows get the label -1 although they have a cluster. A share, 0 to 1: so many members of every cluster,
        the least similar to its mean. "auto": rows that are no more similar to their own cluster than rows are to
        clusters that they do not belong to. `predict` gives -1 to rows below the same thresholds, `thresholds_`.
    center : bool, default=False
        Cluster the rows without their common direction: unit vectors minus their mean, normalised again. `predict` and
        `transform` subtract the same mean, `center_`. The means are those of the centred rows. Not for sparse or axial
        rows; a row that equals the mean is labelled -1.
    metric : {None, "plain", "local", "auto"} or Metric, default=None
        "local": cluster the rows after a linear map, learned from them, that makes clusters round (docs/metric.md), for
        embeddings. Angles, means and cosines are those of mapped rows; `predict` and `transform` map rows by `metric_`.
        A `Metric` is used as it is. "auto" and None: "plain", and with `angle="auto"` as `asterism.tune` finds. Not for
        sparse or axial rows; `center` has no effect then.
    previous : None, estimator, Model, or array, default=None
        An earlier run, whose ids clusters keep (docs/lineage.md). Labels (N) of the same rows: a cluster keeps the id of
        the one that it shares most rows with, more than half of either. Means (K, D): the id of the nearest one within
        `angle`. A fitted estimator or a `Model`: rows become what it makes of them, keep its clusters where they fit, and
        make new clusters among themselves where they do not. `labels_`, `ids_` and `predict` have these ids then.
    representatives : int, default=0
        For each cluster the numbers of so many rows nearest to its mean, in `representatives_`.
    max_iter : int, default=100
        Passes over the points at most.
    n_init : int, default=1
        Runs, the first in `order`, the others by content with other seeds. The run with the best silhouette is kept,
        and `stability_` says how far the others agree with it.
    shuffle : bool, default=False
        True is `order="random"`.
    init : array (K, D) or None, default=None
        Means to start from: clusters without points that the first pass may fill.
    sample : int or None, default=None
        Find the clusters among so many rows, drawn by `random_state`, then visit all rows once: for an answer in seconds.
        A row far from every mean starts a cluster, as usual. `improvement_` says what is left to gain.
    axial : bool, default=False
        Whether x and -x are the same: lines, poles, quaternions. Cosines are without their sign then, and means have
        their largest component positive.
    measure : {"cosine", "angle"}, default="cosine"
        What `transform` returns: cosines, or angles in degrees.
    outlier_angle : float or None, default=None
        `predict` labels rows that are farther than this many degrees from every mean -1.
    allow_missing : bool, default=False
        Whether rows with NaN are taken; their label is -1. Otherwise they are an error. A row of zeros has no direction
        either, and is labelled -1 in any case.
    random_state : int, RandomState or None, default=None
        Seed of the orders and of the sample. An integer is the --seed of the command `asterism cluster`. None: orders by
        content have the command's default seed, 1, so that a second fit gives the same labels; a random order and a
        sample are drawn anew in every fit.
    n_threads : int or None, default=None
        None: one for each processor.
    n_jobs : int or None, default=None
        scikit-learn's name for `n_threads`; -1: all processors. Only one of them can be given.
    verbose : int, default=0
        1 prints one line per pass.

    Attributes
    ----------
    labels_ : (N) int32, in order of creation; -1 for missing rows and outliers
    angle_ : float, the angle of the run
    layers_ : with `angle="auto"`, list of (N) int32 labels, coarse to fine: the levels of the tree that stand out, each
        cluster within one of the layer before; `tuning_["peaks"]` has their stability. Otherwise empty
    tuning_ : with `angle="auto"`, what `asterism.tune` found; None otherwise
    n_clusters_ : int, K
    representatives_ : list of K arrays, the numbers of the rows nearest to each mean, nearest first
    center_ : (D) float32, the mean that `center` has subtracted; None without
    metric_ : Metric, the map of `metric="local"`; None without
    ids_ : (K) int32, the labels of the clusters: 0, 1, ... without `previous`
    lineage_ : with `previous` a list of `Lineage`, by id: `id`, `event` ("kept", "born", "merged", "split", "died") and
        `from_`, the old ids; None otherwise
    outliers_ : row numbers of the outliers: rows with a direction whose small cluster was dissolved and that fit nowhere
    thresholds_ : with `outliers` (K) float32, the similarity to the mean below which a row is an outlier; None without
    cluster_centers_ : (K, D) float32, unit vectors
    kappas_ : (K) concentration of each cluster as a von Mises-Fisher distribution; NaN where undefined
    counts_ : (K) rows in each cluster
    resultant_ : (K) R, the length of the sum of each cluster's unit vectors; with weights in units of effective rows
    alpha95_ : (K) degrees; the true mean is within this angle of the mean with 95% confidence; NaN where undefined, as
        for the next three. The docs have the formulas (docs/errors.md); in three dimensions they are Fisher's
    standard_error_ : (K) degrees, the angular standard error of the mean
    kappa_interval_ : (K, 2) 95% confidence limits of kappa
    precision_ : (K) an estimate of kappa without the bias of few rows; in three dimensions Fisher's k
    rayleigh_ : (statistic, p) Rayleigh's test of uniformity of all rows; of axial rows Bingham's
    similarity_ : (N) float32, the cosine of each row to its nearest mean
    objective_ : float
    improvement_ : float, with `sample` what one further pass over all rows would add to `objective_`; NaN otherwise
    n_iter_ : int
    stability_ : float, with `n_init` above 1 the mean adjusted Rand index of the kept run and the others; NaN otherwise
    cluster_stability_ : (K) the mean Jaccard index of each cluster and the most similar one of every other run
    silhouette_ : float, of the kept run, by cosine; NaN if `n_init` is 1
    n_leaves_ : int, L, the number of clusters before merging
    leaf_labels_ : (N) int32, the cluster of every row before merging; -1 for rows that are missing or have weight 0
    tree_ : (L - 1, 4) float64, the tree of joins over the L clusters before merging, as scipy's linkage matrix: nodes
        a and b, height, and number of leaves. In every step the pair joins that loses least of the sum of the lengths of
        the clusters' sums. The height is that loss added up over this join and all before it, so heights increase and
        `fcluster(tree_, K, "maxclust")` cuts the tree at K clusters.
    n_features_in_, feature_names_in_ : as everywhere in scikit-learn

    Examples
    --------
    >>> from asterism import DPVMFMeans
    >>> X = [[1, 0, 0], [0.99, 0.1, 0], [0, 1, 0], [0, 0.98, -0.1], [0, 0, 1]]
    >>> model = DPVMFMeans(angle=25).fit(X)
    >>> model.labels_
    array([0, 0, 1, 1, 2], dtype=int32)
    >>> model.alpha95_[:2].round(1)
    array([12.6, 12.7])
    >>> model.predict([[4, 5.2, 0]])
    array([1], dtype=int32)
    >>> model.set_params(outlier_angle=30).predict([[4, 5.2, 0]])
    array([-1], dtype=int32)
    """

    angle_: float
    metric_: Metric | None
    tuning_: Tuning | None
    layers_: list[NDArray[np.int32]]
    improvement_: float
    silhouette_: float
    thresholds_: NDArray[np.float32] | None
    _takes_sparse = True
    _model_method = "AST_DP"
    ids_: NDArray[np.int32]
    lineage_: list[Lineage] | None
    _results = (*BatchFit._results, *Merging._results, *EXAMPLES, "improvement_", "silhouette_", "layers_",
                "thresholds_", "_fits", "ids_", "lineage_", "_next_id")

    def __init__(self, angle: float | str = 60, *, cosine: float | None = None, order: str | None = None,
                 merge: float | str | None = None, merge_to: int | None = None, min_size: float = 1,
                 outliers: float | str | None = None,
                 center: bool = False, metric: Any = None, previous: Any = None, representatives: int = 0,
                 max_iter: int = 100, n_init: int = 1, shuffle: bool = False, init: Any = None, sample: int | None = None, axial: bool = False,
                 measure: str = "cosine", outlier_angle: float | None = None, allow_missing: bool = False,
                 random_state: Any = None, n_threads: int | None = None, n_jobs: int | None = None,
                 verbose: int = 0) -> None:
        self.angle = angle
        self.cosine = cosine
        self.order = order
        self.merge = merge
        self.merge_to = merge_to
        self.min_size = min_size
        self.outliers = outliers
        self.center = center
        self.metric = metric
        self.previous = previous
        self.representatives = representatives
        self.max_iter = max_iter
        self.n_init = n_init
        self.shuffle = shuffle
        self.init = init
        self.sample = sample
        self.axial = axial
        self.measure = measure
        self.outlier_angle = outlier_angle
        self.allow_missing = allow_missing
        self.random_state = random_state
        self.n_threads = n_threads
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _options(self, X: np.ndarray) -> Any:
        options = super()._options(X)
        options.method = constants["AST_DP"]
        if not self._automatic():
            options.angle = (real_number("angle", self.angle, f"{DEGREES}, 0 to 180, or 'auto'")
                             if self.cosine is None else degrees_of(self.cosine))
        options.dp.order = constants[ORDERS[self._order() or ("content" if X.shape[1] > GIVEN_DIMENSIONS else "given")]]
        options.dp.sample = 0 if self.sample is None else whole_number("sample", self.sample, 1)
        if self.init is not None:
            self._start_from(options, self.init, X.shape[1])
        self._merge_options(options, X.shape[0])
        options.outliers = outlier_share(self.outliers)
        options.calibrate = int(X.shape[1] > GIVEN_DIMENSIONS)
        set_previous(options, self.previous, X.shape)
        if self._automatic() and hasattr(options, "previous_content"):
            raise ValueError("angle='auto' finds the angle of rows with a metric of their own: with a previous model give "
                             "degrees")
        return options

    def _automatic(self) -> bool:
        if self.cosine is not None or not isinstance(self.angle, str):
            return False
        if self.angle != "auto":
            raise ValueError(f"angle is {self.angle!r}; it must be a number of degrees or 'auto'")
        if self.merge is not None and self.merge != "evidence":
            raise ValueError("angle='auto' chooses the angle together with its merging: merge must be None or 'evidence' "
                             f"with it, not {self.merge!r}")
        if isinstance(self.metric, Metric):
            raise ValueError("angle='auto' finds the angle of rows with a metric of their own: with a Metric give degrees")
        return True

    def _tune(self, options: Any, X: np.ndarray, weights: np.ndarray | None) -> None:
        self.tuning_ = tune_for(self, X, weights) if self._automatic() else None
        if self.tuning_:
            options.angle = self.tuning_.angle
            options.metric = constants[f"AST_METRIC_{self.tuning_.metric.upper()}"]
            # A level that tune has chosen holds no more clusters than the evidence supports.
            evidence = self.merge is not None and self.tuning_.merge_to is not None
            if self.merge_to is None and (self.merge is None or evidence):
                self._merge_by(options, self.tuning_.merge, self.tuning_.merge_to)
            options.merge.any_angle = options.merge.by != constants["AST_MERGE_NONE"]
            options.layers = [peak["clusters"] for peak in self.tuning_.peaks]
            if self.tuning_.weak:
                warnings.warn(f"X: {self.tuning_.reason}", UserWarning, stacklevel=3)
        self.angle_ = options.angle

    def _order(self) -> str | None:
        one_of("order", self.order, (None, *ORDERS))
        if self.shuffle and self.order == "content":
            raise ValueError("shuffle=True is order='random', but order is 'content': give one of them")
        order = "random" if self.shuffle else self.order
        if self._automatic() and order == "random":
            raise ValueError("angle='auto' visits the rows by content: order cannot be 'random'")
        return "content" if self._automatic() else order

    def _seed(self) -> int:
        drawn = self._order() == "random" or self.sample is not None
        return super()._seed() if drawn or self.random_state is not None else DEFAULT_SEED

    def _finish(self, X: np.ndarray) -> None:
        self.outliers_ = outliers_of(X if self.center_ is None and self.metric_ is None else self._units(X), self.labels_)
        rows = np.count_nonzero(self.labels_ >= 0)
        if self.cosine is None and 0 < self.angle_ <= 1 and rows > 10 and len(self.cluster_centers_) > rows // 2:
            warnings.warn(f"most rows are a cluster of their own: angle={self.angle_:g} is in degrees; if it is a cosine, "
                          f"give cosine={self.angle_:g}", UserWarning, stacklevel=3)

    def _penalty(self) -> float:
        return (math.cos(math.radians(self.angle_)) - 1) * len(self.cluster_centers_)


class SphericalKMeans(Merging, BatchFit, DirectionClusterer):
    """Spherical k-means: a given number of clusters, by the cosine.

    Parameters
    ----------
    n_clusters : int, default=8
        K, 1 to the number of rows.
    init : {"k-means++", "random"} or array (K, D), default="k-means++"
        Where it starts.
    n_init : int, default=1
        Runs, each from another start; the best objective is kept.
    levels : int, default=1
        For very many clusters: with 2 (up to 4), n_clusters ** (1 / levels) coarse clusters are found first, and the
        clusters within them, so that a row is compared with some 16 sqrt(n_clusters) means.
    merge, merge_to
        As in `DPVMFMeans`.
    min_size : float, default=1
        Clusters of fewer rows (by weight, if there are weights) are dissolved after convergence and merging: their rows
        join the nearest remaining mean. 1 dissolves nothing.
    center, metric, representatives, max_iter, axial, measure, outlier_angle, allow_missing, random_state, n_threads, n_jobs, verbose
        As in `DPVMFMeans`.

    Attributes
    ----------
    As of `DPVMFMeans`, without `improvement_` and `silhouette_`, and
    level_misplaced_ : float, the share of 2000 sampled rows whose nearest mean is not that of their cluster
    level_loss_ : float, what that costs, relative to the objective of these rows. Both are NaN with one level.

    Examples
    --------
    >>> from asterism import SphericalKMeans
    >>> X = [[1, 0], [0.9, 0.1], [0, 1], [0.1, 0.9]]
    >>> model = SphericalKMeans(n_clusters=2, random_state=1).fit(X)
    >>> bool(model.labels_[0] == model.labels_[1] != model.labels_[2] == model.labels_[3])
    True
    >>> model.transform(X).shape
    (4, 2)
    """

    _takes_sparse = True
    _model_method = "AST_SPKM"
    level_misplaced_: float
    level_loss_: float
    _results = (*BatchFit._results, *Merging._results, *EXAMPLES, "level_misplaced_", "level_loss_")

    def __init__(self, n_clusters: int = 8, *, init: Any = "k-means++", n_init: int = 1, levels: int = 1,
                 merge: float | str | None = None, merge_to: int | None = None, min_size: float = 1,
                 center: bool = False, metric: Any = None, representatives: int = 0, max_iter: int = 100, axial: bool = False,
                 measure: str = "cosine", outlier_angle: float | None = None, allow_missing: bool = False,
                 random_state: Any = None, n_threads: int | None = None, n_jobs: int | None = None,
                 verbose: int = 0) -> None:
        self.center = center
        self.metric = metric
        self.representatives = representatives
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.n_clusters = n_clusters
        self.init = init
        self.n_init = n_init
        self.levels = levels
        self.merge = merge
        self.merge_to = merge_to
        self.min_size = min_size
        self.max_iter = max_iter
        self.axial = axial
        self.measure = measure
        self.outlier_angle = outlier_angle
        self.allow_missing = allow_missing
        self.random_state = random_state
        self.n_threads = n_threads

    def _options(self, X: np.ndarray) -> Any:
        options = super()._options(X)
        options.method = constants["AST_SPKM"]
        options.clusters = whole_number("n_clusters", self.n_clusters, 1)
        if options.clusters > X.shape[0]:
            raise ValueError(f"n_samples={X.shape[0]} should be at least n_clusters={options.clusters}")
        options.kmeans.levels = whole_number("levels", getattr(self, "levels", 1), 1)
        self._start(options, X.shape[1])
        if self._merges:
            self._merge_options(options, X.shape[0])
        return options

    def _finish(self, X: np.ndarray) -> None:
        if self._merges:
            self.outliers_ = outliers_of(X if self.center_ is None and self.metric_ is None else self._units(X), self.labels_)
        old = {mean.tobytes(): kappa for mean, kappa in zip(self.cluster_centers_, self.kappas_)}
        if len(old) < len(self.cluster_centers_):
            self._share_out(X, old)

    def _share_out(self, X: np.ndarray, old: dict[bytes, float]) -> None:
        """With fewer distinct directions than clusters some means are equal, and which of them has a point is an
        accident of the order of the rows. Then every distinct mean takes all of its points, in the order of the means'
        components; the rest of the K means repeat them and have none."""
        self.cluster_centers_ = np.resize(np.unique(self.cluster_centers_, axis=0), self.cluster_centers_.shape)
        similarity = np.full(X.shape[0], np.nan, np.float32)
        self._label(X, None, self.labels_, similarity)
        self.representatives_ = nearest_rows(self.labels_, similarity, len(self.cluster_centers_), self.representatives)
        self.counts_ = np.bincount(self.labels_[self.labels_ >= 0], minlength=len(self.cluster_centers_))
        self.kappas_ = np.array([old[mean.tobytes()] for mean in self.cluster_centers_])
        self.kappas_[self.counts_ == 0] = np.nan
        warnings.warn(f"there are {len(old)} distinct directions, fewer than n_clusters = {self.n_clusters}",
                      ConvergenceWarning, stacklevel=4)


def nearest_rows(labels: np.ndarray, similarity: np.ndarray, clusters: int, each: int) -> list[NDArray[np.intp]]:
    """For every cluster the rows of the largest similarity, of equal ones the first."""
    rows = [np.flatnonzero(labels == k) for k in range(clusters)]
    return [own[np.argsort(-similarity[own], kind="stable")][:each] for own in rows]


STARTS = {"k-means++": "AST_PLUSPLUS", "random": "AST_RANDOM"}
ORDERS = {"given": "AST_ORDER_GIVEN", "content": "AST_ORDER_CONTENT", "random": "AST_ORDER_RANDOM"}
GIVEN_DIMENSIONS = 8  # up to so many, rows are visited as they are given
DEFAULT_SEED = 1  # of the command
