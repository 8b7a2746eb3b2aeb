// The two ends as ordinary event-based actors, the same ones whatever carries their messages.
#pragma once

#include "peers/small_messages.hpp"

#include <caf/actor.hpp>
#include <caf/actor_system.hpp>
#include <caf/allowed_unsafe_message_type.hpp>

// CAF shall see that the message can be inspected. Types that are described for Troupe are otherwise ones whose
// contents CAF leaves alone, and would arrive empty by BASP.
template <>
struct caf::allowed_unsafe_message_type<bench::small_message> : std::false_type {};

namespace bench {

/// Counts structs, whether a message carries one or many, and acknowledges them.
[[nodiscard]] caf::actor spawn_consumer(caf::actor_system& system);

/// Answers each message with itself.
[[nodiscard]] caf::actor spawn_echoer(caf::actor_system& system);

/// Drives the two from actors of its own. One way its messages carry what it is told; what is echoed is always one
/// struct. Requires: `system` outlives it.
[[nodiscard]] std::unique_ptr<near_end> make_caf_near_end(caf::actor_system& system, caf::actor consumer,
                                                          caf::actor echoer, load carried = load::one_struct);

} // namespace bench
