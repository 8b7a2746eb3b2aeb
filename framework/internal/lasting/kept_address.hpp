// An address that the lasting handles of a node share.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <deque>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include <troupe/framework/internal/caf_port/actor_pointers.hpp>
#include <troupe/framework/internal/lasting/kept_link.hpp>
#include <troupe/framework/node_errc.hpp>

namespace asio {
class io_context;
}

namespace troupe::internal {

class target_search;

/// Keeps a link to one address for all handles that want it, and asks the peer for their names, a bounded number at a
/// time.
///
/// Threads: the node's main I/O thread.
class kept_address : public std::enable_shared_from_this<kept_address> {
public:
  /// How many questions for names may be open at a time. A link allows 1,024, also for callers of link::find.
  static constexpr std::size_t questions_max = 256;

  using on_answer = std::function<void(std::expected<caf::strong_actor_ptr, node_error>)>;
  struct question {
    std::string name;
    std::set<std::string> interface;
    std::chrono::milliseconds wait; // How long the peer is asked again; zero: it is asked once.
    on_answer then;
  };

  kept_address(asio::io_context& io, dial_terms to) : io_(io), to_(std::move(to)) {}

  /// Called once, on any thread, before begin(). Fails as keep_link_function does.
  [[nodiscard]] std::expected<void, node_error> prepare(const keep_link_function& keep);
  void begin();
  /// Ends the dialing, and closes the link.
  void end();

  [[nodiscard]] const dial_terms& to() const noexcept { return to_; }
  [[nodiscard]] bool is_open() const { return link_ != nullptr; }
  /// There will be no more dials. Any thread.
  [[nodiscard]] bool is_given_up() const noexcept { return is_given_up_.load(); }
  [[nodiscard]] std::shared_ptr<node_link> link() const { return link_; }
  /// found_target::memory. Requires: the actor was found here.
  [[nodiscard]] byte_vector memory_at(const caf::strong_actor_ptr& actor) const;
  /// Why there is no link; none if it was not dialed yet.
  [[nodiscard]] const node_error& problem() const noexcept { return problem_; }

  /// `search` must be removed before it is destroyed.
  void add(target_search& search) { searches_.insert(&search); }
  void remove(target_search& search) { searches_.erase(&search); }

  /// Calls `then` once, later. Requires: is_open().
  void ask(question what);
  /// The peer says that the name was published anew or withdrawn.
  void name_changed(const std::string& name);

private:
  void on_opened();
  void on_failed(const node_error& why);
  void on_given_up(const node_error& why);
  void ask_next();
  template <class Tell>
  void tell_all(Tell&& tell);

  asio::io_context& io_;
  const dial_terms to_;
  std::shared_ptr<kept_link> kept_;
  std::shared_ptr<node_link> link_; // Set while it is open.
  node_error problem_ = {node_errc::none, {}};
  std::atomic<bool> is_given_up_{false};
  std::set<target_search*> searches_;
  std::deque<question> waiting_; // For earlier questions to be answered.
  std::size_t open_ = 0;         // Questions that the peer was asked.
};

} // namespace troupe::internal
