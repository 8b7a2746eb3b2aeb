#!/usr/bin/env bash
# Runs the README's first program as the README shows it: first.test.sh PATH/TO/first
set -uo pipefail
first=$1

fail() {
  printf '%s\n' "$*"
  exit 1
}

# Without a server, the client must report that and fail.
if output=$(timeout 60 "$first" 2>&1); then
  fail "the client ends with status 0 though there is no server: $output"
fi
grep -qF 'unix://@first' <<<"$output" || fail "the client does not say what it could not reach: $output"

coproc server { exec "$first" serve; }
server_process=$server_PID
trap 'kill "$server_process" 2>/dev/null' EXIT
read -r -t 30 line <&"${server[0]}" || fail "the server does not start"
[ "$line" = "serving until Enter is pressed" ] || fail "the server says: $line"
output=$(timeout 30 "$first") || fail "the client fails: $output"
[ "$output" = "2 + 3 = 5" ] || fail "the client says: $output"
printf '\n' >&"${server[1]}"
wait "$server_process" || fail "the server ends with status $?"
trap - EXIT
