// The search for the actor of one lasting handle.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <troupe/framework/internal/caf_port/actor_pointers.hpp>
#include <troupe/framework/internal/lasting/kept_address.hpp>
#include <troupe/framework/internal/lasting/lasting_actor.hpp>
#include <troupe/framework/internal/threads/io_timer.hpp>
#include <troupe/framework/lasting.hpp>
#include <troupe/framework/node_errc.hpp>

namespace troupe::internal {

/// Finds the actor of a lasting handle, and finds another one each time it is lost. Asks all addresses whose links are
/// open; the first answer counts.
///
///  seeking --found--> found --the actor, its link or its name is gone--> seeking
///  From any state to over: the search is given up, or the node ends.
///
/// With lasting_options::idle_close it begins in another state, in which it needs no link:
///
///  resting --a message waits--> seeking;   seeking, found --idle--> resting
///
/// Threads: the node's main I/O thread.
/// Lifetime: the node's lasting_office holds it until it is over, or nothing refers to the handle any more.
class target_search : public std::enable_shared_from_this<target_search> {
public:
  using clock = std::chrono::steady_clock;

  struct terms {
    std::chrono::milliseconds patience;
    std::optional<std::chrono::milliseconds> give_up;
    std::optional<std::chrono::milliseconds> idle_close;
    lasting_events events;
  };

  /// `handle` must be a lasting_actor. `over` is called once, when the search has given up.
  target_search(std::shared_ptr<asio::io_context> io, const caf::strong_actor_ptr& handle, terms its,
                std::vector<std::shared_ptr<kept_address>> addresses, std::function<void()> over);
  ~target_search();

  void begin();
  /// Ends the handle's actor with `why`, and the search.
  void end(const node_error& why);

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] const std::vector<std::shared_ptr<kept_address>>& addresses() const noexcept { return addresses_; }

  // -- told by the addresses

  void link_opened(kept_address& at);
  void link_lost(kept_address& at, const node_error& why);
  /// One dial has failed; the next one follows.
  void dial_failed();
  void address_given_up();
  /// The name was published anew or withdrawn there.
  void name_changed(kept_address& at);

  // -- told by the handle

  /// A message begins to wait, or the target's link is down.
  void is_away();

private:
  /// What is known of one address.
  struct place {
    bool is_asked = false;
    bool has_changed = false;                   // Since the peer was asked.
    node_error problem = {node_errc::none, {}}; // The last answer, if it was an error.
  };

  [[nodiscard]] std::size_t index_of(const kept_address& at) const;
  [[nodiscard]] caf::strong_actor_ptr handle() const { return handle_.lock(); }
  void seek();
  void wake();
  void look_for_use();
  void rest();
  void note_absence();
  void show_problem(const node_error& why);
  void tell_unreachable();
  void wait_for_the_same_process(std::size_t which);
  [[nodiscard]] std::chrono::milliseconds first_wait() const;
  void ask(std::size_t which, std::chrono::milliseconds wait);
  void on_answer(std::size_t which, std::expected<caf::strong_actor_ptr, node_error> answer);
  void use(std::size_t which, const caf::strong_actor_ptr& found);
  void forward_on();
  void lose(const node_error& why);
  void on_target_ended(std::uint64_t use, const caf::error& why);
  void stop_watching();
  void seek_later();
  void fail_old_messages();
  void wait_for_give_up();
  void give_up(const node_error& why);
  void tell(lasting_event::kind what, std::string address, const node_error& reason);
  [[nodiscard]] const node_error& problem_at(std::size_t which) const;
  [[nodiscard]] node_error problem() const;
  [[nodiscard]] node_error absence() const;
  template <class Then>
  void after(std::unique_ptr<io_timer>& timer, clock::time_point at, Then then);

  const std::shared_ptr<asio::io_context> io_;
  const caf::weak_actor_ptr handle_;
  const std::string name_;
  const std::set<std::string> interface_;
  const std::chrono::milliseconds patience_;
  const std::optional<std::chrono::milliseconds> give_up_;
  const std::optional<std::chrono::milliseconds> idle_close_; // Bounded.
  const std::function<void(const lasting_event&)> callback_;
  const caf::weak_actor_ptr listener_; // Not kept alive.
  const std::vector<std::shared_ptr<kept_address>> addresses_;
  std::vector<place> places_; // As addresses_.
  const std::function<void()> over_;
  bool is_over_ = false;
  // With idle_close:
  bool is_resting_ = false;
  bool is_unreachable_told_ = false; // Since it rested or found its target.
  bool was_quiet_ = false;           // No message was sent between the last two looks.

  std::optional<std::size_t> current_;          // The address of the target.
  caf::strong_actor_ptr target_;                // Watched.
  std::shared_ptr<const found_target> pending_; // Set while messages that have waited are forwarded to the target.
  std::optional<std::size_t> awaited_;          // Only this address is asked, until return_timer_ is due.
  std::uint64_t uses_ = 0;                      // Counts targets, so that late news of an earlier one is ignored.
  clock::time_point away_since_ = clock::now();
  node_error why_away_ = {node_errc::none, {}};

  // Made when first needed: most handles are never away.
  std::unique_ptr<io_timer> message_timer_;
  std::unique_ptr<io_timer> retry_timer_;
  std::unique_ptr<io_timer> flow_timer_;
  std::unique_ptr<io_timer> return_timer_;
  std::unique_ptr<io_timer> give_up_timer_;
  std::unique_ptr<io_timer> idle_timer_;
  std::unique_ptr<io_timer> unreachable_timer_;
  bool has_message_timer_ = false;
};

} // namespace troupe::internal
