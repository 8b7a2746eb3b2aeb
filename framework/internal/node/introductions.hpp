// Addresses of nodes that peers name. With them, objects that came through one node can be fetched from the node that
// has them, even if the first node dies. The rules: framework/handle-protocol.md.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <troupe/framework/internal/handles/messages.hpp>
#include <troupe/framework/internal/link/link_host.hpp>
#include <troupe/framework/internal/net/whereabouts.hpp>
#include <troupe/framework/internal/threads/io_timer.hpp>
#include <troupe/framework/link_options.hpp>

namespace troupe::internal {

class link_keeper;
class node_core;

/// Threads: `of` any, the others on the I/O thread.
class introductions final : public whereabouts_book, public std::enable_shared_from_this<introductions> {
public:
  explicit introductions(std::weak_ptr<node_core> node) : node_(std::move(node)) {}

  void learn(const std::shared_ptr<node_link>& from, const handles::node_name& who,
             std::vector<std::string> addresses) override;
  /// Drops the addresses that were learned over that link, which has ended.
  void forget(std::uint64_t link) override;

  [[nodiscard]] std::optional<own_words> of(const handles::node_name& who) const override;

  /// Dials the node at the addresses that peers have named, with the options of the links over which the addresses
  /// came. Does nothing if there is no such address, or if no link allows dialing. If a resulting link is lost, it is
  /// dialed again for node_options::handle_grace.
  void seek(const handles::node_name& who);
  /// Stops all dials.
  void end();

private:
  struct saying {
    std::weak_ptr<node_link> from;
    std::vector<std::string> addresses;
    bool is_own = false;
    bool is_within_host = false;
  };
  struct search {
    std::deque<std::pair<std::string, link_options>> left;
    std::shared_ptr<link_keeper> dial;
  };
  void try_next(const handles::node_name& who);
  void on_connected(const handles::node_name& who);
  void on_given_up(const handles::node_name& who);
  void seek_again();

  const std::weak_ptr<node_core> node_;

  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::map<std::pair<handles::node_name, std::uint64_t>, saying> known_; // By node and link.
  std::map<std::uint64_t, std::deque<handles::node_name>> said_by_;      // By link; oldest first.

  // I/O thread.
  std::map<handles::node_name, search> searches_;
  std::vector<std::weak_ptr<node_link>> opened_;
  std::map<handles::node_name, std::shared_ptr<link_keeper>> dials_; // Of open links; they report the links' loss.
  std::map<handles::node_name, std::chrono::steady_clock::time_point> lost_; // Until when to seek each again.
  std::shared_ptr<io_timer> timer_;                                          // Runs while `lost_` is not empty.
  bool is_ended_ = false;
};

} // namespace troupe::internal
