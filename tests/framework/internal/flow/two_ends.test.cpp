// Two ends of a link whose actors pass each other's requests around. In the end, all requests are answered. The classes
// are those of real links. The link itself, its actors and the time are simulated from one seed.
#include <troupe/framework/internal/flow/request_book.hpp>
#include <troupe/framework/internal/flow/send_window.hpp>

#include <array>
#include <chrono>
#include <deque>
#include <random>
#include <unordered_map>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace troupe::internal {
namespace {

constexpr std::uint64_t actors = 5;       // At each end, numbered from 1.
constexpr std::uint64_t cost_bytes = 150; // For each message.

/// The action of an actor on a request that it has taken.
enum class way : std::uint8_t { answered, answered_later, passed_on_here, passed_over, asks_first };

struct played_request {
  std::size_t asker_end = 0;
  std::uint64_t asker = 0;
  std::uint64_t number = 0;
  std::uint64_t first_for = 0; // The request at the asker's end that this one's answer completes; 0: none.
};

struct played_message {
  std::uint64_t receiver = 0;
  std::uint8_t flags = 0;
  asking asks = asking::nothing;
  std::uint64_t cost = cost_bytes;
  std::vector<outgoing_mention> mentions = {};
  std::vector<stored_frame> frames = {};
  bool may_be_dropped = true;
  std::uint64_t sender = 0; // In an answer, the actor that had received the request.
  played_request what = {};
};

struct played_asker {
  [[nodiscard]] static bool is_gone() { return false; }
};

class two_ends {
public:
  two_ends(std::uint64_t seed, std::vector<way> ways) : random_(seed), ways_(std::move(ways)) {
    for (auto& each : ends_) {
      each.replies.set_bounds({.all = 2048, .of_receiver = 512});
      each.replies.count_consumed([] {}, nullptr);
      each.window.set_bounds(
          {.window = 2048, .actor_window = 512, .queue = UINT64_MAX / 4, .actor_queue = UINT64_MAX / 4});
    }
  }

  /// Makes each end send `requests` requests, at most `at_once` of which are on their way at a time.
  void run(std::uint64_t requests, std::uint64_t at_once) {
    left_ = {requests, requests};
    at_once_ = at_once;
    while (step())
      ;
  }

  std::uint64_t answered = 0;
  std::uint64_t stalls = 0; // The number of times that only time could make progress.

private:
  struct end {
    reply_room replies;
    request_book<played_asker> asked{replies};
    send_window<played_message> window{replies};
    std::deque<played_message> wire = {}; // Written by this end.
    std::deque<std::pair<std::uint64_t, std::uint64_t>> credits = {};
    std::deque<played_message> mailbox = {};                         // Shared by all its actors.
    std::deque<std::pair<receipt, std::uint64_t>> answers = {};      // Each with the request that needs it.
    std::vector<std::pair<std::uint64_t, played_request>> kept = {}; // Actors that have promised an answer.
    std::uint64_t own_under_way = 0;
  };

  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }

  /// Makes one random step. Returns false if no step is possible.
  bool step() {
    std::vector<int> possible;
    for (int side = 0; side < 2; ++side) {
      const auto at = static_cast<std::size_t>(side);
      const auto& one = ends_[at];
      const bool may[] = {left_[at] > 0 && one.own_under_way < at_once_,
                          !one.wire.empty(),
                          !one.credits.empty(),
                          !one.mailbox.empty(),
                          !one.answers.empty(),
                          !one.kept.empty()};
      for (int i = 0; i < 6; ++i)
        if (may[i])
          possible.push_back(6 * side + i);
    }
    if (possible.empty())
      return wait();
    const auto what = possible[below(possible.size())];
    const auto at = static_cast<std::size_t>(what / 6);
    auto& one = ends_[at];
    switch (what % 6) {
    case 0:
      --left_[at];
      ++one.own_under_way;
      ask(at, {.asker_end = at, .asker = 1 + below(actors), .number = ++last_number_});
      break;
    case 1:
      deliver(1 - at, take(one.wire));
      break;
    case 2: {
      const auto [actor, bytes] = take(one.credits);
      auto& other = ends_[1 - at];
      EXPECT_TRUE(other.window.credit(actor, bytes));
      pump(1 - at);
      break;
    }
    case 3: {
      const auto message = take(one.mailbox);
      handle(at, message.receiver, message.what);
      one.credits.emplace_back(message.receiver, message.cost);
      break;
    }
    case 4: {
      auto [owed, needed_for] = take(one.answers);
      owed = {};
      one.replies.settle();
      pump(at);
      if (needed_for != 0)
        answer_kept(at, needed_for);
      else
        count_answer(at);
      break;
    }
    default: {
      const auto which = below(one.kept.size());
      const auto [actor, what_for] = one.kept[which];
      one.kept.erase(one.kept.begin() + static_cast<std::ptrdiff_t>(which));
      if (below(2) == 0)
        answer(at, actor, what_for);
      else
        ask(at, what_for);
    }
    }
    return true;
  }

