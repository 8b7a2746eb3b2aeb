#!/usr/bin/env bash
# The sample's nodes find each other, the singleton moves when its node is killed, and nothing is left:
#   cluster.test.sh PATH/TO/cluster                        without a server
#   cluster.test.sh PATH/TO/cluster PATH/TO/run BUILD      with an etcd, which BUILD/etcd has
set -uo pipefail
cluster=$1
TROUPE_STATE_DIR=$(mktemp -d)
export TROUPE_STATE_DIR
trap 'rm -rf "$TROUPE_STATE_DIR"' EXIT

fail() {
  printf '%s\n' "$*"
  exit 1
}

if [ $# -gt 1 ]; then
  # The run has a folder for temporary files of its own, and must leave nothing there.
  temporary=$TROUPE_STATE_DIR/temporary
  mkdir "$temporary"
  output=$(TMPDIR=$temporary TROUPE_SAMPLE_BUILD=$3 timeout 100 "$2" 2>/dev/null) || fail "it fails with status $?: $output"
else
  output=$(timeout 60 "$cluster" 2>/dev/null) || fail "it fails with status $?: $output"
fi
[ "$(grep -cE '^hello Ada, this is node [abc]: 10 times$' <<<"$output")" = 3 ] || fail "not each node greets in turn: $output"
[ "$(sed -n 1p <<<"$output")" = "4 members" ] && [ "$(tail -n 1 <<<"$output")" = "3 members" ] || fail "other members: $output"
mapfile -t fences < <(sed -nE 's/^ticket ([0-9]+)-[0-9]+ from node [abc]$/\1/p' <<<"$output")
[ "${#fences[@]}" = 3 ] || fail "it gives ${#fences[@]} tickets: $output"
[ "${fences[0]}" = "${fences[1]}" ] && [ "${fences[2]}" -gt "${fences[1]}" ] || fail "the fencing numbers do not rise: $output"
owner=$(sed -nE 's/^node ([abc]) is killed$/\1/p' <<<"$output")
grep -qE "^ticket ${fences[2]}-1 from node [^$owner]$" <<<"$output" || fail "the killed node still gives tickets: $output"
if [ $# -gt 1 ]; then
  rmdir "$temporary" || fail "the run leaves files: $(ls -A "$temporary")"
  left=$(pgrep -f "data-dir $temporary") && fail "its etcd is left: $left"
fi
left=$(pgrep -f "^$(readlink -f "$cluster") node ") && fail "processes are left: $left"
exit 0
