# SPDX-License-Identifier: MIT
"""Which angle: `tune`, and `angle="auto"` of `DPVMFMeans`."""
from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _compat
from ._base import (DEGREES, FLOATS, MOST_SEED, canonical, checked_weights, flag, real_number, refuse_nan, whole_number,
                    without_index)
from ._compat import Bunch, check_array
from ._library import constants, defaults, interruptible, lender, lib, points_of, records, sized, structs


class Tuning(Bunch):
    """What `tune` returns; also `["from"]`, which is no name in Python."""

    angle: float
    merge: str | None
    merge_to: int | None
    parameters: dict[str, Any]
    labels: NDArray[np.int32]
    clusters: int
    silhouette: float
    weak: bool
    reason: str
    evidence: float
    excess: float
    limit: int
    to: float
    leaf_angle: float
    points: int
    missing: int
    cut: bool
    angles: list[dict[str, Any]]
    levels: list[dict[str, Any]]
    command: str
    peaks: list[dict[str, Any]]
    metric: str
    stability: float


def tune(X: Any, sample_weight: Any = None, *, largest: float = 120, smallest: float = 5, step: float = 2.5,
         max_clusters: int | None = None, axial: bool = False, draws: int = 5, random_state: int = 1,
         allow_missing: bool = False, n_threads: int | None = None, center: bool = False, min_clusters: int = 2,
         metric: str | None = None) -> Tuning:
    """Finds parameters of `DPVMFMeans` that suit X, and says whether anything stands out.

    Parameters
    ----------
    X : (N, D) array, data frame or scipy sparse matrix
    sample_weight : (N), not negative, or None
    largest, smallest, step : float
        The angles of the sweep, degrees, from large to small.
    min_clusters, max_clusters : int, default=2 and None
        No other numbers of clusters are considered.
    metric : {None, "auto", "plain", "local"}
        As in `DPVMFMeans`. None is "auto": local for dense rows with more than 8 columns whose neighbours do not scatter
        equally in all directions, unless they are axial.
    axial, allow_missing, n_threads, center
        As in `DPVMFMeans`.
    draws : int, default=5
        Draws of one von Mises-Fisher distribution that X is compared with; of each other distribution without clusters
        there are at most 3.
    random_state : int, default=1
        Seed of the order of the described run. The recommendation does not depend on it.

    Returns
    -------
    A Tuning, a dictionary whose keys are attributes too (scikit-learn's Bunch), with what `asterism tune --json` prints. Numbers that do not exist are NaN.
        angle, merge, merge_to : the recommended parameters; merge_to and merge are None if there is nothing to merge
        parameters : the same and the order, for `DPVMFMeans(**parameters)`
        labels : (N) int32, clusters, silhouette : what these parameters find in X
        weak : bool, whether nothing stands out; then the angle is only the least bad one
        reason : one sentence
        evidence : nats, for the best level of the tree of joins over one cluster; 0 if one cluster is best
        excess : silhouette of the chosen level above the largest of the draws
        stability : how far two random halves of the rows agree on that level (adjusted Rand index)
        peaks : list of dictionaries with clusters, excess and stability: the levels that stand out, coarse to fine
        metric : "plain", or "local": the angles and silhouettes are those of mapped rows
        limit : number of clusters of the level with the best evidence: more are not recommended
        from, to : the range of angles that find these clusters without merging; read them as tuning["from"]
        leaf_angle, points, missing, cut : where the tree starts, rows looked at, rows without a direction, and whether
            the sweep ended early
        angles, levels : lists of dictionaries, one for every angle of the sweep and every level of the tree
        command : the command line that gives the same clusters

    Examples
    --------
    >>> import asterism
    >>> X, _ = asterism.sample(2000, dimension=3, clusters=6, kappa=300, separation=60)
    >>> found = asterism.tune(X)
    >>> found.clusters, found.weak
    (6, False)
    >>> model = asterism.DPVMFMeans(**found.parameters).fit(X)
    >>> bool((model.labels_ == found.labels).all())
    True
    >>> noise = asterism.sample(1000, dimension=3, clusters=1, kappa=0)[0]
    >>> asterism.tune(noise).weak
    True
    """
    X = checked_rows(X)
    weights = checked_weights(sample_weight, X)
    options = sized("ast_tune_options", to=real_number("smallest", smallest, DEGREES),
                    step=real_number("step", step, DEGREES), axial=flag("axial", axial), center=flag("center", center),
                    min_clusters=whole_number("min_clusters", min_clusters, 2),
                    max_clusters=0 if max_clusters is None else whole_number("max_clusters", max_clusters, 2),
                    metric=metric_kind(metric), draws=whole_number("draws", draws, 1),
                    seed=whole_number("random_state", random_state, 0, MOST_SEED), describe=1)
    setattr(options, "from", real_number("largest", largest, DEGREES))
    labels = np.empty(X.shape[0], np.int32)
    found = recommend(X, weights, options, labels, n_threads)
    if found.missing and not allow_missing:
        refuse_nan(X, labels)
    found.labels = labels
    return found


