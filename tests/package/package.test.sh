#!/usr/bin/env bash
# Installs the build in $BUILD below $WORK and uses it from there: package.test.sh install|own_family|compare|samples|headers|pkg_config|remove.
# CMakeLists.txt lists the variables that it reads.
set -uo pipefail
root=$(CDPATH="" cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)
prefix=$WORK/prefix
# So that ccache reuses results from other folders.
export CCACHE_BASEDIR=$root CCACHE_NOHASHDIR=1

fail() {
  printf '%s\n' "$*"
  exit 1
}

# build SOURCES NAME [TARGET]: configures and builds a project against the package, in $WORK/NAME.
build() {
  cmake -S "$1" -B "$WORK/$2" -G "$GENERATOR" -DCMAKE_BUILD_TYPE="$BUILD_TYPE" -DCMAKE_PREFIX_PATH="$prefix" \
    >"$WORK/$2.log" 2>&1 || fail "$2 does not configure: $(<"$WORK/$2.log")"
  cmake --build "$WORK/$2" --parallel 2 >"$WORK/$2.log" 2>&1 || fail "$2 does not build: $(<"$WORK/$2.log")"
}

case $1 in
install)
  rm -rf "$WORK"
  mkdir -p "$WORK"
  cmake --install "$BUILD" --prefix "$WORK/installed" >"$WORK/install.log" || fail "installing fails"
  mv "$WORK/installed" "$prefix" # Nothing may depend on the place of installation.
  folder=$(dirname "$(find "$prefix" -name troupeConfig.cmake)")
  [ -f "$folder/troupeConfigVersion.cmake" ] || fail "no version file"
  if paths=$(grep -rnE "/usr/|$root|$BUILD|$WORK" "$folder"); then
    fail "paths of the machine that built it: $paths"
  fi
  documents=$prefix/share/doc/troupe
  for document in README.md framework/guides/README.md framework/guides/overview.svg framework/options.md \
    serializers/README.md samples/hello/hello.cpp samples/hello/README.md; do
    [ -f "$documents/$document" ] || fail "$document is not installed"
  done
  ;;

own_family)
  source=$root/samples/own_family
  lines=$(wc -l <"$source/own_family.cpp")
  [ "$lines" -lt 80 ] || fail "the sample has $lines lines; it promises fewer than 80"
  build "$source" own_family
  cd "$WORK/own_family" || exit 1
  expected='lines: {station: "hill", readings: [{sensor: "roof", celsius: 21.5}, {sensor: "cellar", celsius: -3}]}'

  for arguments in "" ./liblines.so; do
    # shellcheck disable=SC2086 # Zero or one argument.
    output=$(TROUPE_SERIALIZE_VERBOSE=1 timeout 30 ./own_family $arguments 2>trace) || fail "'$arguments' fails: $(<trace)"
    [ "$output" = "$expected" ] || fail "'$arguments' prints: $output"
    grep -qx "troupe: encode 'own_family.report' by lines: 1 frames" trace || fail "'$arguments' used another family"
    grep -qx "troupe: decode 'own_family.report' by lines: 1 frames" trace || fail "'$arguments' decoded by another family"
  done

  # If the program cannot load the family's library, it must report that.
  if output=$(timeout 30 ./own_family ./libnothing.so 2>&1); then
    fail "it does without its library"
  fi
  [[ $output == *"libnothing.so: there is no such file"* ]] || fail "it says: $output"
  ;;

compare) # The component may be left out of a build.
  if [ -z "$(find "$prefix" -name 'troupe_bench.cmake')" ]; then
    exit 77
  fi
  build "$root/tests/package/compare" compare
  output=$(TROUPE_LOG=off timeout 60 "$WORK/compare/compare") || fail "it fails: $output"
  for row in "typed +none" "unix +typed" "store +json"; do
    grep -qE "^$row" <<<"$output" || fail "no row '$row': $output"
  done
  grep -qE '^(typed|json): .* (typed|json) and .* bytes' <<<"$output" || fail "no advice: $output"
  ;;

samples) # Builds all at once, not optimized, to save time. Then configures each folder as a separate project.
  samples=$prefix/share/doc/troupe/samples # The installed samples.
  BUILD_TYPE="" build "$samples" samples
  for name in families_per_link locked out_of_band; do
    output=$("$root/tests/samples/as_shown.test.sh" "$samples/$name/README.md" "$WORK/samples/$name/$name") \
      || fail "$name against the package: $output"
  done
  built=$(find "$WORK/samples" -mindepth 2 -maxdepth 2 -type f -executable -not -name '*.so' -not -path '*/CMakeFiles/*' | wc -l)
  [ "$built" -ge 12 ] || fail "there are only $built programs: $(ls "$WORK/samples"/*)"
  for folder in "$samples"/*/; do
    name=$(basename "$folder")
    [ -d "$WORK/samples/$name" ] || continue # Left out: it needs a library that is not installed.
    cmake -S "$folder" -B "$WORK/alone/$name" -G "$GENERATOR" -DCMAKE_PREFIX_PATH="$prefix" >"$WORK/alone.log" 2>&1 \
      || fail "$name does not configure alone: $(<"$WORK/alone.log")"
  done
  ;;

headers)
  mkdir -p "$WORK/every_header"
  (cd "$prefix/include" && find troupe -name '*.hpp' -not -path '*/internal/*') >"$WORK/public_headers"
  [ "$(wc -l <"$WORK/public_headers")" -gt 50 ] || fail "headers are missing: $(<"$WORK/public_headers")"
  while IFS= read -r header; do
    printf '#include <%s>\n' "$header" >"$WORK/every_header/${header//\//.}.cpp"
  done <"$WORK/public_headers"
  build "$root/tests/package/headers" headers
  ;;

pkg_config) # Each file must be complete, and hello must need no other flags.
  PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name troupe.pc)")
  export PKG_CONFIG_PATH
  for file in "$PKG_CONFIG_PATH"/*.pc; do
    flags=$(pkg-config --cflags --libs "$(basename "$file" .pc)" 2>&1) || fail "$file: $flags"
    [[ $flags == *"$prefix"* ]] || fail "$file names no folder of the prefix: $flags"
    if names=$(grep -nE "/usr/|$root|$BUILD|@" "$file"); then
      fail "paths of the machine that built it: $names"
    fi
  done
  read -ra own_flags <<<"$CXXFLAGS"
  read -ra compiling <<<"$CMAKE_CXX_COMPILER_LAUNCHER $CXX"
  read -ra flags < <(pkg-config --cflags troupe)
  "${compiling[@]}" "${own_flags[@]}" "${flags[@]}" -c "$root/samples/hello/hello.cpp" -o "$WORK/hello.o" \
    || fail "hello does not compile with ${flags[*]}"
  read -ra flags < <(pkg-config --libs troupe)
  "$CXX" "${own_flags[@]}" "$WORK/hello.o" "${flags[@]}" -o "$WORK/hello" || fail "hello does not link with ${flags[*]}"
  "$root/tests/samples/hello/hello.test.sh" "$WORK/hello" || fail "hello fails"
  ;;

remove) rm -rf "$WORK" ;;
*) fail "package.test.sh install|own_family|compare|samples|headers|pkg_config|remove" ;;
esac
