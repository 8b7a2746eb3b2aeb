// The requests of the program to a WebSocket, until its client answers them.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

#include <troupe/framework/relay.hpp>

namespace troupe::web {

/// Whether a client may answer the request of a number.
enum class question_state : std::uint8_t {
  open,
  over,    ///< Its time has passed, so that its requester has an error already.
  unknown, ///< The number has not been given, or its request has been answered.
};

/// Keeps requests until the client answers them. Each request gets exactly one answer or error.
///
/// Invariants:
/// 1. At most `questions_max` requests wait.
/// 2. A number is given once.
/// 3. Once end() was called, none waits.
///
/// Threads: any. Requesters are answered without the lock.
class open_questions {
public:
  using clock = std::chrono::steady_clock;

  explicit open_questions(std::size_t questions_max);
  /// As end() with `link_down`.
  ~open_questions();
  open_questions(const open_questions&) = delete;
  open_questions& operator=(const open_questions&) = delete;

  /// Returns the number of the request, which waits until `limit`. If there are too many, fails the request with
  /// `link_busy`, and after the end with its reason. Then there is no number. Requires: `question` is a request.
  [[nodiscard]] std::optional<std::uint64_t> add(relayed_message question, clock::time_point limit);

  /// Of the numbers whose time has passed, the newest `questions_max` are known.
  [[nodiscard]] question_state state_of(std::uint64_t number) const;
  /// The request, which waits no more. Nullopt if it is not open.
  [[nodiscard]] std::optional<relayed_message> take(std::uint64_t number);
  [[nodiscard]] std::size_t count() const;

  /// Fails the requests whose limit is reached with `timed_out`. Returns the next limit; nullopt if none waits.
  [[nodiscard]] std::optional<clock::time_point> expire(clock::time_point now);
  /// Fails all requests for this reason, and from now on each new one. Further calls have no effect.
  void end(const node_error& why);

private:
  struct waiting_question {
    relayed_message request;
    clock::time_point limit;
  };
  using all_questions = std::map<std::uint64_t, waiting_question>;

  void remember_over(std::uint64_t number);

  const std::size_t questions_max_;
  mutable std::mutex mutex_; // Guards the members below.
  std::uint64_t last_ = 0;
  all_questions waiting_;
  std::set<std::pair<clock::time_point, std::uint64_t>> by_limit_; // Of those that wait.
  std::set<std::uint64_t> over_;
  std::optional<node_error> ended_;
};

} // namespace troupe::web
