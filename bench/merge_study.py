#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The study behind --merge evidence, --restarts and tune: prints the tables of docs/merging.md and docs/tune.md.

    ASTERISM_LIBRARY=build/release/libasterism.so PYTHONPATH=python /usr/bin/python3 bench/merge_study.py [TABLE...]

TABLE is any of rules, mixtures, many, restarts, recipe, null and known; all of them without a TABLE, which takes hours.
rules and recipe read labelled data from the folder shared/data beside the project and are skipped where it is absent.
These are prototypes in numpy, slow and short, that the library's C code can be compared with. Orders are random
permutations; for distinct rows these are what content orders with different seeds are.
"""
import gzip
import math
import sys
from pathlib import Path

import numpy as np
import scipy.io
import scipy.sparse
from scipy.special import gammaln, ive
from sklearn.metrics import adjusted_rand_score as ari
from sklearn.metrics import normalized_mutual_info_score

import asterism

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
MOST_KAPPA = 2.0 ** 20
GRID = 2.0 ** (np.arange(-4, 41) / 2)  # kappas of the prior: 1/4 to 2^20, two an octave
WIDTHS = (0, 2, 4)                     # of the prior, in steps of the grid: one kappa, an octave, two octaves
SAMPLE, START, TOP, DRAWS, PASSES = 4000, 5.0, 200, 5, 5
TOLERANCE, MARGIN, PLATEAU = 0.1, 0.05, 1.25


def nmi(a, b):
    return normalized_mutual_info_score(a, b, average_method="geometric")


# ---- Data ----------------------------------------------------------------------------------------------------------

def unit(rows):
    rows = np.asarray(rows, float)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def words(name):
    lines = (DATA / "words_labelled" / f"{name}.txt").read_text().splitlines()
    rows = [line.split("\t") for line in lines]
    return unit([np.array(r[2].split(), float) for r in rows]), np.unique([r[1] for r in rows], return_inverse=True)[1]


def digits():
    table = np.loadtxt(gzip.open(DATA / "digits" / "digits.csv.gz"), delimiter=",")
    return unit(table[:, :64]), table[:, 64].astype(int)


def documents(name):
    counts = scipy.io.mmread(DATA / "documents" / f"{name}.mtx").tocsr().astype(float)
    truth = np.unique(np.loadtxt(DATA / "documents" / f"{name}_labels.txt", dtype=str), return_inverse=True)[1]
    rows = counts.toarray()
    keep = (rows ** 2).sum(1) > 0
    return unit(rows[keep]), truth[keep]


def draw(rng, mean, kappa, count):
    """`count` points of one vMF distribution (Wood's rejection sampler); kappa 0 is uniform."""
    dimension = len(mean)
    if kappa == 0:
        return unit(rng.standard_normal((count, dimension)))
    b = (dimension - 1) / (2 * kappa + math.sqrt(4 * kappa ** 2 + (dimension - 1) ** 2))
    x0 = (1 - b) / (1 + b)
    c = kappa * x0 + (dimension - 1) * math.log(1 - x0 ** 2)
    along = np.empty(0)
    while len(along) < count:
        z, u = rng.beta((dimension - 1) / 2, (dimension - 1) / 2, count), rng.random(count)
        w = (1 - (1 + b) * z) / (1 - (1 - b) * z)
        along = np.concatenate([along, w[kappa * w + (dimension - 1) * np.log(1 - x0 * w) - c >= np.log(u)]])
    along = along[:count, None]
    across = rng.standard_normal((count, dimension))
    across = unit(across - np.outer(across @ mean, mean))
    return along * mean + np.sqrt(np.maximum(0, 1 - along ** 2)) * across


def five(dimension, kappas, seed, sizes=(3000, 1500, 700, 300, 100)):
    """Five vMF clusters of unequal size and kappa, means at least 60 degrees apart, and their labels."""
    rng, means = np.random.default_rng(seed), []
    while len(means) < 5:
        mean = unit(rng.standard_normal((1, dimension)))[0]
        if all(mean @ other <= 0.5 for other in means):
            means.append(mean)
    rows = np.concatenate([draw(rng, mean, kappa, count) for mean, kappa, count in zip(means, kappas, sizes)])
    return rows, np.repeat(np.arange(5), sizes)


def sampled(points, **how):
    rows, truth = asterism.sample(points, **how)
    return np.asarray(rows, float), np.asarray(truth)


# ---- Partitions ----------------------------------------------------------------------------------------------------

def dp(rows, angle, seed):
    order = np.random.default_rng(1000 + seed).permutation(len(rows))
    labels = np.empty(len(rows), int)
    labels[order] = asterism.DPVMFMeans(angle=angle).fit(np.ascontiguousarray(rows[order], np.float32)).labels_
    return labels


def compact(labels):
    return np.unique(labels, return_inverse=True)[1]


def sums(rows, labels):
    count = labels.max() + 1
    member = scipy.sparse.csr_matrix((np.ones(len(rows)), (labels, np.arange(len(rows)))), (count, len(rows)))
    return np.asarray(member @ rows), np.bincount(labels, minlength=count)


def distinct(rows, labels):
    """Sums and counts that take every distinct row once: a copy is no further evidence."""
    first = np.unique(rows.astype(np.float32), axis=0, return_index=True)[1]
    count = labels.max() + 1
    member = scipy.sparse.csr_matrix((np.ones(len(first)), (labels[first], np.arange(len(first)))), (count, len(first)))
    return np.asarray(member @ rows[first]), np.maximum(np.bincount(labels[first], minlength=count), 1)


def nearest_passes(rows, labels, most=100):
    """Passes without births: every point goes to its nearest mean, until nothing changes."""
    labels = compact(labels)
    for _ in range(most):
        new = np.argmax(rows @ unit(sums(rows, labels)[0]).T, 1)
        if (new == labels).all():
            break
        labels = compact(new)
    return labels


def silhouette(rows, labels):
    """Cosine silhouette, exact in O(N K); a point alone counts 0."""
    total, size = sums(rows, labels)
    if len(size) < 2:
        return np.nan
    scores, every = rows @ total.T, np.arange(len(rows))
    own = size[labels]
    inside = 1 - (scores[every, labels] - 1) / np.maximum(own - 1, 1)
    other = 1 - scores / size
    other[every, labels] = np.inf
    other = other.min(1)
    return float(np.where(own > 1, (other - inside) / np.maximum(np.maximum(inside, other), 1e-300), 0).mean())


# ---- von Mises-Fisher ----------------------------------------------------------------------------------------------

def log_bessel(order, x):
    """ln I_order(x): asymptotic for large x, uniform in the order from order 8, scipy's otherwise."""
    x = np.maximum(np.asarray(x, float), 1e-9)
    if order < 8:
        near = np.minimum(x, 1e5)
        far = x - 0.5 * np.log(2 * np.pi * x) + np.log1p(-(4 * order ** 2 - 1) / (8 * np.maximum(x, 1e5)))
        return np.where(x > 1e5, far, np.log(np.maximum(ive(order, near), 1e-300)) + near)
    z = x / order
    root = np.sqrt(1 + z * z)
    t = 1 / root
    u1, u2 = (3 * t - 5 * t ** 3) / 24, (81 * t ** 2 - 462 * t ** 4 + 385 * t ** 6) / 1152
    return (order * (root + np.log(z / (1 + root))) - 0.5 * np.log(2 * np.pi * order * root)
            + np.log1p(u1 / order + u2 / order ** 2))


def log_constant(dimension, kappa):
    """L(kappa) = ln C_D(kappa) - ln C_D(0)."""
    kappa, order = np.maximum(np.asarray(kappa, float), 1e-9), dimension / 2 - 1
    return order * np.log(kappa / 2) - gammaln(order + 1) - log_bessel(order, kappa)


def mean_length(dimension, kappa):
    """A_D(kappa) by its continued fraction, 60 steps from Amos's bound."""
    kappa, half = np.maximum(np.asarray(kappa, float), 1e-300), dimension / 2
    ratio = kappa / (half + 59.5 + np.sqrt((half + 60.5) ** 2 + kappa ** 2))
    for j in range(59, -1, -1):
        ratio = kappa / (2 * (half + j) + kappa * ratio)
    return ratio


def kappa_of(dimension, length):
    """A_D^-1 by bisection in the logarithm, at most MOST_KAPPA."""
    low, high = math.log(1e-6), math.log(MOST_KAPPA)
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if mean_length(dimension, math.exp(middle)) < length else (low, middle)
    return math.exp(low)


# ---- The tree and its evidence -------------------------------------------------------------------------------------

def tree(total):
    """Joins (a, b) in order, b into a: always the pair that loses least of the sum of lengths."""
    gram = total @ total.T
    count, none = len(gram), 1e300
    length = np.sqrt(np.diag(gram))
    loss = length[:, None] + length - np.sqrt(np.maximum(0, length[:, None] ** 2 + length ** 2 + 2 * gram))
    np.fill_diagonal(loss, none)
    near = loss.argmin(1)
    least = loss[np.arange(count), near]
    alive, joins = np.ones(count, bool), []
    for _ in range(count - 1):
        a = int(least.argmin())
        a, b = sorted((a, int(near[a])))
        joins.append((a, b))
        alive[b] = False
        gram[a] += gram[b]
        gram[:, a] += gram[:, b]
        length[a] = math.sqrt(max(0, gram[a, a]))
        row = length[a] + length - np.sqrt(np.maximum(0, length[a] ** 2 + length ** 2 + 2 * gram[a]))
        row[~alive] = row[a] = none
        loss[a] = loss[:, a] = row
        loss[b] = loss[:, b] = none
        least[b] = none
        lost = alive & ((near == a) | (near == b))
        lost[a] = True
        better = alive & (row < least)
        near[better], least[better] = a, row[better]
        for i in np.flatnonzero(lost):
            near[i] = loss[i].argmin()
            least[i] = loss[i, near[i]]
    return joins


def cut(joins, leaves, level):
    into = np.arange(leaves)
    for a, b in joins[:leaves - level]:
        into[into == b] = a
    return compact(into)


def priors(widths):
    """ln p(kappa_j | centre c, width s): rows (s, c), columns j; normal in the grid's steps, width 0 is one kappa."""
    steps = np.arange(len(GRID))
    rows = []
    for width in widths:
        p = -0.5 * ((steps - steps[:, None]) / width) ** 2 if width else np.where(steps == steps[:, None], 0.0, -1e9)
        rows.append(p - np.log(np.exp(p).sum(1, keepdims=True)))
    return np.concatenate(rows)


def marginals(dimension, size, length, prior):
    """(clusters, priors): ln of the likelihood of each cluster, its mean and kappa integrated out."""
    out = np.empty((len(size), len(prior)))
    constants = log_constant(dimension, GRID)
    for i in range(0, len(size), 200):
        part = slice(i, i + 200)
        given = size[part, None] * constants - log_constant(dimension, length[part, None] * GRID)
        both = given[:, None] + prior
        top = both.max(2)
        out[part] = np.log(np.exp(both - top[:, :, None]).sum(2)) + top
    return out


def evidence(total, size, joins, widths=WIDTHS):
    """ln evidence of every level, from all leaves to one cluster."""
    total, size, points, dimension = total.copy(), size.astype(float), size.sum(), total.shape[1]
    prior, length = priors(widths), np.linalg.norm(total, axis=1)
    each = marginals(dimension, size, length, prior)
    fit, shares, levels = each.sum(0), (size * np.log(size / points)).sum(), []
    levels.append(fit.max() + shares)
    for a, b in joins:
        fit = fit - each[a] - each[b]
        shares -= size[a] * math.log(size[a] / points) + size[b] * math.log(size[b] / points)
        total[a] += total[b]
        size[a] += size[b]
        length[a] = np.linalg.norm(total[a])
        each[a] = marginals(dimension, size[a:a + 1], length[a:a + 1], prior)[0]
        fit = fit + each[a]
        shares += size[a] * math.log(size[a] / points)
        levels.append(fit.max() + shares)
    return np.array(levels)


def bic(total, size, joins, weight=1.0):
    """-BIC / 2 of every level with one shared kappa; weight 1 is K D ln N."""
    total, size, points, dimension = total.copy(), size.astype(float), size.sum(), total.shape[1]
    length, levels = np.linalg.norm(total, axis=1), []
    shares, lengths = (size * np.log(size / points)).sum(), length.sum()
    for step in range(len(size)):
        count = len(size) - step
        kappa = kappa_of(dimension, min(lengths / points, 1 - 1e-9))
        levels.append(points * log_constant(dimension, kappa) + kappa * lengths + shares
                      - 0.5 * weight * count * dimension * math.log(points))
        if count > 1:
            a, b = joins[step]
            lengths -= length[a] + length[b]
            shares -= size[a] * math.log(size[a] / points) + size[b] * math.log(size[b] / points)
            total[a] += total[b]
            size[a] += size[b]
            length[a] = np.linalg.norm(total[a])
            lengths += length[a]
            shares += size[a] * math.log(size[a] / points)
    return np.array(levels)


def partition_evidence(rows, labels):
    return evidence(*distinct(rows, labels), [])[0]


def guarded_passes(rows, labels, own=True, most=50):
    """Passes without births while the evidence rises; `own`: scores weighed by each cluster's kappa and share."""
    labels = compact(labels)
    best, dimension, points = partition_evidence(rows, labels), rows.shape[1], len(rows)
    for _ in range(most):
        total, size = sums(rows, labels)
        length = np.linalg.norm(total, axis=1)
        scores = rows @ unit(total).T
        if own:  # each kappa shrunk to the shared one by D points
            shrunk = (length + dimension * length.sum() / points) / (size + dimension)
            kappas = np.array([kappa_of(dimension, min(r, 1 - 1e-9)) for r in shrunk])
            scores = kappas * scores + log_constant(dimension, kappas) + np.log(size / points)
        new = compact(np.argmax(scores, 1))
        if (new == labels).all():
            break
        value = partition_evidence(rows, new)
        if value <= best:
            break
        labels, best = new, value
    return labels


def merge_evidence(rows, labels, own=True):
    total, size = sums(rows, labels)
    joins = tree(total)
    level = len(size) - int(evidence(*distinct(rows, labels), joins).argmax())
    return guarded_passes(rows, cut(joins, len(size), level)[labels], own), level


# ---- tune ----------------------------------------------------------------------------------------------------------

def grid_levels(top):
    fine = set(range(2, 21)) | {round(20 * 1.12 ** i) for i in range(40)} | {top}
    return sorted(k for k in fine if 2 <= k <= top)


def level_silhouettes(rows, labels, joins, levels):
    leaves = labels.max() + 1
    return {k: silhouette(rows, nearest_passes(rows, cut(joins, leaves, k)[labels], PASSES))
            for k in levels if k <= leaves}


def null_rows(rows, seed):
    total = rows.sum(0)
    length = np.linalg.norm(total)
    kappa = kappa_of(rows.shape[1], length / len(rows))
    return draw(np.random.default_rng(50000 + seed), total / length, kappa, len(rows))


def plateau(runs, level, least):
    """The widest run of neighbouring angles with this K, silhouettes at least `least`: (from, to), or None."""
    best, start = None, None
    for angle, count, value in runs + [(0, 0, 0)]:
        if count == level and value >= least:
            start = (start or (angle, angle))[0], angle
        else:
            if start and start[0] / start[1] >= PLATEAU and (not best or start[0] / start[1] > best[0] / best[1]):
                best = start
            start = None
    return best


def tune(rows, seed, draws=DRAWS, sample=SAMPLE, sweep=True):
    rows = rows if len(rows) <= sample else rows[np.random.default_rng(seed).choice(len(rows), sample, False)]
    labels = dp(rows, START, seed)
    total, size = sums(rows, labels)
    joins = tree(total)
    values = evidence(*distinct(rows, labels), joins)
    most = len(size) - int(values.argmax())
    out = dict(rows=rows, labels=labels, joins=joins, most=most, weak=True, level=1, excess=0.0, angles=None,
               evidence=float(values.max() - values[-1]))
    if most < 2:
        return out
    levels = grid_levels(min(most, TOP))
    found = level_silhouettes(rows, labels, joins, levels)
    null = []
    for b in range(draws):
        other = null_rows(rows, 100 * seed + b)
        its = dp(other, START, b)
        null.append(level_silhouettes(other, its, tree(sums(other, its)[0]), levels))
    excess = {k: found[k] - max(n.get(k, -1) for n in null) for k in levels}
    high, low = max(excess.values()), min(excess.values())
    peaks = [k for i, k in enumerate(levels) if excess[k] >= high - TOLERANCE * (high - low)
             and (i == 0 or excess[k] > excess[levels[i - 1]])
             and (i + 1 == len(levels) or excess[k] >= excess[levels[i + 1]])]
    runs = []
    for angle in np.arange(120, 4.9, -2.5) if sweep else ():
        plain = dp(rows, angle, seed)
        if plain.max() + 1 > 2 * max(peaks):
            break
        runs.append((angle, plain.max() + 1, silhouette(rows, plain)))
    allow = TOLERANCE * (max(found.values()) - min(found.values()))
    ranges = {k: plateau(runs, k, found[k] - allow) for k in peaks}
    wide = [k for k in peaks if ranges[k]]
    level = max(wide, key=lambda k: ranges[k][0] / ranges[k][1]) if wide else max(peaks)
    out.update(level=level, angles=ranges[level], excess=excess[level], silhouette=found[level], peaks=peaks,
               weak=excess[level] < MARGIN, table=[(k, found[k], excess[k]) for k in levels])
    return out


# ---- Tables --------------------------------------------------------------------------------------------------------

def agreement(runs):
    return np.mean([ari(runs[i], runs[j]) for i in range(len(runs)) for j in range(i)])


MIXTURES = (("D 50", 50, (60, 100, 200, 400, 800)), ("D 10", 10, (20, 50, 100, 200, 400)),
            ("D 3", 3, (20, 50, 100, 200, 400)))


def table_rules(seeds=3):
    print("| data | angle | K plain | rule | K | ARI cut | ARI nearest passes | ARI guarded passes | agreement |")
    for name, get, angles in (("bless", lambda: words("bless"), (5, 50, 60, 70)),
                              ("ap", lambda: words("ap"), (5, 50, 60, 70)),
                              ("digits", digits, (25, 35, 45)), ("cstr", lambda: documents("cstr"), (60, 75))):
        rows, truth = get()
        for angle in angles:
            res = {}
            for seed in range(seeds):
                labels = dp(rows, angle, seed)
                total, size = sums(rows, labels)
                joins, leaves = tree(total), len(size)
                for rule, values in (("BIC", bic(total, size, joins)), ("BIC/2", bic(total, size, joins, 0.5)),
                                     ("evidence, one kappa", evidence(total, size, joins, (0,))),
                                     ("evidence", evidence(total, size, joins))):
                    k = leaves - int(values.argmax())
                    part = cut(joins, leaves, k)[labels]
                    own = guarded_passes(rows, part)
                    res.setdefault(rule, []).append((leaves, k, ari(truth, part), ari(truth, nearest_passes(rows, part)),
                                                     ari(truth, own), own))
            for rule, r in res.items():
                m = np.mean([q[:5] for q in r], 0)
                print(f"| {name} | {angle} | {m[0]:.0f} | {rule} | {m[1]:.1f} | {m[2]:.3f} | {m[3]:.3f} | {m[4]:.3f} | "
                      f"{agreement([q[5] for q in r]):.3f} |", flush=True)


def table_mixtures():
    print("| mixture | angle | seeds | K plain | K BIC | K one kappa | K evidence | ARI BIC, nearest | ARI evidence: cut "
          "| nearest | guarded nearest | guarded own kappa, mean (least) |")
    for name, dimension, kappas in MIXTURES:
        for angle in (30, 40, 50, 60):
            seeds, res = 10 if dimension < 50 or angle > 45 else 2, []
            for seed in range(seeds):
                rows, truth = five(dimension, kappas, seed)
                labels = dp(rows, angle, seed)
                total, size = sums(rows, labels)
                joins, leaves = tree(total), len(size)
                kb, ks, ke = (leaves - int(v.argmax()) for v in (bic(total, size, joins), evidence(total, size, joins, (0,)),
                                                                  evidence(total, size, joins)))
                part = cut(joins, leaves, ke)[labels]
                res.append((leaves, kb, ks, ke, ari(truth, nearest_passes(rows, cut(joins, leaves, kb)[labels])),
                            ari(truth, part), ari(truth, nearest_passes(rows, part)),
                            ari(truth, guarded_passes(rows, part, False)), ari(truth, guarded_passes(rows, part))))
            m, least = np.mean(res, 0), np.min(res, 0)
            print(f"| {name} | {angle} | {seeds} | " + " | ".join(f"{v:.1f}" for v in m[:4]) + " | "
                  + " | ".join(f"{v:.3f} ({w:.3f})" for v, w in zip(m[4:], least[4:])) + " |", flush=True)


def table_many():
    print("| clusters | angle | K plain | NMI plain | K evidence | NMI |")
    for seed in (1, 2, 3):
        rows, truth = sampled(20000, dimension=256, clusters=500, kappa=400, random_state=seed)
        for angle in (60, 65, 70):
            labels = dp(rows, angle, 0)
            total, size = sums(rows, labels)
            joins = tree(total)
            k = len(size) - int(evidence(total, size, joins).argmax())
            part = cut(joins, len(size), k)[labels]
            print(f"| 500 | {angle} | {len(size)} | {nmi(truth, labels):.4f} | {k} | {nmi(truth, part):.5f} |", flush=True)


def table_recipe():
    print("| data | orders | K | ARI mean (least) | agreement | weak |")
    for name, get, orders in (("bless", lambda: words("bless"), 20), ("ap", lambda: words("ap"), 20),
                              ("digits", digits, 3)):
        rows, truth = get()
        runs, res = [], []
        for seed in range(orders):
            t = tune(rows, seed)
            labels = t["labels"]
            runs.append(dp(rows, np.mean(t["angles"]), seed) if t["angles"] else
                        guarded_passes(rows, cut(t["joins"], labels.max() + 1, t["level"])[labels]))
            res.append((t["level"], ari(truth, runs[-1]), t["weak"]))
        m = np.array(res, float)
        print(f"| {name} | {orders} | {sorted(set(m[:, 0].astype(int)))} | {m[:, 1].mean():.3f} ({m[:, 1].min():.3f}) | "
              f"{agreement(runs):.3f} | {int(m[:, 2].sum())} |", flush=True)


def table_null(seeds=10):
    print("| data | seeds | weak | largest K of evidence |")
    pole = np.eye(64)[0]
    for name, count, dimension, kappa in (("uniform", 1000, 3, 0), ("uniform", 10000, 3, 0), ("kappa 10", 1000, 3, 10),
                                          ("uniform", 2000, 64, 0), ("kappa 100", 2000, 64, 100)):
        res = []
        for seed in range(seeds):
            t = tune(draw(np.random.default_rng(seed), pole[:dimension], kappa, count), seed)
            res.append((t["weak"], t["most"]))
        print(f"| {name}, {count} x {dimension} | {seeds} | {sum(r[0] for r in res)} | {max(r[1] for r in res)} |", flush=True)


def table_known():
    print("| data | K | angles | silhouette | excess | weak |")
    rows = sampled(300000, dimension=3, clusters=30, kappa=400, separation=30, random_state=7)[0]
    for seed in range(3):
        t = tune(rows, seed, sample=2000)
        print(f"| 30 clusters | {t['level']} | {t['angles']} | {t.get('silhouette', np.nan):.3f} | {t['excess']:.3f} | "
              f"{t['weak']} |", flush=True)


def table_restarts(orders=20):
    print("| data | angle | NMI of the mean run | best J | best silhouette | best evidence | best mean ARI to the others |")
    sets = [(f"30 clusters, kappa {kappa}, D {d}, seed {s}", d, sampled(3000, dimension=d, clusters=30, kappa=kappa,
            separation=sep, random_state=s)) for d, kappa, sep in ((3, 180, 25), (3, 400, 30)) for s in (1, 2)]
    for name, dimension, (rows, truth) in sets:
        for angle in (22, 26, 30):
            res = []
            runs = [dp(rows, angle, seed) for seed in range(orders)]
            for z in runs:
                total, size = sums(rows, z)
                objective = np.linalg.norm(total, axis=1).sum() + (math.cos(math.radians(angle)) - 1) * len(size)
                res.append((nmi(truth, z), objective, silhouette(rows, z), partition_evidence(rows, z),
                            np.mean([ari(z, o) for o in runs if o is not z])))
            r = np.array(res)
            kept = " | ".join(f"{r[r[:, i].argmax(), 0]:.4f}" for i in (1, 2, 3, 4))
            print(f"| {name} | {angle} | {r[:, 0].mean():.4f} | {kept} |", flush=True)


TABLES = {"rules": table_rules, "mixtures": table_mixtures, "many": table_many, "restarts": table_restarts,
          "recipe": table_recipe, "null": table_null, "known": table_known}
FROM_FILES = ("rules", "recipe")


def main(names):
    unknown = [name for name in names if name not in TABLES]
    if unknown:
        sys.exit(f"merge_study.py: there is no table {unknown[0]!r}; it must be one of {', '.join(TABLES)}")
    for name in names or TABLES:
        if name in FROM_FILES and not DATA.is_dir():
            print(f"{name} is skipped: there is no folder {DATA}", file=sys.stderr)
            continue
        print(f"\n{name}")
        TABLES[name]()


if __name__ == "__main__":
    main(sys.argv[1:])
