#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How often a mixture finds its number of components: the tables of docs/mixtures.md.

    ASTERISM_LIBRARY=build/release/libasterism.so PYTHONPATH=python /usr/bin/python3 bench/mixture_study.py \\
        [--sets N] [--without-bic] [--only WORD] [TABLE...]

TABLE is any of auto, broad, background, axial and kent; all without a TABLE, which takes minutes. `auto` sets VMFMixture("auto")
beside the least BIC of 20 starts of EM for each K = 1 to 6 (the slow part; --without-bic leaves it out), on the same
points; `broad` the same on --draws sets whose every number is drawn, with EM of up to 500 passes. `background` is a given number of clusters in noise. `axial` and `kent` are the tables of docs/models.md: numbers
of components, kappas and how often alpha95 covers the true axis or mean. Every set has its own seed, so that lines can be repeated one by one.
"""
import argparse
import ctypes
import time

import numpy as np

import asterism
from asterism._library import constants, lender, lib, sized
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


def least_bic(rows, background, **how):
    fits = [fit(rows, k, background=background, n_init=STARTS, **how) for k in range(1, MOST + 1)]
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


def broad_case(seed):
    """Dimension, points, kappa, sets, degrees, noise: of sets that are neither hopeless nor trivial."""
    rng = np.random.default_rng([78, seed])
    while True:
        dimension, count = int(rng.choice([2, 3, 10, 100])), int(rng.choice([50, 100, 200, 500, 1000]))
        kappa = round(float(np.exp(rng.uniform(np.log(5), np.log(1000)))))
        clusters, degrees = int(rng.choice([1, 2, 3, 4])), float(rng.choice([20, 30, 45, 60, 90]))
        noise = float(rng.choice([0, 0, 0.1, 0.3]))
        possible = clusters * degrees <= 360 if dimension == 2 else clusters <= dimension
        if possible and 2 <= np.radians(degrees) * np.sqrt(kappa) <= 8 and count * (1 - noise) / clusters >= 15:
            return dimension, count, kappa, clusters, degrees, noise


def table_broad(arguments):
    """Right numbers by dimension, noise, points and sets, and the sets that only one of the two gets right."""
    found = {}
    for seed in range(arguments.draws):
        dimension, count, kappa, clusters, degrees, noise = broad_case(seed)
        rows = points_of(seed, "near", dimension, count, kappa, clusters, degrees, noise)
        auto = fit(rows, "auto", background=noise > 0).n_clusters_ == clusters
        bic = not arguments.without_bic and least_bic(rows, noise > 0, max_iter=500) == clusters
        for key in ("all", f"D = {dimension}", f"noise {noise:g}", f"n = {count}", f"sets {clusters}"):
            found[key] = np.add(found.get(key, 0), (auto, bic, 1))
    print("| sets | auto | BIC of 20-start EM |\n|---|---|---|")
    for key, (auto, bic, sets) in found.items():
        print(f"| {key} | {auto} of {sets} | {'-' if arguments.without_bic else bic} |")


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


def drawn(seed, distribution, dimension, count, kappa, clusters, separation, noise, beta=0.0):
    """Points and the true means, as `asterism sample` draws them."""
    mixture = sized("ast_mixture", points=count, dimension=dimension, clusters=clusters, kappa=kappa, beta=beta,
                    separation=separation, noise=noise, seed=seed, distribution=constants[distribution])
    rows, means = np.empty((count, dimension), np.float32), np.empty((clusters, dimension), np.float32)
    with lender.borrow(1, rows.size) as context:
        context.check(lib.ast_sample_mixture(context.handle, ctypes.byref(mixture), rows.ctypes.data, None,
                                             means.ctypes.data))
    return rows, means


def covered(model, means):
    """How many of the components' cones contain the nearest true mean."""
    cosines = model.cluster_centers_ @ means.T
    away = np.degrees(np.arccos(np.clip((np.abs(cosines) if model.axial else cosines).max(axis=1), -1, 1)))
    return int((away <= model.alpha95_).sum())


def table_axial(arguments):
    print("| D | n | kappa | sets | noise | K right | of the true kappa | without background | covered by alpha95 |\n"
          "|---|---|---|---|---|---|---|---|---|")
    for dimension, count, kappa, clusters, noise in ((2, 300, 30, 3, 0), (3, 300, 20, 3, 0), (3, 300, 20, 3, 0.2),
                                                     (3, 1000, 100, 5, 0.3), (3, 400, -20, 1, 0), (10, 500, 60, 4, 0.1),
                                                     (100, 500, 400, 4, 0)):
        right, ratios, plain, cones = 0, [], [], [0, 0]
        for seed in range(1, arguments.sets + 1):
            rows, means = drawn(seed, "AST_WATSON", dimension, count, kappa, clusters, 50, noise)
            model = fit(rows, "auto", axial=True, background=noise > 0)
            right += model.n_clusters_ == clusters
            ratios += (model.kappas_ / kappa).tolist()
            plain += (fit(rows, clusters, axial=True, n_init=3).kappas_ / kappa).tolist()
            if model.n_clusters_ == clusters:
                cones[0] += covered(model, means)
                cones[1] += clusters
        print(f"| {dimension} | {count} | {kappa} | {clusters} | {noise} | {right} of {arguments.sets} "
              f"| {np.median(ratios):.2f} | {np.median(plain):.2f} | {cones[0]} of {cones[1]} |", flush=True)


def table_kent(arguments):
    print("| n | kappa | beta | sets | K of vMF, mean | K of Kent right | of the true kappa | of the true beta "
          "| covered by alpha95 |\n|---|---|---|---|---|---|---|---|---|")
    for count, kappa, share, clusters in ((200, 50, 0.4, 1), (1000, 50, 0.4, 1), (1000, 50, 0, 1), (1000, 200, 0.45, 3)):
        found = []
        for seed in range(1, arguments.sets + 1):
            rows, means = drawn(seed, "AST_KENT", 3, count, kappa, clusters, 60, 0, share * kappa)
            model = fit(rows, "auto", shape="kent")
            found.append((fit(rows, "auto").n_clusters_, model.n_clusters_ == clusters, np.median(model.kappas_) / kappa,
                          np.median(model.betas_) / max(share * kappa, 1e-9), covered(model, means)))
        vmf, right, kappas, betas, cones = np.transpose(found)
        ratio = f"{np.median(betas):.2f}" if share else "-"
        print(f"| {count} | {kappa} | {share * kappa:g} | {clusters} | {vmf.mean():.1f} | {right.sum():.0f} of {arguments.sets} "
              f"| {np.median(kappas):.2f} | {ratio} | {cones.sum():.0f} of {arguments.sets * clusters} |", flush=True)


TABLES = {"auto": table_auto, "broad": table_broad, "background": table_background, "axial": table_axial, "kent": table_kent}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tables", nargs="*")
    parser.add_argument("--sets", type=int, default=10)
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument("--without-bic", action="store_true")
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    for name in arguments.tables or TABLES:
        print(f"\n## {name}\n")
        TABLES[name](arguments)


main()
