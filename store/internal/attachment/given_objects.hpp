// Objects as the attachment's calls return them.
#pragma once

#include <troupe/store/fwd.hpp>
#include <troupe/store/object_id.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace troupe::store::internal {

/// A new object, in the state `writing`, held once.
struct new_object {
  std::uint32_t index = 0;
  std::uint32_t generation = 0;
  std::span<std::byte> bytes;
  mapping_ptr own_file; // Mapping of the object's own file, if it has one.
};

/// A sealed object, held once.
struct held_object {
  std::uint32_t index = 0;
  std::uint32_t generation = 0;
};

/// The object of an origin: at most one of `made`, `sealed` and `being_written` is set.
struct origin_found {
  std::optional<new_object> made;
  std::optional<held_object> sealed;
  object_id being_written;
  std::uint32_t writer_pid = 0;
};

} // namespace troupe::store::internal
