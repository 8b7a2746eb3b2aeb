#!/usr/bin/env bash
# Runs the sample hello as its README shows it: hello.test.sh PATH/TO/hello
set -uo pipefail
hello=$1

fail() {
  printf '%s\n' "$*"
  exit 1
}

coproc server { exec "$hello" serve; }
server_process=$server_PID
trap 'kill "$server_process" 2>/dev/null' EXIT
read -r -t 30 line <&"${server[0]}" || fail "the server does not start"
[ "$line" = "serving until Enter is pressed" ] || fail "the server says: $line"

output=$(timeout 30 "$hello") || fail "the client fails: $output"
printf '%s\n' "$output"
grep -qx 'the sum is 5e+06' <<<"$output" || fail "wrong sum"
grep -qxE '[0-9]{3,4} bytes through the socket, 80000000 bytes by handle' <<<"$output" || fail "wrong path of the bytes"

printf '\n' >&"${server[1]}"
wait "$server_process" || fail "the server ends with status $?"
trap - EXIT

# Without a server, the client must fail and leave no files in the store's folder. Other programs may have stores of that
# name at any time. Therefore only files that no process has mapped count as left behind.
left_behind() {
  local file
  for file in /dev/shm/troupe."$(id -u)".default.*; do
    [ ! -e "$file" ] || grep -qsF "${file%.*}." /proc/[0-9]*/maps || ! [ -e "$file" ] || printf '%s\n' "$file"
  done
}

if timeout 30 "$hello" >/dev/null 2>&1; then
  fail "the client ends with status 0 though there is no server"
fi
for _ in $(seq 100); do # Another process may have made a file and not mapped it yet, or unmapped it and not removed it yet.
  left=$(left_behind)
  [ -n "$left" ] || exit 0
  sleep 0.1
done
fail "left behind: $left"
