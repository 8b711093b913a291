# SPDX-License-Identifier: MIT
"""Meetings with known speakers, against a running mean: how many rows get a wrong id, and how many ids there are.

Six speakers of 256 dimensions, of whom two are alike (cosine .55), talk for an hour. A turn lasts 2 to 20 rows of a
second; in one second of ten somebody else speaks too. One row of six is short: it is noisier, and has a low quality.
An id belongs to the speaker who has most of its rows; all other rows with an id are wrong. Rows without an id are counted
apart. Run with Debian's python3 and ASTERISM_LIBRARY or an installed package:

    PYTHONPATH=python python3 bench/identities_study.py [--seeds 3] [--angles 50,55,60,66,70,75] [OPTION=VALUE...]
"""
import argparse
import ast
import time

import numpy as np

import asterism
from identity_measures import RunningMean, average_linkage, dbscan, joined, unit, wrong_ids


def meeting(seed, seconds=3600, dimension=256, noise=.95, noise_short=1.6):
    """Frames (rows, speakers, quality), with a cosine of .72 between a row and its speaker, .53 if it is short."""
    random = np.random.default_rng(seed)
    speakers = unit(random.normal(size=(6, dimension)))
    apart = unit(speakers[1] - speakers[0] * (speakers[0] @ speakers[1]))
    speakers[1] = .55 * speakers[0] + np.sqrt(1 - .55 ** 2) * apart
    share = np.array([.3, .25, .2, .12, .08, .05])
    frames, now, left = [], 0, 0
    for _ in range(seconds):
        if left == 0:
            now, left = random.choice(6, p=share), random.integers(2, 21)
        left -= 1
        who = [now] if random.random() > .1 else [now, random.choice([k for k in range(6) if k != now])]
        short = random.random(len(who)) < 1 / 6
        spread = np.where(short, noise_short, noise)[:, None] / np.sqrt(dimension)
        rows = unit(speakers[who] + spread * random.normal(size=(len(who), dimension)))
        frames.append((rows.astype(np.float32), np.array(who), np.where(short, .2, 1.)))
    return frames


class Stream:
    def __init__(self, angle, **options):
        self.model = asterism.DDPVMFMeans(angle, lifetime=100000, n_threads=1, **options)
        self.into = {}

    def step(self, rows, quality):
        labels = self.model.partial_fit(rows, sample_weight=quality if self.model.min_quality else None).labels_
        self.into.update({e.id: e.into for e in self.model.events_ if e.event == "merged"})
        return labels


def judge(frames, follower):
    """Rows with a wrong id and without id in percent, ids. The ids that were joined count as the one that stays."""
    labels = np.concatenate([follower.step(rows, quality) for rows, _, quality in frames])
    labels = joined(labels, getattr(follower, "into", {}))
    wrong, without = wrong_ids(labels, np.concatenate([who for _, who, _ in frames]))
    return 100 * wrong, 100 * without, len(np.unique(labels[labels >= 0]))


class Whole:
    """A method that sees the whole meeting at once, and is asked frame by frame."""

    def __init__(self, frames, method, angle):
        self.labels, self.at = method(np.concatenate([rows for rows, _, _ in frames]), angle), 0

    def step(self, rows, quality):
        self.at += len(rows)
        return self.labels[self.at - len(rows):self.at]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=3600)
    parser.add_argument("--angles", default="50,55,60,66,70,75")
    parser.add_argument("--no-baseline", action="store_true")
    parser.add_argument("options", nargs="*")
    given = parser.parse_args()
    options = {k: ast.literal_eval(v) if v[0] in "-.0123456789TFN" else v
               for k, v in (o.split("=") for o in given.options)}
    meetings = [meeting(seed, given.seconds) for seed in range(given.seeds)]
    makers = {"stream " + " ".join(given.options): lambda angle: Stream(angle, **options)}
    if not given.no_baseline:
        makers["running mean"] = lambda angle: RunningMean(angle, 256)
        makers["running mean with a gate"] = lambda angle: RunningMean(angle, 256, .5)
        makers["DBSCAN"] = dbscan
        makers["average linkage"] = average_linkage
    for name, make in makers.items():
        cells, start = [], time.time()
        for angle in map(float, given.angles.split(",")):
            whole = make in (dbscan, average_linkage)
            results = [judge(frames, Whole(frames, make, angle) if whole else make(angle)) for frames in meetings]
            wrong, without, ids = np.mean(results, axis=0)
            cells.append(f"{angle:g}: {wrong:.2f}/{ids:.0f}" + (f" (-1: {without:.1f})" if without else ""))
        print(f"{name}: {', '.join(cells)} ({time.time() - start:.0f} s)", flush=True)


if __name__ == "__main__":
    main()
