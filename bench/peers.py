#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Runs peers on the files of asterism-bench, in the same run as asterism, and prints the ratios.

Clustering is compared with faiss and scikit-learn, which get the same points, the same start and the same number of
threads; repetitions take turns, the best counts. Depth (peers_depth.py) is compared with OpenCV and Open3D. Debian's
packages are what is measured: run it with /usr/bin/python3. What is not there is left out, with a line that says so;
--install fetches it. Nothing is judged: the exit code is 0 whatever the table says.
"""
import argparse
import ctypes.util
import importlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import warnings

import peers_cloud
import peers_depth
import peers_embeddings
import peers_wide

WORKLOADS = {"W1": 70, "W2": 25, "W3": 83}  # degrees
GOAL = 3  # asterism to the optimum of spherical k-means on W3, against faiss to the same objective
PACKAGES = {"numpy": "python3-numpy", "threadpoolctl": "python3-threadpoolctl", "faiss": "python3-faiss",
            "sklearn": "python3-sklearn", **peers_depth.PACKAGES, **peers_cloud.PACKAGES}
NEEDED = ("numpy", "threadpoolctl")
BLAS = "libopenblas0-pthread"  # the peers' matrix products; with Debian's reference BLAS they take ten times as long


def parse():
    here = pathlib.Path(__file__).resolve().parent
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=here.parent / "build" / "release",
                        help="where asterism was built (default: build/release)")
    parser.add_argument("--data", type=pathlib.Path, help="a folder for the workloads, kept (default: a temporary one)")
    parser.add_argument("--workload", default="all",
                        choices=[*WORKLOADS, *peers_embeddings.SETS, "depth", "cloud", "wide", "all"])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--iterations", type=int, help="of a timed k-means (default 10; W6: 25)")
    parser.add_argument("--repetitions", type=int, help="(default 3; W5, W6: 1)")
    parser.add_argument("--rows", type=int, help="W5, W6: only so many points")
    parser.add_argument("--quick", action="store_true", help="a tenth of the points: does it run?")
    parser.add_argument("--install", action="store_true", help="install the Debian packages that are missing")
    parser.add_argument("--output", type=pathlib.Path, help="all numbers as JSON")
    given = parser.parse_args()
    if given.rows and given.workload not in peers_embeddings.SETS:
        parser.error("--rows is for the workloads W5 and W6")
    given.iterations = given.iterations or peers_embeddings.ITERATIONS.get(given.workload, 10)
    given.repetitions = given.repetitions or (1 if given.workload in peers_embeddings.SETS else 3)
    return given


def install(packages):
    """Through apt-get, with sudo where need be. What it cannot install is left out later."""
    root = [] if os.geteuid() == 0 else ["sudo"]
    print(f"peers.py: installing these Debian packages: {' '.join(packages)}", file=sys.stderr)
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (["update", "-qq"], ["install", "-qq", "-y", "--no-install-recommends", *packages]):
        try:
            done = subprocess.run([*root, "apt-get", *command], env=environment, stdout=subprocess.DEVNULL)
        except FileNotFoundError as error:
            print(f"peers.py: {error.filename} is not there: nothing was installed", file=sys.stderr)
            return
        if done.returncode != 0:
            return


def try_import(module):
    try:
        return importlib.import_module(module)
    except ImportError:
        return None


def import_peers(wanted, given):
    """The modules by name, and as globals; threads must be set before they start their own.

    Passive waiting is for the peers' good: OpenMP's threads spin by default after each parallel region and take the
    processors from OpenBLAS's. faiss is 1.5 to 3 times faster with it where there are as many processors as threads.
    """
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ[name] = str(given.threads)
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    if given.install and not ctypes.util.find_library("openblas"):
        install([BLAS])  # before numpy loads another one
    missing = [PACKAGES[module] for module in wanted if not try_import(module)]
    if missing and given.install:
        install(missing)
        importlib.invalidate_caches()
    modules = {module: loaded for module in wanted if (loaded := try_import(module))}
    for module in wanted:
        if module not in modules:
            tell_missing(module)
    globals().update(modules)
    if not any(library["user_api"] == "blas" for library in threadpoolctl.threadpool_info()):
        print(f"the peers use a slow matrix product and look slower than they are: --install fetches Debian's {BLAS}")
    return modules


def tell_missing(module):
    how = f"{sys.executable} has no {module}; --install fetches Debian's {PACKAGES[module]} for /usr/bin/python3"
    if module in NEEDED:
        sys.exit(f"peers.py: {how}")
    print(f"left out: {how}")


def set_threads(modules, threads):
    if "faiss" in modules:
        faiss.omp_set_num_threads(threads)
    if "cv2" in modules:
        cv2.setNumThreads(threads)


def find_program(build, name):
    for path in (build / name, build / "cli" / name, build / "bench" / name):
        if path.is_file():
            return path
    sys.exit(f"peers.py: there is no {name} in {build}: build it first, or say --build")


# ---- One run each: (seconds, iterations) -----------------------------------------------------------------------------

def run_asterism(program, data, name, threads, *options):
    command = [program, "cluster", data / f"{name}.npy", "--threads", str(threads), "--json", *options]
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"peers.py: {done.stderr.strip()}")
    return json.loads(done.stdout)


def asterism_spkm(program, data, name, threads, iterations, *options):
    report = run_asterism(program, data, name, threads, "--method", "spkm", "--init", data / f"{name}_start.npy",
                          "--max-iterations", str(iterations), *options)
    return report["seconds"], report["iterations"]


def make_faiss(points, start, iterations):
    """Spherical k-means over all points: by default faiss would draw 256 a centroid."""
    return faiss.Kmeans(points.shape[1], len(start), niter=iterations, nredo=1, spherical=True, seed=1,
                        min_points_per_centroid=1, max_points_per_centroid=len(points))


def run_faiss(points, start, iterations):
    kmeans = make_faiss(points, start, iterations)
    begin = time.perf_counter()
    kmeans.train(points, init_centroids=start)
    return time.perf_counter() - begin, iterations


def run_sklearn(points, start, iterations):
    from sklearn.cluster import KMeans
    kmeans = KMeans(n_clusters=len(start), init=start, n_init=1, max_iter=iterations, tol=0, algorithm="lloyd")
    begin = time.perf_counter()
    kmeans.fit(points)
    return time.perf_counter() - begin, kmeans.n_iter_


def run_python(package, points, start, iterations, threads):
    """The Python package on the same array: what it adds to the library's own time."""
    from sklearn.exceptions import ConvergenceWarning
    model = package.SphericalKMeans(len(start), init=start, max_iter=iterations, n_threads=threads)
    begin = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # as many iterations as the others, converged or not
        model.fit(points)
    return time.perf_counter() - begin, model.n_iter_


