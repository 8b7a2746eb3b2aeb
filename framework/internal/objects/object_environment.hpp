// With what the bytes of an object are turned into a value.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <troupe/serializers/circle_account.hpp>
#include <troupe/serializers/family.hpp>
#include <troupe/serializers/limits.hpp>
#include <troupe/serializers/type_entry.hpp>

namespace troupe::internal {

/// Lifetime: the registry and the families are the user's and outlive every object_ref, as node::open says.
struct object_environment {
  const type_registry& types;
  const family_set& families;
  std::vector<std::string> deserializers; // Those of the link on which the object came, or the node's own.
  troupe::limits limits;
  bool allow_cycles = true;
  std::shared_ptr<circle_account> circles = nullptr; // Of the link on which the object came.
};

} // namespace troupe::internal
