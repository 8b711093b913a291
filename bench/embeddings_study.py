#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How many clusters, and which: embeddings that are neither round nor centred, words, digits, documents, and clouds
without clusters.

    ASTERISM_LIBRARY=build/release/libasterism.so PYTHONPATH=python /usr/bin/python3 bench/embeddings_study.py [SET...]
        [--seeds 1,2,3,4,5] [--methods auto,plain,evidence,local,movmf,kmeans,linkage,umap]

SET is any of cone, zipf, unequal, noise, all, large, iso, digits, bless, ap, cstr, classic3, and of the clouds without
clusters: uniform, vmf, cloud, cone-cloud, t-cloud. Without a SET: all but large. Prints a line for each set, seed and
method: the clusters, whether the result is weak, the adjusted Rand index over the rows that belong to a cluster, and
the seconds. kmeans is scikit-learn's with the true K, linkage is average linkage at its best threshold. umap is UMAP to
5 dimensions (Debian: umap-learn; skipped with a line if it is absent) and HDBSCAN; where there is no hdbscan, DBSCAN at
its best radius takes its place, and the line has the figure of HDBSCAN that the project was given. evidence merges at 75
degrees by evidence, local does that with the learned metric. Sets of words, digits and documents are read from the folder
shared/data beside the project, and skipped where it is absent.
"""
import argparse
import gzip
import importlib.util
import time
from pathlib import Path

import numpy as np
import scipy.io
import scipy.sparse
from scipy.cluster.hierarchy import fcluster, linkage
from sklearn.cluster import DBSCAN, KMeans
from sklearn.metrics import adjusted_rand_score

import asterism

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
DIMENSION = 384


def unit(rows):
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


# ---- Embeddings ----------------------------------------------------------------------------------------------------

def scales(exponent):
    """Standard deviations of the components: a power law, the sum of squares is 1."""
    found = np.arange(1.0, DIMENSION + 1) ** -exponent
    return found / np.sqrt((found ** 2).sum())


def zipf(rows, clusters, exponent, least=3):
    sizes = np.arange(1.0, clusters + 1) ** -exponent
    sizes = np.maximum(np.round(sizes / sizes.sum() * rows).astype(int), least)
    sizes[0] += rows - sizes.sum()
    return sizes


def embeddings(seed, rows, clusters, sizes=None, spread=(1.0, 1.0), cone=0.0, tail=None, noise=0.0, exponent=0.6):
    """Unit vectors and their topics, -1 for noise. Topics share parents, 8 each; `spread`: their standard deviations
    are drawn between both, uniformly in the logarithm; `cone`: length of a common vector; `tail`: degrees of freedom of
    Student's t; `sizes`: exponent of Zipf's law."""
    random = np.random.default_rng(seed)
    scale, turn = scales(exponent), np.linalg.qr(random.standard_normal((DIMENSION, DIMENSION)))[0]

    def draw(count):
        return random.standard_normal((count, DIMENSION)) * scale

    parents = draw(max(clusters // 8, 1))
    centers = 0.6 * parents[random.integers(0, len(parents), clusters)] + 0.8 * draw(clusters)
    apart = int(rows * noise)
    members = rows - apart
    truth = np.sort(np.arange(members) % clusters) if sizes is None else np.repeat(np.arange(clusters),
                                                                                   zipf(members, clusters, sizes))
    sigma = np.exp(random.uniform(*np.log(spread), clusters))
    scatter = draw(members)
    if tail:
        scatter /= np.sqrt(random.chisquare(tail, members) / tail)[:, None]
    points = np.vstack([centers[truth] + sigma[truth, None] * scatter, 1.35 * draw(apart)]) @ turn
    common = unit(random.standard_normal((1, DIMENSION)))
    order = random.permutation(rows)
    return unit(points + cone * common)[order], np.append(truth, np.full(apart, -1))[order]


def cloud(seed, cone=0.0, tail=None, rows=5000):
    """One cloud with a power law of axes: no clusters."""
    random = np.random.default_rng(seed)
    points = random.standard_normal((rows, DIMENSION)) * scales(0.6)
    if tail:
        points /= np.sqrt(random.chisquare(tail, rows) / tail)[:, None]
    return unit(points + cone * unit(random.standard_normal((1, DIMENSION)))), None


def sampled(seed, **how):
    rows, truth = asterism.sample(4000, random_state=seed, **how)
    return np.asarray(rows, float), np.asarray(truth) if how["clusters"] > 1 else None


# ---- Real data -----------------------------------------------------------------------------------------------------

def words(name):
    rows = [line.split("\t") for line in (DATA / "words_labelled" / f"{name}.txt").read_text().splitlines()]
    return unit([np.array(row[2].split(), float) for row in rows]), np.unique([row[1] for row in rows],
                                                                             return_inverse=True)[1]


def digits():
    table = np.loadtxt(gzip.open(DATA / "digits" / "digits.csv.gz"), delimiter=",")
    return unit(table[:, :64]), table[:, 64].astype(int)


def documents(name, weigh):
    counts = scipy.io.mmread(DATA / "documents" / f"{name}.mtx").tocsr().astype(float)
    truth = np.unique(np.loadtxt(DATA / "documents" / f"{name}_labels.txt", dtype=str), return_inverse=True)[1]
    if weigh:
        rarity = np.log(counts.shape[0] / np.maximum(counts.getnnz(axis=0), 1))
        counts = (counts @ scipy.sparse.diags(rarity)).tocsr()
    kept = counts.getnnz(axis=1) > 0
    counts = counts[kept]
    counts.sort_indices()
    return counts, truth[kept]


SETS = {
    "cone": lambda seed: embeddings(seed, 5000, 40, cone=2),
    "zipf": lambda seed: embeddings(seed, 8000, 60, sizes=1.1),
    "unequal": lambda seed: embeddings(seed, 6000, 40, spread=(0.4, 1.6)),
    "noise": lambda seed: embeddings(seed, 6000, 40, spread=(0.9, 0.9), tail=4, noise=0.2),
    "all": lambda seed: embeddings(seed, 8000, 60, sizes=1, spread=(0.5, 1.4), cone=1.5, tail=5, noise=0.2),
    "large": lambda seed: embeddings(seed, 50000, 500, sizes=0.8, exponent=0.5),
    "iso": lambda seed: sampled(seed, dimension=64, clusters=30, kappa=100, separation=40),
    "digits": lambda seed: digits(),
    "bless": lambda seed: words("bless"),
    "ap": lambda seed: words("ap"),
    "cstr": lambda seed: documents("cstr", False),
    "classic3": lambda seed: documents("classic3", True),
    "uniform": lambda seed: sampled(seed, dimension=64, clusters=1, kappa=0),
    "vmf": lambda seed: sampled(seed, dimension=64, clusters=1, kappa=100),
    "cloud": cloud,
    "cone-cloud": lambda seed: cloud(seed, cone=1.5),
    "t-cloud": lambda seed: cloud(seed, cone=1, tail=4),
}
REAL = ("digits", "bless", "ap", "cstr", "classic3")


# ---- Methods -------------------------------------------------------------------------------------------------------

def tuned(rows, truth, **how):
    found = asterism.tune(rows, **how)
    return found.labels, f"{'weak' if found.weak else 'firm'} {found.metric}"


def merged(rows, truth):
    return asterism.DPVMFMeans(75, order="content", merge="evidence").fit(rows).labels_, ""


def merged_local(rows, truth):
    return asterism.DPVMFMeans(75, order="content", merge="evidence", metric="local").fit(rows).labels_, ""


def mixture(rows, truth):
    return asterism.VMFMixture("auto").fit(rows).labels_, ""


def kmeans(rows, truth):
    return KMeans(len(set(truth[truth >= 0])), n_init=10, random_state=1).fit_predict(rows), "true K"


def best_linkage(rows, truth):
    tree = linkage(rows, "average", metric="cosine")
    cuts = [fcluster(tree, height, "distance") for height in np.linspace(0.1, 1, 46)]
    return max(cuts, key=lambda labels: score(labels, truth)), "best threshold"


HDBSCAN_WAS = {"cone": 0.98, "zipf": 0.98, "unequal": 0.86, "noise": 0.89, "all": 0.98, "ap": 0.39, "digits": 0.85}


def umap_clusters(rows, truth):
    """BERTopic's defaults: 15 neighbours, 5 dimensions, clusters of 10 rows or more."""
    from umap import UMAP
    flat = UMAP(n_neighbors=15, n_components=5, min_dist=0.0, metric="cosine", random_state=1).fit_transform(rows)
    try:
        from hdbscan import HDBSCAN
        return HDBSCAN(min_cluster_size=10).fit_predict(flat), "HDBSCAN"
    except ImportError:
        tries = [DBSCAN(radius, min_samples=10).fit_predict(flat) for radius in np.geomspace(0.05, 1, 20)]
        return max(tries, key=lambda labels: score(labels, truth)), "DBSCAN at its best radius"


