#!/usr/bin/env bash
# The sample restarts its service without a failed request, and leaves no process: restarts.test.sh PATH/TO/restarts
set -uo pipefail
restarts=$1

fail() {
  printf '%s\n' "$*"
  exit 1
}

for count in 0 6 15; do
  output=$(timeout 60 "$restarts" "$count" 2>&1) || fail "it fails with status $?: $output"
  grep -qE "^$count restarts, [1-9][0-9]* requests answered, 0 failed$" <<<"$output" || fail "it says: $output"
  restarted=$(grep -cE "^instance [12] was restarted$" <<<"$output")
  [ "$restarted" = "$count" ] || fail "$restarted instances were restarted instead of $count: $output"
done
left=$(pgrep -f "^$(readlink -f "$restarts") serve ") && fail "processes are left: $left"
exit 0
