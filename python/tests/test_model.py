# SPDX-License-Identifier: MIT
"""Model files: what was saved labels rows as the estimator does, in Python and by the command."""
import os
import pickle

import numpy as np
import pytest

import asterism
from asterism import DPVMFMeans, MiniBatchSphericalKMeans, SphericalKMeans, VMFMixture


@pytest.fixture(scope="module")
def rows():
    X, _ = asterism.sample(800, dimension=6, clusters=5, kappa=30, noise=0.1, random_state=3)
    return X + np.float32(0.3)


@pytest.mark.parametrize("estimator", [
    DPVMFMeans(angle=40), DPVMFMeans(angle=50, center=True, merge="evidence"), DPVMFMeans(angle=40, axial=True),
    DPVMFMeans(angle=70, metric="local"),
    DPVMFMeans(angle=40, outlier_angle=25), SphericalKMeans(5, random_state=1), SphericalKMeans(5, center=True, random_state=1),
    MiniBatchSphericalKMeans(5, random_state=1), VMFMixture(5), VMFMixture(4, background=True)])
def test_a_loaded_model_predicts_as_the_estimator(estimator, rows, tmp_path):
    fitted = estimator.fit(rows)
    fitted.save(tmp_path / "a.model")
    model = asterism.load(tmp_path / "a.model")
    new = rows[::3] * 2 + np.float32(0.01)
    assert (model.predict(new) == fitted.predict(new)).all()
    assert np.array_equal(model.cluster_centers_, fitted.cluster_centers_)
    assert (model.counts_ == fitted.counts_).all() and model.next_id_ == fitted.n_clusters_
    again = pickle.loads(pickle.dumps(model))
    assert (again.predict(new) == model.predict(new)).all()
    again.save(tmp_path / "b.model")
    assert (tmp_path / "a.model").read_bytes() == (tmp_path / "b.model").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.model", "b.model"]


def test_what_a_model_says(rows, tmp_path):
    fitted = DPVMFMeans(angle=40, center=True).fit(rows)
    fitted.save(tmp_path / "a.model")
    model = asterism.load(tmp_path / "a.model")
    assert (model.predict(rows) == fitted.labels_).all()
    assert np.array_equal(model.similarity(rows), fitted.similarity_)
    assert model.method == "dp" and model.angle == 40 and not model.axial and model.names_ is None
    assert (model.predict(rows, angle=10) == -1).any()
    lines = fitted.summary().splitlines()
    assert lines[0] == f"dp: {fitted.n_clusters_} clusters of 800 rows, 6 dimensions, angle 40, centred"
    assert len(lines) == 3 + min(fitted.n_clusters_, 20) + (fitted.n_clusters_ > 20)
    assert int(lines[2].split()[1]) == fitted.counts_.max()
    missing = np.array([[np.nan] * 6, [0] * 6, rows[0]])
    assert model.predict(missing).tolist() == [-1, -1, fitted.labels_[0]]


def test_the_report_is_one_page(rows, tmp_path):
    fitted = DPVMFMeans(angle=40, center=True).fit(rows)
    names = [f"text <{i}>" for i in range(len(rows))]
    fitted.report(tmp_path / "topics.html", rows, names, nearest=2)
    page = (tmp_path / "topics.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>") and "<h1>topics</h1>" in page and "angle 40, centred" in page
    assert page.count("<tr>") == fitted.n_clusters_ + 1 and "<script" not in page and "http" not in page
    largest = fitted.counts_.argmax()
    members = np.flatnonzero(fitted.labels_ == largest)
    best = members[np.lexsort((members, -fitted.similarity_[members]))][:2]
    assert " | ".join(f"text &lt;{i}&gt;" for i in best) in page
    fitted.save(tmp_path / "a.model")
    asterism.load(tmp_path / "a.model").report(tmp_path / "topics.html", rows, names, nearest=2)
    assert (tmp_path / "topics.html").read_text(encoding="utf-8") == page
    asterism.load(tmp_path / "a.model").report(tmp_path / "bare.html", title="Topics & more")
    assert "<h1>Topics &amp; more</h1>" in (tmp_path / "bare.html").read_text(encoding="utf-8")
    with pytest.raises(ValueError, match="there are 3 names for 800 rows"):
        fitted.report(tmp_path / "none.html", rows, names[:3])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.model", "bare.html", "topics.html"]
    assert "clusters of 800 rows" in repr(asterism.load(tmp_path / "a.model"))


def test_wrong_files_and_rows(rows, tmp_path):
    fitted = DPVMFMeans(angle=40).fit(rows)
    path = tmp_path / "a.model"
    fitted.save(path)
    content = bytearray(path.read_bytes())
    path.write_bytes(content[:100])
    with pytest.raises(ValueError, match="a.model: the model ends early|a.model: the model is damaged"):
        asterism.load(path)
    content[-30] ^= 1
    path.write_bytes(content)
    with pytest.raises(ValueError, match="a.model: the model is damaged: its checksum does not match"):
        asterism.load(path)
    with pytest.raises(FileNotFoundError):
        asterism.load(tmp_path / "absent.model")
    fitted.save(path)
    with pytest.raises(ValueError, match="the points have dimension 3, but the model 6"):
        asterism.load(path).predict(np.eye(3))
    with pytest.raises(ValueError, match="X has 1 dimensions"):
        asterism.load(path).predict([1.0, 0])
    with pytest.raises(Exception, match="not fitted"):
        DPVMFMeans().save(path)


def test_sparse_rows(tmp_path):
    sparse = pytest.importorskip("scipy.sparse")
    X = sparse.random(200, 5000, 0.004, format="csr", random_state=1)
    fitted = DPVMFMeans(angle=80).fit(X)
    fitted.save(tmp_path / "a.model")
    assert (asterism.load(tmp_path / "a.model").predict(X) == fitted.predict(X)).all()


def test_what_is_no_file_is_not_replaced(rows, tmp_path):
    model, pipe = DPVMFMeans(40).fit(rows), tmp_path / "pipe"
    model.save(tmp_path / "plain")
    (tmp_path / "link").symlink_to("plain")
    model.save(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    model.save(pipe)
    assert pipe.is_fifo() and os.read(reader, 1 << 20) == (tmp_path / "plain").read_bytes()
    os.close(reader)
    with pytest.raises(OSError):
        model.save(tmp_path)
