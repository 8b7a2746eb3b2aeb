// References to objects that are serialized outside of a link's messages: through a family, a stream, a file, or
// another library.
#pragma once

#include <cstdint>
#include <source_location>

#include <troupe/base/export.hpp>
#include <troupe/framework/fwd.hpp>

namespace troupe {

/// A guard that lets its thread serialize references outside of messages, to objects of the node's store (of this
/// process's memory, if the node has no store). Nobody can count such references, so each object serialized that way is
/// pinned until the last node of this process with that store ends. Until then a reader, in this process or in another
/// one with the same store, gets a working reference; after that reading fails with `object_freed`.
///
///     {
///       troupe::allow_out_of_band_handles guard{*node};
///       auto saved = troupe::serialize(ref, {}, types, families);
///     }
///
/// Without a guard, use node_options::allow_out_of_band_handles, or TROUPE_ALLOW_OUT_OF_BAND_HANDLES=1 in the
/// environment. Only a guard knows its place in the source, which the list of pinned objects then shows.
///
/// Threads: a guard is destroyed on the thread that made it; the guards of one thread are destroyed in reverse order.
class [[nodiscard]] TROUPE_EXPORT allow_out_of_band_handles {
public:
  explicit allow_out_of_band_handles(const node& of,
                                     const std::source_location& where = std::source_location::current());
  allow_out_of_band_handles(const allow_out_of_band_handles&) = delete;
  allow_out_of_band_handles& operator=(const allow_out_of_band_handles&) = delete;
  ~allow_out_of_band_handles();
};

} // namespace troupe
