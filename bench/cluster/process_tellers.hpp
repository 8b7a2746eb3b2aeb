// Actors that tell in which process they run, alone and as entities.
#pragma once

#include "cluster/member_node.hpp"

#include <chrono>
#include <expected>
#include <string>

#include <caf/actor.hpp>
#include <caf/behavior.hpp>

namespace bench {

/// Answers an int with the process that it runs in.
[[nodiscard]] caf::behavior telling_its_process();

/// Asks such an actor. Fails with a text if no answer comes within a minute.
[[nodiscard]] std::expected<int, std::string> process_of(member_node& by, const caf::actor& teller);

/// For handles to what is owned: a request that a killed process had goes to the next owner.
inline const troupe::service_options asking_any_owner{.patience = std::chrono::minutes{1}, .retry_idempotent = true};

/// The kind of the entities that are such actors.
inline constexpr const char* tellers_kind = "tellers";

/// Hosts entities of this kind. Waits until all shards have owners, this member has some, and half a second has passed
/// without a change; fails with a text if that takes longer than a minute.
[[nodiscard]] std::expected<void, std::string> host_tellers(member_node& in);

} // namespace bench
