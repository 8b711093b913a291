#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Depth cameras on real sequences: how much is missing, how many ids there are, and how steady they are.

    /usr/bin/python3 bench/depth_study.py [--command build/release/cli/asterism] [--modes guided,planes] [SEQUENCE...]

It runs `asterism stream` on the sequences in the folder shared/data beside the project (a sequence that is not there is
skipped) with default options at 60 degrees, and prints a row per sequence and mode:

    missing   pixels without a label, of those with depth; mean over the frames
    ids       that got at least 0.5% of the pixels with a label, over all frames
    doubled   of those, with another such id in the same frame whose mean is within 20 degrees
    flicker   share of the pixels whose id changes from one frame to the next, of those that have an id in both, and whose
              surface does not change: the normals in the world (with poses), or else as the camera sees them, differ by
              less than 10 degrees, by the reference of guided normals, and the depth by less than 3%
    worst     the largest share that is missing in a frame

kt3+8 and kt3+20 are icl_office_kt3 with 8 mm and 20 mm of independent Gaussian noise on surfaces nearer than 2 m; half,
double, steps and tof are other sensors made of icsl_hallway or kt3: 320 x 240, 1280 x 960 (every pixel four times), half
pixels of disparity at a baseline of 7.5 cm, and 1% noise of the distance in place of that of structured light.
"""
import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT.parent / "shared" / "data"
KT3 = dict(folder="icl_office_kt3/depth", camera=(481.2, 480.0, 319.5, 239.5), scale=5000, nearest=0.1,
           poses="icl_office_kt3/groundtruth.txt", times="nearest", flip=True)
CABINET = dict(folder="tum_fr3_cabinet/depth", camera=(535.4, 539.2, 320.1, 247.6), scale=5000,
               poses="tum_fr3_cabinet/truth_cam_poses.txt")
HALLWAY = dict(folder="icsl_hallway/depth", camera=(537.6, 539.033, 316.149, 245.519), scale=1000)
SEQUENCES = {
    "kt3": KT3, "kt3+8": dict(KT3, noise=0.008), "kt3+20": dict(KT3, noise=0.020), "cabinet": CABINET,
    "hallway": HALLWAY,
    "mit": dict(folder="depth_singles", pattern="MIT_hallway_*_d.png", camera=(540, 540, 319.5, 239.5), scale=1000),
    "pgm": dict(folder="depth_singles", pattern="**/*.pgm", camera=(518, 519, 325.5, 253.5), scale=1000),
    "half": dict(HALLWAY, size=0.5), "double": dict(HALLWAY, size=2), "steps": dict(HALLWAY, step=0.5 / (0.075 * 537.6)),
    "kt3-half": dict(KT3, size=0.5), "kt3-steps": dict(KT3, step=0.5 / (0.075 * 481.2)), "kt3-tof": dict(KT3, relative=0.01),
}
DEPTH_CHANGE, TURN, NEAR_IDS, LEAST_SHARE = 0.03, 10.0, 20.0, 0.005


# ---- Sequences -------------------------------------------------------------------------------------------------------

def files_of(sequence):
    return sorted((DATA / sequence["folder"]).glob(sequence.get("pattern", "*.png")),
                  key=lambda path: (len(path.stem), path.stem))


def altered(values, sequence, random):
    """The image as another sensor would give it."""
    metres = values / sequence["scale"]
    if "noise" in sequence:
        metres = metres + np.where(metres < 2, random.normal(0, sequence["noise"], metres.shape), 0)
    if "relative" in sequence:
        metres = metres * (1 + random.normal(0, sequence["relative"], metres.shape))
    if "step" in sequence:
        inverse = np.rint(1 / np.maximum(metres, 1e-3) / sequence["step"]) * sequence["step"]
        metres = np.where(inverse > 0, 1 / np.maximum(inverse, 1e-3), 0)
    out = np.where(values > 0, np.clip(np.rint(metres * sequence["scale"]), 1, 65534), 0).astype(np.uint16)
    size = sequence.get("size", 1)
    return out[::2, ::2] if size < 1 else out.repeat(2, 0).repeat(2, 1) if size > 1 else out


def prepare(sequence, folder):
    """The images as files in one folder, and the intrinsics for them."""
    fx, fy, cx, cy = sequence["camera"]
    size = sequence.get("size", 1)
    shift = 0.5 if size > 1 else 0
    random = np.random.default_rng(1)
    for path in files_of(sequence):
        values = altered(np.array(Image.open(path)).astype(np.int64), sequence, random)
        Image.fromarray(values).save(folder / f"{path.stem:0>6}.png")
    return fx * size, fy * size, cx * size + shift, cy * size + shift


# ---- Measures --------------------------------------------------------------------------------------------------------

def run(command, folder, camera, sequence, mode, out, angle):
    given = [command, "stream", str(folder), "--intrinsics", ",".join(map(str, camera)), "--depth-scale",
             str(sequence["scale"]), "--angle", str(angle), "--smooth", mode, "--labels", str(out)]
    if "nearest" in sequence:
        given += ["--nearest", str(sequence["nearest"])]
    if "poses" in sequence:
        given += ["--poses", str(DATA / sequence["poses"]), "--pose-times", sequence.get("times", "row")]
        given += ["--flip-y"] * sequence.get("flip", False)
    done = subprocess.run(given, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    return [json.loads(line) for line in done.stdout.splitlines()]


def guided_normals(command, path, camera, sequence, folder):
    target = folder / "normals.npy"
    subprocess.run([command, "normals", str(path), "--intrinsics", ",".join(map(str, camera)), "--depth-scale",
                    str(sequence["scale"]), "--output", str(target), "--quiet"], check=True)
    return np.load(target)


def quaternion_matrix(q):
    x, y, z, w = q / np.linalg.norm(q)
    return np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                     [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                     [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])


def doubled(lines, kept):
    found = set()
    for line in lines:
        seen = [c for c in line["clusters"] if c["id"] in kept and c["count"] > 0]
        for i, a in enumerate(seen):
            for b in seen[:i]:
                if np.degrees(np.arccos(np.clip(np.dot(a["mean"], b["mean"]), -1, 1))) < NEAR_IDS:
                    found |= {a["id"], b["id"]}
    return len(found)


def measure(command, sequence, folder, camera, mode, normals, angle):
    images = sorted(folder.glob("*.png"))
    with tempfile.TemporaryDirectory() as out:
        lines = run(command, folder, camera, sequence, mode, Path(out), angle)
        labels = [np.load(Path(out) / (path.stem + ".npy")) for path in images]
    least = sequence.get("nearest", 0) * sequence["scale"]
    depth = [np.array(Image.open(path)).astype(float) for path in images]
    there = [(d > 0) & (d >= least) for d in depth]
    missing = [((l < 0) & t).sum() / max(1, t.sum()) for l, t in zip(labels, there)]
    counts = np.bincount(np.concatenate([l[l >= 0] for l in labels]))
    kept = set(np.flatnonzero(counts >= LEAST_SHARE * counts.sum()))
    changed = same = 0
    for i in range(1, len(labels)):
        steady = (labels[i] >= 0) & (labels[i - 1] >= 0) & (abs(depth[i] - depth[i - 1]) < DEPTH_CHANGE * depth[i])
        with np.errstate(invalid="ignore"):
            steady &= (normals[i] * normals[i - 1]).sum(2) > np.cos(np.radians(TURN))
        same += steady.sum()
        changed += (steady & (labels[i] != labels[i - 1])).sum()
    return (np.mean(missing), max(missing), len(kept), doubled(lines, kept), changed / max(1, same))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sequences", nargs="*", metavar="SEQUENCE", help=", ".join(SEQUENCES))
    parser.add_argument("--command", default=str(ROOT / "build/release/cli/asterism"))
    parser.add_argument("--modes", default="guided,planes,planes-only")
    parser.add_argument("--angle", type=float, default=60)
    given = parser.parse_args()
    print(f"{'sequence':10} {'mode':12} {'missing':>8} {'worst':>6} {'ids':>4} {'doubled':>8} {'flicker':>8}")
    for name in given.sequences or SEQUENCES:
        sequence = SEQUENCES[name]
        if not files_of(sequence):
            print(f"{name:10} skipped: {DATA / sequence['folder']} is not there")
            continue
        with tempfile.TemporaryDirectory() as place:
            folder, scratch = Path(place) / "depth", Path(place) / "normals"
            folder.mkdir()
            scratch.mkdir()
            camera = prepare(sequence, folder)
            normals = [guided_normals(given.command, path, camera, sequence, scratch) for path in sorted(folder.glob("*.png"))]
            if "poses" in sequence:
                poses = np.loadtxt(DATA / sequence["poses"], comments="#")
                if "times" in sequence:
                    poses = [poses[np.argmin(abs(poses[:, 0] - float(path.stem)))] for path in sorted(folder.glob("*.png"))]
                mirror = np.array([1, -1, 1]) if sequence.get("flip") else 1
                normals = [(n * mirror @ quaternion_matrix(q[-4:]).T).astype(np.float32) for n, q in zip(normals, poses)]
            for mode in given.modes.split(","):
                missing, worst, ids, twins, flicker = measure(given.command, sequence, folder, camera, mode, normals, given.angle)
                print(f"{name:10} {mode:12} {missing:8.3f} {worst:6.3f} {ids:4} {twins:8} {flicker:8.4f}", flush=True)


if __name__ == "__main__":
    main()
