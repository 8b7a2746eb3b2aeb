// Forward declarations of store/.
#pragma once

#include <memory>
#include <utility>

#include <troupe/base/export.hpp>

namespace troupe::store {

struct object_id;
struct object_origin;
struct options;
struct process_id;
struct store_summary;

class builder;
class handle;
class object_store;
class pin;

namespace internal {

class attachment;

/// A counted reference to this process's attachment to one store. The process detaches when it has neither such a
/// reference nor a handle, pin or builder. Threads: as for `std::shared_ptr`.
class TROUPE_EXPORT attachment_ptr {
public:
  attachment_ptr() = default;
  /// Takes over one count of `counted`.
  explicit attachment_ptr(attachment& counted) noexcept : to_(&counted) {}
  attachment_ptr(const attachment_ptr& other) noexcept;
  attachment_ptr(attachment_ptr&& other) noexcept : to_(std::exchange(other.to_, nullptr)) {}
  attachment_ptr& operator=(attachment_ptr other) noexcept {
    std::swap(to_, other.to_);
    return *this;
  }
  ~attachment_ptr();

  [[nodiscard]] attachment* operator->() const noexcept { return to_; }
  [[nodiscard]] attachment& operator*() const noexcept { return *to_; }

private:
  attachment* to_ = nullptr;
};

/// Keeps the file of one object mapped. Points to the object's first byte.
using mapping_ptr = std::shared_ptr<const void>;

} // namespace internal

} // namespace troupe::store
