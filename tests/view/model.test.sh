#!/usr/bin/env bash
# Runs the tests of the page's pure functions: model.test.sh NODE PAGE-FOLDER. Status 77: skipped.
set -euo pipefail
[ -n "$1" ] && [ "${1%-NOTFOUND}" = "$1" ] || { echo "skipped: node is not installed"; exit 77; }
"$1" -e 'process.exit(Number(process.versions.node.split(".")[0]) >= 18 ? 0 : 1)' || { echo "skipped: node is older than version 18"; exit 77; }
PAGE_FOLDER=$2 exec "$1" --test "$(dirname "${BASH_SOURCE[0]}")/model.test.mjs"
