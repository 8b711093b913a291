# SPDX-License-Identifier: MIT
"""Outliers by calibrated thresholds: planted noise is found, clean data is left alone."""
import numpy as np
import pytest

import asterism
from asterism import DPVMFMeans


def embeddings(seed, noise, rows=4000, topics=40, dimension=384):
    """Topics in five families with a power-law spectrum and heavy tails, and rows on no topic."""
    random = np.random.default_rng(seed)
    scales = np.arange(1, dimension + 1) ** -0.6
    scales /= np.linalg.norm(scales)
    rotation, _ = np.linalg.qr(random.standard_normal((dimension, dimension)))
    parents = random.standard_normal((topics // 8, dimension)) * scales
    centres = 0.6 * parents[np.arange(topics) % len(parents)] + 0.8 * random.standard_normal((topics, dimension)) * scales
    strange = int(rows * noise)
    truth = np.r_[random.integers(0, topics, rows - strange), np.full(strange, -1)]
    scatter = random.standard_normal((rows, dimension)) / np.sqrt(random.chisquare(4, rows) / 4)[:, None]
    X = np.where(truth[:, None] >= 0, centres[truth] + 0.9 * scatter * scales,
                 random.standard_normal((rows, dimension)) * scales * 1.35) @ rotation.T
    order = random.permutation(rows)
    return X[order].astype(np.float32), truth[order]


def test_planted_noise_is_found():
    X, truth = embeddings(1, 0.2)
    model = DPVMFMeans(angle=75, order="content", merge="evidence", metric="local", outliers="auto").fit(X)
    found = model.labels_ < 0
    precision, recall = (truth[found] < 0).mean(), found[truth < 0].mean()
    print(f"precision {precision:.3f}, recall {recall:.3f}")
    assert precision > 0.8 and recall > 0.9
    assert len(model.outliers_) == found.sum()
    assert (model.predict(X[found]) == -1).mean() > 0.9


def test_clean_rows_are_left_alone():
    X, _ = asterism.sample(2000, dimension=32, clusters=8, kappa=100, separation=50)
    model = DPVMFMeans(angle=60, order="content", merge="evidence", outliers="auto").fit(X)
    assert (model.labels_ < 0).mean() < 0.01
    assert model.thresholds_.shape == (model.n_clusters_,)
    assert DPVMFMeans(angle=60).fit(X).thresholds_ is None


def test_shares(tmp_path):
    X, _ = asterism.sample(1000, dimension=8, clusters=5, kappa=50, separation=40)
    plain = DPVMFMeans(angle=50).fit(X)
    model = DPVMFMeans(angle=50, outliers=0.2).fit(X)
    out = [(model.labels_[plain.labels_ == k] < 0).sum() for k in range(plain.n_clusters_)]
    assert out == [int(0.2 * count) for count in plain.counts_]
    assert (model.predict(X) == model.labels_).all()
    model.save(tmp_path / "a.model")
    assert (asterism.load(tmp_path / "a.model").predict(X) == model.labels_).all()
    with pytest.raises(ValueError, match="outliers is 1.5; it must be None, 'auto' or a share"):
        DPVMFMeans(outliers=1.5).fit(X)
