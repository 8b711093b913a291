# SPDX-License-Identifier: MIT
"""What the tests share: the command of this build, and points with known clusters."""
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
SHARED = ROOT.parent / "shared" / "data"


@pytest.fixture(scope="session")
def command():
    """asterism(*arguments): runs the command and returns what it printed."""
    program = os.environ.get("ASTERISM", ROOT / "build" / "release" / "cli" / "asterism")
    if not Path(program).is_file():
        pytest.skip(f"there is no command at {program}")

    def run(*arguments):
        return subprocess.run([str(program), *map(str, arguments)], check=True, capture_output=True, text=True).stdout

    return run


@pytest.fixture(scope="session")
def three_ways():
    """Three tight bundles of directions, 300 rows, and which is which."""
    random = np.random.RandomState(3)
    truth = np.repeat([0, 1, 2], 100)
    return (np.eye(3)[truth] + 0.1 * random.normal(size=(300, 3))).astype(np.float32), truth
