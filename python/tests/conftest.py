# SPDX-License-Identifier: MIT
"""What the tests share: the command of this build, and points with known clusters."""
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
SHARED = ROOT.parent / "shared" / "data"


def pytest_sessionfinish(session):
    """ctest (python/CMakeLists.txt) reports a file of which a part was skipped as skipped, not as passed."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    code = os.environ.get("ASTERISM_SKIP_CODE")
    if code and session.exitstatus == 0 and reporter.stats.get("skipped"):
        session.exitstatus = int(code)


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
