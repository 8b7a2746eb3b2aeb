// The message of the benchmarks of small messages, and the interface of their subjects.
//
// There are two processes: the far end serves, the near end drives and measures time. All subjects have the same bound
// on messages in flight, so that none profits from unlimited buffering: one way, the far end acknowledges every
// `acknowledged_every` messages and the last one, and the near end has at most `window_max` unacknowledged messages.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <expected>
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <troupe/serializers/describe.hpp>

namespace bench {

/// Three integers and a string of 24 characters, which is too long for std::string's internal buffer.
struct small_message {
  std::int32_t number = 0; // Counts from 0, to detect lost or reordered messages.
  std::int32_t second = 0;
  std::int32_t third = 0;
  std::string text;
};
TROUPE_DESCRIBE(small_message, number, second, third, text) // For Troupe.

template <class Inspector>
typename Inspector::result_type inspect(Inspector& inspector, small_message& message) { // For CAF.
  return inspector(message.number, message.second, message.third, message.text);
}

constexpr std::uint64_t acknowledged_every = 4'000;
constexpr std::uint64_t window_max = 20'000;
constexpr std::uint64_t echo_window = 100;

/// The contents of the message with that number, for peers that have their own types.
struct small_fields {
  explicit small_fields(std::uint64_t of)
      : number(static_cast<std::int32_t>(of & 0x7fffffff)), second(number ^ 0x5555) {}
  std::int32_t number;
  std::int32_t second;
  std::int32_t third = 42;
  static constexpr std::string_view text = "a text of 24 characters.";
};

/// The message with that number. Built anew for each sending, as a program would.
inline small_message numbered(std::uint64_t number) {
  const small_fields fields{number};
  return {fields.number, fields.second, fields.third, std::string{small_fields::text}};
}

/// Number of structs in a message.
enum class load : std::uint8_t {
  one_struct,
  many_structs, ///< small_messages with `structs_together` structs.
};

using small_messages = std::vector<small_message>;
constexpr std::uint64_t structs_together = 100;
static_assert(acknowledged_every % structs_together == 0); // Only a message's last struct is acknowledged.
static_assert(window_max % structs_together == 0);

/// The structs of one message, numbered from `first` on: `structs_together` of them, or fewer if `end` comes first.
/// Built anew for each sending.
inline small_messages numbered_together(std::uint64_t first, std::uint64_t end) {
  const auto count = std::min(structs_together, end - first);
  small_messages made;
  made.reserve(count);
  for (std::uint64_t i = 0; i < count; ++i)
    made.push_back(numbered(first + i));
  return made;
}

/// If the message is not the expected one, ends the process, because its result would mean nothing.
inline void check_fields(std::int32_t number, std::size_t text_size, std::uint64_t expected) {
  if (number == static_cast<std::int32_t>(expected & 0x7fffffff) && text_size == small_fields::text.size())
    return;
  std::cerr << "message " << number << " came instead of message " << expected << '\n';
  std::_Exit(3);
}

inline void check_number(const small_message& message, std::uint64_t expected) {
  check_fields(message.number, message.text.size(), expected);
}

/// Whether the far end sends an acknowledgement after `received` structs of `count`.
constexpr bool is_acknowledged(std::uint64_t received, std::uint64_t count) {
  return received % acknowledged_every == 0 || received == count;
}

using seconds = std::chrono::duration<double>;
using bench_clock = std::chrono::steady_clock;

/// The driving end of one subject. Its calls block without deadlines; the process that started this one has a deadline.
class near_end {
public:
  near_end() = default;
  near_end(const near_end&) = delete;
  near_end& operator=(const near_end&) = delete;
  virtual ~near_end() = default;

  /// Streams `count` structs. Returns the time from before the first struct until the last one's acknowledgement has
  /// arrived. That is one hop longer than until the far end has the last struct.
  [[nodiscard]] virtual std::expected<seconds, std::string> one_way(std::uint64_t count) = 0;

  /// Has `count` messages sent back, with at most `window` in flight. Appends each one's round-trip time to
  /// `round_trips` unless that is null. Requires: if `round_trips` is not null, `window` is 1.
  [[nodiscard]] virtual std::expected<seconds, std::string> echo(std::uint64_t count, std::uint64_t window,
                                                                 std::vector<seconds>* round_trips) = 0;

  /// Hands over `count` values of `size_bytes`, one after the other (peers/large_values.hpp). At the beginning, the
  /// value lies in the sender's own memory. The receiver reads it and answers. For each value, returns the time until
  /// the answer has arrived.
  [[nodiscard]] virtual std::expected<std::vector<seconds>, std::string> hand_over(std::uint64_t /*count*/,
                                                                                   std::size_t /*size_bytes*/) {
    return std::unexpected{"carries no large values here"};
  }
};

/// Implements near_end::echo once the far end has been asked. `send` sends a message or queues it. `hear` sends the
/// queued messages, waits for one or more answers, and increments its argument, the number of answers so far.
template <class Send, class Hear>
void exchange_echoes(std::uint64_t count, std::uint64_t window, std::vector<seconds>* round_trips, const Send& send,
                     const Hear& hear) {
  std::uint64_t answered = 0;
  for (std::uint64_t sent = 0; answered < count;) {
    const auto sent_at = bench_clock::now();
    while (sent < count && sent - answered < window)
      send(numbered(sent++));
    hear(answered);
    if (round_trips != nullptr)
      round_trips->push_back(bench_clock::now() - sent_at);
  }
}

/// Called by a far end with the address at which it can be reached.
using ready_report = std::function<void(const std::string& address)>;

/// One measured system.
struct subject {
  std::string name;
  /// In the far process: opens, calls `ready`, and serves until standard input ends. Fails with a text if it cannot
  /// open.
  std::function<std::expected<void, std::string>(const ready_report& ready)> serve;
  /// In the near process. Fails with a text.
  std::function<std::expected<std::unique_ptr<near_end>, std::string>(const std::string& address)> connect;
};

/// Returns when the process's standard input has ended.
inline void wait_for_end_of_input() {
  for (std::string line; std::getline(std::cin, line);)
    continue;
}

} // namespace bench
