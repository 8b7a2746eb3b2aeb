// The nodes to which this node is linked, and the token of each.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include <troupe/framework/internal/wire/packet.hpp>

namespace troupe::internal {

/// Two links to one node are legal. But the second must bring the token of the first, so that no peer can use the id of
/// a node that is already linked.
///
/// Threads: any.
class known_peers {
public:
  /// Counts one more link to the node with this id. Returns false if the node is already linked with another token.
  [[nodiscard]] bool enter(std::string_view id, bytes_view token);
  /// Undoes one `enter` that returned true.
  void leave(std::string_view id);

private:
  struct peer {
    byte_vector token;
    std::size_t links = 0;
  };
  std::mutex mutex_;
  std::map<std::string, peer, std::less<>> peers_; // Guarded by mutex_.
};

} // namespace troupe::internal
