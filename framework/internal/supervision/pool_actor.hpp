// The actor behind a pool.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <expected>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <troupe/framework/internal/caf_port/actors/alarm.hpp>
#include <troupe/framework/internal/caf_port/event_actors.hpp>
#include <troupe/framework/internal/caf_port/messages.hpp>
#include <troupe/framework/internal/supervision/placement.hpp>
#include <troupe/framework/internal/supervision/roster.hpp>
#include <troupe/framework/internal/wire/message_deadline.hpp>
#include <troupe/framework/pool.hpp>
#include <troupe/framework/trace_context.hpp>

namespace troupe::internal {

/// Passes messages on to children, and answers to requesters.
///
/// It has no mailbox: each message is handled by the thread that sends it. To children, the pool is the sender of each
/// request, under an id that is used once. So an answer that comes too late, or a second time, matches nothing.
///
/// Actors are neither called nor released under the lock.
class pool_actor final : public caf::actor_proxy {
public:
  pool_actor(caf::actor_config& config, std::shared_ptr<internal::roster> roster, std::vector<std::size_t> members,
             pool_options options);
  /// A pool whose actors assign() names.
  pool_actor(caf::actor_config& config, pool_options options);
  ~pool_actor() override;

  using caf::abstract_actor::enqueue;
  void enqueue(caf::mailbox_element_ptr what, caf::execution_unit* context) override;
  void kill_proxy(caf::execution_unit*, caf::error) override {}
  [[nodiscard]] const char* name() const override { return "troupe::pool"; }

  /// Takes over what the roster says.
  void refresh();
  /// From now on these are the actors. Requires: there is no roster.
  void assign(std::vector<pool_member> members);
  /// As actor_pool::note_load().
  void note_load(const std::string& name, std::optional<std::uint64_t> requests);

  [[nodiscard]] pool_stats stats() const;

private:
  using clock = std::chrono::steady_clock;

  /// Where the answer to a request goes.
  struct requester {
    caf::strong_actor_ptr source; // Null: the message is not a request.
    std::vector<caf::strong_actor_ptr> stages;
    caf::message_id id;
  };
  /// What came with a message, for the child.
  struct passed_notes {
    std::optional<deadline_point> deadline = std::nullopt;
    std::shared_ptr<const trace_context> trace = nullptr;

    [[nodiscard]] bool is_empty() const noexcept { return !deadline && !trace; }
  };
  /// A child that has lost a request without having ended, as far as is known. The same run gets the request again only
  /// if no other child can have it until then.
  struct avoided_run {
    std::size_t place;
    std::uint64_t run;
    clock::time_point until;
  };
  /// A message that has no child yet.
  struct letter {
    requester from;
    caf::mailbox_element_ptr content; // Null if `copy` has the content.
    caf::message copy;                // Empty unless the message is a request that may be repeated.
    passed_notes notes;
    std::uint64_t key = 0;
    std::size_t repeats = 0;
    clock::time_point asked = clock::now();
    clock::time_point since = {}; // When it began to wait.
    std::vector<avoided_run> avoids = {};
  };
  /// A request that a child has.
  struct pending {
    requester from;
    caf::message copy;
    passed_notes notes;
    std::uint64_t key = 0;
    std::size_t repeats = 0;
    std::vector<avoided_run> avoids = {};
    clock::time_point asked;
    std::size_t place = 0;
    std::uint64_t run = 0;
  };
  using pending_requests = std::unordered_map<std::uint64_t, pending>;
  struct place {
    std::size_t child; // In the roster.
    std::string name;
    bool is_leaving = false; // It gets no more messages, and goes when it has no more requests.
    caf::actor handle = {};  // Null while no child is running.
    bool is_remote = false;  // Requests may be forwarded to it.
    std::uint64_t run = 0;   // The child's starts, which tells its runs apart.
    std::shared_ptr<char> watch_key = {};
    node_error last_reason = {node_errc::none, {}};
    std::function<void()> wake = {};  // pool_member::wake; empty: messages go to the handle.
    bool is_woken = false;            // `wake` was called.
    std::vector<letter> waiting = {}; // For the actor to wake up. Requests count as its load.
  };
  /// What is to be done without the lock.
  struct work {
    struct delivery {
      caf::actor to;
      caf::mailbox_element_ptr content;
    };
    struct failure {
      requester from;
      node_error why;
      std::optional<std::string> how = std::nullopt; // There was no child: pool_options::why_none says why, after this.
    };
    delivery first_delivery = {};          // Null if there is none. Mostly the only one, which needs no allocation.
    std::vector<delivery> more_deliveries; // After the first one.
    std::vector<failure> failures;
    std::vector<caf::actor> released;
    std::vector<std::pair<caf::actor, std::shared_ptr<char>>> unwatched;
    std::vector<std::size_t> watched; // Places.
    std::vector<std::function<void()>> woken;
    bool delivers_waiting = false; // Some deliveries are of messages that waited.
    std::optional<clock::time_point> tick;
    std::optional<caf::error> end;

