#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Spherical k-means over several processes, none of which holds all points: each maps the file and reads its blocks.

    kmeans_processes.py FILE.npy CLUSTERS [PROCESSES]

Ends with the labels and means of asterism.SphericalKMeans from the same start, bit for bit, and says so after comparing.
With Spark, Dask or Ray it looks the same: `tally_of` is what runs where the points are, `merge` what reduces.
"""
import functools
import multiprocessing
import sys
from multiprocessing.pool import Pool

import numpy as np
from numpy.typing import NDArray

import asterism

BLOCK = 20_000  # rows
Floats = NDArray[np.float32]
Labels = NDArray[np.int32]


def tally_of(path: str, means: Floats, first: int) -> tuple[asterism.Tally, Labels]:
    """A block of points against the means of this iteration: its tally, which is small, and its labels."""
    tally = asterism.Tally(means, n_threads=1)
    rows = np.load(path, mmap_mode="r")[first:first + BLOCK]
    return tally, tally.add(rows, first)


def iterate(pool: Pool, path: str, count: int, means: Floats) -> tuple[Labels, asterism.tally.Step]:
    """One iteration: labels (N) and what it came to."""
    total, labels = asterism.Tally(means), np.empty(count, np.int32)
    starts = range(0, count, BLOCK)
    for first, (tally, part) in zip(starts, pool.imap(functools.partial(tally_of, path, means), starts)):
        total.merge(tally)
        labels[first:first + len(part)] = part
    step = total.update()
    for point, _, to in step.moves:  # into clusters that were empty
        labels[point] = to
    return labels, step


def spherical_k_means(pool: Pool, path: str, start: Floats, max_iter: int = 100) -> tuple[Labels, Floats, float, int]:
    count, means, before = len(np.load(path, mmap_mode="r")), asterism.Tally.start(start), None
    for iteration in range(1, max_iter + 1):
        labels, step = iterate(pool, path, count, means)
        means = step.means
        if step.fingerprint == before:
            break
        before = step.fingerprint
    return labels, means, step.objective, iteration


def main(path: str, clusters: int, processes: int = 2) -> int:
    X = np.load(path, mmap_mode="r")
    start = X[np.sort(np.random.RandomState(1).choice(len(X), clusters, replace=False))]
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        labels, means, objective, iterations = spherical_k_means(pool, path, start)
    print(f"{len(X)} points, {clusters} clusters, {processes} processes: objective {objective:.6f} after "
          f"{iterations} iterations")
    model = asterism.SphericalKMeans(clusters, init=start).fit(X)
    same = (labels == model.labels_).all() and (means == model.cluster_centers_).all()
    print("the labels and means are", "those" if same else "NOT those", "of SphericalKMeans")
    return 0 if same and (objective, iterations) == (model.objective_, model.n_iter_) else 1


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__.strip())
    sys.exit(main(sys.argv[1], *map(int, sys.argv[2:])))
