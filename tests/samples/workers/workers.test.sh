#!/usr/bin/env bash
# The sample finds the same number of primes with and without kills, and leaves no process: workers.test.sh PATH/TO/workers
set -uo pipefail
workers=$1

fail() {
  printf '%s\n' "$*"
  exit 1
}

for kills in 0 5 12; do
  output=$(timeout 90 "$workers" "$kills" 2>&1) || fail "it fails with status $?: $output"
  [ "$(head -n 1 <<<"$output")" = "4 processes count the primes below 5000000" ] || fail "it begins with: $output"
  grep -qE "^348513 primes, [0-9]+ processes killed, [0-9]+ requests repeated$" <<<"$output" || fail "it says: $output"
  killed=$(grep -c "^worker-[1-4] ended: SIGKILL" <<<"$output")
  [ "$kills" = 0 ] || [ "$killed" -gt 0 ] || fail "no process was killed: $output"
  [ "$kills" != 0 ] || [ "$killed" = 0 ] || fail "a process was killed: $output"
done
left=$(pgrep -x -P $$ workers) && fail "processes are left: $left"
exit 0
