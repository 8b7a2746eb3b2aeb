// How many peers may be connected without having proven who they are. Pure.
#pragma once

#include <cstddef>
#include <list>
#include <optional>
#include <string>

namespace troupe::internal {

/// Peers in the order of their coming, each with its source (the address that it connects from). When the room is full,
/// the next one takes the place of the oldest of that source which has the most peers waiting: who floods a node
/// displaces its own connections first, and nobody is ever locked out by those that only wait.
template <class Peer>
class waiting_room {
public:
  explicit waiting_room(std::size_t peers_max) : peers_max_(peers_max) {}

  /// Gives the peer that has to go, if any.
  [[nodiscard]] std::optional<Peer> enter(Peer peer, std::string source) {
    std::optional<Peer> displaced;
    if (waiting_.size() >= peers_max_) {
      auto oldest = oldest_of_the_most();
      displaced = std::move(oldest->peer);
      waiting_.erase(oldest);
    }
    waiting_.push_back({std::move(peer), std::move(source)});
    return displaced;
  }

  /// The peer has proven itself, or is gone. Nothing happens where it does not wait.
  void leave(const Peer& peer) {
    waiting_.remove_if([&](const entry& one) { return one.peer == peer; });
  }

  [[nodiscard]] std::size_t size() const noexcept { return waiting_.size(); }

private:
  struct entry {
    Peer peer;
    std::string source;
  };

  /// Requires that somebody waits. The room is small: quadratic is fine.
  auto oldest_of_the_most() {
    auto best = waiting_.begin();
    std::size_t most = 0;
    for (auto one = waiting_.begin(); one != waiting_.end(); ++one) {
      std::size_t count = 0;
      for (const auto& also : waiting_)
        count += also.source == one->source ? 1 : 0;
      if (count > most) {
        most = count;
        best = one;
      }
    }
    return best;
  }

  const std::size_t peers_max_;
  std::list<entry> waiting_;
};

} // namespace troupe::internal
