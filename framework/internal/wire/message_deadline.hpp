// The deadline of a request in its extension map: between processes the time that is left, within a process a point of
// the steady clock. Pure. The bytes: framework/link-protocol.md.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>

#include <troupe/framework/internal/wire/packet.hpp>

namespace troupe::internal {

using deadline_point = std::chrono::steady_clock::time_point;

/// The size of the entry's value in both forms.
inline constexpr std::size_t deadline_bytes = 8;

/// Returns where the entry's value begins in a map; nullopt if there is no such entry, or one of another size.
[[nodiscard]] std::optional<std::size_t> find_deadline(bytes_view map);

/// Appends an entry in the form of this process. Requires: keys are appended in ascending order.
void append_deadline(byte_vector& map, deadline_point at);

/// Returns the deadline of a map from the peer that arrives at `now`; nullopt if it states none, or more than 100
/// years.
[[nodiscard]] std::optional<deadline_point> read_time_left(bytes_view map, deadline_point now);

/// The deadline by which a request has to be handled there, so that its answer is here in time: earlier by `delay`,
/// which one message takes, but at most by a quarter of the time that is left, because the delay may have been measured
/// on a busier link.
[[nodiscard]] deadline_point with_delay(deadline_point at, deadline_point now, deadline_point::duration delay);

/// Changes the form of a map's entry, if there is one: from that between processes to that of this process.
/// Subtracts the delay of the link on which the message goes on.
void keep_deadline(std::span<std::byte> map, deadline_point now, deadline_point::duration delay);
/// Changes the form of an entry's value the other way, when the message leaves. A deadline that has passed leaves 0.
/// Requires: deadline_bytes bytes.
void state_time_left(std::span<std::byte> value, deadline_point now);

} // namespace troupe::internal
