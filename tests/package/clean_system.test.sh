#!/usr/bin/env bash
# Installs the Debian packages of $SHARED/packages on a clean system, builds samples/hello against them there, and runs both
# ends: clean_system.test.sh [SUITE]. The default suite is this machine's. It needs root, debootstrap, and apt's configured
# sources. Without one of them, it ends with status 77, which means "skipped".
set -uo pipefail
root=$(CDPATH="" cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)
system=$WORK/clean_system
# shellcheck disable=SC1091 # The file is this machine's.
suite=${1:-$(. /etc/os-release && printf '%s' "${VERSION_CODENAME:-}")}

fail() {
  printf '%s\n' "$*"
  exit 1
}
skip() {
  printf 'skipped: %s\n' "$*"
  exit 77
}

[ "$(id -u)" = 0 ] || skip "making a system needs root"
command -v debootstrap >/dev/null || skip "there is no debootstrap; apt-get install debootstrap"
mirror=$(apt-get indextargets --format '$(REPO_URI)' "Codename: $suite" 2>/dev/null | head -n 1)
[ -n "$mirror" ] || mirror=$(apt-get indextargets --format '$(REPO_URI)' 2>/dev/null | grep -E '/debian/?$' | head -n 1)
[ -n "$mirror" ] || skip "apt has no source of $suite"
http_proxy=$(apt-config shell proxy Acquire::http::Proxy | sed -n "s/^proxy='\(.*\)'/\1/p")
[ -z "$http_proxy" ] || export http_proxy

# inside COMMAND: runs the command on the clean system, with its own /proc and /dev/shm, which end with the command.
inside() {
  unshare --mount --pid --fork bash -c '
    mount -t proc proc "$0/proc" && mount -t tmpfs tmpfs "$0/dev/shm" || exit 78
    exec chroot "$0" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive http_proxy="$1" \
      bash -c "$2"' "$system" "$http_proxy" "$1"
}

rm -rf "$system"
trap 'rm -rf "$system"' EXIT
mkdir -p "$system"
if ! debootstrap --variant=minbase "$suite" "$system" "$mirror" >"$WORK/debootstrap.log" 2>&1; then
  grep -qE "Failed getting release|Couldn't download" "$WORK/debootstrap.log" && skip "apt's source of $suite cannot be reached"
  fail "debootstrap fails: $(tail -n 20 "$WORK/debootstrap.log")"
fi
inside true
[ $? -ne 78 ] || skip "file systems cannot be mounted here"

mkdir "$system/packages"
cp "$SHARED"/packages/*.deb "$system/packages"
cp -r "$root/samples/hello" "$system/hello"
cp "$root/tests/samples/hello/hello.test.sh" "$system/hello"
installed=$(inside 'apt-get -qq update && apt-get -qq install -y --no-install-recommends /packages/*.deb g++ cmake make' 2>&1) \
  || fail "the packages do not install: $(tail -n 20 <<<"$installed")"
built=$(inside 'cmake -S /hello -B /build && cmake --build /build' 2>&1) || fail "hello does not build: $(tail -n 20 <<<"$built")"
inside '/hello/hello.test.sh /build/hello' || fail "hello fails"
inside 'troupe store stores && troupe --help-all >/dev/null' || fail "the command fails"
removed=$(inside 'apt-get -qq purge -y "libtroupe*" troupe-tools && ! ls -d /usr/include/troupe /usr/lib/*/libtroupe* /usr/bin/troupe 2>/dev/null' 2>&1) \
  || fail "removing leaves something: $removed"
printf '%s: installed, built, run and removed\n' "$suite"
