// An object as those name it that keep it.
#pragma once

#include <chrono>
#include <optional>

#include <troupe/framework/internal/objects/object_source.hpp>
#include <troupe/store/object_id.hpp>

namespace troupe::internal {

/// An object that something names.
struct named_object {
  std::optional<store::object_id> stored;
  object_source_ptr source = nullptr; // Where it is not known to lie in the store.
  std::optional<std::chrono::steady_clock::time_point> since = std::nullopt;
};

} // namespace troupe::internal