    void deliver(const caf::actor& to, caf::mailbox_element_ptr content) {
      if (first_delivery.content)
        more_deliveries.push_back({to, std::move(content)});
      else
        first_delivery = {to, std::move(content)};
    }
  };

  [[nodiscard]] static passed_notes notes_with(const caf::mailbox_element& what);
  [[nodiscard]] clock::time_point limit_of(const pending& of) const;
  void take(caf::mailbox_element_ptr what, caf::execution_unit* context);
  void forward(caf::mailbox_element_ptr what, caf::execution_unit* context);
  void answer(caf::mailbox_element_ptr what, caf::execution_unit* context);
  void tick();
  void end(node_error why);
  void do_work(work&& todo, caf::execution_unit* context = nullptr);
  void explain(std::vector<work::failure>& all) const;
  void deliver_rest(caf::execution_unit* context);
  void watch(std::size_t which);
  void lose(std::size_t which, std::uint64_t run, const node_error& why);
  static void pass_answer(requester to, caf::mailbox_element_ptr what, caf::execution_unit* context);

  // With the lock.
  [[nodiscard]] pending& add_pending(std::uint64_t id);
  /// Requires: nothing in the entry refers to an actor.
  void keep_spare(pending_requests::node_type&& entry);
  void place_letter(letter&& what, work& todo);
  void give_to(std::size_t which, letter&& what, work& todo);
  void keep_at(std::size_t which, letter&& what, work& todo);
  void give_back(std::size_t which);
  void give_kept(std::size_t which, work& todo);
  void set_wake(std::size_t which, std::function<void()> wake, work& todo);
  [[nodiscard]] std::size_t waiting_count() const noexcept { return waiting_.size() + kept_; }
  template <class Letters, class Refuse>
  void expire(Letters& all, clock::time_point now, Refuse refuse_one);
  void wait_for_child(letter&& what, work& todo);
  void refuse(letter&& what, node_error why, work& todo, std::optional<std::string> how = std::nullopt);
  /// There was no child for the message. `how` is for people: what has happened to the message.
  void refuse_without_child(letter&& what, const std::string& how, work& todo);
  void lose_place(std::size_t which, const node_error& why, work& todo);
  /// `how` is for people: what the child did.
  void settle_lost(pending of, std::string_view how, const node_error& why, work& todo);
  [[nodiscard]] std::vector<std::size_t> avoided_places(const letter& of) const;
  [[nodiscard]] std::optional<node_error> loss_in(const caf::mailbox_element& answer, const pending& of) const;
  void occupy(std::size_t which, caf::actor handle, std::uint64_t run, work& todo);
  void release_if_idle(std::size_t which, work& todo);
  [[nodiscard]] std::size_t free_place();
  void take_over(place& known, std::size_t which, roster_entry& entry, work& todo);
  void note_absence(bool was_available);
  void place_waiting(work& todo);
  void end_with(node_error why, work& todo);
  void want_tick(clock::time_point at, work& todo);
  [[nodiscard]] std::string absence() const;

  const std::shared_ptr<internal::roster> roster_; // Null if the actors are assigned.
  const pool_options options_;
  alarm alarm_;

  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::vector<place> places_;
  placement placement_;
  pending_requests pending_;                       // By the id under which the child has the request.
  std::vector<pending_requests::node_type> spare_; // Entries of answered requests, to be used again.
  std::deque<letter> waiting_;
  std::size_t kept_ = 0;               // Letters that wait at places.
  std::vector<std::size_t> awake_;     // Places that have woken up and may still keep letters.
  bool is_delivering_waiting_ = false; // A thread does. Until it is done, new messages wait, so that none overtakes.
  std::uint64_t last_id_ = 0;
  std::uint64_t last_run_ = 0; // Of assigned actors.
  std::uint64_t seen_version_ = 0;
  bool has_seen_ = false;
  clock::time_point none_since_ = clock::now();
  std::optional<clock::time_point> next_tick_;
  std::optional<node_error> end_; // Set once the supervisor has ended.
  pool_stats counts_;
};

/// Requires: `members` are children of the roster.
[[nodiscard]] caf::actor make_pool(caf::actor_system& system, std::shared_ptr<roster> roster,
                                   std::vector<std::size_t> members, pool_options options);

[[nodiscard]] caf::actor make_actor_pool(caf::actor_system& system, pool_options options);

/// Null if the actor is not a pool.
[[nodiscard]] pool_actor* as_pool(const caf::actor& actor);

/// Fails with `bad_option`; otherwise the bounded options.
[[nodiscard]] std::expected<pool_options, node_error> checked(pool_options options);

} // namespace troupe::internal
