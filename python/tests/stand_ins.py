# SPDX-License-Identifier: MIT
"""Stand-ins for packages that Debian does not have, with the parts of their interface that docs/recipes.md uses. They do
by definition what the real ones do, so that the recipes run. A package that is installed is used instead."""
import importlib.util
import types

import numpy as np


class BERTopic:
    """Reduces, clusters with `fit` and `labels_`, and labels new documents with `predict`, as BERTopic does with a
    clusterer that is not HDBSCAN."""

    def __init__(self, umap_model, hdbscan_model):
        self.umap_model, self.hdbscan_model = umap_model, hdbscan_model

    def fit_transform(self, documents, embeddings):
        assert len(documents) == len(embeddings)
        reduced = self.umap_model.fit(embeddings).transform(embeddings)
        self.hdbscan_model.fit(reduced, y=None)
        return self.hdbscan_model.labels_, None

    def transform(self, documents, embeddings):
        assert len(documents) == len(embeddings)
        return self.hdbscan_model.predict(self.umap_model.transform(embeddings)), None


class BaseDimensionalityReduction:
    """Reduces nothing."""

    def fit(self, X=None):
        return self

    def transform(self, X):
        return X


def community_detection(embeddings, threshold=0.75, min_community_size=10):
    """Groups of rows with at least this cosine to a central row; of groups that overlap the largest keeps the rows."""
    units = embeddings / np.linalg.norm(embeddings, axis=1, keepdims=True)
    cosines = units @ units.T
    found = [np.argsort(-row, kind="stable")[:np.sum(row >= threshold)] for row in cosines]
    found = sorted((rows for rows in found if len(rows) >= min_community_size), key=len, reverse=True)
    taken, groups = set(), []
    for rows in found:
        left = [int(row) for row in rows if row not in taken]
        if len(left) >= min_community_size:
            groups.append(left)
            taken.update(left)
    return sorted(groups, key=len, reverse=True)


class IndexFlatIP:
    def __init__(self, dimension):
        self.rows = np.empty((0, dimension), np.float32)

    def add(self, rows):
        self.rows = np.concatenate([self.rows, rows])

    def nearest(self, queries, count):
        return np.argsort(-(queries @ self.rows.T), axis=1, kind="stable")[:, :count]


class IndexIVFFlat:
    def __init__(self, quantizer, dimension, lists, metric):
        self.quantizer, self.is_trained, self.nprobe = quantizer, len(quantizer.rows) == lists, 1

    def add(self, rows):
        self.rows, self.lists = rows, self.quantizer.nearest(rows, 1)[:, 0]

    def search(self, queries, count):
        near = self.quantizer.nearest(queries, self.nprobe)
        scores = np.where((self.lists[None, :, None] == near[:, None, :]).any(axis=2), queries @ self.rows.T, -np.inf)
        rows = np.argsort(-scores, axis=1, kind="stable")[:, :count]
        return np.take_along_axis(scores, rows, axis=1), rows


MODULES = {
    "bertopic": {"BERTopic": BERTopic},
    "bertopic.dimensionality": {"BaseDimensionalityReduction": BaseDimensionalityReduction},
    "sentence_transformers": {"util": types.SimpleNamespace(community_detection=community_detection)},
    "faiss": {"IndexFlatIP": IndexFlatIP, "IndexIVFFlat": IndexIVFFlat, "METRIC_INNER_PRODUCT": 0}}


def modules():
    """Those that are not installed, by name, for sys.modules."""
    missing = {name for name in MODULES if "." not in name and importlib.util.find_spec(name) is None}
    found = {}
    for name, parts in MODULES.items():
        if name.split(".")[0] in missing:
            found[name] = types.ModuleType(name)
            vars(found[name]).update(parts)
    return found