METHODS = {"auto": tuned, "plain": lambda rows, truth: tuned(rows, truth, metric="plain"), "evidence": merged,
           "local": merged_local, "movmf": mixture, "kmeans": kmeans, "linkage": best_linkage, "umap": umap_clusters}
NEED_TRUTH = ("kmeans", "linkage", "umap")
MOST_PAIRS = 20000 ** 2  # of rows, for a tree of all of them


def score(labels, truth):
    """Over the rows that belong to a cluster."""
    known = truth >= 0
    return adjusted_rand_score(truth[known], labels[known])


def run(name, seed, method):
    rows, truth = SETS[name](seed)
    sparse = scipy.sparse.issparse(rows)
    if truth is None and method in NEED_TRUTH or sparse and method in ("local", "movmf", "linkage", "umap"):
        return
    if method == "linkage" and len(rows) ** 2 > MOST_PAIRS:
        print(f"{name:10} {seed:4} {method:9} skipped: all pairs of {len(rows):,} rows do not fit into memory", flush=True)
        return
    if method == "umap" and not importlib.util.find_spec("umap"):
        print(f"{name:10} {seed:4} {method:9} skipped: Debian's package umap-learn is not installed", flush=True)
        return
    rows = rows.astype(np.float32) if method != "linkage" else rows
    start = time.perf_counter()
    labels, remark = METHODS[method](rows, truth)
    if method == "umap" and name in HDBSCAN_WAS and remark != "HDBSCAN":
        remark += f"; HDBSCAN, as given: {HDBSCAN_WAS[name]:.2f}"
    taken, clusters = time.perf_counter() - start, len(set(labels[labels >= 0]))
    quality = f"{score(labels, truth):6.3f}" if truth is not None else "     -"
    print(f"{name:10} {seed:4} {method:9} {clusters:5} {quality}  {taken:6.1f} s  {remark}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("sets", nargs="*", metavar="SET", help="one of " + ", ".join(SETS))
    parser.add_argument("--seeds", default="1,2,3,4,5")
    parser.add_argument("--methods", default="auto")
    given = parser.parse_args()
    unknown = [name for name in given.sets if name not in SETS] + [m for m in given.methods.split(",") if m not in METHODS]
    if unknown:
        parser.error(f"{unknown[0]} is no set and no method")
    for name in given.sets or [name for name in SETS if name != "large"]:
        if name in REAL and not DATA.exists():
            print(f"{name:10} skipped: there is no folder shared/data beside the project")
            continue
        for seed in [1] if name in REAL else map(int, given.seeds.split(",")):
            for method in given.methods.split(","):
                run(name, seed, method)


if __name__ == "__main__":
    main()
