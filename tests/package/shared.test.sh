#!/usr/bin/env bash
# Builds the shared libraries in $SHARED and their Debian packages, and checks both:
# shared.test.sh build|names|programs|packages. CMakeLists.txt lists the variables that it reads.
set -uo pipefail
root=$(CDPATH="" cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)
prefix=$WORK/shared
# So that ccache reuses results of the static libraries; cmake/prepare sets the same variables.
export CCACHE_BASEDIR=$root CCACHE_NOHASHDIR=1

fail() {
  printf '%s\n' "$*"
  exit 1
}

# build_shared ON|OFF: builds for packages of the distribution (ON), or for a prefix that can be moved (OFF).
build_shared() {
  cmake --preset package -S "$root" -B "$SHARED" -DTROUPE_FOR_PACKAGES="$1" -DCMAKE_CXX_COMPILER="$CXX" >"$WORK/shared.log" 2>&1 \
    || fail "the shared libraries do not configure: $(<"$WORK/shared.log")"
  cmake --build "$SHARED" --parallel 2 >"$WORK/shared.log" 2>&1 \
    || fail "the shared libraries do not build: $(tail -n 40 "$WORK/shared.log")"
}

version=$(sed -n 's/^#define TROUPE_VERSION "\(.*\)"/\1/p' "$root/base/version.hpp")
so_version=${version%.*}

case $1 in
build)
  mkdir -p "$WORK"
  rm -rf "$prefix" "$WORK/installed_shared"
  build_shared OFF
  cmake --install "$SHARED" --prefix "$WORK/installed_shared" >"$WORK/install.log" || fail "installing fails"
  mv "$WORK/installed_shared" "$prefix"
  ;;

names) # Checks the names of the libraries and of their symbols, and that the libraries find each other.
  libraries=$(find "$prefix" -name "libtroupe_*.so.$version")
  [ "$(wc -l <<<"$libraries")" -ge 3 ] || fail "libraries are missing: $libraries"
  # A declaration may take several lines.
  find "$prefix/include/troupe" -name '*.hpp' -exec cat {} + | tr '\n' ' ' | grep -oE 'TROUPE_EXPORT[^;{]*' >"$WORK/exported"
  for library in $libraries; do
    name=$(basename "$library" ".so.$version")
    [ -e "$(dirname "$library")/$name.so.$so_version" ] || fail "$name.so.$so_version is missing"
    soname=$(readelf -d "$library" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')
    [ "$soname" = "$name.so.$so_version" ] || fail "$library is called $soname"
    names=$(nm -D --defined-only --without-symbol-versions "$library" | awk '$2 != "A" {print $3}')
    others=$(grep -vE '^_Z(T[ISVT]|GV)?N[KRO]*6troupe' <<<"$names") && fail "$name shows names of others: $others"
    # A library may export an internal name only if an installed header declares it with TROUPE_EXPORT, because a template
    # of a public header calls it.
    unknown=""
    internal=$(grep -E '^_Z(T[ISVT]|GV)?N[KRO]*6troupe(5store)?8internal' <<<"$names" | c++filt)
    while IFS= read -r shown; do
      [ -n "$shown" ] || continue
      identifier=$(sed -E 's/^(vtable|typeinfo|typeinfo name|VTT) for //; s/.*internal::([a-zA-Z_0-9]+).*/\1/' <<<"$shown")
      grep -qw "$identifier" "$WORK/exported" || unknown+="$shown"$'\n'
    done <<<"$internal"
    [ -z "$unknown" ] || fail "$name shows what no installed header exports: $unknown"
    printf '%s: %s names, %s of them internal\n' "$name" "$(wc -l <<<"$names")" "$(grep -c . <<<"$internal")"
  done
  output=$("$prefix/bin/troupe" --help) || fail "the command does not find its libraries: $output"
  [[ $(ldd "$prefix/bin/troupe") == *"libtroupe_framework.so.$so_version => $prefix"* ]] || fail "the command does without them"
  ;;

programs) # Runs both ends of hello, and loads a family at run time.
  for sample in hello own_family; do
    cmake -S "$root/samples/$sample" -B "$WORK/shared_$sample" -G "$GENERATOR" -DCMAKE_PREFIX_PATH="$prefix" \
      -DCMAKE_EXE_LINKER_FLAGS=-Wl,--no-undefined >"$WORK/$sample.log" 2>&1 || fail "$sample does not configure: $(<"$WORK/$sample.log")"
    cmake --build "$WORK/shared_$sample" --parallel 2 >"$WORK/$sample.log" 2>&1 || fail "$sample does not build: $(<"$WORK/$sample.log")"
    [[ $(readelf -d "$WORK/shared_$sample/$sample") == *"libtroupe_serializers.so.$so_version"* ]] || fail "$sample does without the shared libraries"
  done
  output=$("$root/tests/samples/hello/hello.test.sh" "$WORK/shared_hello/hello") || fail "hello: $output"
  cd "$WORK/shared_own_family" || exit 1
  for arguments in "" ./liblines.so; do
    # shellcheck disable=SC2086 # Zero or one argument.
    output=$(TROUPE_SERIALIZE_VERBOSE=1 timeout 30 ./own_family $arguments 2>trace) || fail "'$arguments' fails: $(<trace)"
    grep -qx "troupe: decode 'own_family.report' by lines: 1 frames" trace || fail "'$arguments' prints: $output $(<trace)"
  done
  ;;

