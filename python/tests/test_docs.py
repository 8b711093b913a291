# SPDX-License-Identifier: MIT
"""Docstrings, the pages with Python and the example with words: whatever can run, runs."""
import doctest
import importlib
import pkgutil
import subprocess
import sys

import numpy as np
import pytest

import asterism
import stand_ins
from conftest import ROOT, SHARED

MODULES = [f"asterism.{module.name}" for module in pkgutil.iter_modules(asterism.__path__)]


@pytest.mark.parametrize("name", ["asterism", *MODULES])
def test_docstrings(name):
    if name == "asterism.dask":
        pytest.importorskip("dask")
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_the_docstrings_have_examples():
    for name in asterism.__all__:
        if callable(getattr(asterism, name)) and name not in ("Axes", "Event", "Identity", "Change", "Plane", "hallway",
                                                                    "hallway_intrinsics", "segment"):
            assert ">>> " in getattr(asterism, name).__doc__, name


@pytest.mark.parametrize("page, examples", [
    ("python", 21), ("embeddings", 4), ("duplicates", 5), ("faces-and-voices", 5), ("depth-cameras", 4), ("rotation", 4), ("clouds-and-field", 4),
    ("planes", 4), ("field", 4), ("larger-than-memory", 5), ("distributed", 10), ("tables", 5), ("identities", 5)])
def test_pages(page, examples):
    if page == "distributed":
        pytest.importorskip("dask.array")
    result = doctest.testfile(str(ROOT / "docs" / f"{page}.md"), module_relative=False)
    assert result.failed == 0 and result.attempted >= examples


@pytest.mark.parametrize("missing", ["what is installed", "nothing installed"])
def test_recipes(monkeypatch, missing):
    if missing == "nothing installed":
        monkeypatch.setattr(stand_ins.importlib.util, "find_spec", lambda name: None)
    for name, module in stand_ins.modules().items():
        monkeypatch.setitem(sys.modules, name, module)
    embeddings = asterism.sample(1200, dimension=48, clusters=6, kappa=200, separation=75, random_state=4)[0]
    given = {"embeddings": embeddings, "documents": [f"text {i}" for i in range(1200)]}
    result = doctest.testfile(str(ROOT / "docs" / "recipes.md"), module_relative=False, extraglobs=given)
    assert result.failed == 0 and result.attempted >= 20


def test_the_words():
    words = SHARED / "glove_words" / "glove6b_100d_top10k.txt"
    if not words.is_file():
        pytest.skip(f"there is no {words}")
    done = subprocess.run([sys.executable, ROOT / "examples" / "words.py", words], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    company = {line.split()[0]: line.split()[1:] for line in done.stdout.split("in the company of\n")[1].splitlines()}
    assert {"midfielder", "striker"} <= set(company["goalkeeper"])
    assert len(set(company["paris"]) & {"vienna", "berlin", "prague", "budapest", "stockholm", "helsinki"}) >= 3
    biggest = done.stdout.split("nearest to the mean\n")[1].split("\n\n")[0].splitlines()
    assert len(biggest) == 10 and any("garlic" in line and "butter" in line for line in biggest)
    assert "stability 0." in done.stdout


def test_processes(tmp_path):
    """30,000 points of which many are equal: clusters become empty."""
    X = np.repeat(asterism.sample(15_000, dimension=5, clusters=20, kappa=30)[0], 2, axis=0)
    np.save(tmp_path / "points.npy", X)
    done = subprocess.run([sys.executable, ROOT / "examples" / "kmeans_processes.py", tmp_path / "points.npy", "60", "3"],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "the labels and means are those of SphericalKMeans" in done.stdout


def test_words_without_a_file():
    done = subprocess.run([sys.executable, ROOT / "examples" / "words.py"], capture_output=True, text=True)
    assert done.returncode == 1 and "words.py FILE [ANGLE]" in done.stderr


def test_the_photo_library_and_the_meeting():
    def run(name):
        done = subprocess.run([sys.executable, ROOT / "examples" / name], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    library = run("photo_library.py")
    assert len(library) == 6 and library[-1].startswith("all at once: 60 clusters")
    assert min(float(line.rsplit(" ", 1)[1]) for line in library) >= .985
    first, second, who = run("meeting.py")
    for line in (first, second):
        assert " 6 ids, " in line and float(line.split(" ids, ")[1].split("%")[0]) <= .5
    assert who in [f"who is it? {name}" for name in ("Ada", "Emmy", "Sofia", "Maria", "Rosa", "Lise")]
