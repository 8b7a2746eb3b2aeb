// Which nodes this one is linked to, and by what each is known again.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include <troupe/framework/internal/wire/packet.hpp>

namespace troupe::internal {

/// Two links to one node are legal, but the second must bring the token of the first: nobody takes the id of a node
/// that is linked already.
///
/// Threads: any.
class known_peers {
public:
  /// Counts one more link to the node whose id has the text `id`, or gives false when it is linked and known by another
  /// token.
  [[nodiscard]] bool enter(std::string_view id, bytes_view token);
  /// Undoes one `enter` that gave true.
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
