#!/usr/bin/env bash
# Lets the sample record a link, and checks the form of what its tape would have cost: record.test.sh PROGRAM TROUPE README.md
set -uo pipefail
program=$1
troupe=$2
readme=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1

fail() {
  printf '%s\n' "$*"
  exit 1
}

{
  TROUPE_LOG=off timeout 60 "$program" record readings.tape || fail "it records nothing"
  timeout 60 "$troupe" tape cost --families msgpack,json --compressions none readings.tape || fail "the tape has no cost"
} >printed
cat printed
# Times differ from run to run, and the advice, which is behind the tables, depends on them. The tables have the README's form.
without_figures() {
  sed -E '/^#/,$d; s/[0-9]+[0-9.,]*//g; s/ +/ /g; s/ $//' | grep .
}
shown=$(awk '/^    [$] .*families_per_link record/ {on = 1; next} on && !/^(    |$)/ {exit} on && !/^    [$]/ {print substr($0, 5)}' "$readme")
diff <(without_figures <<<"$shown") <(without_figures <printed) || fail "README.md shows another form (<) than is printed (>)"
grep -q '^# For "hub", which sent to "plant" over link 1 ' printed || fail "no advice"
[ "$(stat -c %a readings.tape)" = 600 ] || fail "others can read the tape"
