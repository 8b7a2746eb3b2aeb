// The core of the exchange, shared by several threads.
#pragma once

#include <expected>
#include <mutex>
#include <utility>

#include <troupe/framework/internal/objects/exchange_core.hpp>
#include <troupe/framework/internal/objects/local_holds.hpp>
#include <troupe/store/handle.hpp>
#include <troupe/store/object_store.hpp>

namespace troupe::internal {

/// Lets one thread at a time use the core and this process's holds.
///
/// Locks: its own lock is taken after a link's. Under it no function is called that waits, with one exception: the
/// store's table may be locked briefly. Nor is a function of a link or a caller's answer called under it.
class shared_core {
public:
  shared_core(store::object_store store, const exchange_core::options& with, const exchange_surroundings& around)
      : holds_(std::move(store)), core_(with, holds_, around) {}
  shared_core(const shared_core&) = delete;
  shared_core& operator=(const shared_core&) = delete;

  /// The right to use the core and the holds, while it lives.
  template <class Core, class Holds>
  class access {
  public:
    access(std::mutex& mutex, Core& core, Holds& holds) : guard_(mutex), core_(core), holds_(holds) {}

    [[nodiscard]] Core* operator->() const noexcept { return &core_; }
    [[nodiscard]] Holds& holds() const noexcept { return holds_; }
    /// For unlocking temporarily, or waiting.
    [[nodiscard]] std::unique_lock<std::mutex>& guard() noexcept { return guard_; }

  private:
    std::unique_lock<std::mutex> guard_;
    Core& core_;
    Holds& holds_;
  };
  [[nodiscard]] access<exchange_core, local_holds> lock() { return {mutex_, core_, holds_}; }
  [[nodiscard]] access<const exchange_core, const local_holds> lock() const { return {mutex_, core_, holds_}; }

  /// Empty if the bytes are not here.
  [[nodiscard]] store::handle stored(handles::reference what) const {
    const auto held = lock();
    const auto place = held->place_of(what);
    return place ? held.holds().find(*place) : store::handle{};
  }

  /// The object for that room is here, because another node of this host has made it.
  void found(handles::room_id which, store::handle object);
  /// The object has been made for this room, or why it has not.
  void sealed(handles::room_id which, std::expected<store::handle, store::store_error> object);

private:
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  local_holds holds_;
  exchange_core core_;
};

} // namespace troupe::internal
