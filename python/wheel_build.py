# SPDX-License-Identifier: MIT
"""How a wheel is made: CMake builds the library, and it goes into the package beside its headers.

pyproject.toml names these classes. ASTERISM_LIBRARY, if set, is a libasterism.so to carry instead of building one.
"""
import os
import re
import shutil
import subprocess
from pathlib import Path

from setuptools.command.build_py import build_py
from setuptools.command.egg_info import egg_info
from wheel.bdist_wheel import bdist_wheel

ROOT = Path(__file__).resolve().parents[1]
HEADERS = ("asterism.h", "asterism_depth.h", "asterism_tally.h", "asterism_ranks.h", "asterism_arrow.h", "asterism_field.h", "private/asterism_hallway.h")

VERSION = ".".join(re.findall(r"#define AST_VERSION_\w+ (\d+)", (ROOT / "include" / HEADERS[0]).read_text()))


class BuildLibrary(build_py):
    def run(self) -> None:
        super().run()
        package = Path(self.build_lib) / "asterism"
        library = os.environ.get("ASTERISM_LIBRARY") or built_library(ROOT / "build" / "wheel")
        shutil.copyfile(library, package / "libasterism.so")
        for name in HEADERS:
            (package / name).parent.mkdir(exist_ok=True)
            shutil.copyfile(ROOT / "include" / name, package / name)


class PlatformWheel(bdist_wheel):
    """One wheel for every Python, as nothing is compiled against it; one for each platform."""

    def finalize_options(self) -> None:
        self.distribution.has_ext_modules = lambda: True  # the library: files go where those of a platform go
        super().finalize_options()

    def get_tag(self) -> tuple[str, str, str]:
        return ("py3", "none", super().get_tag()[2])


class NotesInBuild(egg_info):
    """The egg-info goes where everything built goes, not between the sources."""

    def initialize_options(self) -> None:
        super().initialize_options()
        notes = ROOT / "build" / "egg-info"
        notes.mkdir(parents=True, exist_ok=True)
        self.egg_base = str(notes)


def built_library(folder: Path, *settings: str) -> Path:
    """Configures, with these settings of CMake, and builds the shared library alone."""
    configure = ["cmake", "-S", str(ROOT), "-B", str(folder), "-DCMAKE_BUILD_TYPE=Release",
                 "-DASTERISM_LIBRARY_ONLY=ON", "-DBUILD_TESTING=OFF", "-DASTERISM_BENCH=OFF", *settings]
    build = ["cmake", "--build", str(folder), "--target", "asterism_shared", "--parallel", str(os.cpu_count() or 1)]
    for command in (configure, build):
        subprocess.run(command, check=True)
    return folder / "libasterism.so"
