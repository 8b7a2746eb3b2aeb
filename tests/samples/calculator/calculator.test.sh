#!/usr/bin/env bash
# Makes certificates, runs the sample in two processes, and compares the client's output with that in README.md:
# calculator.test.sh PATH/TO/samples/calculator PATH/TO/calculator
set -uo pipefail
sample=$1
calculator=$2
folder=$(mktemp -d)
server_process=
trap 'kill $server_process 2>/dev/null; rm -rf "$folder"' EXIT

fail() {
  printf '%s\n' "$*"
  exit 1
}

"$sample/make-certificates" "$folder" >"$folder/log" 2>&1 || fail "no certificates: $(<"$folder/log")"
coproc server { exec "$calculator" "$folder" serve tls://127.0.0.1:0 2>/dev/null; }
server_process=$server_PID
read -r -t 30 line <&"${server[0]}" || fail "the server does not start"
[[ $line =~ ^"serving at "(tls://127\.0\.0\.1:[0-9]+)" until Enter is pressed"$ ]] || fail "the server says: $line"

steady() { sed -E 's#(tls://127\.0\.0\.1):[0-9]+#\1#'; }
shown=$(sed -n '/^    \$ .*calculator \/tmp\/certificates$/,/^[^ ]/{/^    [^$]/s/^    //p}' "$sample/README.md" | steady)
printed=$(timeout 60 "$calculator" "$folder" "${BASH_REMATCH[1]}" 2>/dev/null | steady) || fail "the client fails: $printed"
diff <(printf '%s\n' "$shown") <(printf '%s\n' "$printed") || fail "README.md shows something else (<) than is printed (>)"

printf '\n' >&"${server[1]}"
wait "$server_process" || fail "the server ends with status $?"
server_process=
