# SPDX-License-Identifier: MIT
"""Open3D's normals on the clouds of `asterism-bench cloud`: the same points, neighbours and number of threads."""
import json
import subprocess
import sys
import time

PACKAGES = {"open3d": "python3-open3d"}
NEIGHBOURS = 16
CLOUDS = ("scan", "cube")


def run_asterism(bench, data, given):
    """Seconds of the best of the repetitions, by cloud."""
    output = data / "cloud.json"
    command = [bench, "cloud", "--threads", given.threads, "--repetitions", given.repetitions, "--output", output,
               *(["--quick"] if given.quick else [])]
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"peers.py: {done.stderr.strip()}")
    return {run["cloud"]: run["normals_seconds"] for run in json.loads(output.read_text())["clouds"]}


def time_open3d(open3d, points, repetitions):
    cloud = open3d.geometry.PointCloud(open3d.utility.Vector3dVector(points.astype("float64")))
    search, best = open3d.geometry.KDTreeSearchParamKNN(NEIGHBOURS), float("inf")
    for _ in range(repetitions):
        cloud.normals = open3d.utility.Vector3dVector()
        begin = time.perf_counter()
        cloud.estimate_normals(search)
        best = min(best, time.perf_counter() - begin)
    return best


def measure(bench, data, modules, given):
    command = [str(bench), "cloud", "--write", str(data), *(["--quick"] if given.quick else [])]
    if subprocess.run(command).returncode != 0:
        sys.exit("peers.py: the clouds could not be made")
    ours, theirs = run_asterism(bench, data, given), {}
    print(f"cloud: normals from {NEIGHBOURS} neighbours, {given.threads} threads")
    for name in CLOUDS:
        points = modules["numpy"].load(data / f"cloud_{name}.npy")
        print(f"  {name + ', asterism':<28}{1e3 * ours[name]:>10.1f} ms  {len(points)} points")
        if "open3d" in modules:
            theirs[name] = time_open3d(modules["open3d"], points, given.repetitions)
            print(f"  {name + ', Open3D':<28}{1e3 * theirs[name]:>10.1f} ms  {theirs[name] / ours[name]:.2f} times asterism")
    return {"workload": "cloud", "asterism_seconds": ours, "open3d_seconds": theirs}
