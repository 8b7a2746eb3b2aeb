// Proofs that an object was named by a process that has the object's store open.
#pragma once

#include <cstdint>
#include <string_view>

#include <troupe/store/object_id.hpp>
#include <troupe/store/object_store.hpp>

namespace troupe::internal {

/// The first 8 bytes of an HMAC-SHA256 with the store's secret as key. They are the same in every process that has the
/// store open, and unknown to all others. A proof for one purpose is invalid for any other.
[[nodiscard]] std::uint64_t object_proof(const store::object_id& name, std::string_view purpose,
                                         const store::object_store& in);

} // namespace troupe::internal
