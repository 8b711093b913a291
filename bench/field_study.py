#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Field measurements: numbers of sets that are found, by seeds.

bench/field_study.py COMMAND [SEEDS]     COMMAND: the asterism to measure, such as build/release/cli/asterism
Tables: angles rounded to 5 and 10 degrees; nulls; coverage of alpha95 after clustering. Odd seeds settled constants, even
seeds are reported (both are printed). Needs Debian's python3-numpy.
"""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

COMMAND, SEEDS = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 15
FOLDER = Path(tempfile.mkdtemp())


def run(*words):
    done = subprocess.run([COMMAND, *map(str, words)], capture_output=True, text=True)
    return json.loads(done.stdout) if done.returncode == 0 and "--json" in words else done


def sample(seed, points, dimension, clusters, kappa, separation, noise=0.0, axial=False):
    path, means = FOLDER / "points.npy", FOLDER / "means.npy"
    run("sample", "--points", points, "--dimension", dimension, "--clusters", clusters, "--kappa", kappa, "--separation",
        separation, "--noise", noise, "--seed", seed, "--output", path, "--means", means, *(["--axial"] if axial else []))
    return np.load(path).astype(float), np.load(means).astype(float)


def rounded(X, degrees):
    """As a notebook has it: azimuth and inclination in steps; back to vectors."""
    step = np.radians(degrees)
    azimuth = np.round(np.arctan2(X[:, 1], X[:, 0]) / step) * step
    if X.shape[1] == 2:
        return np.c_[np.cos(azimuth), np.sin(azimuth)]
    polar = np.round(np.arccos(np.clip(X[:, 2], -1, 1)) / step) * step
    return np.c_[np.sin(polar) * np.cos(azimuth), np.sin(polar) * np.sin(azimuth), np.cos(polar)]


def found(X, *options):
    path = FOLDER / "rows.npy"
    np.save(path, X)
    told = run("cluster", path, *options, "--json", "--quiet")
    return told["clusters"] if isinstance(told, dict) else -1


def halves(right):
    return f"{sum(right[1::2])}/{len(right[1::2])} even, {sum(right[::2])}/{len(right[::2])} odd seeds"


def rounding():
    print("angles rounded: sets found right, 200 points, kappa 20 to 40")
    for dimension, clusters, separation, kappa, angle in ((2, 3, 80, 20, 20), (2, 4, 60, 40, 20), (3, 3, 80, 20, 30)):
        for degrees in (5, 10):
            for name, options in (("movmf auto", ["--method", "movmf", "--clusters", "auto"]),
                                  ("angle auto", ["--angle", "auto"]),
                                  (f"--angle {angle} --merge evidence", ["--angle", angle, "--merge", "evidence"])):
                options = [*options, *(["--rounding", "auto"] if dimension == 3 and HAS_ROUNDING else [])]
                right = [found(rounded(sample(seed, 200, dimension, clusters, kappa, separation)[0], degrees), *options)
                         == clusters for seed in range(1, SEEDS + 1)]
                print(f"  D = {dimension}, {clusters} sets, {degrees:2} degrees, {name:32} {halves(right)}", flush=True)


def girdle(random, points, arc=np.pi, noise=0.05):
    angle = random.uniform(0, arc, points)
    X = np.c_[np.cos(angle), np.sin(angle), np.zeros(points)] + random.normal(0, noise, (points, 3))
    return X / np.linalg.norm(X, axis=1)[:, None]


def small_circle(random, points, radius=40, noise=0.03):
    angle, r = random.uniform(0, 2 * np.pi, points), np.radians(radius)
    X = np.c_[np.sin(r) * np.cos(angle), np.sin(r) * np.sin(angle), np.full(points, np.cos(r))]
    X += random.normal(0, noise, X.shape)
    return X / np.linalg.norm(X, axis=1)[:, None]


def nulls():
    print("nulls: sets in which tune finds structure, 300 points (none would be right)")
    cases = {"uniform": lambda r, s: sample(s, 300, 3, 1, 0, 0)[0],
             "one vMF, kappa 10": lambda r, s: sample(s, 300, 3, 1, 10, 0)[0],
             "one vMF, kappa 30, in 40% noise": lambda r, s: sample(s, 300, 3, 1, 30, 0, 0.4)[0],
             "small circle": lambda r, s: small_circle(r, 300),
             "girdle, axial": lambda r, s: girdle(r, 300),
             "fold of 100 degrees, axial": lambda r, s: girdle(r, 300, np.radians(100))}
    for name, draw in cases.items():
        weak = []
        for seed in range(1, SEEDS + 1):
            np.save(FOLDER / "rows.npy", draw(np.random.default_rng(seed), seed))
            told = run("tune", FOLDER / "rows.npy", "--json", *(["--axial"] if "axial" in name else []))
            weak.append(not told["weak"])
        print(f"  {name:34} {halves(weak)}", flush=True)
    right = []
    for seed in range(1, SEEDS + 1):
        np.save(FOLDER / "rows.npy", sample(seed, 300, 3, 3, 30, 60)[0])
        right.append(not run("tune", FOLDER / "rows.npy", "--json")["weak"])
    print(f"  {'three sets, 60 degrees apart':34} {halves(right)} (all would be right)", flush=True)


def coverage():
    print("coverage of alpha95 after clustering: three axial sets, kappa 20, 60 degrees apart, 300 points")
    for name, options in (("--angle 40", ["--angle", 40]), ("--angle 40 --merge evidence", ["--angle", 40, "--merge", "evidence"]),
                          ("--angle auto", ["--angle", "auto"])):
        inside, all_means = 0, 0
        for seed in range(1, 4 * SEEDS + 1):
            X, means = sample(seed, 300, 3, 3, 20, 60, axial=True)
            np.save(FOLDER / "rows.npy", X)
            told = run("cluster", FOLDER / "rows.npy", "--axial", *options, "--json", "--quiet")
            for cluster in sorted(told["cluster"], key=lambda one: -one["size"])[:3]:
                off = np.degrees(np.arccos(np.minimum(1, np.abs(means @ cluster["mean"])).max()))
                inside += off <= cluster["alpha95"]
                all_means += 1
        print(f"  {name:27} {inside} of {all_means} means are within alpha95", flush=True)


HAS_ROUNDING = "--rounding" in run("cluster", "--help").stdout
for table in (rounding, nulls, coverage):
    if len(sys.argv) <= 3 or table.__name__ in sys.argv[3:]:
        table()
