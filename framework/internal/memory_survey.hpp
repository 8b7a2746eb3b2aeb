// Looks through a node for what keeps objects.
#pragma once

#include <chrono>
#include <cstdint>
#include <expected>
#include <optional>
#include <vector>

#include <troupe/framework/internal/object_source.hpp>
#include <troupe/framework/memory_summary.hpp>
#include <troupe/framework/node_errc.hpp>
#include <troupe/store/object_id.hpp>

namespace troupe::internal {

class node_core;

/// An object that something names.
struct named_object {
  std::optional<store::object_id> stored;
  object_source_ptr source = nullptr; // Where it is not known to lie in the store.
  std::optional<std::chrono::steady_clock::time_point> since = std::nullopt;
};

/// What one link keeps.
struct link_memory {
  std::uint64_t channel = 0; // Its number in the exchange.
  std::uint64_t serial = 0;
  std::string peer;
  struct handed_over {
    store::object_id object;
    std::uint64_t count = 0;
    std::chrono::steady_clock::time_point since;
  };
  std::vector<handed_over> exported; // In the store of both ends.
  std::vector<named_object> queued;  // Once for each message.
  std::vector<named_object> pending; // The same.
};

/// Blocks for the store's lock, for moments. Fails with `object_lost` where the store cannot be asked.
[[nodiscard]] std::expected<memory_summary, node_error> survey_memory(const node_core& node, const memory_query& query);

} // namespace troupe::internal
