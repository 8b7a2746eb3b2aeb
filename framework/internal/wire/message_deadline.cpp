#include <troupe/framework/internal/wire/message_deadline.hpp>

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <cstring>

#include <troupe/base/longest_wait.hpp>
#include <troupe/framework/internal/wire/message_extensions.hpp>

namespace troupe::internal {

namespace {

using std::chrono::microseconds;

constexpr auto time_left_key = static_cast<std::uint64_t>(extension_key::time_left);

std::uint64_t read_number(bytes_view value) {
  std::uint64_t number = 0;
  std::memcpy(&number, value.data(), sizeof(number));
  return number;
}

void write_number(std::span<std::byte> value, std::uint64_t number) {
  std::memcpy(value.data(), &number, sizeof(number));
}

std::uint64_t number_of(deadline_point at) {
  return static_cast<std::uint64_t>(std::chrono::nanoseconds{at.time_since_epoch()}.count());
}

} // namespace

std::optional<std::size_t> find_deadline(bytes_view map) {
  const auto value = map.empty() ? std::nullopt : find_extension(map, time_left_key);
  if (!value || value->size() != deadline_bytes)
    return std::nullopt;
  return static_cast<std::size_t>(value->data() - map.data());
}

void append_deadline(byte_vector& map, deadline_point at) {
  std::array<std::byte, deadline_bytes> value{};
  write_number(value, number_of(at));
  append_extension(map, time_left_key, value);
}

std::optional<deadline_point> read_time_left(bytes_view map, deadline_point now) {
  const auto place = find_deadline(map);
  if (!place)
    return std::nullopt;
  const auto left = read_number(map.subspan(*place, deadline_bytes));
  if (left > static_cast<std::uint64_t>(microseconds{longest_wait}.count()))
    return std::nullopt;
  return now + microseconds{static_cast<std::int64_t>(left)};
}

deadline_point with_delay(deadline_point at, deadline_point now, deadline_point::duration delay) {
  return at - std::min(delay, std::max((at - now) / 4, deadline_point::duration{0}));
}

void keep_deadline(std::span<std::byte> map, deadline_point now, deadline_point::duration delay) {
  if (const auto place = find_deadline(map))
    write_number(map.subspan(*place, deadline_bytes),
                 number_of(with_delay(read_time_left(map, now).value_or(now + longest_wait), now, delay)));
}

void state_time_left(std::span<std::byte> value, deadline_point now) {
  assert(value.size() == deadline_bytes);
  const deadline_point at{std::chrono::duration_cast<deadline_point::duration>(
      std::chrono::nanoseconds{static_cast<std::int64_t>(read_number(value))})};
  const auto left = std::chrono::duration_cast<microseconds>(std::max(at, now) - now);
  write_number(value, static_cast<std::uint64_t>(left.count()));
}

} // namespace troupe::internal
