#!/usr/bin/env bash
# Runs the sample's CI step on the released contract, and on contracts that the program breaks:
# contract.test.sh PATH/TO/samples/contract PATH/TO/troupe PATH/TO/shop
set -uo pipefail
sample=$1
troupe=$2
shop=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

fail() {
  printf '%s\n' "$*"
  exit 1
}

# expect STATUS LINE SED-SCRIPT: checks the step's answer if the released contract is changed by the sed script.
expect() {
  local output status=0
  sed "$3" "$sample/released.contract" >"$folder/older"
  output=$("$sample/check" "$troupe" "$shop" "$folder/older" 2>&1) || status=$?
  printf '%s\n' "$output"
  [ "$status" -eq "$1" ] || fail "status $status instead of $1 for $3"
  [ -z "$2" ] || grep -qxF -- "$2" <<<"$output" || fail "the line '$2' is missing for $3"
}

output=$("$sample/check" "$troupe" "$shop") || fail "the committed contract is broken: $output"
[ -z "$output" ] || fail "released.contract is not what the program says: $output"

expect 0 'harmless: shop.order.cents: is new: older peers skip it, and theirs has its default' '/\.cents: /d'
expect 0 'depends on values: shop.order.paid_by.card: the value is new: older peers refuse it' '/\.card: /d'
expect 1 'breaking: shop.order.cents: text became i64: neither end reads values of the other' 's/\.cents: i64/.cents: text/'
expect 1 'breaking: shop.invoice: is removed: values of it from older peers are refused' 's/shop.order/shop.invoice/'
expect 2 '' 's/troupe contract 1/something else/'
"$troupe" contract check --strict "$folder/older" "$sample/released.contract" 2>/dev/null && fail "nonsense is no contract"
sed '/\.card: /d' "$sample/released.contract" >"$folder/older"
"$troupe" contract check --strict "$folder/older" "$sample/released.contract" && fail "--strict has no effect"
json=$("$troupe" contract check --json "$folder/older" "$sample/released.contract") || fail "--json changes the status"
grep -q '"effect": "depends on values"' <<<"$json" || fail "--json says: $json"
[ "$("$troupe" contract check --json "$sample/released.contract" "$sample/released.contract")" = '{
  "changes": []
}' ] || fail "--json has no empty list"
"$troupe" contract check "$folder/nowhere" "$sample/released.contract" 2>/dev/null
[ $? -eq 2 ] || fail "a file that is not there has another status than 2"
exit 0
