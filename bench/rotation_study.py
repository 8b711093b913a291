# SPDX-License-Identifier: MIT
"""The rotation of the camera against ground truth, on the shared sequences that have it: the absolute error of --rotations,
median and largest, in degrees. `first`: relative to the first frame. `aligned`: after the one rotation of all frames that
fits best. Beside it Kabsch over the means of the clusters that were tracked with --rigid, frame by frame.

    /usr/bin/python3 bench/rotation_study.py [path of the command] [option ...]
"""
from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile

import numpy as np

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "shared", "data")
SEQUENCES = {
    "kt3": ("icl_office_kt3/depth", ["--camera", "icl-nuim", "--nearest", "0.1"]),
    "cabinet": ("tum_fr3_cabinet/depth", ["--camera", "tum-fr3"]),
}


def matrices(q: np.ndarray) -> np.ndarray:
    q = q / np.linalg.norm(q, axis=1, keepdims=True)
    x, y, z, w = q.T
    return np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
                     [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
                     [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)]]).transpose(2, 0, 1)


def angles(rotations: np.ndarray) -> np.ndarray:
    """From the antisymmetric part where the angle is small: acos has no digits there."""
    sine = np.linalg.norm(np.stack([rotations[:, 2, 1] - rotations[:, 1, 2], rotations[:, 0, 2] - rotations[:, 2, 0],
                                    rotations[:, 1, 0] - rotations[:, 0, 1]], 1), axis=1) / 2
    return np.degrees(np.arctan2(sine, (np.trace(rotations, axis1=1, axis2=2) - 1) / 2))


def nearest_rotation(m: np.ndarray) -> np.ndarray:
    u, _, v = np.linalg.svd(m)
    return u @ np.diag([1, 1, np.linalg.det(u @ v)]) @ v


def truth(name: str) -> np.ndarray:
    """Camera to world, in our axes."""
    if name == "cabinet":
        return matrices(np.loadtxt(os.path.join(DATA, "tum_fr3_cabinet/truth_cam_poses.txt"))[:, 4:8])
    rows = np.loadtxt(os.path.join(DATA, "icl_office_kt3/groundtruth.txt"))
    rows = {int(row[0]): row for row in rows}
    numbers = sorted(int(f.split(".")[0]) for f in os.listdir(os.path.join(DATA, "icl_office_kt3/depth")))
    flip = np.diag([1.0, -1, 1])
    return flip @ matrices(np.array([rows[n][4:8] for n in numbers])) @ flip


def errors(found: np.ndarray, true: np.ndarray) -> dict[str, tuple[float, float]]:
    """Of found[t], camera to first frame."""
    relative = true[0].T @ true
    off = angles(relative.transpose(0, 2, 1) @ found)
    left = nearest_rotation(np.sum(relative @ found.transpose(0, 2, 1), 0))  # left @ found is nearest to relative
    aligned = angles(relative.transpose(0, 2, 1) @ (left @ found))
    return {"first": (float(np.median(off)), float(off.max())), "aligned": (float(np.median(aligned)), float(aligned.max()))}


def rigid_means(lines: list[dict]) -> np.ndarray:
    """Kabsch over the means of clusters seen in both of two frames, chained."""
    rotation, all_of_them, before = np.eye(3), [], {}
    for line in lines:
        now = {c["id"]: (np.array(c["mean"]), c["count"]) for c in line["clusters"] if c["count"] > 0}
        both = [k for k in now if k in before]
        if all_of_them and len(both) > 1:
            rotation = rotation @ nearest_rotation(sum(now[k][1] * np.outer(before[k][0], now[k][0]) for k in both))
        all_of_them.append(rotation)
        before = now
    return np.array(all_of_them)


def run(command: str, name: str, folder: str, camera: list[str], options: list[str]) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        path = os.path.join(scratch, "rotations.txt")
        base = [command, "stream", os.path.join(DATA, folder), *camera, "--angle", "60", *options]
        done = subprocess.run([*base, "--rotations", path], check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        found = matrices(np.loadtxt(path)[:, 4:8])
        rigid = subprocess.run([*base, "--rigid"], check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    true = truth(name)
    ranks = [json.loads(line)["rotation_rank"] for line in done.stdout.splitlines()]
    if os.environ.get("STUDY_VERBOSE"):
        relative = true[0].T @ true
        for t, angle in enumerate(angles(relative.transpose(0, 2, 1) @ found)):
            print(t, ranks[t], f"{angle:.3f}", [f"{d:.2f}" for d in json.loads(done.stdout.splitlines()[t])["rotation_deviation"]])
    for what, rotations in (("--rotations", found),
                            ("Kabsch", rigid_means([json.loads(line) for line in rigid.stdout.splitlines()]))):
        cells = "  ".join(f"{kind} {p50:5.2f} / {most:5.2f}" for kind, (p50, most) in errors(rotations, true).items())
        print(f"{name:8s} {what:12s} {cells}  frames of rank 3: {ranks.count(3)} of {len(ranks)}")


def main() -> None:
    command = sys.argv[1] if len(sys.argv) > 1 else "build/release/cli/asterism"
    for name, (folder, camera) in SEQUENCES.items():
        run(command, name, folder, camera, sys.argv[2:])


if __name__ == "__main__":
    main()
