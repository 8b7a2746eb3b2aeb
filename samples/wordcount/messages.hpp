// What the coordinator and its workers tell each other.
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

/// A worker's first message: here I am, send blocks to `counter`.
struct registration {
  std::uint64_t worker = 0;             // Its number, from 1.
  caf::actor counter;                   // Answers a text_block with block_counts.
  std::vector<std::string> serializers; // The families that its end of the link sends with.
};
TROUPE_DESCRIBE(registration, worker, counter, serializers)

/// A piece of work: text in the store. What travels is the handle.
struct text_block {
  std::uint64_t number = 0;
  troupe::object_ref<troupe::array<char>> text;
};
TROUPE_DESCRIBE(text_block, number, text)

/// For every family of the program's set, cereal among them.
void add_message_types(troupe::type_registry& types);

/// The policy of either end of a worker's link, by whatever transport it goes.
///
/// The workers are copies of this program. Who else could get in is a process of the same user (over a unix socket), or
/// who knows the run's secret (over TCP; only the run's own processes have it), and that could as well run code here.
/// So families that trust their input are admitted. And the store is shared, which over TCP both ends have to say:
/// there it is not the rule, since the peer may be somewhere else. These are all on one host.
[[nodiscard]] inline troupe::link_options link_policy(std::vector<std::string> families, std::string secret) {
  return {.serializers = families,
          .deserializers = families,
          .trusted_families = true,
          .share_store = true,
          .credentials = {.secret = std::move(secret)}};
}

/// A worker's node has this name, by which the coordinator knows its link.
[[nodiscard]] inline std::string worker_name(std::uint64_t worker) {
  return "worker-" + std::to_string(worker);
}

} // namespace wordcount
