// What is needed to convert the bytes of an object into a value.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <troupe/serializers/extend/circle_account.hpp>
#include <troupe/serializers/family.hpp>
#include <troupe/serializers/limits.hpp>
#include <troupe/serializers/type_entry.hpp>

namespace troupe::internal {

/// Lifetime: the registry and the families belong to the user and outlive every object_ref, as node::open requires.
struct object_environment {
  const type_registry& types;
  const family_set& families;
  std::vector<std::string> deserializers; // Of the link on which the object came, or of the node.
  troupe::limits limits;
  bool allow_cycles = true;
  std::shared_ptr<circle_account> circles = nullptr; // Of the link on which the object came.
};

} // namespace troupe::internal
