#!/bin/sh
# The wheel of a copy of the sources, as tools/wheel --quick makes it, installed into a virtual environment of its own: it
# works there without scikit-learn, and its library gives the results of this build, although it is bound to the first
# versions of glibc's functions. Then the sources themselves installed by pip, which leaves nothing between them.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
unset PYTHONPATH ASTERISM_LIBRARY PYTHONDONTWRITEBYTECODE

mkdir "$folder/clone"
cd "$SOURCE"
for part in CMakeLists.txt LICENSE pyproject.toml cmake docs/python.md include python src tools/wheel; do
    mkdir -p "$folder/clone/$(dirname $part)"
    cp -R "$part" "$folder/clone/$part"
done
cd "$folder/clone"
find . -name __pycache__ -prune -exec rm -rf {} +
find . -type f | sort >"$folder/before"
git init --quiet
git add .
git -c user.name=tests -c user.email=tests@localhost -c commit.gpgsign=false commit --quiet --message sources

PYTHON="$PYTHON" tools/wheel --quick >"$folder/log" || exit 1
mv build/wheels/*.whl "$folder"
rm -rf build .git
cd "$folder"
case $(ls ./*.whl) in
./asterism-*-py3-none-manylinux_2_17_"$(uname -m)".whl) ;;
*)
    echo "FAILED: the name of the wheel is $(ls ./*.whl)" >&2
    exit 1
    ;;
esac

# install WHAT: pip installs it into the environment, without a network.
install() {
    v/bin/pip install --no-build-isolation --no-index --quiet --disable-pip-version-check "$1" >log 2>&1 || {
        cat log >&2
        exit 1
    }
}

# check: the installed package is whole, and finds the library that it carries.
check() {
    v/bin/python - <<'END'
import asterism, pathlib, sys
here = pathlib.Path(asterism.__file__).parent
assert str(here).startswith(sys.prefix), here
assert asterism._library.find_library() == str(here / "libasterism.so")
assert (here / "py.typed").is_file()
X, truth = asterism.sample(1000, dimension=3, clusters=5, kappa=200, separation=60)
assert len(asterism.DPVMFMeans(40).fit(X).counts_) == 5
END
}

# uninstall: nothing is left to import.
uninstall() {
    v/bin/pip uninstall --quiet --yes asterism
    if v/bin/python -c 'import asterism' 2>/dev/null; then
        echo 'FAILED: the package can be imported after it was uninstalled' >&2
        exit 1
    fi
}

"$PYTHON" -m venv --system-site-packages v
install ./*.whl
check
v/bin/python clone/python/tests/standalone.py >wheel.json
ASTERISM_LIBRARY="$LIBRARY" v/bin/python clone/python/tests/standalone.py >build.json
cmp wheel.json build.json || {
    echo 'FAILED: the library in the wheel gives other results than that of this build' >&2
    exit 1
}
cp v/lib/python3*/site-packages/asterism/libasterism.so .
uninstall

export ASTERISM_LIBRARY="$folder/libasterism.so" # pip would build the same again
install ./clone
unset ASTERISM_LIBRARY
(cd clone && find . -path ./build -prune -o -name __pycache__ -prune -o -type f -print) | sort | diff before - || {
    echo 'FAILED: the installation leaves files between the sources' >&2
    exit 1
}
rm -rf clone
check
uninstall
