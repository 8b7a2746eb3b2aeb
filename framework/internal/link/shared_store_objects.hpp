// The objects in the store that both ends of a link share.
#pragma once

#include <chrono>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>

#include <troupe/framework/internal/net/link_mutex.hpp>
#include <troupe/framework/internal/objects/link_objects.hpp>
#include <troupe/framework/internal/threads/io_timer.hpp>
#include <troupe/framework/internal/wire/admin.hpp>
#include <troupe/store/handle.hpp>

namespace troupe::internal {

/// Gives a link the objects in the store that it shares with its peer. If the store is busy, claims them later.
///
/// Threads: the I/O thread for adopt(), on_release() and abandon(); any for objects().
class shared_store_objects {
public:
  /// The pause before a busy store is tried again.
  static constexpr std::chrono::milliseconds busy_pause{200};

  /// All must outlive this object.
  shared_store_objects(link_mutex& mutex, flight_path<store::handle>& path, asio::io_context& io)
      : io_(io), objects_(mutex, path) {}

  /// To be called before anything arrives. `store`: the number of the store that both ends have open.
  void share(std::uint64_t store) noexcept { store_ = store; }
  /// The number of the shared store; nullopt if no store is shared.
  [[nodiscard]] const std::optional<std::uint64_t>& shared_store() const noexcept { return store_; }

  [[nodiscard]] link_objects<store::handle>& objects() noexcept { return objects_; }
  [[nodiscard]] const link_objects<store::handle>& objects() const noexcept { return objects_; }

  /// As link_objects::adopt().
  [[nodiscard]] std::expected<link_objects<store::handle>::owner, node_error> adopt(const store::object_id& id);
  /// As link_objects::on_release(). Also fails if no store is shared.
  std::expected<void, node_error> on_release(const release_object& what);

  /// As link_objects::abandon(); to be called when the link ends.
  [[nodiscard]] std::expected<void, store::store_error> abandon();

private:
  void claim_later();

  asio::io_context& io_;
  link_objects<store::handle> objects_;
  std::optional<std::uint64_t> store_;
  std::shared_ptr<io_timer> timer_; // Its handler does nothing once the timer is gone.
};

} // namespace troupe::internal
