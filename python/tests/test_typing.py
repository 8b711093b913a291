# SPDX-License-Identifier: MIT
"""Type annotations: complete for those who use the package, in mypy's strict mode."""
import os
import shutil
import subprocess

import numpy as np
import pytest

import asterism
from conftest import ROOT


def test_examples_and_a_program_are_typed(tmp_path):
    """Names of the package that have no type would be errors here; errors inside the package are not shown."""
    mypy = shutil.which("mypy")
    if mypy is None:
        pytest.skip("there is no mypy (Debian's package mypy)")
    programs = [*sorted((ROOT / "examples").glob("*.py")), ROOT / "python" / "tests" / "typed_program.py"]
    done = subprocess.run([mypy, "--strict", "--follow-imports=silent", f"--cache-dir={tmp_path}", *programs],
                          env={**os.environ, "MYPYPATH": str(ROOT / "python")}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", asterism.ESTIMATORS)
def test_every_fitted_attribute_has_a_type(name):
    kind = getattr(asterism, name)
    typed = {one for base in kind.__mro__ for one in vars(base).get("__annotations__", {})}
    X = asterism.sample(100, dimension=3, clusters=2, kappa=50)[0]
    fitted = {one for one in vars(kind().fit(X)) if one.endswith("_")}
    assert not fitted - typed


def test_the_recommendation_has_types():
    found = asterism.tune(asterism.sample(100, dimension=3, clusters=2, kappa=50)[0])
    assert set(found) - {"from"} == set(type(found).__annotations__)
    assert isinstance(found.labels, np.ndarray)
