#!/bin/sh
# Prints the first Python that is new enough, $PYTHON before the usual names; says so if none is.
# Each is really run: the shims of version managers exist for Pythons that do not.
for python in "${PYTHON:-python3}" python3 python3.11 python3.12 python3.13; do
    if "$python" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' \
        2> /dev/null; then
        echo "$python"
        exit 0
    fi
done
echo "error: no Python 3.11 or newer (with venv) found; name one: make PYTHON=/path/to/python3" >&2
exit 1
