#!/usr/bin/env bash
# Passes if a source does not compile, and the compiler explains the reason in few lines:
#   refused_source.sh TEXT FIRST_MAX LINES_MAX COMPILER ARGUMENT...
# TEXT must occur in the output. The first error is within FIRST_MAX lines, and the whole output has at most LINES_MAX lines.
set -uo pipefail
text=$1
first_max=$2
lines_max=$3
shift 3
if output=$(LC_ALL=C "$@" 2>&1); then
  echo "it compiles"
  exit 1
fi
printf '%s\n' "$output"
first=$(grep -n 'error: ' <<<"$output" | head -n 1 | cut -d : -f 1)
lines=$(wc -l <<<"$output")
grep -qF -- "$text" <<<"$output" || { echo "the output lacks: $text"; exit 1; }
[ "${first:-0}" -ge 1 ] && [ "$first" -le "$first_max" ] || { echo "the first error is in line ${first:-none}, limit $first_max"; exit 1; }
[ "$lines" -le "$lines_max" ] || { echo "$lines lines, limit $lines_max"; exit 1; }
