#!/usr/bin/env bash
# Builds the exchange program from the tree of a frozen version, and runs the rolling upgrade between it and this version:
# rolling.test.sh FROZEN_FOLDER TEST_PROGRAM. Needs the history of the repository; without it the test is skipped (77).
# CMakeLists.txt lists the variables that it reads.
set -uo pipefail
here=$(CDPATH="" cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
root=$(CDPATH="" cd -- "$here/../../.." && pwd)
frozen=$1
test=$2
commit=$(<"$frozen/commit")

if ! git -C "$root" cat-file -e "$commit^{commit}" 2>/dev/null; then
  echo "skipped: this checkout does not have the commit $commit of $(basename "$frozen")"
  exit 77
fi

tree=$WORK/$(basename "$frozen")/tree
build=$WORK/$(basename "$frozen")/build
# So that ccache reuses results of this tree.
export CCACHE_BASEDIR=$tree CCACHE_NOHASHDIR=1
rm -rf "$tree"
mkdir -p "$tree"
trap 'rm -rf "$tree"' EXIT

fail() {
  printf '%s\n' "$*"
  exit 1
}
git -C "$root" archive "$commit" | tar -x -C "$tree" || fail "cannot unpack $commit"
cmake -S "$here" -B "$build" -G "$GENERATOR" -DTROUPE_TREE="$tree" -DCMAKE_BUILD_TYPE="$BUILD_TYPE" \
  -DCMAKE_CXX_FLAGS_DEBUG="$DEBUG_FLAGS" -DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=12 >"$build.log" 2>&1 ||
  fail "the earlier version does not configure: $(<"$build.log")"
cmake --build "$build" --parallel "$(nproc)" --target compat_exchange >"$build.log" 2>&1 ||
  fail "the earlier version does not build: $(tail -n 40 "$build.log")"
TROUPE_EARLIER_EXCHANGE=$build/compat_exchange "$test"
