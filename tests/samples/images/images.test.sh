#!/usr/bin/env bash
# Runs the sample with its own picture, with another picture, and with a killed worker. Each time, all pixels must equal
# those that a single thread computes: images.test.sh PATH/TO/images PATH/TO/images_check
set -uo pipefail
images=$1
check=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

fail() {
  printf '%s\n' "$*"
  exit 1
}

output=$(timeout 60 "$images" "$folder/own") || fail "it fails: $output"
grep -qx 'picture: 1200 x 800, 2880000 bytes, 210 tiles, 0 of them given to another worker again' <<<"$output" \
  || fail "it says: $output"
[ "$(grep -c '^worker [0-9]* works$' <<<"$output")" = 2 ] || fail "not two workers: $output"
"$check" "$folder/own/picture.png" "$folder/own" || fail "wrong pixels"
# Each filter must read all pixels in place, and almost no bytes may pass through sockets.
read -r in_place < <(sed -nE 's/^read in place: ([0-9]+) bytes.*/\1/p' <<<"$output")
read -r to from < <(sed -nE 's/^through sockets: ([0-9]+) bytes to workers, ([0-9]+) from them/\1 \2/p' <<<"$output")
[ "$in_place" -ge 8640000 ] || fail "read in place: $in_place"
[ $((to + from)) -lt 300000 ] || fail "through sockets: $((to + from))"

# A given picture, whose sides are not multiples of a tile's.
timeout 60 "$images" "$folder/small" 1 "$folder/own/histogram.png" >"$folder/output" || fail "it fails: $(<"$folder/output")"
"$check" "$folder/own/histogram.png" "$folder/small" || fail "wrong pixels of a small picture"
timeout 60 "$images" "$folder/none" 1 "$folder/none.png" 2>/dev/null && fail "it does without its picture"

for workers in -1 0 65 two 1e9 ''; do
  output=$(timeout 60 "$images" "$folder/refused" "$workers" 2>&1)
  [ $? = 2 ] || fail "$workers workers are not refused: $output"
done
[ ! -e "$folder/refused" ] || fail "a folder is made for nothing"

# Kills a worker as soon as it works. On a busy machine, all tiles may be done by then, so this is tried up to 10 times.
for ((try = 0; try < 10; try++)); do
  rm -rf "$folder/killed"
  coproc run { exec timeout 60 "$images" "$folder/killed" 2>&1; }
  run_process=$run_PID
  exec {from_run}<&"${run[0]}"
  read -r -t 30 -u "$from_run" _ worker _ || fail "no worker"
  kill -9 "$worker"
  output=$(timeout 60 cat <&"$from_run")
  exec {from_run}<&-
  wait "$run_process" || fail "with a killed worker it fails: $output"
  "$check" "$folder/killed/picture.png" "$folder/killed" || fail "wrong pixels with a killed worker"
  grep -qx "worker $worker is lost" <<<"$output" \
    && grep -qE ', [1-9][0-9]* of them given to another worker again' <<<"$output" && break
done
[ "$try" -lt 10 ] || fail "no worker was killed in time: $output"
