#!/usr/bin/env bash
# Checks the source tree: the dependencies between folders, that a target names each source, and that the README shows
# the sample as it is. Prints each breach. Ends with status 1 if there is one.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

breaches=0
breach() {
  printf '%s\n' "$*"
  breaches=$((breaches + 1))
}

# may_include FOLDER PATTERN: all of the folder's includes from the project must match the pattern.
may_include() {
  local line
  while IFS= read -r line; do
    [ -n "$line" ] && breach "forbidden include: $line"
  done < <(grep -rnoE '#include <troupe/[^>]*>' "$1" --include='*.hpp' --include='*.cpp' | grep -vE "#include <troupe/($2)")
}
may_include base 'base/'
may_include certificates 'certificates/'
may_include processes 'processes/'
may_include store 'store/|base/'
may_include serializers 'serializers/|base/'
may_include framework 'framework/|serializers/|store/|base/|processes/'

# check_rooms FOLDER ROOM...: each room of a folder may include itself and the rooms before it, so that a reader who knows
# these needs no others. The folder may contain only rooms.
check_rooms() {
  local in=$1 allowed='' room line
  shift
  for room in "$@"; do
    allowed+="${allowed:+|}$room"
    while IFS= read -r line; do
      [ -n "$line" ] && breach "forbidden include of a room behind it: $line"
    done < <(find "$in/$room" -maxdepth 1 -name '*.[hc]pp' -exec grep -noHE "#include <troupe/$in/[^>]*>" {} + |
      grep -vE "#include <troupe/$in/($allowed)/[^/]*>")
  done
  while IFS= read -r line; do
    case " $* " in
      *" ${line#"$in"/} "*) ;;
      *) breach "no room, or in none: $line" ;;
    esac
  done < <(find "$in" -mindepth 1 -type d -o -type f -path "$in/*" -not -path "$in/*/*")
}
check_rooms framework/internal words threads handles wire tape traces watch trust flow net objects caf_port caf_port/actors config link lasting node workers supervision
check_rooms serializers/internal words shape coding visit typed payload diagnose registry
check_rooms store/internal host table files liveness spill attachment
check_rooms framework/gateway/internal words access messages objects view view/page server
check_rooms framework/cluster/internal address watching etcd host members fixed dns membership ownership entities inspection draining join
# Only caf_port/ and the public headers may include CAF. link/, lasting/ and node/ include the headers of caf_port/.
for room in words threads handles wire tape traces watch trust flow net objects config link lasting node workers supervision; do
  while IFS= read -r line; do
    [ -n "$line" ] && breach "includes CAF, which only caf_port/ may: $line"
  done < <(grep -rn '#include <caf/' framework/internal/$room)
done
while IFS= read -r line; do
  [ -n "$line" ] && breach "looks into CAF's messages, for which caf_port/message_view.hpp is there: $line"
done < <(grep -rnE 'caf::(type_erased_tuple|rtti_pair|make_type_token|exit_msg|down_msg|attachable)' framework/internal/link framework/internal/lasting framework/internal/node)

while IFS= read -r line; do
  [ -n "$line" ] && breach "includes processes/, which only internal/workers/ may: $line"
done < <(grep -rn '#include <troupe/processes/' framework | grep -v '^framework/internal/workers/')

for folder in samples bench tools; do
  if [ -d "$folder" ]; then
    support=$([ "$folder" = samples ] || echo '|certificates|processes')
    may_include "$folder" "(base|framework|serializers|store$support)/[^/]*\.hpp|(framework/(bench|caf_family|cluster|gateway|otlp|prometheus)|serializers/(cereal|extend|json|msgpack|protobuf))/|troupe\.hpp"
  fi
done
while IFS= read -r line; do
  [ -n "$line" ] && breach "a component includes internal headers: $line"
done < <(grep -rnE '#include <troupe/([a-z]+/)+internal/' framework/otlp framework/prometheus framework/cluster framework/bench framework/gateway |
  grep -vE '<troupe/framework/(cluster|gateway)/internal/')
while IFS= read -r line; do
  [ -n "$line" ] && breach "mixes Boost's Asio, which only gateway/internal/server may include, with others: $line"
done < <(grep -rnE '#include <boost/(asio|beast)' framework --include='*.hpp' --include='*.cpp' | grep -v '^framework/gateway/internal/server/boost_net.hpp:'
  grep -rnE '#include <asio' framework/gateway)
for folder in store serializers; do
  while IFS= read -r line; do
    [ -n "$line" ] && breach "knows CAF: $line"
  done < <(grep -rn '#include <caf/' "$folder")
done

# A CMakeLists.txt in the source's folder or above it must name each source, with or without its ending.
while IFS= read -r source; do
  folder=$(dirname "$source")
  name=${source#"$folder"/}
  name=${name%.test.cpp}
  known=0
  while :; do
    if [ -f "$folder/CMakeLists.txt" ] && grep -qF -- "$name" "$folder/CMakeLists.txt"; then
      known=1
      break
    fi
    [ "$folder" = . ] || [ "$folder" = "${folder#*/}" ] && break
    name=$(basename "$folder")/$name
    folder=$(dirname "$folder")
  done
  [ "$known" = 1 ] || breach "in no target: $source"
done < <(find base certificates processes framework serializers store samples tests bench tools -name '*.cpp' 2>/dev/null)

# The first program in the README must be the sample.
shown=$(sed -n '/^```cpp$/,/^```$/{p;/^```$/q}' README.md | sed '1d;$d')
built=$(cat samples/first/first.cpp)
[ "$shown" = "$built" ] || breach "README.md does not show samples/first/first.cpp as it is"

[ "$breaches" = 0 ] || { printf '%s breaches\n' "$breaches"; exit 1; }
echo "the tree is tidy"
