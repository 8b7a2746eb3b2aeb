// References to objects that are serialized outside of a link's messages: through a family, a stream, a file, or
// another library.
#pragma once

#include <cstdint>
#include <source_location>

#include <troupe/base/export.hpp>
#include <troupe/framework/fwd.hpp>

namespace troupe {

/// A guard that lets its thread serialize references outside of messages. It applies to objects of the node's store, or
/// of this process's memory if the node has no store. Nothing can count such references. So each object serialized in
/// this way is pinned until the last node of this process with that store ends, or a peer orders its release
/// (node_activity.hpp). Until then a reader gets a working reference, in this process or in another one with the same
/// store. After that, get() fails with `object_freed`.
///
///     {
///       troupe::allow_out_of_band_handles guard{*node};
///       auto saved = troupe::serialize(ref, {}, types, families);
///     }
///
/// Without a guard, node_options::allow_out_of_band_handles allows the same, and so does
/// TROUPE_ALLOW_OUT_OF_BAND_HANDLES=1 in the environment. Only a guard knows its place in the source, which the list of
/// pinned objects then shows.
///
/// Even with permission, serializing fails with `out_of_band_handle` if the bytes are on another host, or if no node of
/// this process has the object's store open. Reading fails with `out_of_band_handle` if no node of this process has
/// that store open.
///
/// Threads: the thread that made a guard destroys it. The guards of one thread are destroyed in reverse order.
class [[nodiscard]] TROUPE_EXPORT allow_out_of_band_handles {
public:
  explicit allow_out_of_band_handles(const node& of,
                                     const std::source_location& where = std::source_location::current());
  allow_out_of_band_handles(const allow_out_of_band_handles&) = delete;
  allow_out_of_band_handles& operator=(const allow_out_of_band_handles&) = delete;
  ~allow_out_of_band_handles();
};

} // namespace troupe
