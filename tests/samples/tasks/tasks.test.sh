#!/usr/bin/env bash
# Runs the sample in two processes: tasks.test.sh PATH/TO/tasks
set -uo pipefail
tasks=$1

fail() {
  printf '%s\n' "$*"
  exit 1
}

coproc server { exec "$tasks" serve; }
server_process=$server_PID
trap 'kill "$server_process" 2>/dev/null' EXIT
read -r -t 30 line <&"${server[0]}" || fail "the server does not start"
[ "$line" = "serving until Enter is pressed" ] || fail "the server says: $line"

output=$(timeout 30 "$tasks") || fail "the client fails: $output"
printf '%s\n' "$output"
grep -qx "mean: 0.25" <<<"$output" || fail "wrong mean"
grep -qx "mean of nothing: 'tasks.mean' failed: no samples" <<<"$output" || fail "the failure's reason is missing"
grep -qx "above 0.5: 2" <<<"$output" || fail "the functor has lost its state"
grep -q "a lambda: .* cannot be sent: a lambda's captures have no names" <<<"$output" || fail "no word on the lambda"

printf '\n' >&"${server[1]}"
wait "$server_process" || fail "the server ends with status $?"
trap - EXIT
