// Frames that a peer has handed over in a store that both ends have open.
#pragma once

#include <utility>

#include <troupe/framework/internal/objects/link_objects.hpp>
#include <troupe/framework/internal/objects/stored_bytes.hpp>
#include <troupe/store/handle.hpp>

namespace troupe::internal {

/// Bytes of an object that came over a link.
class imported_bytes final : public stored_bytes {
public:
  imported_bytes(store::pin pin, link_objects<store::handle>::owner of)
      : stored_bytes(std::move(pin)), of_(std::move(of)) {}

private:
  const link_objects<store::handle>::owner of_;
};

} // namespace troupe::internal
