// What a node remembers of requests that may be sent again, and the identities of these requests.
#include <troupe/framework/internal/caf_port/answer_memory.hpp>

#include <map>
#include <optional>
#include <random>
#include <set>

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/scoped_actor.hpp>
#include <gtest/gtest.h>

#include <troupe/framework/internal/caf_port/builtin_types.hpp>
#include <troupe/framework/internal/wire/message_extensions.hpp>
#include <troupe/serializers/type_registry.hpp>

namespace troupe::internal {
namespace {

using namespace std::chrono_literals;
using verdict = answer_memory::verdict;

class remembered_answers : public testing::Test {
protected:
  static request_identity request(std::uint8_t caller, std::uint64_t number, std::chrono::microseconds age = 0us,
                                  std::uint64_t settled_below = 0) {
    request_identity made{.key = {.caller = {}, .number = number}, .settled_below = settled_below, .age = age};
    made.key.caller[0] = std::byte{caller};
    return made;
  }
  answer_memory::admission begin(const request_identity& which) {
    return memory_->begin(which, {.actor = caf::actor_cast<caf::strong_actor_ptr>(self_), .answer = question_}, now_);
  }
  void answer(const request_identity& which, int value) {
    memory_->answered(which.key, caf::make_message(value), now_);
  }
  /// Handles a new request.
  void handle(const request_identity& which, int value = 7) {
    const auto admitted = begin(which);
    ASSERT_EQ(admitted.what, verdict::handle);
    ASSERT_TRUE(admitted.is_kept);
    answer(which, value);
  }
  static int value_of(const caf::message& message) { return message.get_as<int>(0); }

