#include <troupe/framework/internal/watch/watched_events.hpp>

#include <algorithm>
#include <optional>
#include <utility>

#include <troupe/base/text.hpp>

namespace troupe::internal {

namespace {

constexpr std::size_t watched_types_max = 16;

std::string name_of_kind(span_kind kind) {
  switch (kind) {
  case span_kind::server:
    return "server";
  case span_kind::client:
    return "client";
  case span_kind::producer:
    return "producer";
  case span_kind::consumer:
    return "consumer";
  }
  return {};
}

std::int64_t nanoseconds_or_unknown(const std::optional<std::chrono::nanoseconds>& time) {
  return time ? time->count() : -1;
}

template <class Row, class From>
void add_if_kept(recent_list<Row>& to, const From& what) noexcept {
  if (!to.is_kept())
    return;
  try {
    to.add(watched(what));
  } catch (...) { // No memory.
  }
}

std::int64_t unix_us(std::chrono::system_clock::time_point at) {
  return std::chrono::duration_cast<std::chrono::microseconds>(at.time_since_epoch()).count();
}

} // namespace

std::string watched_text(std::string_view text) {
  return one_line(text, watched_text_bytes_max);
}

std::int64_t unix_ms(std::chrono::system_clock::time_point at) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(at.time_since_epoch()).count();
}

letter_activity watched(const dead_letter& letter) {
  letter_activity result{.number = 0,
                         .at_ms = unix_ms(std::chrono::system_clock::now()),
                         .peer = watched_text(letter.peer),
                         .link = letter.link,
                         .has_arrived = letter.has_arrived,
                         .is_request = letter.is_request,
                         .reason = to_string(letter.reason),
                         .text = watched_text(letter.reason_text),
                         .types = {}};
  for (std::size_t i = 0; i < std::min(letter.types.size(), watched_types_max); ++i)
    result.types.push_back(watched_text(letter.types[i]));
  return result;
}

span_activity watched(const span& what) {
  return {.number = 0,
          .trace = hex_of(what.trace),
          .id = hex_of(what.id),
          .parent = what.parent == span_id{} ? std::string{} : hex_of(what.parent),
          .kind = name_of_kind(what.kind),
          .name = watched_text(what.name),
          .types = watched_text(what.types),
          .start_us = unix_us(what.start),
          .duration_us = unix_us(what.end) - unix_us(what.start),
          .wire_ns = nanoseconds_or_unknown(what.wire_time),
          .decode_ns = nanoseconds_or_unknown(what.decode_time),
          .queue_ns = nanoseconds_or_unknown(what.queue_time),
          .handler_ns = nanoseconds_or_unknown(what.handler_time),
          .peer = watched_text(what.peer),
          .link = what.link,
          .actor = what.actor,
          .bytes = what.bytes,
          .family = what.family,
          .error = watched_text(what.error)};
}

void watched_letters::see(const dead_letter& letter) noexcept {
  add_if_kept(list_, letter);
}

void watched_spans::see(const span& what) noexcept {
  add_if_kept(list_, what);
}

} // namespace troupe::internal
