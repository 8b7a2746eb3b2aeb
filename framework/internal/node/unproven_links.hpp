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

/// Bounds how many links with unproven peers a node has, those that are displaced and about to end included: they end
/// on their own loops, which may be busy.
///
/// Threads: any.
template <class Link>
class unproven_links {
public:
  /// So many may be about to end when one more is accepted.
  static constexpr std::size_t leaving_max = 16;

  unproven_links(std::size_t links_max, std::function<std::size_t(std::size_t)> choose)
      : room_(links_max, std::move(choose)) {}

  /// Gives the link that has to go for this one, if any: it is to be told.
  [[nodiscard]] std::shared_ptr<Link> enter(const std::shared_ptr<Link>& comes, peer_source source) {
    std::lock_guard guard{mutex_};
    return leaves(room_.enter({comes.get(), comes}, std::move(source)));
  }
  /// For want of something else than a place. Gives the link that has to go; null where there is none.
  [[nodiscard]] std::shared_ptr<Link> displace() {
    std::lock_guard guard{mutex_};
    return leaves(room_.displace());
  }
  /// Its peer has proven its identity, or the link has ended. Nothing happens where it is not among them.
  void leave(const Link* link) {
    std::lock_guard guard{mutex_};
    room_.leave({link, {}});
    leaving_.erase(link);
  }
  /// Whether one more may be accepted now.
  [[nodiscard]] bool has_room() const {
    std::lock_guard guard{mutex_};
    return leaving_.size() < leaving_max;
  }

private:
  /// A link by its address, as long as it is in the room.
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

  mutable std::mutex mutex_; // Under it no other is taken.
  // Guarded by mutex_.
  waiting_room<entry> room_;
  std::set<const Link*> leaving_; // Displaced, and neither proven nor at their end.
};

} // namespace troupe::internal
