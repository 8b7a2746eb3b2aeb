#!/usr/bin/env bash
# Runs the sample in two processes, the client first: workers.test.sh PATH/TO/workers
set -uo pipefail
workers=$1

fail() {
  printf '%s\n' "$*"
  exit 1
}

client_output=$(mktemp)
timeout 60 "$workers" >"$client_output" &
client_process=$!
coproc server { exec "$workers" serve; }
server_process=$server_PID
trap 'kill "$server_process" "$client_process" 2>/dev/null; rm -f "$client_output"' EXIT
read -r -t 30 line <&"${server[0]}" || fail "the server does not start"
[ "$line" = "serving until Enter is pressed" ] || fail "the server says: $line"

wait "$client_process" || fail "the client fails: $(cat "$client_output")"
sed -e 's/ is refused: .*/ is refused/' "$client_output" | diff - <(printf '%s\n' "connected to server" "7 squared is 49" \
  "-1 is refused" "the worker is down" "8 squared is 64") || fail "the client says: $(cat "$client_output")"

printf '\n' >&"${server[1]}"
wait "$server_process" || fail "the server ends with status $?"
