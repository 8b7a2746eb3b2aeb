#!/usr/bin/env bash
# Runs a sample and compares its output with the output that its README.md shows below the line that starts it:
#   as_shown.test.sh README.md PROGRAM            one process
#   as_shown.test.sh README.md PROGRAM serve      two processes: `PROGRAM serve ADDRESS`, then `PROGRAM ADDRESS`, whose
#                                                 output is shown
# The line in README.md ends with the program's name.
set -uo pipefail
readme=$1
program=$2
name=$(basename "$program")
export TROUPE_LOG=off
arguments=()

fail() {
  printf '%s\n' "$*"
  exit 1
}

# Replaces the parts that differ from run to run: process numbers (also in names), objects, and the folder of the source.
steady() {
  sed -E 's# +$##; s#@([a-z_]+)-[0-9]+#@\1-1#g; s#process [0-9]+#process 1#; s#object [0-9a-f]+-#object 1-#;
          s#\([^ (]*/([a-z_]+\.cpp:)#(\1#'
}

if [ "${3:-}" = serve ]; then
  arguments=("unix://@$name-test-$$")
  coproc server { exec "$program" serve "${arguments[0]}"; }
  server_process=$server_PID
  trap 'kill "$server_process" 2>/dev/null' EXIT
  read -r -t 30 line <&"${server[0]}" || fail "the server does not start"
  [ "$line" = "serving until Enter is pressed" ] || fail "the server says: $line"
fi

shown=$(awk -v ends="/$name\$" '$0 ~ "^    [$] .*" ends {on = 1; next} on && !/^(    |$)/ {exit} on && /^    [$]/ {exit}
                                on {print substr($0, 5)}' "$readme" | steady)
[ -n "$shown" ] || fail "$readme shows nothing"
printed=$(timeout 60 "$program" "${arguments[@]}" | steady) || fail "$name fails: $printed"
diff <(printf '%s\n' "$shown") <(printf '%s\n' "$printed") || fail "README.md shows something else (<) than is printed (>)"

if [ "${3:-}" = serve ]; then
  printf '\n' >&"${server[1]}"
  wait "$server_process" || fail "the server ends with status $?"
  trap - EXIT
fi