packages) # Checks the packages that `cpack` makes, without installing them.
  build_shared ON
  rm -rf "$SHARED/packages"
  (cd "$SHARED" && cpack -G DEB) >"$WORK/cpack.log" 2>&1 || fail "cpack fails: $(<"$WORK/cpack.log")"
  cd "$SHARED/packages" || exit 1
  for name in "libtroupe$so_version" libtroupe-dev troupe-tools; do
    [ "$(find . -name "${name}_${version}_*.deb" | wc -l)" = 1 ] || fail "there is no package $name: $(ls)"
  done
  for package in *.deb; do
    contents=$(dpkg-deb -c "$package") || fail "$package cannot be read"
    grep -vE '^(-rw-r--r--|-rwxr-xr-x|drwxr-xr-x|lrwxrwxrwx) root/root ' <<<"$contents" && fail "$package has rights of its own"
    grep -vE ' \./(usr/.*)?$| \./usr/.* -> ' <<<"$contents" && fail "$package has files outside of /usr"
    grep -qE "/usr/share/doc/${package%%_*}/copyright$" <<<"$contents" || fail "$package has no copyright file"
    [ "$(dpkg-deb -f "$package" Version)" = "$version" ] || fail "$package has another version"
    depends=$(dpkg-deb -f "$package" Depends)
    [[ $depends == *libtroupe$so_version\ \(=\ $version\)* || $package == libtroupe"$so_version"_* ]] || fail "$package depends on: $depends"
    [[ $(dpkg-deb --ctrl-tarfile "$package" | tar -t) == *md5sums* ]] || fail "$package has no checksums"
  done
  depends=$(dpkg-deb -f "libtroupe$so_version"_*.deb Depends)
  [[ $depends == *libcaf-core0.17* && $depends == *libssl3* && $depends == *libstdc++6* ]] || fail "the libraries depend on: $depends"
  [[ $(dpkg-deb -f libtroupe-dev_*.deb Depends) == *libcaf-dev* ]] || fail "libtroupe-dev does without libcaf-dev"
  # holds PACKAGE FILES...: fails if the package lacks one of these files. They are patterns, relative to /usr.
  holds() {
    local package=$1 contents file
    contents=$(dpkg-deb -c "$package"_*.deb)
    shift
    for file in "$@"; do
      grep -q " ./usr/$file" <<<"$contents" || fail "$package lacks $file"
    done
  }
  holds "libtroupe$so_version" "lib/.*/libtroupe_framework.so.$version" "lib/.*/libtroupe_store.so.$so_version -> "
  holds troupe-tools bin/troupe share/man/man1/troupe.1.gz share/bash-completion/completions/troupe share/zsh share/fish
  holds libtroupe-dev include/troupe/framework/node.hpp 'lib/.*/cmake/troupe/troupeConfig.cmake' \
    'lib/.*/pkgconfig/troupe.pc' 'lib/.*/libtroupe_store.so ->'
  contents=$(dpkg-deb -c "libtroupe$so_version"_*.deb)
  grep -E '\.hpp|\.so$|\.so -> |/bin/' <<<"$contents" && fail "the libraries' package holds what programs are built with"
  dpkg-deb -x troupe-tools_*.deb "$WORK/tools"
  readelf -d "$WORK/tools/usr/bin/troupe" | grep -E 'RPATH|RUNPATH' && fail "the packaged command has a search path"
  ls
  ;;

*) fail "shared.test.sh build|names|programs|packages" ;;
esac
