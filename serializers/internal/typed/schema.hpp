// A type's layout as bytes. The `typed` family puts the layout into the payload's header, and its hash at the beginning
// of the body. typed/format.md describes the form.
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
  std::string unsupported;           // The place where and the reason why the type cannot travel; empty if it can.
  std::vector<foreign_type> foreign; // Types within the type that travel only if the registry has a codec for them.
};

[[nodiscard]] TROUPE_EXPORT type_layout layout_of(const type_node& type);

} // namespace troupe::detail
