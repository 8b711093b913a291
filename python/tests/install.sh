#!/bin/sh
# A virtual environment of its own, and the package installed into it from a copy of the sources, as a user would: the
# library is built on the way and carried in the wheel. Nothing is left between the sources.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
unset PYTHONPATH ASTERISM_LIBRARY PYTHONDONTWRITEBYTECODE

mkdir "$folder/clone"
cd "$SOURCE"
for part in CMakeLists.txt pyproject.toml cmake docs/python.md include python src; do
    mkdir -p "$folder/clone/$(dirname $part)"
    cp -R "$part" "$folder/clone/$part"
done
cd "$folder/clone"
find . -name __pycache__ -prune -exec rm -rf {} +
find . -type f | sort >"$folder/before"

"$PYTHON" -m venv --system-site-packages "$folder/v"
"$folder/v/bin/pip" install --no-build-isolation --no-index --quiet --disable-pip-version-check . >"$folder/log" 2>&1 || {
    cat "$folder/log" >&2
    exit 1
}
find . -path ./build -prune -o -name __pycache__ -prune -o -type f -print | sort | diff "$folder/before" - || {
    echo 'FAILED: the installation leaves files between the sources' >&2
    exit 1
}
cd "$folder"
rm -rf clone
v/bin/python - <<'END'
import asterism, pathlib, sys
here = pathlib.Path(asterism.__file__).parent
assert str(here).startswith(sys.prefix), here
assert asterism._library.find_library() == str(here / "libasterism.so")
assert (here / "py.typed").is_file()
X, truth = asterism.sample(1000, dimension=3, clusters=5, kappa=200, separation=60)
assert len(asterism.DPVMFMeans(40).fit(X).counts_) == 5
END
v/bin/pip uninstall --quiet --yes asterism
! v/bin/python -c 'import asterism' 2>/dev/null
