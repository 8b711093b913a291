# SPDX-License-Identifier: MIT
"""500 people before a camera, with truth: 10,000 frames of 2 to 8 faces of 128 dimensions. People come into view for 20
to 120 frames and stay away for up to 1,000; their direction drifts by .05 degrees a frame in view; ten pairs are
look-alikes at 25 degrees. Counts switches (a person's id is not the last one), doubles (two rows of a frame with one id)
and the purity of ids, with exclusive frames and without, beside a running mean.

    PYTHONPATH=python python3 bench/crowd_study.py [--frames 10000] [--angles 40,45,50]
"""
import argparse
import time

import numpy as np

import asterism
from identity_measures import RunningMean, b_cubed, joined, unit


def crowd(seed, frames=10000, people=500, dimension=128, noise=.55):
    """Frames (rows, who); a row has the cosine .876 (29 degrees) with its person."""
    random = np.random.default_rng(seed)
    faces = unit(random.normal(size=(people, dimension)))
    for pair in range(10):
        side = unit(random.normal(size=dimension))
        side = unit(side - faces[2 * pair] * (side @ faces[2 * pair]))
        faces[2 * pair + 1] = np.cos(np.radians(25)) * faces[2 * pair] + np.sin(np.radians(25)) * side
    ahead = unit(random.normal(size=(people, dimension)))
    free, view, result = np.zeros(people, int), {}, []
    for t in range(frames):
        for who in [w for w, until in view.items() if until <= t]:
            free[who] = t + random.integers(1, 1001)
            del view[who]
        wanted = 2 if len(view) < 2 else min(8, len(view) + (random.random() < .05))
        while len(view) < wanted:
            who = int(random.integers(people))
            if who not in view and free[who] <= t:
                view[who] = t + random.integers(20, 121)
        who = np.array(sorted(view))
        faces[who] = unit(faces[who] + np.radians(.05) * ahead[who])
        rows = unit(faces[who] + noise * random.normal(size=(len(who), dimension)) / np.sqrt(dimension))
        result.append((rows.astype(np.float32), who))
    return result


def judge(name, data, step, into, start):
    last, labels, truth, doubles = {}, [], [], 0
    for rows, who in data:
        own = step(rows, np.ones(len(rows)))
        doubles += len(own[own >= 0]) - len(np.unique(own[own >= 0]))
        labels.extend(own)
        truth.extend(who)
    labels, truth = joined(labels, into), np.array(truth)
    switches = 0
    for label, who in zip(labels, truth):
        switches += last.get(who, label) != label
        last[who] = label
    precision, recall, f = b_cubed(labels, truth)
    print(f"{name}: {switches} switches, {doubles} doubles, purity {precision:.4f}, recall {recall:.4f}, F {f:.4f}, "
          f"{len(np.unique(labels))} ids of {len(np.unique(truth))} people, {len(labels)} rows "
          f"({time.time() - start:.0f} s)", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--frames", type=int, default=10000)
    parser.add_argument("--angles", default="45,50,55")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    data = crowd(given.seed, given.frames)
    for angle in map(float, given.angles.split(",")):
        for exclusive in (True, False):
            start, into = time.time(), {}
            model = asterism.DDPVMFMeans(angle, exclusive=exclusive, drift=.1, lifetime=100000, history=0, n_threads=1)

            def step(rows, quality):
                labels = model.partial_fit(rows).labels_
                into.update({e.id: e.into for e in model.events_ if e.event == "merged"})
                return labels
            judge(f"{'exclusive' if exclusive else 'nearest'} {angle:g}", data, step, into, start)
        start = time.time()
        judge(f"running mean {angle:g}", data, RunningMean(angle, 128).step, {}, start)


if __name__ == "__main__":
    main()
