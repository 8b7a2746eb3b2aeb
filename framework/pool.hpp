// Actors that spread messages over the children of a supervisor, or over other actors.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <caf/actor.hpp>
#include <caf/fwd.hpp>
#include <caf/message.hpp>

#include <troupe/base/export.hpp>
#include <troupe/framework/node_errc.hpp>

namespace troupe {

/// Which child gets the next message. Only running children are considered.
enum class spread : std::uint8_t {
  round_robin,  ///< One after the other.
  least_loaded, ///< The child with the fewest unanswered requests of this pool.
  by_key ///< The same child for the same key. If it is not running, its keys, and no others, go to other children.
         ///< (Rendezvous hashing, Thaler and Ravishankar, 1996.)
};

struct pool_options {
  /// The children that get messages: a child's name without the number of its copy. Empty: all children that have
  /// actors.
  std::string children = {};

  spread placement = spread::round_robin;

  /// The key of a message, for spread::by_key. Called on the sender's thread. If it throws, the sender of a request
  /// gets `bad_option`.
  std::function<std::size_t(const caf::message&)> key = {};

  /// The number of unanswered requests that a child gets, 0 for no limit. Further messages wait in the pool for the
  /// first child that has room. Lower: the work is spread more evenly, and less is lost with a child; but a child may
  /// be idle until its next request arrives. With spread::by_key there is no limit.
  std::size_t requests_per_child = 0;

  /// While no child is running or has room, at most this number of messages wait, each for at most this time. Then
  /// requests fail with `no_child`, and other messages are dropped.
  std::size_t waiting_most = 10'000;
  std::chrono::milliseconds patience{std::chrono::seconds(30)};

  /// A request that the child has not answered after about this time fails with `timed_out`. This bounds what children
  /// that never answer can hold. At least 10 ms.
  std::chrono::milliseconds answer_within{std::chrono::minutes(10)};

  /// True: a request that its child has lost is sent to another child, at most `repeats_most` times. Set it only if it
  /// does no harm to handle a request twice. If no other child is running, the same one gets it again after 100 ms.
  /// False: such a request fails with `child_lost`, or with `broken_promise` if the child dropped it.
  bool retry_idempotent = false;
  std::size_t repeats_most = 3;

  /// True: a request for an actor of another process (or for a lasting handle) is passed on under its sender's name, so
  /// that the actor answers the sender, and the pool forgets it. That is faster. If it is lost, it fails with
  /// `link_down`, as if it had been sent to the actor itself. `answer_within` does not bound it, and pool_stats counts
  /// it as forwarded only. Requests for actors of this process count as ever, because nobody else would notice their
  /// loss. A pool that forwards can neither repeat requests nor place messages by load: `bad_option` with
  /// `retry_idempotent`, `requests_per_child` and spread::least_loaded.
  bool forward_requests = false;

