# SPDX-License-Identifier: MIT
"""Measures of ids against truth, and the baselines, for the studies of identities."""
import collections

import numpy as np


def unit(x):
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


def joined(labels, into):
    """The ids that were joined become the one that stays."""
    def last(label):
        while label in into:
            label = into[label]
        return label
    return np.array([last(label) for label in labels])


def alone(labels):
    """Rows without id, each as a cluster of its own."""
    labels = np.array(labels, dtype=np.int64)
    without = labels < 0
    labels[without] = labels.max(initial=0) + 1 + np.arange(without.sum())
    return labels


def b_cubed(labels, truth):
    """Precision, recall and F: of the rows with the id of a row, how many are the same person, and the reverse; the mean
    over all rows. Rows without id or person (-1) are alone."""
    labels, truth = alone(labels), alone(truth)
    _, label = np.unique(labels, return_inverse=True)
    _, person = np.unique(truth, return_inverse=True)
    pairs, pair, counts = np.unique(np.stack([label, person]), axis=1, return_inverse=True, return_counts=True)
    both = counts[pair]
    precision = (both / np.bincount(label)[label]).mean()
    recall = (both / np.bincount(person)[person]).mean()
    return precision, recall, 2 * precision * recall / (precision + recall)


def wrong_ids(labels, truth):
    """The share of rows with another id than most rows of their person, and the share of rows without id. An id belongs
    to the person who has most of its rows; pieces of a person are wrong."""
    counts = collections.defaultdict(collections.Counter)
    for label, who in zip(labels, truth):
        counts[label][who] += 1
    best = collections.defaultdict(int)
    for label, count in counts.items():
        who, rows = count.most_common(1)[0]
        best[who] = max(best[who], rows if label >= 0 else 0)
    without = np.mean(np.asarray(labels) < 0)
    return max(0., 1 - sum(best.values()) / len(truth) - without), without


class RunningMean:
    """A row joins the nearest mean of all rows so far within the angle, or starts an id; below the gate it starts none
    and moves no mean."""

    def __init__(self, angle, dimension, gate=None):
        self.limit, self.gate, self.count = np.cos(np.radians(angle)), gate, 0
        self.sums, self.means = np.zeros((16, dimension)), np.zeros((16, dimension))

    def step(self, rows, quality):
        labels = np.full(len(rows), -1)
        for i, x in enumerate(rows):
            good = self.gate is None or quality[i] >= self.gate
            scores = self.means[:self.count] @ x
            best = int(scores.argmax()) if self.count else -1
            if self.count and scores[best] >= self.limit:
                labels[i] = best
            elif good:
                labels[i] = self.count
                self.count += 1
            if labels[i] >= 0 and good:
                self._add(labels[i], x)
        return labels

    def _add(self, k, x):
        if k >= len(self.sums):
            self.sums, self.means = (np.vstack([a, np.zeros_like(a)]) for a in (self.sums, self.means))
        self.sums[k] += x
        self.means[k] = unit(self.sums[k])


def dbscan(rows, angle, least=3):
    """scikit-learn's, on cosines."""
    from sklearn.cluster import DBSCAN
    return DBSCAN(eps=1 - np.cos(np.radians(angle)), min_samples=least, metric="cosine", n_jobs=2).fit_predict(rows)


def average_linkage(rows, angle):
    """scipy's, cut at the angle: the mean of 1 - cosine between two clusters."""
    from scipy.cluster.hierarchy import fcluster, linkage
    rows = unit(rows.astype(np.float32))
    upper = np.triu_indices(len(rows), 1)
    tree = linkage(np.maximum(0, 1 - (rows @ rows.T)[upper]), "average")
    return fcluster(tree, 1 - np.cos(np.radians(angle)), "distance") - 1
