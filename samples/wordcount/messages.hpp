// The messages between the coordinator and its workers.
#pragma once

#include "counts.hpp"

#include <troupe/framework/actor_codecs.hpp>
#include <troupe/framework/message_types.hpp>
#include <troupe/framework/object_ref.hpp>
#include <troupe/framework/options.hpp>
#include <troupe/serializers/type_registry.hpp>

#include <caf/actor.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace wordcount {

/// The name under which the coordinator is published.
inline constexpr auto coordinator_name = "coordinator";

/// A worker's first message: it is ready, and blocks go to `counter`.
struct registration {
  std::uint64_t worker = 0;             // The worker's number, from 1.
  caf::actor counter;                   // Answers a text_block with block_counts.
  std::vector<std::string> serializers; // Families that the worker's end of the link sends with.
};
TROUPE_DESCRIBE(registration, worker, counter, serializers)

/// One unit of work: a handle to text in the store.
struct text_block {
  std::uint64_t number = 0;
  troupe::object_ref<troupe::array<char>> text;
};
TROUPE_DESCRIBE(text_block, number, text)

/// Registers the message types for every family of the program, including cereal.
void add_message_types(troupe::type_registry& types);

/// The options of both ends of a worker's link, for either transport.
///
/// The workers are copies of this program. Other processes can connect only if they belong to the same user (over a
/// unix socket) or know the run's secret (over TCP; only the run's own processes have it). Such a process could run
/// code here anyway, so families that trust their input are allowed. The store is shared. Over TCP both ends must
/// request that, because the peer may be on another host. These processes are all on one host.
[[nodiscard]] inline troupe::link_options link_policy(std::vector<std::string> families, std::string secret) {
  return {.serializers = families,
          .deserializers = families,
          .trusted_families = true,
          .share_store = true,
          .credentials = {.secret = std::move(secret)}};
}

/// The name of a worker's node, by which the coordinator recognizes its link.
[[nodiscard]] inline std::string worker_name(std::uint64_t worker) {
  return "worker-" + std::to_string(worker);
}

} // namespace wordcount
