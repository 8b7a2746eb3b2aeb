#!/usr/bin/env bash
# Runs a client of the sample against it: gateway.test.sh PATH/TO/gateway SOURCES python|javascript. Status 77: skipped.
set -uo pipefail

fail() {
  printf '%s\n' "$*"
  exit 1
}

sources=$2
case $3 in
  python)
    command -v python3 >/dev/null || { echo "skipped: python3 is not installed"; exit 77; }
    visit=(python3 -B "$sources/visit.py")
    ;;
  javascript)
    command -v node >/dev/null || { echo "skipped: node is not installed"; exit 77; }
    node -e 'process.exit(typeof fetch === "function" ? 0 : 1)' || { echo "skipped: this node has no fetch"; exit 77; }
    visit=(node "$sources/visit.mjs")
    node --experimental-websocket -e '' 2>/dev/null && visit=(node --experimental-websocket "$sources/visit.mjs")
    ;;
esac

scratch=$(mktemp -d)
process=
finish() {
  [ -n "$process" ] && kill "$process" 2>/dev/null
  rm -rf "$scratch"
}
trap finish EXIT
token=$(head -c 24 /dev/urandom | base64 | tr '+/' '-_')
(umask 077 && printf 'visitor %s call:* read:* schema put:1MiB\n' "$token" >"$scratch/tokens")

coproc program { exec "$1" "$scratch/tokens" 127.0.0.1:0; }
process=$program_PID
read -r -t 30 line <&"${program[0]}" || fail "it does not start"
[[ $line =~ ^"serving "(http://127.0.0.1:[0-9]+)" until Enter is pressed"$ ]] || fail "it says: $line"
url=${BASH_REMATCH[1]}

timeout 60 "${visit[@]}" "$url" "$token" >"$scratch/seen" 2>"$scratch/errors" || fail "the visit fails: $(cat "$scratch/seen" "$scratch/errors")"
# What the visit prints is what the README shows behind its command.
sed -n "/^    \\$ .*$(basename "${visit[-1]}")/,/^\$/p" "$sources/README.md" | sed '1d;$d;s/^    //' >"$scratch/shown"
[ -s "$scratch/shown" ] || fail "README.md shows no visit"
if [ "$3" = javascript ] && grep -q 'this Node has no WebSocket' "$scratch/seen"; then
  echo "skipped in part: this node has no WebSocket"
  grep -qxF 'stirred 3 times by silver' "$scratch/seen" || fail "it prints: $(cat "$scratch/seen")"
else
  diff "$scratch/shown" "$scratch/seen" || fail "the visit does not print what README.md shows"
fi

printf '\n' >&"${program[1]}"
wait "$process" || fail "the gateway ends with status $?"
process=
