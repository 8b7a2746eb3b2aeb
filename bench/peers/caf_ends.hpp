// The two ends as ordinary event-based actors. They are the same for every transport.
#pragma once

#include "peers/small_messages.hpp"

#include <caf/actor.hpp>
#include <caf/actor_system.hpp>
#include <caf/allowed_unsafe_message_type.hpp>

// Makes CAF inspect the message. CAF leaves the contents of other types described for Troupe alone, and they would
// arrive empty by BASP.
template <>
struct caf::allowed_unsafe_message_type<bench::small_message> : std::false_type {};

namespace bench {

/// Counts structs, in messages of one or many, and acknowledges them.
[[nodiscard]] caf::actor spawn_consumer(caf::actor_system& system);

/// Answers each message with itself.
[[nodiscard]] caf::actor spawn_echoer(caf::actor_system& system);

/// Drives the two actors by its own actors. Streamed messages carry `carried`; echoed messages always carry one struct.
/// Requires: `system` outlives it.
[[nodiscard]] std::unique_ptr<near_end> make_caf_near_end(caf::actor_system& system, caf::actor consumer,
                                                          caf::actor echoer, load carried = load::one_struct);

} // namespace bench
