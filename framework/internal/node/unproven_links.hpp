// The links of a node whose peers have not proven their identity.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

#include <troupe/framework/internal/trust/waiting_room.hpp>

namespace troupe::internal {

/// Limits a node's links whose peers are unproven. Displaced links that are about to end count as well, because they
/// end on their own loops, which may be busy.
///
/// Threads: any.
template <class Link>
class unproven_links {
public:
  /// At most this many links may be about to end when another one is accepted.
  static constexpr std::size_t leaving_max = 16;

  unproven_links(std::size_t links_max, std::function<std::size_t(std::size_t)> choose)
      : room_(links_max, std::move(choose)) {}

  /// Adds a link. Returns the link that has to end for it, if any. The caller must tell that link to end.
  [[nodiscard]] std::shared_ptr<Link> enter(const std::shared_ptr<Link>& comes, peer_source source) {
    std::lock_guard guard{mutex_};
    return leaves(room_.enter({comes.get(), comes}, std::move(source)));
  }
  /// Displaces a link when something else than a place is short. Returns the link that has to end; null if there is
  /// none.
  [[nodiscard]] std::shared_ptr<Link> displace() {
    std::lock_guard guard{mutex_};
    return leaves(room_.displace());
  }
  /// Removes a link whose peer has proven its identity, or that has ended. Does nothing if the link is not here.
  void leave(const Link* link) {
    std::lock_guard guard{mutex_};
    room_.leave({link, {}});
    leaving_.erase(link);
  }
  /// Whether another link may be accepted now.
  [[nodiscard]] bool has_room() const {
    std::lock_guard guard{mutex_};
    return leaving_.size() < leaving_max;
  }

private:
  /// A link, identified by its address while it is in the room.
  struct entry {
    const Link* which = nullptr;
    std::weak_ptr<Link> link = {};

    bool operator==(const entry& other) const noexcept { return which == other.which; }
  };

  std::shared_ptr<Link> leaves(const std::optional<entry>& displaced) {
    auto link = displaced ? displaced->link.lock() : nullptr;
    if (link)
      leaving_.insert(link.get());
    return link;
  }

  mutable std::mutex mutex_; // No other lock is taken while it is held.
  // Guarded by mutex_.
  waiting_room<entry> room_;
  std::set<const Link*> leaving_; // Displaced links that have neither been proven nor ended.
};

} // namespace troupe::internal
