#include <troupe/framework/internal/wire/message_deadline.hpp>

#include <chrono>

#include <gtest/gtest.h>

#include <troupe/framework/internal/flow/peer_delay.hpp>
#include <troupe/framework/internal/wire/message_extensions.hpp>

namespace troupe::internal {
namespace {

using namespace std::chrono_literals;

byte_vector entry_of(const byte_vector& map) {
  const auto place = find_deadline(map).value();
  return {map.begin() + static_cast<std::ptrdiff_t>(place),
          map.begin() + static_cast<std::ptrdiff_t>(place + deadline_bytes)};
}

TEST(message_deadline, leaves_as_the_time_left_and_arrives_as_a_deadline) {
  const deadline_point now{1h};
  byte_vector map;
  append_deadline(map, now + 250ms);
  ASSERT_TRUE(is_extension_map(map));
  const auto place = find_deadline(map).value();
  state_time_left(std::span{map}.subspan(place, deadline_bytes), now + 50ms);
  const deadline_point there{7h}; // Another host's clock.
  EXPECT_EQ(read_time_left(map, there), there + 200ms);
  keep_deadline(map, there, 0s);
  state_time_left(std::span{map}.subspan(place, deadline_bytes), there + 150ms);
  EXPECT_EQ(read_time_left(map, now), now + 50ms) << "without the time that it spent at the forwarder";
}

TEST(message_deadline, that_has_passed_leaves_nothing) {
  const deadline_point now{1h};
  byte_vector map;
  append_deadline(map, now - 1ms);
  state_time_left(std::span{map}.subspan(find_deadline(map).value(), deadline_bytes), now);
  EXPECT_EQ(entry_of(map), byte_vector(deadline_bytes));
  EXPECT_EQ(read_time_left(map, now), now);
}

TEST(message_deadline, has_its_golden_bytes) {
  const deadline_point now{1h};
  byte_vector map;
  append_extension(map, 1, byte_vector{std::byte{5}});
  append_deadline(map, now + 3ms);
  state_time_left(std::span{map}.subspan(find_deadline(map).value(), deadline_bytes), now);
  const byte_vector golden{std::byte{1},    std::byte{1},    std::byte{5}, std::byte{2}, std::byte{8},
                           std::byte{0xb8}, std::byte{0x0b}, std::byte{0}, std::byte{0}, std::byte{0},
                           std::byte{0},    std::byte{0},    std::byte{0}};
  EXPECT_EQ(map, golden);
}

TEST(message_deadline, of_another_size_or_of_centuries_is_none) {
  const deadline_point now{1h};
  for (const std::size_t size : {0, 1, 4, 7, 9}) {
    byte_vector map;
    append_extension(map, 2, byte_vector(size));
    EXPECT_FALSE(read_time_left(map, now)) << size;
    const auto before = map;
    keep_deadline(map, now, 0s);
    EXPECT_EQ(map, before);
  }
  byte_vector map;
  append_extension(map, 2, byte_vector(deadline_bytes, std::byte{0xff}));
  EXPECT_FALSE(read_time_left(map, now));
  keep_deadline(map, now, 0s);
  state_time_left(std::span{map}.subspan(find_deadline(map).value(), deadline_bytes), now);
  EXPECT_TRUE(read_time_left(map, now)) << "a forwarder bounds it";
  EXPECT_FALSE(read_time_left({}, now));
}

TEST(peer_delay, is_half_of_the_shortest_round_trip) {
  const peer_delay::clock::time_point begin{1h};
  peer_delay delay;
  EXPECT_TRUE(delay.is_due(begin, 1h));
  delay.answer(begin); // Unsolicited.
  EXPECT_EQ(delay.now(), 0s);
  delay.ask(begin);
  EXPECT_FALSE(delay.is_due(begin + 2h, 1h)) << "not answered";
  delay.ask(begin + 5ms); // The first question still waits.
  delay.answer(begin + 10ms);
  EXPECT_EQ(delay.now(), 5ms);
  delay.answer(begin + 11ms);
  EXPECT_FALSE(delay.is_due(begin + 19ms, 20ms));
  EXPECT_TRUE(delay.is_due(begin + 20ms, 20ms));
  delay.ask(begin + 20ms);
  delay.answer(begin + 60ms); // Behind other messages.
  EXPECT_EQ(delay.now(), 5ms);
  delay.ask(begin + 100ms);
  delay.answer(begin + 102ms);
  EXPECT_EQ(delay.now(), 1ms);
}

TEST(message_deadline, is_earlier_by_the_delay_but_at_most_by_a_quarter_of_the_time_that_is_left) {
  const deadline_point now{1h};
  EXPECT_EQ(with_delay(now + 1h, now, 1s), now + 1h - 1s);
  EXPECT_EQ(with_delay(now + 100ms, now, 1s), now + 75ms); // Measured behind bulk.
  EXPECT_EQ(with_delay(now - 5ms, now, 1s), now - 5ms);
  byte_vector map;
  append_deadline(map, now + 100ms);
  state_time_left(std::span{map}.subspan(find_deadline(map).value(), deadline_bytes), now);
  keep_deadline(map, now, 20ms);
  state_time_left(std::span{map}.subspan(find_deadline(map).value(), deadline_bytes), now);
  EXPECT_EQ(read_time_left(map, now), now + 80ms);
}

} // namespace
} // namespace troupe::internal
