# SPDX-License-Identifier: MIT
"""A photo library with truth: 20,000 faces of 800 people in 19 imports, B-cubed of the ids that a stream gives photo by
photo and of clusters of the whole, beside a running mean, DBSCAN and average linkage.

Faces are rows of 256 dimensions. People come by Zipf's law; half of them have two or three looks (profile, glasses),
whose cosine is .72 to one another; people of a family of four have the cosine .25. A face has the cosine .8 with its
look, one in eight of low quality .62. One row in ten is junk: no face, in any direction, of low quality. A photo has one
to six rows, and each person at most once. Run with Debian's python3 and ASTERISM_LIBRARY or an installed package:

    PYTHONPATH=python python3 bench/photos_study.py [--faces 20000] [--angles 55,60,65,70] [--baselines]
"""
import argparse
import time

import numpy as np

import asterism
from identity_measures import RunningMean, average_linkage, b_cubed, dbscan, joined, unit


def library(seed, faces=20000, people=800, dimension=256, imports=19):
    """Rows, who (-1: junk), quality, photo, import of each row."""
    random = np.random.default_rng(seed)
    family = unit(random.normal(size=(people // 4, dimension)))
    own = unit(.5 * np.repeat(family, 4, 0) + np.sqrt(.75) * unit(random.normal(size=(people, dimension))))
    looks = [[unit(.85 * p + np.sqrt(1 - .85 ** 2) * unit(random.normal(size=dimension)))
              for _ in range(1 if random.random() < .5 else random.integers(2, 4))] for p in own]
    share = 1 / (np.arange(people) + 5.)
    share /= share.sum()
    rows, who, quality, photo, number = [], [], [], [], 0
    while len(rows) < faces:
        size = random.integers(1, 7)
        for person in random.choice(people, size, replace=False, p=share):
            junk, poor = random.random() < .1, random.random() < 1 / 8
            if junk:
                x = random.normal(size=dimension)
            else:
                cosine = .62 if poor else .8
                look = looks[person][random.integers(len(looks[person]))]
                x = cosine * look + np.sqrt(1 - cosine ** 2) * unit(random.normal(size=dimension))
            rows.append(unit(x))
            who.append(-1 if junk else person)
            quality.append(random.uniform(.05, .45) if junk else random.uniform(.2, .6) if poor
                           else random.uniform(.5, 1))
            photo.append(number)
        number += 1
    rows = np.array(rows[:faces], np.float32)
    part = np.arange(number) * imports // number
    return rows, np.array(who[:faces]), np.array(quality[:faces]), np.array(photo[:faces]), part[photo[:faces]]


def follow(step, data):
    rows, who, quality, photo, _ = data
    labels = np.empty(len(rows), np.int64)
    starts = np.flatnonzero(np.r_[True, photo[1:] != photo[:-1], True])
    for first, last in zip(starts[:-1], starts[1:]):
        labels[first:last] = step(rows[first:last], quality[first:last])
    return labels


class Stream:
    def __init__(self, angle, **options):
        self.model = asterism.DDPVMFMeans(angle, exclusive=True, lifetime=10 ** 9, drift=.1, history=0, n_threads=1,
                                          **options)
        self.into = {}

    def step(self, rows, quality):
        labels = self.model.partial_fit(rows, sample_weight=quality).labels_
        self.into.update({e.id: e.into for e in self.model.events_ if e.event == "merged"})
        return labels


def say(name, labels, data, start, extra=""):
    who = data[1]
    precision, recall, f = b_cubed(labels, who)
    faces = who >= 0
    only = b_cubed(labels[faces], who[faces])[2]
    shared = sum(len(x) - len(np.unique(x)) for x in (labels[(data[3] == p) & (labels >= 0)] for p in range(0, data[3].max(), 7)))
    print(f"{name}: B-cubed P {precision:.4f} R {recall:.4f} F {f:.4f}, faces only {only:.4f}, "
          f"{len(np.unique(labels[labels >= 0]))} ids, {shared} doubles in one photo of 7{extra} ({time.time() - start:.0f} s)",
          flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--faces", type=int, default=20000)
    parser.add_argument("--people", type=int, default=800)
    parser.add_argument("--angles", default="55,60,65,70")
    parser.add_argument("--quality", type=float, default=.47)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--baselines", action="store_true")
    parser.add_argument("--batch", action="store_true")
    parser.add_argument("--stream", action="store_true")
    given = parser.parse_args()
    data = library(given.seed, given.faces, given.people)
    every = not (given.baselines or given.batch or given.stream)
    for angle in map(float, given.angles.split(",")):
        if given.stream or every:
            start, stream = time.time(), Stream(angle, min_quality=given.quality)
            labels = follow(stream.step, data)
            say(f"stream {angle:g}", joined(labels, stream.into), data, start, f", {len(stream.into)} joined")
        if given.batch or every:
            start = time.time()
            weights = np.where(data[2] < given.quality, 0, 1)
            model = asterism.DPVMFMeans(angle, order="given").fit(data[0], sample_weight=weights, groups=data[3])
            say(f"batch with groups {angle:g}", model.labels_, data, start)
        if given.baselines or every:
            start = time.time()
            say(f"running mean {angle:g}", follow(RunningMean(angle, 256, given.quality).step, data), data, start)
    if given.baselines or every:
        good = data[2] >= given.quality
        part = tuple(x[good][:8000] for x in data)
        for angle in (50, 55, 60, 65):
            start = time.time()
            say(f"DBSCAN {angle}, 8000 faces of good quality", dbscan(part[0], angle), part, start)
        for angle in (70, 75, 78):
            start = time.time()
            say(f"average linkage {angle}, the same", average_linkage(part[0], angle), part, start)


if __name__ == "__main__":
    main()
