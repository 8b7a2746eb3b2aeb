#!/usr/bin/env bash
# Runs both ends of the program that bench/guide.md shows: measuring.test.sh PROGRAM
set -uo pipefail
program=$1
export TROUPE_LOG=off

fail() {
  printf '%s\n' "$*"
  exit 1
}

coproc sink { exec "$program"; }
sink_process=$sink_PID
trap 'kill "$sink_process" 2>/dev/null' EXIT
for _ in $(seq 300); do # The program prints nothing when it begins to listen.
  grep -q '@measure$' /proc/net/unix && break
  sleep 0.1
done
output=$(timeout 60 "$program" 1000) || fail "the source fails: $output"
printf '%s\n' "$output"
[ "$(grep -cE '^[1-9][0-9]* messages a second$' <<<"$output")" = 5 ] || fail "not five rounds"
grep -qE '^weather\.reading by typed: [0-9]{2,3} bytes, [0-9]+ ns to encode$' <<<"$output" || fail "no row of its type"
for family in msgpack json; do
  output=$(timeout 60 "$program" 1000 "$family") || fail "the source fails with $family: $output"
  grep -q "^weather\.reading by $family: " <<<"$output" || fail "no row by $family: $output"
done
printf '\n' >&"${sink[1]}"
wait "$sink_process" || fail "the sink ends with status $?"
trap - EXIT
