#!/usr/bin/env bash
# Runs a client of the sample against a gateway that does what tests say, right or wrong:
# clients.test.sh SOURCES python|javascript. Status 77: skipped.
set -uo pipefail
command -v python3 >/dev/null || { echo "skipped: python3 is not installed"; exit 77; }
tests=$(dirname "${BASH_SOURCE[0]}")/clients
case $2 in
  python) exec python3 -B "$tests/python.test.py" "$1" ;;
  javascript) exec python3 -B "$tests/javascript.test.py" "$1" "$(command -v node)" ;;
esac
echo "usage: clients.test.sh SOURCES python|javascript"
exit 1