def import_package(build):
    """The package of this source tree, over the library of the build that is measured."""
    os.environ["ASTERISM_LIBRARY"] = str(build / "libasterism.so")
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "python"))
    return importlib.import_module("asterism")


# ---- A workload ------------------------------------------------------------------------------------------------------

def milliseconds_an_iteration(programs, repetitions):
    """The best of the repetitions of each program, which take turns."""
    best = {}
    for _ in range(repetitions):
        for name, run in programs.items():
            seconds, iterations = run()
            best[name] = min(best.get(name, float("inf")), 1e3 * seconds / iterations)
    return best


def clustering_programs(program, data, name, given, modules):
    """Those that there are, each a function that returns its seconds and iterations."""
    points, start = numpy.load(data / f"{name}.npy"), numpy.load(data / f"{name}_start.npy")
    spkm = (program, data, name, given.threads, given.iterations)
    programs = {"asterism spkm": lambda: asterism_spkm(*spkm),
                "asterism spkm --no-bounds": lambda: asterism_spkm(*spkm, "--no-bounds")}
    if "faiss" in modules:
        programs["faiss spherical"] = lambda: run_faiss(points, start, given.iterations)
    if "sklearn" in modules:
        package = import_package(given.build)
        programs["asterism in Python"] = lambda: run_python(package, points, start, given.iterations, given.threads)
        programs["scikit-learn"] = lambda: run_sklearn(points, start, given.iterations)
    return points.shape, len(start), programs


def measure(program, data, name, given, modules):
    (rows, columns), clusters, programs = clustering_programs(program, data, name, given, modules)
    best = milliseconds_an_iteration(programs, given.repetitions)
    best_run = min((run_asterism(program, data, name, given.threads, "--angle", str(WORKLOADS[name]))
                    for _ in range(given.repetitions)), key=lambda report: report["seconds"])
    print(f"{name}: {rows} x {columns}, K = {clusters}, {given.threads} threads")
    print(f"  {'ms an iteration':<28}{'':>10}  times asterism spkm")
    for who, milliseconds in best.items():
        print(f"  {who:<28}{milliseconds:>10.3f}  {milliseconds / best['asterism spkm']:>6.2f}")
    print(f"  asterism dp, whole run: {1e3 * best_run['seconds']:.3f} ms, {best_run['iterations']} passes, "
          f"{best_run['clusters']} clusters")
    return {"workload": name, "points": rows, "dimension": columns, "clusters": clusters,
            "milliseconds_an_iteration": best, "dp_seconds": best_run["seconds"],
            "dp_iterations": best_run["iterations"], "dp_clusters": best_run["clusters"]}


