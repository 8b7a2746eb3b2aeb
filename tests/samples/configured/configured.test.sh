#!/usr/bin/env bash
# Runs the sample in two processes: configured.test.sh PATH/TO/configured PATH/TO/configured.ini
set -uo pipefail
configured=$1
file=$2

fail() {
  printf '%s\n' "$*"
  exit 1
}

# The client starts first, when there is no server yet.
output=$(mktemp)
timeout 60 "$configured" --config-file="$file" --peer=unix://@configured >"$output" 2>"$output.errors" &
client_process=$!
server_process=
trap 'kill "$client_process" $server_process 2>/dev/null; rm -f "$output" "$output.errors" "$output.ini"' EXIT
for ((i = 0; i < 300; i++)); do
  grep -qs "cannot connect to unix://@configured" "$output.errors" && break
  sleep 0.1
done
[ "$i" -lt 300 ] || fail "the client does not say that nobody is there"

coproc server {
  exec "$configured" --config-file="$file" --troupe.node.name=pantry --troupe.node.listen='["unix://@configured"]'
}
server_process=$server_PID
read -r -t 30 line <&"${server[0]}" || fail "the server does not start"
[ "$line" = "serving until Enter is pressed" ] || fail "the server says: $line"
wait "$client_process" || fail "the client fails: $(cat "$output.errors")"
[ "$(cat "$output")" = "json: good day, pantry" ] || fail "the client says: $(cat "$output")"

printf '\n' >&"${server[1]}"
wait "$server_process" || fail "the server ends with status $?"

# An error must name the place of the mistake.
printf 'troupe.links.default {\n  spill-byte = 1\n}\n' >"$output.ini"
errors=$("$configured" --config-file="$output.ini" 2>&1) && fail "an unknown key is accepted"
grep -qF "$output.ini:2: troupe.links.default has no \"spill-byte\"; did you mean \"spill-bytes\"?" <<<"$errors" \
  || fail "wrong words for an unknown key: $errors"
errors=$("$configured" --config-file="$file" '--troupe.links.default.serializers=["jsn"]' 2>&1) && fail "an unknown family is accepted"
grep -qF 'names the family "jsn", which this node does not have; did you mean "json"?' <<<"$errors" \
  || fail "wrong words for an unknown family: $errors"
help=$("$configured" --long-help 2>&1)
grep -qF -- '--troupe.links.default.reconnect.jitter=' <<<"$help" || fail "--long-help does not list the options"
