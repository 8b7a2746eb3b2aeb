#!/usr/bin/env bash
# Lets the sample compare families, and checks the form of its table and its plot: compare.test.sh PROGRAM README.md
set -uo pipefail
program=$1
readme=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

fail() {
  printf '%s\n' "$*"
  exit 1
}

printed=$(TROUPE_LOG=off timeout 100 "$program" compare "$folder/readings.svg" 2>"$folder/errors") || fail "it fails: $(<"$folder/errors")"
printf '%s\n' "$printed"
! grep -q 'not measured' <<<"$printed" || fail "a row was not measured"
# The figures, and how many rounds they took, differ from run to run. The rest is what the README shows.
without_figures() {
  sed -E 's/[0-9.]+ (ns|us|ms|s|B|KiB|k|M)\b//g; s/\+-[0-9]+ %//g; s/ [0-9.]+( |$)/ /g; s/ +/ /g; s/ $//' | grep -vE ':|samples;' | grep .
}
shown=$(awk '/^    [$] .*families_per_link compare/ {on = 1; next} on && !/^(    |$)/ {exit} on {print substr($0, 5)}' "$readme")
diff <(without_figures <<<"$shown") <(without_figures <<<"$printed") || fail "README.md shows other rows (<) than are printed (>)"
grep -qE '^[a-z]+: (about as fast as|[0-9.]+ x faster than) [a-z]+ and ' <<<"$printed" || fail "no advice"
if command -v gnuplot >/dev/null; then
  grep -q '</svg>' "$folder/readings.svg" || fail "no plot: $(<"$folder/errors")"
else
  grep -q 'gnuplot-nox' "$folder/errors" || fail "it does not say what the plot needs: $(<"$folder/errors")"
fi
