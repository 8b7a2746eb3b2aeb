// The walk over a type for inspect_serializability: the types in it, their places, and the obstacle of each by itself.
// The walk asks no family; inspect.cpp asks the families about the result.
#pragma once

#include <string>
#include <string_view>
#include <typeinfo>
#include <vector>

#include <troupe/base/export.hpp>
#include <troupe/serializers/internal/shape/type_node.hpp>

namespace troupe::detail {

/// One place of the tree.
struct found_type {
  std::string step;                           // From the type above: ".items", "[]", "->"
  std::string text;                           // The C++ type; "celsius (as double)" if it travels in another form.
  const std::type_info* info = nullptr;       //
  std::string_view spelled;                   //
  std::string why;                            // The obstacle of the type by itself; empty if there is none.
  std::string advice;                         // The remedy for the obstacle.
  std::string note;                           // A remark, even if there is no obstacle.
  std::vector<const std::type_info*> expands; // The types whose parts are below.
  const std::type_info* above = nullptr;      // The parts are below the first place of this type, further up.
  bool has_default = true;                    //
  bool is_final = false;                      // No family can carry the type, whatever its rules.
  bool may_share = false;                     // The type is a shared pointer.
  std::vector<found_type> parts;
};

/// The reason and the advice for a type that has an obstacle by itself.
struct explanation {
  std::string why;
  std::string advice;
  bool is_final = false; // No family can help.
};
[[nodiscard]] TROUPE_EXPORT explanation explain(const type_node& of);

/// The type and its parts, as a tree of places.
[[nodiscard]] TROUPE_EXPORT found_type inspected(const type_node& type);

} // namespace troupe::detail