def metric_kind(metric: str | None) -> int:
    """The value of ast_metric_kind; None is "auto"."""
    if metric not in (None, "auto", "plain", "local"):
        raise ValueError(f"metric is {metric!r}; it must be 'plain', 'local', 'auto' or None")
    return constants[f"AST_METRIC_{(metric or 'auto').upper()}"]


def tune_for(model: Any, X: Any, weights: np.ndarray | None) -> Tuning:
    """The recommendation for an estimator with angle="auto", which runs it itself."""
    options = defaults("ast_tune_options")
    options.axial, options.center = bool(model.axial), bool(model.center)
    options.seed, options.describe = model._seed(), 0
    plain = model.center or getattr(model, "init", None) is not None
    options.metric = metric_kind(getattr(model, "metric", None) or ("plain" if plain else None))
    return recommend(X, weights, options, None, model._threads())


def checked_rows(X: Any) -> Any:
    """X as the estimators take it."""
    X = check_array(without_index(X), accept_sparse="csr", dtype=FLOATS, ensure_min_features=2, **_compat.ANY_VALUES)
    X = X if X.dtype.isnative else X.astype(X.dtype.newbyteorder("="))
    return X if isinstance(X, np.ndarray) else canonical(X)


def recommend(X: Any, weights: np.ndarray | None, options: Any, labels: np.ndarray | None, n_threads: int | None) -> Tuning:
    points = points_of(X, weights)
    return interruptible(lambda cancel: run(n_threads, points, options, labels, cancel))


def run(n_threads: int | None, points: Any, options: Any, labels: np.ndarray | None, cancel: Any) -> Tuning:
    """One call of ast_tune; its report, copied."""
    report = sized("ast_tune_report")
    with lender.borrow(n_threads, points.count * points.dimension) as context, context.cancelled_by(cancel):
        context.check(lib.ast_tune(context.handle, ctypes.byref(points), ctypes.byref(options),
                                   None if labels is None else labels.ctypes.data, ctypes.byref(report)))
        return copied(context, report, options)


def copied(context: Any, report: Any, options: Any) -> Tuning:
    seed, axial, center = options.seed, options.axial, options.center
    evidence = report.merge == constants["AST_MERGE_EVIDENCE"]
    local = report.metric == constants["AST_METRIC_LOCAL"]
    levels = named_records(context, "ast_tune_level")
    merge = "evidence" if evidence else None
    merge_to = report.merge_count if report.merge == constants["AST_MERGE_COUNT"] else None
    parameters = {"angle": report.angle, "order": "content", "merge": merge, "merge_to": merge_to, "axial": bool(axial),
                  "random_state": seed, **({"center": True} if center else {}), **({"metric": "local"} if local else {})}
    words = [f"--angle {report.angle:g} --order content", "--merge evidence" if evidence else "",
             f"--merge-to {merge_to}" if merge_to else "", f"--seed {seed}" if seed != 1 else "", "--axial" if axial else "",
             "--center" if center else "", "--metric local" if local else ""]
    return Tuning(**{
        "angle": report.angle, "merge": merge, "merge_to": merge_to, "parameters": parameters,
        "command": " ".join(["asterism cluster INPUT", *filter(None, words)]), "clusters": report.clusters,
        "silhouette": report.silhouette, "from": report.last, "to": report.first, "evidence": report.evidence,
        "excess": report.excess, "limit": report.limit, "weak": bool(report.weak), "reason": report.reason.decode(),
        "points": report.points, "missing": report.missing, "leaf_angle": report.leaf_angle, "cut": bool(report.cut),
        "angles": named_records(context, "ast_tune_angle"), "levels": levels,
        "peaks": [{name: level[name] for name in ("clusters", "excess", "stability")} for level in levels if level["local_peak"]],
        "metric": "local" if local else "plain", "stability": report.stability})


def named_records(context: Any, name: str) -> list[dict[str, Any]]:
    """The records of the last ast_tune as dictionaries."""
    found = records(getattr(lib, f"{name}_records"), context.handle, name)
    named = [{field: getattr(one, field) for field, _ in structs[name]._fields_} for one in found]
    return [{**one, "peak": bool(one["peak"]), "local_peak": bool(one["local_peak"])} if "peak" in one else one for one in named]
