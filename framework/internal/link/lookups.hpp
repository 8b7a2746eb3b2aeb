// The names at the peer for which this end waits.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include <troupe/framework/internal/caf_port/actors/finder.hpp>
#include <troupe/framework/internal/link/link_common.hpp>
#include <troupe/framework/internal/link/name_questions.hpp>
#include <troupe/framework/internal/threads/io_timer.hpp>
#include <troupe/framework/node_errc.hpp>

namespace troupe::internal {

/// Asks the peer for a name, and repeats the question until the peer has the name or the time is over. The pauses grow
/// from 5 ms to 100 ms, or to 1 ms for each waiting name if that is more. So a peer gets a few thousand questions a
/// second at most.
///
/// Threads: any for begin, find, finder_of and ping; the I/O thread for the rest.
/// Lifetime: a part of its link.
class lookups {
public:
  /// How many lookups may wait on one link at a time.
  static constexpr std::size_t waiting_max = 1024;

  /// `questions` must outlive this object.
  lookups(const link_common& link, asio::io_context& io, caf::actor_system& system, name_questions& questions)
      : link_(link), io_(io), system_(system), questions_(questions), timer_(io) {}

  /// To be called before anything is looked up. `owner` owns this object, and must live while a lookup is in progress.
  void belong_to(std::weak_ptr<void> owner) { owner_ = std::move(owner); }

  /// Calls `then` once: when the name is found, on any error but its absence, when the time is over, or when the link
  /// ends. When the time is over, the error is `not_found`, or `timed_out` if the peer has not answered at all. A
  /// timeout of zero asks once and gives the peer 5 s. Fails with `link_busy` if `waiting_max` lookups wait.
  void begin(std::string name, std::set<std::string> interface, std::chrono::milliseconds timeout, on_lookup then);

  /// As begin(), but blocks. Fails with `unsupported` on I/O threads, and with `timed_out` if the I/O thread is too
  /// busy.
  [[nodiscard]] std::expected<caf::strong_actor_ptr, node_error> find(std::string name, std::set<std::string> interface,
                                                                      std::chrono::milliseconds timeout);
  /// Returns an actor that answers each request with the result of begin().
  [[nodiscard]] caf::actor finder_of(std::string name, std::set<std::string> interface,
                                     std::chrono::milliseconds timeout);
  /// Blocks until the peer has answered an empty question. Fails with `timed_out`, or with the link's reason.
  [[nodiscard]] std::expected<void, node_error> ping(std::chrono::milliseconds timeout);

  /// The longest time until begin() calls `then`. After that, no answer comes.
  [[nodiscard]] static std::chrono::milliseconds longest(std::chrono::milliseconds timeout);

  /// Fails all lookups because the link has ended.
  void end(const node_error& reason);

private:
  using clock = std::chrono::steady_clock;

  struct wanted {
    std::string name;
    std::set<std::string> interface;
    std::chrono::milliseconds timeout; // Zero: the peer is asked once.
    on_lookup then;
    clock::time_point until = {};
    std::chrono::milliseconds pause{5};          // The pause before the next question.
    std::optional<clock::time_point> again = {}; // When the next question is due; nullopt while the peer is asked.
    std::uint64_t question = 0;                  // The number of the open question; 0: none.
    bool is_answered = false;                    // The peer has answered at least once.
  };

  void start(wanted what);
  void ask(std::uint64_t which);
  void on_answer(std::uint64_t which, std::expected<caf::strong_actor_ptr, node_error> answer);
  void finish(std::uint64_t which, std::expected<caf::strong_actor_ptr, node_error> answer);
  void set_timer();
  void on_timer();
  [[nodiscard]] node_error time_is_over(const wanted& what) const;

  const link_common& link_;
  asio::io_context& io_;
  caf::actor_system& system_;
  name_questions& questions_;
  std::weak_ptr<void> owner_;
  std::atomic<std::size_t> count_{0}; // Lookups that have begun and are not over.
  // I/O thread.
  io_timer timer_;
  std::map<std::uint64_t, wanted> wanted_;
  std::uint64_t next_ = 1;
};

} // namespace troupe::internal
