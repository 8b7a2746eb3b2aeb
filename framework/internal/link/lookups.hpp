// The names that one end of a link waits for.
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

/// Asks the peer for a name, and again as long as the peer does not have it and there is time. The pauses grow from 5
/// ms to 100 ms, or to 1 ms for each name that is waited for, so that a peer gets some thousand questions a second at
/// most.
///
/// Threads: begin, find, finder_of and ping from any; the rest on the I/O thread.
/// Lifetime: a part of its link.
class lookups {
public:
  /// How many may wait on one link at a time.
  static constexpr std::size_t waiting_max = 1024;

  /// `questions` outlives this.
  lookups(const link_common& link, asio::io_context& io, caf::actor_system& system, name_questions& questions)
      : link_(link), io_(io), system_(system), questions_(questions), timer_(io) {}

  /// Before anything is looked up. `owner` has this, and lives while something is under way.
  void belong_to(std::weak_ptr<void> owner) { owner_ = std::move(owner); }

  /// Calls `then` once: when the name is found, when something else than its absence is wrong, when the time is over
  /// (`not_found`, or `timed_out` where the peer has not answered at all), or when the link ends. A time of zero asks
  /// once, and gives the peer `answer_patience`. Fails with `link_busy` where too many wait.
  void begin(std::string name, std::set<std::string> interface, std::chrono::milliseconds timeout, on_lookup then);

  /// The same, blocking. Fails with `unsupported` on I/O threads.
  [[nodiscard]] std::expected<caf::strong_actor_ptr, node_error> find(std::string name, std::set<std::string> interface,
                                                                      std::chrono::milliseconds timeout);
  /// An actor that answers each request with what begin() gives.
  [[nodiscard]] caf::actor finder_of(std::string name, std::set<std::string> interface,
                                     std::chrono::milliseconds timeout);
  /// Blocks until the peer has answered something.
  [[nodiscard]] std::expected<void, node_error> ping(std::chrono::milliseconds timeout);

  /// How long the answer of begin() can take; beyond it, nobody will answer.
  [[nodiscard]] static std::chrono::milliseconds longest(std::chrono::milliseconds timeout);

  /// The link has ended.
  void end(const node_error& reason);

private:
  using clock = std::chrono::steady_clock;

  struct wanted {
    std::string name;
    std::set<std::string> interface;
    std::chrono::milliseconds timeout; // Zero: asked for once.
    on_lookup then;
    clock::time_point until = {};
    std::chrono::milliseconds pause{5};          // Before the next question.
    std::optional<clock::time_point> again = {}; // When that is due; none while the peer is asked.
    std::uint64_t question = 0;                  // Its number.
    bool is_answered = false;                    // At least once.
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
  std::atomic<std::size_t> count_{0}; // Begun and not over.
  // I/O thread.
  io_timer timer_;
  std::map<std::uint64_t, wanted> wanted_;
  std::uint64_t next_ = 1;
};

} // namespace troupe::internal
