// References to objects that leave through anything but a message of a link: a family, a stream, a file, another
// library.
#pragma once

#include <cstdint>
#include <source_location>

#include <troupe/base/export.hpp>
#include <troupe/framework/fwd.hpp>

namespace troupe {

/// While it lives, references to objects of that node's store (of this process's memory, where it has none) may be
/// serialized outside of messages by this thread. Each object that leaves that way is pinned until the last node of
/// this process with that store ends, since nobody can count who has such a reference: whoever reads it back, here or
/// in another process with the same store, has a working one until then, and from then on `object_freed`.
///
///     {
///       troupe::allow_out_of_band_handles guard{*node};
///       auto saved = troupe::serialize(ref, {}, types, families);
///     }
///
/// The same without a guard: node_options::allow_out_of_band_handles, or TROUPE_ALLOW_OUT_OF_BAND_HANDLES=1 in the
/// environment. Only a guard knows where the reference was serialized; that it stands in this block is what the list of
/// pinned objects says.
///
/// Threads: the one that made it, which ends it before others that it has made earlier.
class [[nodiscard]] TROUPE_EXPORT allow_out_of_band_handles {
public:
  explicit allow_out_of_band_handles(const node& of,
                                     const std::source_location& where = std::source_location::current());
  allow_out_of_band_handles(const allow_out_of_band_handles&) = delete;
  allow_out_of_band_handles& operator=(const allow_out_of_band_handles&) = delete;
  ~allow_out_of_band_handles();
};

} // namespace troupe
