// What a peer has handed over in the store of both ends.
#pragma once

#include <memory>
#include <utility>

#include <troupe/framework/internal/objects/object_tables.hpp>
#include <troupe/store/handle.hpp>

namespace troupe::internal {

class link_core;

/// An object that came over a link: held, and not pinned, so that the store may move it to disk. The link tells the
/// peer when nothing here refers to it any more.
class imported_object final {
public:
  imported_object(store::handle object, std::weak_ptr<link_core> link)
      : object_(std::move(object)), link_(std::move(link)) {}
  imported_object(const imported_object&) = delete;
  imported_object& operator=(const imported_object&) = delete;
  ~imported_object();

  [[nodiscard]] const store::handle& object() const noexcept { return object_; }

private:
  const store::handle object_;
  const std::weak_ptr<link_core> link_;
};

/// Bytes of such an object.
class imported_bytes final : public stored_bytes {
public:
  imported_bytes(store::pin pin, std::shared_ptr<const imported_object> of)
      : stored_bytes(std::move(pin)), of_(std::move(of)) {}

private:
  const std::shared_ptr<const imported_object> of_;
};

} // namespace troupe::internal