  /// Lets time pass. Returns true if that lets a message leave.
  bool wait() {
    bool helps = false;
    now_ += std::chrono::seconds{1};
    for (std::size_t at = 0; at < 2; ++at) {
      auto& one = ends_[at];
      if (!one.window.anything_lacks_room())
        continue;
      one.asked.reclaim_stalled(now_, 65'536);
      one.asked.reclaim_stalled(now_ += std::chrono::seconds{1}, 65'536);
      pump(at);
      helps = helps || !one.wire.empty();
    }
    stalls += helps ? 1 : 0;
    return helps;
  }

  template <class T>
  static T take(std::deque<T>& from) {
    auto first = std::move(from.front());
    from.pop_front();
    return first;
  }

  /// An actor at end `at` sends the request to the other end, for itself or for the asker at the other end.
  void ask(std::size_t at, const played_request& what) {
    auto& one = ends_[at];
    const auto is_own = what.asker_end == at;
    played_message message{.receiver = 1 + below(actors),
                           .flags = message_flags::request,
                           .asks = is_own ? asking::room : asking::returned,
                           .what = what};
    if (is_own)
      one.asked.add({what.asker, what.number}, message.receiver, {});
    one.replies.settle();
    if (one.window.admit(message.receiver, message.cost, message.asks) != admission::leaves)
      return one.window.wait(std::move(message));
    one.window.charge(message.receiver, message.cost);
    leave(at, std::move(message));
  }

  void leave(std::size_t at, played_message message) {
    if (message.asks == asking::room)
      ends_[at].asked.left({message.what.asker, message.what.number}, message.receiver, now_);
    ends_[at].wire.push_back(std::move(message));
  }

  void pump(std::size_t at) {
    while (auto message = ends_[at].window.next())
      leave(at, *std::move(message));
  }

  void deliver(std::size_t at, const played_message& message) {
    auto& one = ends_[at];
    const question_key key{message.what.asker, message.what.number};
    if ((message.flags & message_flags::response) != 0) {
      ASSERT_TRUE(one.asked.take_answered(key, message.sender, cost_bytes));
      one.answers.emplace_back(one.replies.issue(cost_bytes), message.what.first_for);
      return;
    }
    if (message.asks == asking::returned) {
      ASSERT_TRUE(one.asked.take(key, 0));
      pump(at);
    }
    one.mailbox.push_back(message);
  }

  void handle(std::size_t at, std::uint64_t actor, const played_request& what) {
    switch (ways_[below(ways_.size())]) {
    case way::answered:
      return answer(at, actor, what);
    case way::answered_later:
      return ends_[at].kept.emplace_back(actor, what), void();
    case way::passed_on_here:
      return handle(at, 1 + below(actors), what);
    case way::passed_over:
      return ask(at, what);
    case way::asks_first: {
      const auto number = ++last_number_;
      waiting_.emplace(number, std::pair{actor, what});
      return ask(at, {.asker_end = at, .asker = actor, .number = ++last_number_, .first_for = number});
    }
    }
  }

  void answer(std::size_t at, std::uint64_t actor, const played_request& what) {
    if (what.asker_end != at)
      ends_[at].wire.push_back(
          {.receiver = what.asker, .flags = message_flags::response, .sender = actor, .what = what});
    else if (what.first_for != 0)
      answer_kept(at, what.first_for);
    else
      count_answer(at);
  }

  void answer_kept(std::size_t at, std::uint64_t number) {
    const auto kept = waiting_.extract(number);
    ASSERT_FALSE(kept.empty());
    answer(at, kept.mapped().first, kept.mapped().second);
  }

  void count_answer(std::size_t at) {
    ++answered;
    --ends_[at].own_under_way;
  }

  std::mt19937_64 random_;
  const std::vector<way> ways_;
  std::array<end, 2> ends_;
  std::array<std::uint64_t, 2> left_ = {};
  std::uint64_t at_once_ = 0;
  std::uint64_t last_number_ = 0;
  std::unordered_map<std::uint64_t, std::pair<std::uint64_t, played_request>> waiting_; // For another answer.
  std::chrono::steady_clock::time_point now_ = std::chrono::steady_clock::now();
};

TEST(two_ends_of_a_link, that_pass_requests_back_and_forth_never_stand_still) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    two_ends both{seed, {way::answered, way::answered_later, way::passed_on_here, way::passed_over, way::passed_over}};
    both.run(500, 100);
    ASSERT_EQ(both.answered, 1000u) << "seed " << seed;
    ASSERT_EQ(both.stalls, 0u) << "seed " << seed;
  }
}

TEST(two_ends_of_a_link, whose_actors_ask_back_before_they_answer_go_on_once_room_is_given_up) {
  std::uint64_t stalls = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    two_ends both{seed, {way::answered, way::answered_later, way::passed_over, way::asks_first}};
    both.run(500, 100);
    ASSERT_EQ(both.answered, 1000u) << "seed " << seed;
    stalls += both.stalls;
  }
  EXPECT_GT(stalls, 0u); // Without stalls, the test proves nothing.
}

} // namespace
} // namespace troupe::internal