def objective(points, centroids):
    """Sum of |sum of the members|, in double: faiss adds its own up in float, which is not enough to compare."""
    labels = (points @ centroids.T).argmax(axis=1)
    sums = [points[labels == k].sum(axis=0, dtype=numpy.float64) for k in range(len(centroids))]
    return float(sum(numpy.linalg.norm(s) for s in sums))


def faiss_reaches(points, start, iterations, goal):
    kmeans = make_faiss(points, start, iterations)
    kmeans.train(points, init_centroids=start)
    return objective(points, kmeans.centroids) >= goal * (1 - 1e-7)


def iterations_of_faiss(points, start, most, goal):
    """The fewest iterations with which faiss reaches the objective; None if `most` are too few."""
    low, high = 0, most
    if not faiss_reaches(points, start, most, goal):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        if faiss_reaches(points, start, middle, goal):
            high = middle
        else:
            low = middle
    return high


def race(program, data, name, given):
    """Spherical k-means to the end, and faiss from the same start to the same objective."""
    points, start = numpy.load(data / f"{name}.npy"), numpy.load(data / f"{name}_start.npy")
    spkm = ("--method", "spkm", "--init", data / f"{name}_start.npy", "--max-iterations", "1000")
    ours = run_asterism(program, data, name, given.threads, *spkm)
    most = 2 * ours["iterations"] + 10
    needed = iterations_of_faiss(points, start, most, ours["objective"])
    theirs = float("inf")
    for _ in range(given.repetitions):
        again = run_asterism(program, data, name, given.threads, *spkm)
        ours = min(ours, again, key=lambda report: report["seconds"])
        theirs = min(theirs, run_faiss(points, start, needed or most)[0])
    ratio = theirs / ours["seconds"]
    print(f"  spherical k-means to the end: asterism {1e3 * ours['seconds']:.0f} ms, {ours['iterations']} passes, "
          f"objective {ours['objective']:.7g}")
    print(f"  faiss {'to the same objective' if needed else 'never got there'}: {1e3 * theirs:.0f} ms, "
          f"{needed or most} iterations")
    print(f"  goal: at least {GOAL} x faster than faiss; reached {ratio:.2f} x; ratio {ratio / GOAL:.2f}; "
          f"ok? {'yes' if ratio >= GOAL else 'no'}")
    return {"asterism_seconds": ours["seconds"], "asterism_iterations": ours["iterations"],
            "objective": ours["objective"], "faiss_seconds": theirs, "faiss_iterations": needed or most,
            "faiss_reached": needed is not None, "times_faster": ratio}


def write_data(bench, data, name, given):
    command = [str(bench), "--write", str(data), "--workload", name, *(["--quick"] if given.quick else []),
               *(["--rows", str(given.rows)] if given.rows else [])]
    if subprocess.run(command).returncode != 0:
        sys.exit(f"peers.py: the points of {name} could not be made")


def wanted_modules(names):
    clustering, depth, cloud = set(names) - {"depth", "cloud"}, "depth" in names, "cloud" in names
    return [*NEEDED, *(("faiss", "sklearn") if clustering else ()), *(peers_depth.PACKAGES if depth else peers_cloud.PACKAGES if cloud else ())]


def run(names, modules, given, data):
    program, bench = find_program(given.build, "asterism"), find_program(given.build, "asterism-bench")
    results = []
    for name in names:
        if name == "depth":
            results.append(peers_depth.measure(bench, data, modules, given))
            continue
        if name == "cloud":
            results.append(peers_cloud.measure(bench, data, modules, given))
            continue
        if name == "wide":
            results.append(peers_wide.measure(program, data, modules, given, make_faiss, objective))
            continue
        if name in peers_embeddings.SETS:
            results += peers_embeddings.measure(program, bench, data, name, modules, given, write_data, make_faiss)
            continue
        write_data(bench, data, name, given)
        results.append(measure(program, data, name, given, modules))
        if name == "W3" and "faiss" in modules:
            results[-1]["race"] = race(program, data, name, given)
    return results


def main():
    given = parse()
    names = [*WORKLOADS, "depth", "cloud"] if given.workload == "all" else [given.workload]
    modules = import_peers(wanted_modules(names), given)
    set_threads(modules, given.threads)
    versions = ", ".join(f"{name} {module.__version__}" for name, module in modules.items())
    print(f"{versions}; best of {given.repetitions}; load average {os.getloadavg()[0]:.2f} at the start")
    with tempfile.TemporaryDirectory() as temporary, threadpoolctl.threadpool_limits(given.threads):
        data = given.data or pathlib.Path(temporary)
        data.mkdir(parents=True, exist_ok=True)
        results = run(names, modules, given, data)
    if given.output:
        given.output.write_text(json.dumps({"threads": given.threads, "results": results}, indent=2) + "\n")


if __name__ == "__main__":
    main()
