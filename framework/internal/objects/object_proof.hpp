// Proofs that a name of an object was given by somebody who has its store open.
#pragma once

#include <cstdint>
#include <string_view>

#include <troupe/store/object_id.hpp>
#include <troupe/store/object_store.hpp>

namespace troupe::internal {

/// The same in each process that has the store open, and known to nobody else: the first 8 bytes of HMAC-SHA256 by the
/// store's secret. What is proved for one purpose is worth nothing for another.
[[nodiscard]] std::uint64_t object_proof(const store::object_id& name, std::string_view purpose,
                                         const store::object_store& in);

} // namespace troupe::internal
