#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Planes and directions on real sequences: what is missing, how many ids there are, how steady they are, what they cost.

    /usr/bin/python3 bench/planes_study.py [--command build/release/cli/asterism] [--passes 4] [SEQUENCE...]

It runs `asterism stream --planes` on the sequences of bench/depth_study.py with default options at 60 degrees, and
prints a row per sequence:

    missing, ids, doubled, flicker   of the directions, as bench/depth_study.py defines them
    planes     ids of planes after one pass over the sequence
    back+forth the same after each of the passes forth, back, forth, back; with poses, ids should not grow any more
    alternate  share of the pixels on planes whose id changes from one frame to the next, of those that have one in both
               and whose depth changes by less than 3%
    ms         processor time per frame, all of it: from PNG to JSON, with one thread
"""
import argparse
import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image

import depth_study as study


def order_of(count, passes):
    turn = list(range(count))
    return [i for k in range(passes) for i in (turn if k % 2 == 0 else turn[::-1])]


def pose_rows(sequence, images):
    rows = np.loadtxt(study.DATA / sequence["poses"], comments="#")
    if "times" in sequence:
        rows = np.array([rows[np.argmin(abs(rows[:, 0] - float(path.stem)))] for path in images])
    return rows


def play(command, sequence, images, camera, passes, place):
    """The planes of each frame, their images, and processor time per frame."""
    order = order_of(len(images), passes)
    folder = Path(place) / f"frames{passes}"
    folder.mkdir()
    for number, i in enumerate(order):
        (folder / f"{number:06}.png").symlink_to(images[i])
    given = [command, "stream", str(folder), "--intrinsics", ",".join(map(str, camera)), "--depth-scale",
             str(sequence["scale"]), "--angle", "60", "--threads", "1", "--planes", str(folder) + "-planes",
             "--plane-labels", str(folder) + "-ids"]
    if "nearest" in sequence:
        given += ["--nearest", str(sequence["nearest"])]
    if "poses" in sequence:
        poses = str(folder) + ".txt"
        np.savetxt(poses, pose_rows(sequence, images)[order])
        given += ["--poses", poses] + ["--flip-y"] * sequence.get("flip", False)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(given, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit(done.stderr)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    planes = [json.loads(path.read_text()) for path in sorted(Path(str(folder) + "-planes").glob("*.json"))]
    return planes, Path(str(folder) + "-ids"), 1e3 * spent / len(order)


def ids_after(planes, count):
    """Ids of planes so far, after each pass."""
    seen, after = set(), []
    for number, frame in enumerate(planes, 1):
        seen |= {plane["id"] for plane in frame}
        if number % count == 0:
            after.append(len(seen))
    return after


def alternating(folder, images):
    ids = [np.load(path) for path in sorted(folder.glob("*.npy"))]
    depth = [np.array(Image.open(path)).astype(float) for path in images]
    changed = steady = 0
    for i in range(1, len(ids)):
        both = (ids[i] >= 0) & (ids[i - 1] >= 0) & (abs(depth[i] - depth[i - 1]) < study.DEPTH_CHANGE * depth[i])
        steady += both.sum()
        changed += (both & (ids[i] != ids[i - 1])).sum()
    return changed / max(1, steady)


def turned(normals, sequence, images):
    """Normals in the world, if there are poses."""
    if "poses" not in sequence:
        return normals
    mirror = np.array([1, -1, 1]) if sequence.get("flip") else 1
    return [(n * mirror @ study.quaternion_matrix(row[-4:]).T).astype(np.float32)
            for n, row in zip(normals, pose_rows(sequence, images))]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sequences", nargs="*", metavar="SEQUENCE", help=", ".join(study.SEQUENCES))
    parser.add_argument("--command", default=str(study.ROOT / "build/release/cli/asterism"))
    parser.add_argument("--passes", type=int, default=4)
    given = parser.parse_args()
    print(f"{'sequence':10} {'missing':>8} {'ids':>4} {'doubled':>8} {'flicker':>8} {'planes':>7} {'back+forth':>14} "
          f"{'alternate':>10} {'ms':>6}")
    for name in given.sequences or ["kt3", "kt3+8", "cabinet", "hallway"]:
        sequence = study.SEQUENCES[name]
        if not study.files_of(sequence):
            print(f"{name:10} skipped: {study.DATA / sequence['folder']} is not there")
            continue
        with tempfile.TemporaryDirectory() as place:
            folder, scratch = Path(place) / "depth", Path(place) / "normals"
            folder.mkdir()
            scratch.mkdir()
            camera = study.prepare(sequence, folder)
            images = sorted(folder.glob("*.png"))
            normals = [study.guided_normals(given.command, path, camera, sequence, scratch) for path in images]
            normals = turned(normals, sequence, images)
            missing, _, ids, twins, flicker = study.measure(given.command, sequence, folder, camera, "planes", normals, 60)
            planes, labels, spent = play(given.command, sequence, images, camera, 1, place)
            again, _, _ = play(given.command, sequence, images, camera, given.passes, place)
            passes = " ".join(map(str, ids_after(again, len(images))))
            print(f"{name:10} {missing:8.3f} {ids:4} {twins:8} {flicker:8.4f} {ids_after(planes, len(images))[0]:7} "
                  f"{passes:>14} {alternating(labels, images):10.4f} {spent:6.1f}", flush=True)


if __name__ == "__main__":
    main()
