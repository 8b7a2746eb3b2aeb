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
#include <troupe/framework/internal/threads/io_timer.hpp>
#include <troupe/framework/node_errc.hpp>

namespace asio {
class io_context;
}

namespace troupe::internal {

class target_search;

/// Keeps a link to one address as long as a search needs it, and asks the peer for the names of the searches, a bounded
/// number at a time.
///
///  idle --need()--> dialing --opened--> open --lost--> dialing
///    ^---- no search needs it, and nothing uses it ------'
///  From any state to given up: see is_given_up().
///
/// A link that no search needs stays open as long as an actor, an object or a request uses it
/// (node_link::is_unused()); this end looks again from time to time.
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

  kept_address(asio::io_context& io, dial_terms to, keep_link_function keep)
      : io_(io), to_(std::move(to)), keep_(std::move(keep)) {}

  /// Called once, on any thread, before anything needs the link. Fails as keep_link_function does.
  [[nodiscard]] std::expected<void, node_error> prepare();
  /// Ends the dialing, and closes the link.
  void end();

  [[nodiscard]] const dial_terms& to() const noexcept { return to_; }
  [[nodiscard]] bool is_open() const { return link_ != nullptr; }
  /// There will be no more dials. Any thread.
  [[nodiscard]] bool is_given_up() const noexcept { return is_given_up_.load(); }
  [[nodiscard]] std::shared_ptr<node_link> link() const { return link_; }
  /// found_target::memory. Requires: the actor was found here.
  [[nodiscard]] byte_vector memory_at(const caf::strong_actor_ptr& actor) const;
  /// Why there is no link; none if it was not dialed since it was needed.
  [[nodiscard]] const node_error& problem() const noexcept { return problem_; }

  /// `search` must be removed before it is destroyed.
  void add(target_search& search) { searches_.insert(&search); }
  void remove(target_search& search);

  /// From now on the search needs the link, which is dialed unless it is open.
  void need(target_search& search);
  /// The search does not need the link any more. If no other one does, the link is closed once it is unused; `pause` is
  /// the time until this end looks again.
  void need_no_more(target_search& search, std::chrono::milliseconds pause);

  /// Calls `then` once, later. Requires: is_open().
  void ask(question what);
  /// The peer says that the name was published anew or withdrawn.
  void name_changed(const std::string& name);

private:
  void on_opened();
  void on_failed(const node_error& why);
  void on_given_up(const node_error& why);
  void ask_next();
  [[nodiscard]] std::expected<std::shared_ptr<kept_link>, node_error> make_link();
  void dial();
  void let_go();
  void close_if_unneeded();
  void look_again();
  template <class Tell>
  void tell_all(Tell&& tell);

  asio::io_context& io_;
  const dial_terms to_;
  const keep_link_function keep_;
  std::shared_ptr<kept_link> kept_; // Null after an end of the link that this end has chosen.
  bool is_dialed_ = false;          // kept_ has begun.
  bool has_ended_ = false;
  std::shared_ptr<node_link> link_; // Set while it is open.
  node_error problem_ = {node_errc::none, {}};
  std::atomic<bool> is_given_up_{false};
  std::set<target_search*> searches_;
  std::set<target_search*> needs_;           // The part of searches_ that needs the link.
  std::chrono::milliseconds pause_{1'000};   // Until this end looks again whether the link is unused.
  std::unique_ptr<io_timer> unneeded_timer_; // Made when first needed.
  bool is_asking_ = false;                   // Whether the peer has read everything.
  std::deque<question> waiting_;             // For earlier questions to be answered.
  std::size_t open_ = 0;                     // Questions that the peer was asked.
};

} // namespace troupe::internal
