// A type's layout as bytes: the `typed` family puts it into the payload's header, and its hash into the beginning of
// the body. The form is described in typed/format.md.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <troupe/base/export.hpp>
#include <troupe/serializers/internal/coding/stand_in.hpp>
#include <troupe/serializers/internal/shape/type_node.hpp>
#include <troupe/serializers/internal/typed/schema_code.hpp>

namespace troupe::detail {

struct type_layout {
  std::vector<std::byte> bytes;
  std::string unsupported;           // Where and why the type cannot travel; empty if it can.
  std::vector<foreign_type> foreign; // The types in it that travel only if the registry has a codec for them.
};

[[nodiscard]] TROUPE_EXPORT type_layout layout_of(const type_node& type);

} // namespace troupe::detail
