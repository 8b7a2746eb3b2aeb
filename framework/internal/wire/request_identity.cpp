#include <troupe/framework/internal/wire/request_identity.hpp>

#include <algorithm>
#include <cstring>

#include <troupe/base/longest_wait.hpp>
#include <troupe/framework/internal/wire/message_extensions.hpp>

namespace troupe::internal {

namespace {

constexpr auto identity_key = static_cast<std::uint64_t>(extension_key::request_identity);

struct identity_value {
  caller_id caller;
  std::uint64_t number;
  std::uint64_t settled_below;
  std::uint64_t age_us;
};
static_assert(sizeof(identity_value) == request_identity_bytes
              && std::has_unique_object_representations_v<identity_value>);

} // namespace

std::optional<request_identity> read_request_identity(bytes_view map) {
  const auto entry = map.empty() ? std::nullopt : find_extension(map, identity_key);
  if (!entry || entry->size() != request_identity_bytes)
    return std::nullopt;
  identity_value value{};
  std::memcpy(&value, entry->data(), sizeof(value));
  if (value.number == 0)
    return std::nullopt;
  const std::chrono::microseconds longest{longest_wait};
  const auto age = std::min(value.age_us, static_cast<std::uint64_t>(longest.count()));
  return request_identity{.key = {.caller = value.caller, .number = value.number},
                          .settled_below = value.settled_below,
                          .age = std::chrono::microseconds{static_cast<std::int64_t>(age)}};
}

void append_request_identity(byte_vector& map, const request_identity& identity) {
  const identity_value value{.caller = identity.key.caller,
                             .number = identity.key.number,
                             .settled_below = identity.settled_below,
                             .age_us = static_cast<std::uint64_t>(identity.age.count())};
  append_extension(map, identity_key, std::as_bytes(std::span{&value, 1}));
}

} // namespace troupe::internal
