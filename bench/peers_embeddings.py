# SPDX-License-Identifier: MIT
"""Spherical k-means with thousands of clusters in many dimensions: W5 (768 dimensions) and W6 (100, like word vectors).

Everybody gets the same file, the same points to start from, all points, the same number of iterations and of threads;
repetitions take turns and the best counts. The objective of each is computed here, the same way for all: the sum over
the points of the cosine to the nearest of the final means. Processor time, of all threads together, says more than
seconds on a machine that others use; that of asterism is of the whole command, which reads the file.
"""
import itertools
import json
import resource
import subprocess
import sys
import time

SETS = {"W5": ("W5-common", "W5-centred"), "W6": ("W6",)}
ITERATIONS = {"W6": 25}  # the others have 10
GOALS = {("W5-common", 1000): 5, ("W5-common", 4000): 8, ("W5-centred", 1000): 5, ("W5-centred", 4000): 8,
         ("W6", 1000): 4}  # times faster than faiss
ROWS = {"W5-common": 200000, "W5-centred": 200000, "W6": 341479}
BLOCK = 8192  # rows whose scores are in memory at once


def run_asterism(numpy, program, data, path, start, given, *options):
    """Its own report of the seconds, as everywhere: without reading."""
    means = data / "means.npy"
    command = [program, "cluster", path, "--method", "spkm", "--init", start, "--max-iterations", given.iterations,
               "--threads", given.threads, "--means", means, "--json", *options]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        sys.exit(f"peers.py: {done.stderr.strip()}")
    report = json.loads(done.stdout)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return report["seconds"], used, report["iterations"], numpy.load(means)


def timed(run):
    """(seconds, processor seconds)"""
    begin, used = time.perf_counter(), time.process_time()
    run()
    return time.perf_counter() - begin, time.process_time() - used


def run_faiss(make_faiss, points, start, given):
    kmeans = make_faiss(points, start, given.iterations)
    return *timed(lambda: kmeans.train(points, init_centroids=start)), given.iterations, kmeans.centroids


def run_sklearn(points, start, given):
    """Lloyd in Euclidean distance: it ignores the sphere, so that its means differ."""
    from sklearn.cluster import KMeans
    kmeans = KMeans(n_clusters=len(start), init=start, n_init=1, max_iter=given.iterations, tol=0, algorithm="lloyd")
    return *timed(lambda: kmeans.fit(points)), kmeans.n_iter_, kmeans.cluster_centers_


def objective(numpy, points, means):
    means = (means / numpy.linalg.norm(means, axis=1, keepdims=True)).astype("f4").T
    return float(sum((points[first:first + BLOCK] @ means).max(axis=1).sum(dtype="f8")
                     for first in range(0, len(points), BLOCK)))


def programs_of(numpy, program, data, path, start_path, points, start, modules, given, make_faiss):
    ours = (numpy, program, data, path, start_path, given)
    programs = {"asterism": lambda: run_asterism(*ours),
                "asterism --no-bounds": lambda: run_asterism(*ours, "--no-bounds")}
    if "faiss" in modules:
        programs["faiss"] = lambda: run_faiss(make_faiss, points, start, given)
    if "sklearn" in modules:
        programs["scikit-learn"] = lambda: run_sklearn(points, start, given)
    return programs


def measure_clusters(numpy, name, path, start_path, points, program, data, modules, given, make_faiss):
    start = numpy.load(start_path)
    programs = programs_of(numpy, program, data, path, start_path, points, start, modules, given, make_faiss)
    best = {}
    print(f"{name}: {len(points)} x {points.shape[1]}, K = {len(start)}, {given.iterations} iterations, "
          f"{given.threads} threads", flush=True)
    for _, (who, run) in itertools.product(range(given.repetitions), programs.items()):
        seconds, processor, iterations, means = run()
        if who not in best or seconds < best[who]["seconds"]:
            best[who] = {"seconds": seconds, "processor_seconds": processor, "iterations": int(iterations)}
            best[who]["objective"] = objective(numpy, points, means)
    show(name, len(points), len(start), best, given)
    return {"workload": name, "points": len(points), "clusters": len(start), "programs": best}


def show(name, rows, clusters, best, given):
    ours = best["asterism"]
    print(f"  {'':<22}{'seconds':>9}{'an iteration':>14}{'times asterism':>16}{'processor':>11}{'times':>7}"
          f"{'objective':>15}{'to asterism':>13}")
    for who, run in best.items():
        print(f"  {who:<22}{run['seconds']:>9.2f}{run['seconds'] / run['iterations']:>14.3f}"
              f"{run['seconds'] / ours['seconds']:>16.2f}{run['processor_seconds']:>11.2f}"
              f"{run['processor_seconds'] / ours['processor_seconds']:>7.2f}{run['objective']:>15.3f}"
              f"{run['objective'] / ours['objective'] - 1:>+13.1e}", flush=True)
    goal = GOALS.get((name, clusters))
    if "faiss" in best and goal and rows == ROWS[name] and given.threads == 2:
        reached, used = (best["faiss"][kind] / ours[kind] for kind in ("seconds", "processor_seconds"))
        print(f"  goal: at least {goal} x faster than faiss; reached {reached:.2f} x ({used:.2f} x in processor time); "
              f"ok? {'yes' if reached >= goal else 'no'}", flush=True)


def measure(program, bench, data, workload, modules, given, write_data, make_faiss):
    numpy, results = modules["numpy"], []
    for name in SETS[workload]:
        write_data(bench, data, name, given)
        path = data / f"{name}.npy"
        points = numpy.load(path)
        starts = sorted(data.glob(f"{name}_start_*.npy"), key=lambda start: int(start.stem.rsplit("_", 1)[1]))
        results += [measure_clusters(numpy, name, path, start, points, program, data, modules, given, make_faiss)
                    for start in starts]
        if not given.data:
            path.unlink()
    return results
