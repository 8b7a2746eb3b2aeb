// Bounds the number of connected peers that have not proven who they are. Pure.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace troupe::internal {

/// The origin of a peer, as far as floods are concerned: the networks that contain its address, from wide to narrow. An
/// attacker with one address of a network often has all of its addresses.
struct peer_source {
  /// For IPv4 the first 16, 24 and 32 bits of the address. For IPv6 the first 48, 56 and 64. Empty for a unix socket.
  std::array<std::string, 3> networks = {};

  bool operator==(const peer_source&) const = default;
};

/// Waiting peers, each with its source. If the room is full, a new peer displaces a random one from the largest group:
/// the wide network with the most peers, within it the narrower network with the most, and so on. So a flood displaces
/// its own connections, wherever in a network they come from. Peers that only wait can never lock others out. No peer
/// can predict which other peer it displaces.
template <class Peer>
class waiting_room {
public:
  /// Returns a number below its argument, all with the same probability.
  using chooser = std::function<std::size_t(std::size_t)>;

  waiting_room(std::size_t peers_max, chooser choose) : peers_max_(peers_max), choose_(std::move(choose)) {}

  /// Returns the peer that has to leave, if any. The new peer counts in its group, and stays.
  [[nodiscard]] std::optional<Peer> enter(Peer peer, peer_source source) {
    std::optional<Peer> displaced;
    if (waiting_.size() >= peers_max_)
      displaced = displace(&source);
    waiting_.push_back({std::move(peer), std::move(source)});
    return displaced;
  }

  /// For a shortage of another resource. Returns the peer that has to leave; nullopt if no peer waits.
  [[nodiscard]] std::optional<Peer> displace() { return displace(nullptr); }

  /// The peer has proven itself, or is gone. Does nothing if the peer does not wait.
  void leave(const Peer& peer) {
    std::erase_if(waiting_, [&](const entry& one) { return one.peer == peer; });
  }

  [[nodiscard]] std::size_t size() const noexcept { return waiting_.size(); }

private:
  struct entry {
    Peer peer;
    peer_source source;
  };

  std::optional<Peer> displace(const peer_source* comes) {
    if (waiting_.empty())
      return std::nullopt;
    std::vector<std::size_t> left(waiting_.size());
    for (std::size_t i = 0; i < left.size(); ++i)
      left[i] = i;
    for (std::size_t width = 0; width < std::tuple_size_v<decltype(peer_source::networks)>; ++width)
      left = largest_group(left, width, comes);
    const auto chosen = waiting_.begin() + static_cast<std::ptrdiff_t>(left[choose_(left.size())]);
    auto displaced = std::move(chosen->peer);
    waiting_.erase(chosen);
    return displaced;
  }

  /// Of several largest groups, picks one at random.
  std::vector<std::size_t> largest_group(const std::vector<std::size_t>& among, std::size_t width,
                                         const peer_source* comes) {
    std::map<std::string, std::vector<std::size_t>> groups;
    for (auto index : among)
      groups[waiting_[index].source.networks[width]].push_back(index);
    std::size_t most = 0;
    std::vector<const std::vector<std::size_t>*> largest;
    for (const auto& [network, members] : groups) {
      const auto size = members.size() + (comes != nullptr && comes->networks[width] == network ? 1 : 0);
      if (size > most) {
        most = size;
        largest.clear();
      }
      if (size == most)
        largest.push_back(&members);
    }
    return *largest[choose_(largest.size())];
  }

  const std::size_t peers_max_;
  const chooser choose_;
  std::vector<entry> waiting_;
};

} // namespace troupe::internal