  /// What the texts of the pool's errors begin with, such as "service cart". Empty: nothing.
  std::string name = {};
  /// Says in the errors of messages for which there was no child why that is so, for example "no member publishes
  /// cart". It replaces what the pool knows itself. Called once for all messages that fail at the same time, on a
  /// sender's thread or on one of the actor system's, without a lock of the pool. It must return soon, and must neither
  /// send to the pool nor assign its actors. If it throws, or gives an empty text, the pool says what it knows.
  std::function<std::string()> why_none = {};
};

/// Counts of a pool.
struct pool_stats {
  std::size_t running = 0;     // Children that get messages now.
  std::size_t unanswered = 0;  // Requests that children have now, but for forwarded ones.
  std::size_t waiting = 0;     // Messages that wait for a child now.
  std::uint64_t answered = 0;  // By children, with results or errors.
  std::uint64_t failed = 0;    // Answered by the pool, with errors.
  std::uint64_t repeated = 0;  // Sent to another child because a child ended.
  std::uint64_t dropped = 0;   // Messages that were not requests and found no child.
  std::uint64_t forwarded = 0; // Requests that children answer to their senders: pool_options::forward_requests.
};

namespace internal {

class pool_actor;

} // namespace internal

/// A reference to a pool. Copies refer to the same pool.
///
/// Every request is answered once, by a child or with one of these errors (but see pool_options::forward_requests):
/// - `child_lost`: the child that had the request ended, or passed it on to an actor that has ended.
/// - `no_child`: no child was running or had room in time, or too many messages waited.
/// - `timed_out`: see pool_options::answer_within.
/// - `gave_up`: the supervisor gave up, or has ended.
/// Later answers to a request that has failed are dropped. Messages that are not requests are delivered at most once;
/// the child sees their sender.
///
/// Threads: any. Messages are passed on by the sender's thread. A message costs a scan of the children if they are
/// chosen by load or by key. Lifetime: the actor lives as long as a handle to it. It ends when its supervisor ends, and
/// then still answers requests with the reason. It may be published and sent like every actor.
class TROUPE_EXPORT pool {
public:
  explicit pool(caf::actor handle) : handle_(std::move(handle)) {}

  /// An ordinary handle: send to it, make requests, monitor it, publish it.
  [[nodiscard]] const caf::actor& handle() const noexcept { return handle_; }

  [[nodiscard]] pool_stats stats() const;

private:
  caf::actor handle_;
};

/// An actor of an actor_pool, with a name that no other actor of the pool has.
struct pool_member {
  std::string name;
  caf::actor actor;
  /// Set: the actor cannot take messages yet, but may be chosen. Messages for it wait in the pool until assign() names
  /// it without `wake`, or not at all; in the latter case they go to other actors. Called once when the first such
  /// message waits, on the sender's thread. It must return soon, and must not call the pool.
  std::function<void()> wake = {};
};

/// A pool of actors that the program names and may exchange at any time, such as lasting handles to the processes that
/// provide one service. Copies refer to the same pool.
///
/// Requests are answered as those of a pool, where "child" stands for an actor of this pool. If an actor answers
/// `link_down`, its request counts as lost. `pool_options::children` has no effect. With spread::by_key, pools of
/// different processes choose alike if their actors have the same names.
///
/// Threads: any. Lifetime: the actor lives as long as a handle to it, and keeps its actors alive.
class TROUPE_EXPORT actor_pool {
public:
  /// Opens a pool without actors: messages wait for the first one. Fails with `bad_option`.
  ///
  ///     auto pool = troupe::actor_pool::open(system, {.placement = troupe::spread::least_loaded});
  ///     pool->assign({{"near", near}, {"far", far}});
  ///     self->request(pool->handle(), 5s, add_v, item);
  [[nodiscard]] static std::expected<actor_pool, node_error> open(caf::actor_system& system, pool_options options = {});

  /// `handle` is that of an actor_pool.
  explicit actor_pool(caf::actor handle) : handle_(std::move(handle)) {}

  /// From now on these are the actors. An actor that stays keeps its requests. One that leaves gets no more messages,
  /// may answer what it has, and is then released.
  void assign(std::vector<pool_member> members) const;

  /// For spread::least_loaded: the actor of that name has `requests` unanswered ones, of all senders; nullopt: that is
  /// not known (any more). The number counts until the next call, at most as 1,000,000. It may be old, and every sender
  /// may know the same one. So as long as a number counts for an actor, each message goes to the better one of two
  /// actors chosen at random, so that not all senders choose the same actor. (Mitzenmacher, "How useful is old
  /// information?", 2000.)
  void note_load(const std::string& name, std::optional<std::uint64_t> requests) const;

  /// An ordinary handle: send to it, make requests, monitor it, publish it.
  [[nodiscard]] const caf::actor& handle() const noexcept { return handle_; }

  [[nodiscard]] pool_stats stats() const;

private:
  caf::actor handle_;
};

} // namespace troupe
