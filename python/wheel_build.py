# SPDX-License-Identifier: MIT
"""How a wheel is made: CMake builds the library, and it goes into the package beside its headers.

pyproject.toml names these classes. ASTERISM_LIBRARY, if set, is a library to carry instead of building one, and
ASTERISM_COMMAND the command, which pip then puts on PATH beside the other programs of the environment.
"""
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools.command.build_py import build_py
from setuptools.command.egg_info import egg_info
from wheel.bdist_wheel import bdist_wheel

from distutils.command.build_scripts import build_scripts  # that of setuptools, which is imported already

ROOT = Path(__file__).resolve().parents[1]
HEADERS = ("asterism.h", "asterism_depth.h", "asterism_tally.h", "asterism_ranks.h", "asterism_arrow.h", "asterism_field.h", "private/asterism_hallway.h")

VERSION = ".".join(re.findall(r"#define AST_VERSION_\w+ (\d+)", (ROOT / "include" / HEADERS[0]).read_text()))


class BuildLibrary(build_py):
    def run(self) -> None:
        super().run()
        package = Path(self.build_lib) / "asterism"
        library = os.environ.get("ASTERISM_LIBRARY") or built_library(ROOT / "build" / "wheel")
        shutil.copyfile(library, package / Path(library).name)
        for name in HEADERS:
            (package / name).parent.mkdir(exist_ok=True)
            shutil.copyfile(ROOT / "include" / name, package / name)


class CarryCommand(build_scripts):
    """The command is a program: it is copied as it is, where setuptools expects Python."""

    def run(self) -> None:
        for program in self.distribution.scripts:
            place = Path(self.build_dir) / Path(program).name
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(program, place)
            place.chmod(0o755)


class PlatformWheel(bdist_wheel):
    """One wheel for every Python, as nothing is compiled against it; one for each platform."""

    def finalize_options(self) -> None:
        self.distribution.has_ext_modules = lambda: True  # the library: files go where those of a platform go
        command = os.environ.get("ASTERISM_COMMAND")
        self.distribution.scripts = [command] if command else []
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
    return folder / {"win32": "libasterism.dll", "darwin": "libasterism.dylib"}.get(sys.platform, "libasterism.so")
