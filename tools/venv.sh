#!/bin/sh
# Makes the virtual environment FOLDER from the first Python on the path that can; says what to install if none can.
# Usage: tools/venv.sh FOLDER [PYTHON]
set -eu

folder=$1
wanted=${2:-}

is_recent() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; }
can_make_environments() { "$1" -c 'import ensurepip, venv' 2>/dev/null; }
describe() { "$1" -c 'import sys; print("%s is Python %d.%d.%d" % ((sys.executable,) + sys.version_info[:3]))' 2>/dev/null; }

if [ -x "$folder/bin/python" ] && is_recent "$folder/bin/python" && "$folder/bin/python" -m pip --version >/dev/null 2>&1; then
    exit 0
fi

lacks_venv=
seen=
# a name that answers nothing, such as the shim of a version manager, is passed over
for python in ${wanted:-python3 python3.13 python3.12 python3.11}; do
    description=$(describe "$python") || continue
    seen="$seen
  $description"
    is_recent "$python" || continue
    if can_make_environments "$python"; then
        # never clear a folder that is not an environment
        if [ -e "$folder" ] && [ ! -e "$folder/pyvenv.cfg" ]; then
            echo "$folder exists and is no virtual environment: move it away, or choose another with make VENV=..." >&2
            exit 1
        fi
        echo "$description: making $folder"
        exec "$python" -m venv --clear "$folder"
    fi
    lacks_venv=${lacks_venv:-$description}
done

if [ -n "$lacks_venv" ]; then
    echo "$lacks_venv, but its venv module lacks ensurepip, so it can't make a virtual environment." >&2
    echo "On Debian or Ubuntu install one package, then run the same command again:" >&2
    echo "  apt-get install python3-venv" >&2
else
    echo "afterturn needs Python 3.11 or later. Found on the path:${seen:- none}" >&2
    echo "Install a newer one (on Debian 12 or later: apt-get install python3 python3-venv)," >&2
    echo "or name one: make PYTHON=/path/to/python3" >&2
fi
exit 1
