#include <troupe/framework/internal/wire/message_trace.hpp>

#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>

#include <troupe/framework/internal/wire/message_extensions.hpp>

namespace troupe::internal {

namespace {

using wall_clock = std::chrono::system_clock;
using std::chrono::microseconds;

bytes_view entry_of(std::string_view text) {
  return std::as_bytes(std::span{text});
}

std::string_view entry_text(std::optional<bytes_view> value) {
  return value ? std::string_view{reinterpret_cast<const char*>(value->data()), value->size()} : std::string_view{};
}

std::optional<bytes_view> find_entry(bytes_view map, extension_key key) {
  return map.empty() ? std::nullopt : find_extension(map, static_cast<std::uint64_t>(key));
}

void append_entry(byte_vector& map, extension_key key, bytes_view value) {
  append_extension(map, static_cast<std::uint64_t>(key), value);
}

std::array<std::byte, sizeof(std::uint64_t)> entry_of(wall_clock::time_point at) {
  const auto number = std::chrono::duration_cast<microseconds>(at.time_since_epoch()).count();
  return std::bit_cast<std::array<std::byte, sizeof(std::uint64_t)>>(static_cast<std::uint64_t>(number));
}

std::optional<wall_clock::time_point> read_time(std::optional<bytes_view> value) {
  constexpr std::uint64_t far = 253'402'300'800'000'000; // The year 10,000, in microseconds.
  std::uint64_t number = 0;
  if (!value || value->size() != sizeof(number))
    return std::nullopt;
  std::memcpy(&number, value->data(), sizeof(number));
  if (number >= std::min(far, static_cast<std::uint64_t>(
                                  std::chrono::duration_cast<microseconds>(wall_clock::duration::max()).count())))
    return std::nullopt;
  return wall_clock::time_point{microseconds{static_cast<std::int64_t>(number)}};
}

bool is_of_trace(std::uint64_t key) {
  return key >= static_cast<std::uint64_t>(extension_key::traceparent)
         && key <= static_cast<std::uint64_t>(extension_key::sent_at);
}

} // namespace

bool has_trace(bytes_view map) {
  return find_entry(map, extension_key::traceparent).has_value();
}

trace_entries read_trace(bytes_view map) {
  std::array<std::optional<bytes_view>, 4> found;
  each_extension(map, [&](std::uint64_t key, bytes_view value) {
    if (is_of_trace(key))
      found[static_cast<std::size_t>(key - static_cast<std::uint64_t>(extension_key::traceparent))] = value;
  });
  return {.context = trace_context::parse(entry_text(found[0]), entry_text(found[1]), entry_text(found[2])),
          .sent_at = read_time(found[3])};
}

void append_trace(byte_vector& map, const trace_context& context, bool with_baggage,
                  std::optional<wall_clock::time_point> sent_at) {
  append_entry(map, extension_key::traceparent, entry_of(context.traceparent()));
  if (!context.tracestate().empty())
    append_entry(map, extension_key::tracestate, entry_of(context.tracestate()));
  if (with_baggage && !context.baggage().empty())
    append_entry(map, extension_key::baggage, entry_of(context.baggage()));
  if (sent_at)
    append_entry(map, extension_key::sent_at, entry_of(*sent_at));
}

byte_vector map_for_next_link(bytes_view map, const trace_on_next_link& next) {
  byte_vector made;
  each_extension(map, [&](std::uint64_t key, bytes_view value) {
    if (!is_of_trace(key)) {
      append_extension(made, key, value);
      return;
    }
    if (!next.takes_traces)
      return;
    switch (static_cast<extension_key>(key)) {
    case extension_key::traceparent:
      if (const auto context = next.span ? read_trace(map).context : std::nullopt)
        append_extension(made, key, entry_of(context->with_span(*next.span).traceparent()));
      else
        append_extension(made, key, value);
      break;
    case extension_key::baggage:
      if (next.with_baggage)
        append_extension(made, key, value);
      break;
    case extension_key::sent_at:
      if (next.sent_at)
        append_extension(made, key, entry_of(*next.sent_at));
      else
        append_extension(made, key, value);
      break;
    default:
      append_extension(made, key, value);
    }
  });
  if (made.size() > (next.takes_traces ? extension_bytes_max : extension_bytes_without_traces_max))
    made.clear();
  return made;
}

} // namespace troupe::internal
