# SPDX-License-Identifier: MIT
"""OpenCV's guided filter and normals, and Open3D's normals, on the depth frames of `asterism-bench depth`.

All get the same frames, in memory, and the same number of threads. Repetitions take turns; as in asterism-bench a frame
counts with its best time, and the median frame is shown. The comparison leans towards the peers: OpenCV's filter knows
no holes, its normals look at windows of 5 pixels (asterism: 13), and most of theirs and Open3D's start from points that
are back-projected already, while asterism's start from depth.
"""
import json
import statistics
import subprocess
import sys
import time

PACKAGES = {"cv2": "python3-opencv", "open3d": "python3-open3d"}
RADIUS, EPSILON = 3, 0.005  # of the guided filter: asterism's defaults
WINDOW = 5  # pixels, of OpenCV's normals: its default
SLOW = 3  # frames at most, for peers that take a tenth of a second and more


# ---- Frames ----------------------------------------------------------------------------------------------------------

def back_project(numpy, metres, camera):
    """(H, W, 3), NaN in holes."""
    fx, fy, cx, cy = camera
    v, u = numpy.mgrid[0:metres.shape[0], 0:metres.shape[1]].astype(numpy.float32)
    z = numpy.where(metres > 0, metres, numpy.float32("nan"))
    return numpy.dstack(((u - cx) / fx * z, (v - cy) / fy * z, z)).astype(numpy.float32)


def load_frames(numpy, data, modules):
    camera = numpy.load(data / "depth_camera.npy")[0]
    frames = []
    for path in sorted(data.glob("depth_[0-9]*.npy")):
        metres = numpy.load(path)
        points = back_project(numpy, metres, camera)
        frames.append({"metres": metres, "points": points})
        if "open3d" in modules:
            open3d = modules["open3d"]
            rows = points.reshape(-1, 3)
            vectors = open3d.utility.Vector3dVector(rows[numpy.isfinite(rows[:, 2])].astype(numpy.float64))
            frames[-1]["cloud"] = open3d.geometry.PointCloud(vectors)
    return frames, camera


# ---- The peers: name -> (function of a frame, what of asterism it is compared with) ----------------------------------

def opencv_filter(cv2):
    if not hasattr(cv2, "ximgproc"):
        print("  OpenCV's guided filter is left out: this OpenCV has no ximgproc, and a box filter is no fair peer")
        return {}
    return {"OpenCV guidedFilter":
            (lambda frame: cv2.ximgproc.guidedFilter(frame["metres"], frame["metres"], RADIUS, EPSILON * EPSILON),
             "guided filter")}


def opencv_normals(cv2, numpy, frames, camera):
    if not hasattr(cv2, "rgbd"):
        print("  OpenCV's normals are left out: this OpenCV has no rgbd")
        return {}
    fx, fy, cx, cy = camera
    rows, columns = frames[0]["metres"].shape
    matrix = numpy.array([[fx, 0, cx], [0, fy, cy], [0, 0, 1]], numpy.float32)
    peers = {}
    for name, given in {"FALS": "points", "SRI": "points", "LINEMOD": "metres"}.items():  # LINEMOD crashes on points
        method = getattr(cv2.rgbd, f"RgbdNormals_RGBD_NORMALS_METHOD_{name}")
        estimator = cv2.rgbd.RgbdNormals_create(rows, columns, cv2.CV_32F, matrix, WINDOW, method)
        peers[f"OpenCV RgbdNormals {name}"] = (
            lambda frame, estimator=estimator, given=given: estimator.apply(frame[given]), "normals, no filter")
    return peers


def open3d_normals(open3d):
    def estimate(frame):
        frame["cloud"].normals = open3d.utility.Vector3dVector()
        frame["cloud"].estimate_normals()
    return {"Open3D estimate_normals": (estimate, "normals, no filter")}


def find_peers(modules, numpy, frames, camera):
    peers = {}
    if "cv2" in modules:
        peers.update(opencv_filter(modules["cv2"]))
        peers.update(opencv_normals(modules["cv2"], numpy, frames, camera))
    if "open3d" in modules:
        peers.update(open3d_normals(modules["open3d"]))
    return peers


# ---- Times -----------------------------------------------------------------------------------------------------------

def time_frames(call, frames, best):
    """Notes the best seconds of each frame so far; slow peers see the first frames only."""
    call(frames[0])  # tables are made, threads are started
    for f, frame in enumerate(frames):
        begin = time.perf_counter()
        call(frame)
        seconds = time.perf_counter() - begin
        best[f] = min(best.get(f, seconds), seconds)
        if seconds > 0.1 and f + 1 >= SLOW:
            break


def run_asterism(bench, data, threads):
    """One repetition: the medians of its stages by name, and the scene's."""
    output = data / "depth.json"
    command = [bench, "depth", "--quick", "--repetitions", "1", "--threads", threads, "--output", output]
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"peers.py: {done.stderr.strip()}")
    run = json.loads(output.read_text())["depth"][0]
    return run["scene"], {stage["stage"]: 1e3 * stage["seconds"]["median"] for stage in run["stages"]}


def measure(bench, data, modules, given):
    """Milliseconds of the median frame, by peer and by stage of asterism."""
    command = [str(bench), "depth", "--quick", "--write", str(data)]
    if subprocess.run(command).returncode != 0:
        sys.exit("peers.py: the depth frames could not be made")
    frames, camera = load_frames(modules["numpy"], data, modules)
    peers = find_peers(modules, modules["numpy"], frames, camera)
    theirs, ours = {name: {} for name in peers}, {}
    for _ in range(given.repetitions):
        scene, stages = run_asterism(bench, data, given.threads)
        ours = {stage: min(ms, ours.get(stage, ms)) for stage, ms in stages.items()}
        for name, (call, _) in peers.items():
            time_frames(call, frames, theirs[name])
    medians = {name: 1e3 * statistics.median(best.values()) for name, best in theirs.items()}
    show(scene, len(frames), frames[0]["metres"].shape, given.threads, ours, medians, peers)
    return {"workload": "depth", "scene": scene, "frames": len(frames), "asterism_milliseconds": ours,
            "milliseconds": medians}


def show(scene, count, shape, threads, ours, medians, peers):
    print(f"depth: {count} frames of {scene}, {shape[1]} x {shape[0]}, {threads} threads")
    print(f"  {'ms a frame':<28}{'':>10}  times asterism")
    for stage in ("guided filter", "normals, no filter", "filter + normals"):
        print(f"  {'asterism ' + stage:<28}{ours[stage]:>10.3f}  {1:>6.2f}")
    for name, milliseconds in medians.items():
        stage = peers[name][1]
        print(f"  {name:<28}{milliseconds:>10.3f}  {milliseconds / ours[stage]:>6.2f}  {stage}")
    normals = [ms for name, ms in medians.items() if name.startswith("OpenCV RgbdNormals")]
    if "OpenCV guidedFilter" in medians and normals:
        both = medians["OpenCV guidedFilter"] + min(normals)
        print(f"  {'OpenCV, filter and fastest':<28}{both:>10.3f}  {both / ours['filter + normals']:>6.2f}  "
              "filter + normals")
