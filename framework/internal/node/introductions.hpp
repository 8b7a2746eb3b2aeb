// Where the nodes are that peers name: so that what came by way of one node is had from the node that has it, also when
// the first one dies. The rules: framework/handle-protocol.md.
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

/// Threads: `of` any, the rest on the I/O thread.
class introductions final : public whereabouts_book, public std::enable_shared_from_this<introductions> {
public:
  explicit introductions(std::weak_ptr<node_core> node) : node_(std::move(node)) {}

  void learn(const std::shared_ptr<node_link>& from, const handles::node_name& who,
             std::vector<std::string> addresses) override;
  /// The link has ended.
  void forget(std::uint64_t link) override;

  [[nodiscard]] std::optional<own_words> of(const handles::node_name& who) const override;

  /// Dials the node, at what others have said, with the options of the links over which they have. Nothing happens
  /// where nobody has, or nobody may. A link that comes of it and is lost is made anew within
  /// node_options::handle_grace.
  void seek(const handles::node_name& who);
  /// No more dials.
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
  std::map<std::pair<handles::node_name, std::uint64_t>, saying> known_; // By link.
  std::map<std::uint64_t, std::deque<handles::node_name>> said_by_;      // By link, the oldest first.

  // I/O thread.
  std::map<handles::node_name, search> searches_;
  std::vector<std::weak_ptr<node_link>> opened_;
  std::map<handles::node_name, std::shared_ptr<link_keeper>> dials_; // Of open links: they tell when these are lost.
  std::map<handles::node_name, std::chrono::steady_clock::time_point> lost_; // And until when to seek these again.
  std::shared_ptr<io_timer> timer_;                                          // Runs while there are any.
  bool is_ended_ = false;
};

} // namespace troupe::internal