  const caf::message_id question_ = caf::make_message_id(caf::normal_message_priority_constant{}, 5).response_id();
  caf::actor_system_config config_;
  caf::actor_system system_{config_};
  caf::scoped_actor self_{system_, true};
  type_registry types_;
  answer_memory::clock::time_point now_{1h};
  std::optional<answer_memory> memory_{std::in_place, types_, answer_memory::bounds{.bytes = 4'096, .age = 60s}};
};

TEST_F(remembered_answers, are_given_again) {
  handle(request(1, 1), 42);
  const auto again = begin(request(1, 1, 5s));
  EXPECT_EQ(again.what, verdict::answered);
  EXPECT_EQ(value_of(again.answer), 42);
  EXPECT_EQ(begin(request(2, 1)).what, verdict::handle); // Another caller's.
}

TEST_F(remembered_answers, are_awaited_while_a_request_is_handled) {
  ASSERT_EQ(begin(request(1, 1)).what, verdict::handle);
  EXPECT_EQ(begin(request(1, 1, 5s)).what, verdict::awaited);
  EXPECT_EQ(begin(request(1, 1, 6s)).what, verdict::awaited);
  EXPECT_FALSE(self_->has_next_message());
  answer(request(1, 1), 42);
  EXPECT_TRUE(self_->has_next_message());
}

TEST_F(remembered_answers, are_not_awaited_from_a_request_that_was_abandoned) {
  ASSERT_EQ(begin(request(1, 1)).what, verdict::handle);
  EXPECT_EQ(begin(request(1, 1, 5s)).what, verdict::awaited);
  memory_->abandoned(request(1, 1).key);
  EXPECT_TRUE(self_->has_next_message());
  EXPECT_EQ(begin(request(1, 1, 6s)).what, verdict::handle);
}

TEST_F(remembered_answers, stay_if_their_request_is_abandoned_later) {
  handle(request(1, 1), 42);
  memory_->abandoned(request(1, 1).key);
  EXPECT_EQ(begin(request(1, 1, 5s)).what, verdict::answered);
}

TEST_F(remembered_answers, are_dropped_when_they_are_settled) {
  for (std::uint64_t number = 1; number <= 3; ++number)
    handle(request(1, number));
  const auto before = memory_->bytes();
  handle(request(1, 4, 0us, 4));
  EXPECT_LT(memory_->bytes(), before);
}

TEST_F(remembered_answers, stay_within_their_bytes_and_forget_the_oldest) {
  for (std::uint64_t number = 1; number <= 100; ++number) {
    handle(request(1, number), static_cast<int>(number));
    EXPECT_LE(memory_->bytes(), 4'096u);
  }
  EXPECT_EQ(begin(request(1, 100, 1s)).what, verdict::answered);
  EXPECT_EQ(begin(request(1, 1, 1s)).what, verdict::may_be_forgotten);
  EXPECT_EQ(begin(request(1, 101, 1s)).what, verdict::handle); // It never came before.
}

TEST_F(remembered_answers, of_unknown_callers_may_be_forgotten_only_if_callers_were) {
  EXPECT_EQ(begin(request(1, 1, 1h)).what, verdict::handle);
  memory_->abandoned(request(1, 1).key);
  now_ += 2min;
  EXPECT_EQ(begin(request(2, 1)).what, verdict::handle); // Forgets caller 1, which was unused for longer than a minute.
  EXPECT_EQ(begin(request(1, 1, 3min)).what, verdict::may_be_forgotten);
  EXPECT_EQ(begin(request(3, 1, 30s)).what, verdict::handle); // Sent first after that caller was used last.
}

TEST_F(remembered_answers, become_old) {
  handle(request(1, 1));
  now_ += 59s;
  EXPECT_EQ(begin(request(1, 1, 59s)).what, verdict::answered);
  now_ += 2s;
  EXPECT_EQ(begin(request(1, 1, 61s)).what, verdict::may_be_forgotten);
}

TEST_F(remembered_answers, do_not_push_requests_out_that_are_being_handled) {
  for (std::uint64_t number = 1; number <= 15; ++number)
    ASSERT_EQ(begin(request(1, number)).what, verdict::handle);
  const auto full = begin(request(1, 16));
  EXPECT_EQ(full.what, verdict::handle);
  EXPECT_FALSE(full.is_kept);
  EXPECT_EQ(begin(request(1, 16, 1s)).what, verdict::may_be_forgotten);
  EXPECT_EQ(begin(request(1, 15, 1s)).what, verdict::awaited);
}

TEST_F(remembered_answers, refuse_a_late_copy_of_a_settled_request) {
  handle(request(1, 5));
  handle(request(1, 6, 0us, 6));
  EXPECT_EQ(begin(request(1, 5)).what, verdict::may_be_forgotten); // Sent first, and late on another way.
  EXPECT_EQ(begin(request(1, 5, 1s)).what, verdict::may_be_forgotten);
}

TEST_F(remembered_answers, are_awaited_by_the_last_repeated_request_only) {
  ASSERT_EQ(begin(request(1, 1)).what, verdict::handle);
  for (auto count = 0; count < 1'000; ++count)
    EXPECT_EQ(begin(request(1, 1, 1s)).what, verdict::awaited);
  const auto before = memory_->bytes();
  answer(request(1, 1), 42);
  EXPECT_LE(memory_->bytes(), before + 256);
  auto got = 0;
  while (self_->has_next_message()) {
    static_cast<void>(self_->next_message());
    ++got;
  }
  EXPECT_EQ(got, 1);
}

class random_requests : public remembered_answers, public testing::WithParamInterface<std::uint64_t> {};

// Without late copies in the small memory: of a caller that is not kept, they cannot be told from new requests.
INSTANTIATE_TEST_SUITE_P(in, random_requests, testing::Values(4'096, 10'000'000));

// Method: random callers send, repeat and settle requests, which are answered at random. Goal: no request is handled
// again after it was answered, and the memory stays bounded.
TEST_P(random_requests, are_never_handled_twice) {
  const auto has_room = GetParam() > 4'096;
  memory_.emplace(types_, answer_memory::bounds{.bytes = GetParam(), .age = has_room ? 1h : 60s});
  std::mt19937 random{11};
  const auto up_to = [&](std::uint64_t most) { return random() % (most + 1); };
  struct sent {
    answer_memory::clock::time_point at;
    bool is_answered = false;
    bool is_handled = false; // Now.
  };
  std::map<std::pair<std::uint8_t, std::uint64_t>, sent> all;
  std::map<std::uint8_t, std::uint64_t> next;
  std::map<std::uint8_t, std::uint64_t> settled_below;
  std::map<std::uint8_t, std::uint64_t> told;
  for (auto step = 0; step < 20'000; ++step) {
    now_ += std::chrono::milliseconds{up_to(500)};
    const auto caller = static_cast<std::uint8_t>(up_to(20));
    const auto is_new = next[caller] == 0 || up_to(2) == 0;
    const auto number = is_new ? ++next[caller] : 1 + up_to(next[caller] - 1);
    auto [place, unused] = all.try_emplace({caller, number}, sent{.at = now_});
    auto& what = place->second;
    const auto age = std::chrono::ceil<std::chrono::microseconds>(now_ - what.at);
    // A late copy has the age 0, and comes after a later request that has settled it.
    auto& settled = settled_below[caller];
    const auto is_late = has_room && !is_new && number < told[caller];
    const auto which = request(caller, number, is_new || is_late ? 0us : std::max(age, 1us), std::min(settled, number));
    told[caller] = std::max(told[caller], which.settled_below);
    const auto admitted = begin(which);
    ASSERT_LE(memory_->bytes(), GetParam());
    if (admitted.what == verdict::handle) {
      ASSERT_FALSE(what.is_answered) << "step " << step;
      ASSERT_FALSE(what.is_handled) << "step " << step;
      what.is_handled = true;
    }
    ASSERT_TRUE(what.is_answered || admitted.what != verdict::answered) << "step " << step;
    if (what.is_handled && up_to(3) != 0) {
      what.is_handled = false;
      what.is_answered = true; // Even if the answer is not kept.
      answer(which, 1);
      if (up_to(3) == 0) // The caller has the answers up to this one.
        for (auto next_number = settled; all[{caller, next_number}].is_answered || next_number == 0; ++next_number)
          settled = next_number + 1;
    }
  }
}

TEST(request_identities, travel_in_the_map) {
  request_identity made{.key = {.caller = {std::byte{1}, std::byte{2}}, .number = 3}, .settled_below = 2, .age = 5us};
  byte_vector map;
  append_request_identity(map, made);
  ASSERT_TRUE(is_extension_map(map));
  const auto read = read_request_identity(map);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->key, made.key);
  EXPECT_EQ(read->settled_below, 2u);
  EXPECT_EQ(read->age, 5us);
}

TEST(request_identities, of_another_size_or_of_number_0_are_none) {
  EXPECT_FALSE(read_request_identity({}));
  byte_vector map;
  append_request_identity(map, {});
  EXPECT_FALSE(read_request_identity(map));
  map.clear();
  append_extension(map, static_cast<std::uint64_t>(extension_key::request_identity), byte_vector(39, std::byte{1}));
  EXPECT_FALSE(read_request_identity(map));
}

TEST(request_identities, have_a_bounded_age) {
  byte_vector map;
  append_extension(map, static_cast<std::uint64_t>(extension_key::request_identity), byte_vector(40, std::byte{0xff}));
  const auto read = read_request_identity(map);
  ASSERT_TRUE(read);
  EXPECT_GT(read->age, 0us);
}

} // namespace
} // namespace troupe::internal
