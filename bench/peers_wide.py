# SPDX-License-Identifier: MIT
"""Spherical k-means of a million embeddings: 1,000,000 x 256, 1,000 directions, cosine to the own mean about 0.6.

Everybody starts from the same 1,000 points and takes all points. asterism runs 25 iterations, faiss's default, or fewer
if it has converged. An iteration of the others costs the same every time, so that a few of them tell what as many take
(--iterations). All of them move the means in the same way: one more pass of asterism than faiss had iterations gives
the labels of faiss's centroids, and the objective of both, added up in double, shows that they compute the same.
Wall-clock time is what counts on a free machine; processor time is shown beside it, because it says more on a shared
one. asterism runs before and after the others; the mean of the two counts.
"""
import json
import resource
import subprocess
import sys
import time

GOALS = {"faiss": 3, "scikit-learn": 5}
DIMENSION, CLUSTERS, KAPPA = 256, 1000, 239.7  # A_256(239.7) = 0.6
ITERATIONS = 25


def write_points(numpy, program, data, given):
    """The points and the start, as files."""
    points, start = data / "wide.npy", data / "wide_start.npy"
    count = 100000 if given.quick else 1000000
    command = [program, "sample", "--points", count, "--dimension", DIMENSION, "--clusters", CLUSTERS, "--kappa", KAPPA,
               "--seed", 1, "--output", points, "--labels", data / "wide_truth.npy"]
    if not points.exists() and subprocess.run([str(part) for part in command]).returncode != 0:
        sys.exit("peers.py: the points could not be made")
    loaded = numpy.load(points)
    numpy.save(start, loaded[::len(loaded) // CLUSTERS][:CLUSTERS])
    return points, start, loaded


def timed(run):
    """(seconds, processor seconds, what run returns)"""
    begin, used = time.perf_counter(), time.process_time()
    result = run()
    return time.perf_counter() - begin, time.process_time() - used, result


def run_asterism(program, points, start, iterations, threads):
    """Its own report of the seconds, as everywhere: without reading. Processor time is that of the whole command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [program, "cluster", points, "--method", "spkm", "--init", start, "--max-iterations", iterations,
               "--threads", threads, "--json"]
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"peers.py: {done.stderr.strip()}")
    after, report = resource.getrusage(resource.RUSAGE_CHILDREN), json.loads(done.stdout)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"seconds": report["seconds"], "processor": used, "iterations": report["iterations"],
            "objective": report["objective"]}


def run_faiss(make, objective, points, start, iterations):
    kmeans = make(points, start, iterations)
    seconds, used, _ = timed(lambda: kmeans.train(points, init_centroids=start))
    return {"seconds": seconds, "processor": used, "iterations": iterations,
            "objective": objective(points, kmeans.centroids)}


def run_sklearn(points, start, iterations):
    """Lloyd in Euclidean distance: it has another objective, so only its time an iteration is compared."""
    from sklearn.cluster import KMeans
    kmeans = KMeans(n_clusters=len(start), init=start, n_init=1, max_iter=iterations, tol=0, algorithm="lloyd")
    seconds, used, _ = timed(lambda: kmeans.fit(points))
    return {"seconds": seconds, "processor": used, "iterations": kmeans.n_iter_}


def show(who, result):
    each = result["iterations"]
    print(f"  {who:<13}{each:>3} iterations {result['seconds']:>7.1f} s, of processors {result['processor']:>7.1f} s; one "
          f"{result['seconds'] / each:>6.2f} s, of processors {result['processor'] / each:>6.2f} s"
          + (f"; objective {result['objective']:.8g}" if "objective" in result else ""), flush=True)
    return result


def measure(program, data, modules, given, make_faiss, objective):
    path, start_path, points = write_points(modules["numpy"], program, data, given)
    start, few = modules["numpy"].load(start_path), given.iterations
    print(f"wide: {len(points)} x {DIMENSION}, K = {CLUSTERS}, {given.threads} threads, {ITERATIONS} iterations")
    ours = [show("asterism", run_asterism(program, path, start_path, ITERATIONS, given.threads))]
    theirs = {}
    if "faiss" in modules:
        theirs["faiss"] = show("faiss", run_faiss(make_faiss, objective, points, start, few))
        show("asterism", run_asterism(program, path, start_path, few + 1, given.threads))
    if "sklearn" in modules:
        theirs["scikit-learn"] = show("scikit-learn", run_sklearn(points, start, few))
    ours.append(show("asterism", run_asterism(program, path, start_path, ITERATIONS, given.threads)))
    results = {who: compare(who, result, ours) for who, result in theirs.items()}
    return {"workload": "wide", "points": len(points), "asterism": ours, **results}


def compare(who, theirs, ours):
    scale = ours[0]["iterations"] / theirs["iterations"]
    ratio = {kind: scale * theirs[kind] * len(ours) / sum(run[kind] for run in ours) for kind in ("seconds", "processor")}
    reached = ratio["seconds"]
    print(f"  goal: at least {GOALS[who]} x faster than {who}; reached {reached:.2f} x ({ratio['processor']:.2f} x in "
          f"processor time); ratio {reached / GOALS[who]:.2f}; ok? {'yes' if reached >= GOALS[who] else 'no'}")
    return {**theirs, "times_faster": reached, "times_less_processor_time": ratio["processor"]}
