#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How often a mixture finds its number of components: the tables of docs/mixtures.md.

    ASTERISM_LIBRARY=build/release/libasterism.so PYTHONPATH=python /usr/bin/python3 bench/mixture_study.py \\
        [--sets N] [--without-bic] [--only WORD] [TABLE...]

TABLE is any of auto and background; both without a TABLE, which takes minutes. `auto` sets VMFMixture("auto")
beside the least BIC of 20 starts of EM for each K = 1 to 6 (the slow part; --without-bic leaves it out), on the same
points. `background` is a given number of clusters in noise. Every set has its own seed, so that lines can be repeated one by one.
"""
import argparse
import time

import numpy as np

import asterism
from merge_study import draw, unit

MOST, STARTS = 6, 20

#      kind        D    n  kappa  clusters  degrees  noise
AUTO = [
    ("near",        2,  200,   20, 2,  30, 0),
    ("near",        2, 1000,   20, 2,  30, 0),
    ("near",        2,  500,   50, 3,  30, 0),
    ("near",        3,  100,   20, 2,  30, 0),
    ("near",        3, 1000,   20, 2,  30, 0),
    ("near",        3,  200,   20, 3,  30, 0),
    ("near",        3, 1000,   20, 3,  30, 0),
    ("near",        3,   50,   50, 2,  30, 0),
    ("near",        3,  100, 1000, 3,  30, 0),
    ("near",       10,  500,   50, 2,  30, 0),
    ("near",       10, 1000,   50, 3,  30, 0),
    ("near",      100,  500,  300, 2,  30, 0),
    ("near",      100, 1000,  300, 3,  30, 0),
    ("noise",       3,  500,   50, 2,  30, 0.1),
    ("noise",       3,  500,   50, 3,  30, 0.3),
    ("noise",      10,  500,  100, 2,  30, 0.2),
    ("separated",   2,  300,  100, 4,  60, 0),
    ("separated",   3,  500,   50, 5,  60, 0),
    ("separated",   3,  500,   50, 5,  60, 0.2),
    ("separated",  10,  500,  100, 5,  60, 0),
    ("separated", 100,  500,  500, 5,  60, 0),
    ("one",         2,  100,    5, 1,   0, 0),
    ("one",         2, 1000,   50, 1,   0, 0),
    ("one",         3,   50,    5, 1,   0, 0),
    ("one",         3, 1000, 1000, 1,   0, 0),
    ("one",         3,  500,   20, 1,   0, 0.3),
    ("one",        10,  300,   20, 1,   0, 0),
    ("one",       100,  300, 1000, 1,   0, 0),
]


def means_of(kind, rng, dimension, clusters, degrees):
    """near: each exactly so far from the others (in the plane: from the next); else at least so far."""
    if kind == "separated":
        while True:
            means = unit(rng.standard_normal((clusters, dimension)))
            if (means @ means.T - 2 * np.eye(clusters)).max() <= np.cos(np.radians(degrees)):
                return means
    if dimension == 2:
        angles = rng.random() * 2 * np.pi + np.radians(degrees) * np.arange(clusters)
        return np.column_stack([np.cos(angles), np.sin(angles)])
    cosine = np.cos(np.radians(degrees))
    gram = np.full((clusters, clusters), cosine) + (1 - cosine) * np.eye(clusters)
    frame = np.linalg.qr(rng.standard_normal((dimension, clusters)))[0]
    return np.linalg.cholesky(gram) @ frame.T


def points_of(seed, kind, dimension, count, kappa, clusters, degrees, noise):
    rng = np.random.default_rng([seed, dimension, count, kappa, clusters])
    means = means_of(kind, rng, dimension, clusters, degrees)
    truth = np.where(rng.random(count) < noise, -1, rng.integers(clusters, size=count))
    rows = np.empty((count, dimension))
    for k in range(-1, clusters):
        own = truth == k
        if own.any():
            rows[own] = draw(rng, means[max(k, 0)], 0 if k < 0 else kappa, own.sum())
    return rows.astype(np.float32)


def fit(rows, components, **how):
    return asterism.VMFMixture(components, random_state=1, n_threads=1, **how).fit(rows)


def least_bic(rows, background):
    fits = [fit(rows, k, background=background, n_init=STARTS) for k in range(1, MOST + 1)]
    return 1 + int(np.argmin([f.bic_ for f in fits]))


def table_auto(arguments):
    print("| data | D | n | kappa | sets | noise | auto | seconds a set | BIC of 20-start EM |\n|---|---|---|---|---|---|---|---|---|")
    totals = {}
    for kind, dimension, count, kappa, clusters, degrees, noise in AUTO:
        if arguments.only not in kind:
            continue
        auto, bic, seconds, found = 0, 0, 0, []
        for seed in range(arguments.sets):
            rows = points_of(seed, kind, dimension, count, kappa, clusters, degrees, noise)
            start = time.perf_counter()
            found.append(fit(rows, "auto", background=noise > 0).n_clusters_)
            seconds += time.perf_counter() - start
            auto += found[-1] == clusters
            bic += not arguments.without_bic and least_bic(rows, noise > 0) == clusters
        totals[kind] = np.add(totals.get(kind, 0), (auto, bic, arguments.sets))
        beside = "-" if arguments.without_bic else bic
        print(f"| {kind} | {dimension} | {count} | {kappa} | {clusters} | {noise} | {auto} of {arguments.sets} "
              f"| {seconds / arguments.sets:.2f} | {beside} |", flush=True)
    for kind, (auto, bic, sets) in totals.items():
        print(f"| {kind}, all | | | | | | {auto} of {sets} | | {'-' if arguments.without_bic else bic} |")


def table_background(arguments):
    print("| D | kappa | sets | noise | share found, mean | kappa, least | largest | most nats below a start at the true "
          "means |\n|---|---|---|---|---|---|---|---|")
    for dimension, kappa, clusters, noise in ((3, 50, 1, 0.9), (3, 50, 1, 0.3), (3, 50, 3, 0.6), (2, 100, 2, 0.7),
                                              (10, 100, 2, 0.8)):
        found = []
        for seed in range(arguments.sets):
            rows = points_of(seed, "separated", dimension, 1000, kappa, clusters, 60, noise)
            means = means_of("separated", np.random.default_rng([seed, dimension, 1000, kappa, clusters]), dimension,
                             clusters, 60)
            model, true = (fit(rows, clusters, background=True, **how)
                           for how in ({"n_init": 10}, {"init": means.astype(np.float32)}))
            found.append((model.background_, model.kappas_.min(), model.kappas_.max(),
                          true.objective_ - model.objective_))
        share, least, largest, below = np.transpose(found)
        print(f"| {dimension} | {kappa} | {clusters} | {noise} | {share.mean():.2f} | {least.min():.1f} "
              f"| {largest.max():.1f} | {below.max():.1f} |", flush=True)


TABLES = {"auto": table_auto, "background": table_background}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tables", nargs="*")
    parser.add_argument("--sets", type=int, default=10)
    parser.add_argument("--without-bic", action="store_true")
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    for name in arguments.tables or TABLES:
        print(f"\n## {name}\n")
        TABLES[name](arguments)


main()
