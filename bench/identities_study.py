# SPDX-License-Identifier: MIT
"""Meetings with known speakers, against a running mean: how many rows get a wrong id, and how many ids there are.

Six speakers of 256 dimensions, of whom two are alike (cosine .55), talk for an hour. A turn lasts 2 to 20 rows of a
second; in one second of ten somebody else speaks too. One row of six is short: it is noisier, and has a low quality.
An id belongs to the speaker who has most of its rows; all other rows with that id are wrong, and so are rows without an
id. Run with Debian's python3 and ASTERISM_LIBRARY or an installed package:

    PYTHONPATH=python python3 bench/identities_study.py [--seeds 3] [--angles 50,55,60,66,70,75] [OPTION=VALUE...]
"""
import argparse
import ast
import collections
import time

import numpy as np

import asterism


def unit(x):
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


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


class RunningMean:
    """The baseline: a row joins the nearest mean of all rows so far within the angle, or starts an id."""

    def __init__(self, angle):
        self.limit, self.sums = np.cos(np.radians(angle)), np.zeros((0, 256))

    def step(self, rows, quality):
        labels = np.empty(len(rows), int)
        for i, x in enumerate(rows):
            scores = unit(self.sums) @ x if len(self.sums) else np.array([-1.])
            labels[i] = scores.argmax()
            if scores[labels[i]] < self.limit:
                labels[i] = len(self.sums)
                self.sums = np.vstack([self.sums, np.zeros(256)])
            self.sums[labels[i]] += x
        return labels


class Stream:
    def __init__(self, angle, gate=None, **options):
        self.gate = gate
        self.model = asterism.DDPVMFMeans(angle, lifetime=100000, n_threads=1, **options)
        self.into = {}

    def step(self, rows, quality):
        late = None if self.gate is None else quality < self.gate
        labels = self.model.partial_fit(rows, late=late).labels_
        self.into.update({e.id: e.into for e in self.model.events_ if e.event == "merged"})
        return labels


def judge(frames, follower):
    """Wrong rows in percent, ids. The ids that were joined count as the one that stays."""
    labels, truth = [], []
    for rows, who, quality in frames:
        labels.extend(follower.step(rows, quality))
        truth.extend(who)
    into = getattr(follower, "into", {})
    counts = collections.defaultdict(collections.Counter)
    for label, who in zip(labels, truth):
        while label in into:
            label = into[label]
        counts[label][who] += 1
    best = collections.defaultdict(int)  # one id per speaker: pieces of a speaker are wrong
    for label, count in counts.items():
        who, rows = count.most_common(1)[0]
        best[who] = max(best[who], rows if label >= 0 else 0)
    return 100 * (1 - sum(best.values()) / len(truth)), len([k for k in counts if k >= 0])


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
        makers["running mean"] = RunningMean
    for name, make in makers.items():
        cells, start = [], time.time()
        for angle in map(float, given.angles.split(",")):
            results = [judge(frames, make(angle)) for frames in meetings]
            wrong, ids = np.mean([r[0] for r in results]), np.mean([r[1] for r in results])
            cells.append(f"{angle:g}: {wrong:.1f}/{ids:.0f}")
        print(f"{name}: {', '.join(cells)} ({time.time() - start:.0f} s)", flush=True)


if __name__ == "__main__":
    main()
