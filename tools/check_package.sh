#!/bin/sh
# Builds the sdist and, from it, the wheel; installs that wheel without extras in a fresh environment and imports it.
# Usage: tools/check_package.sh PYTHON   (one with the `dev` extra installed)
set -eu

case $1 in /*) python=$1 ;; *) python=$PWD/$1 ;; esac
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$python" -m build --no-isolation --outdir "$work/dist" "$root" >"$work/build.log" 2>&1 || {
    cat "$work/build.log" >&2
    exit 1
}
"$python" -m venv "$work/bare"
"$work/bare/bin/python" -m pip install --quiet --disable-pip-version-check \
    --constraint "$root/locks/constraints.txt" "$work"/dist/*.whl
"$work/bare/bin/python" -m pip check

# away from the sources, so that only the wheel can answer
cd "$work"
bare/bin/python -W error -c 'import afterturn; from afterturn import Memory; print("afterturn", afterturn.__version__)'
bare/bin/afterturn --help >/dev/null
if bare/bin/python -c 'import torch' 2>/dev/null; then
    echo "the bare install brought torch: it belongs to the extra [worker]" >&2
    exit 1
fi
echo "the bare wheel installs, imports and shows its help"
