// A link's way through the store of both its ends.
#pragma once

#include <chrono>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <utility>

#include <asio/steady_timer.hpp>

#include <troupe/framework/internal/link/agreed_terms.hpp>
#include <troupe/framework/internal/link/link_host.hpp>
#include <troupe/framework/internal/net/link_mutex.hpp>
#include <troupe/framework/internal/objects/flight_path.hpp>
#include <troupe/framework/internal/objects/link_objects.hpp>
#include <troupe/framework/internal/wire/admin.hpp>
#include <troupe/store/handle.hpp>

namespace troupe::internal {

/// The two channels of one link in the store that both its ends have open.
class link_flights final : public flight_path<store::handle> {
public:
  using releases = std::function<void(const link_held&, const release_object&)>;

  /// `agreed` and `node` outlive this. `say` writes to the peer.
  link_flights(const agreement& agreed, link_host& node, releases say)
      : agreed_(agreed), node_(node), say_(std::move(say)) {}

  [[nodiscard]] std::expected<void, store::store_error> hand_over(const store::handle& object) override;
  void take_back(const store::handle& object) override;
  [[nodiscard]] std::expected<store::handle, store::store_error> adopt(const store::object_id& id) override;
  [[nodiscard]] std::expected<void, store::store_error> abandon() override;
  void release(const link_held& held, const store::object_id& id, std::uint64_t count) override;

private:
  const agreement& agreed_;
  link_host& node_;
  const releases say_;
};

/// Gives a link the objects that it shares with its peer, and has them adopted late where the store is busy.
///
/// Threads: adopt() and abandon() on the I/O thread; objects() from any.
class store_desk {
public:
  /// How long a store that was busy is left alone.
  static constexpr std::chrono::milliseconds busy_pause{200};

  /// `mutex`, `agreed` and `node` outlive this. `say` writes releases to the peer.
  store_desk(link_mutex& mutex, const agreement& agreed, link_host& node, link_flights::releases say)
      : node_(node), path_(agreed, node, std::move(say)), objects_(mutex, path_) {}

  [[nodiscard]] link_objects<store::handle>& objects() noexcept { return objects_; }
  [[nodiscard]] const link_objects<store::handle>& objects() const noexcept { return objects_; }

  /// As link_objects::adopt().
  [[nodiscard]] std::expected<link_objects<store::handle>::owner, node_error> adopt(const store::object_id& id);

  /// The link has ended.
  [[nodiscard]] std::expected<void, store::store_error> abandon();

private:
  void claim_later();

  link_host& node_;
  link_flights path_;
  link_objects<store::handle> objects_;
  std::shared_ptr<asio::steady_timer> timer_; // Its handler does nothing once this is gone.
};

} // namespace troupe::internal
