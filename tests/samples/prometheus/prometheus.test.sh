#!/usr/bin/env bash
# Scrapes the sample as Prometheus does, until the sample has counted two answers: prometheus.test.sh PATH/TO/prometheus
set -uo pipefail

fail() {
  printf '%s\n' "$*"
  exit 1
}

coproc program { exec "$1" 127.0.0.1:0; }
process=$program_PID
trap 'kill "$process" 2>/dev/null' EXIT
read -r -t 30 line <&"${program[0]}" || fail "it does not start"
[[ $line =~ ^"serving http://127.0.0.1:"([0-9]+)"/metrics until Enter is pressed"$ ]] || fail "it says: $line"
port=${BASH_REMATCH[1]}

scrape() {
  exec {connection}<>"/dev/tcp/127.0.0.1/$port" || return 1
  printf 'GET /metrics HTTP/1.0\r\nHost: localhost\r\n\r\n' >&"$connection"
  timeout 10 cat <&"$connection" | tr -d '\r'
  exec {connection}>&-
}

deadline=$((SECONDS + 30))
until page=$(scrape) && grep -qxE 'troupe_link_messages_total\{link="roof",number="[0-9]+",direction="received"\} ([2-9]|[1-9][0-9]+)' <<<"$page"; do
  [ "$SECONDS" -lt "$deadline" ] || fail "two answers were not counted: $page"
  sleep 0.1
done
for line in 'HTTP/1.1 200 OK' 'troupe_node_up{node="station"} 1' 'troupe_links_open 1' \
  '# TYPE troupe_payloads_total counter'; do
  grep -qxF "$line" <<<"$page" || fail "the line '$line' is missing: $page"
done
grep -qE '^troupe_payloads_total\{family="typed",type="weather.reading",direction="received"\} ' <<<"$page" \
  || fail "payloads are missing: $page"

printf '\n' >&"${program[1]}"
wait "$process" || fail "it ends with status $?"
trap - EXIT
