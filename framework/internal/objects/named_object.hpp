// How code that keeps an object names it.
#pragma once

#include <chrono>
#include <optional>

#include <troupe/framework/internal/objects/object_source.hpp>
#include <troupe/store/object_id.hpp>

namespace troupe::internal {

/// A reference to an object: its place in the store, or else its source.
struct named_object {
  std::optional<store::object_id> stored;
  object_source_ptr source = nullptr; // Needed unless `stored` is set.
  std::optional<std::chrono::steady_clock::time_point> since = std::nullopt;
};

} // namespace troupe::internal
