// Promises of every family. A new family adds its row to `all_families` in every_family.hpp. Further parts:
// conformance_values, conformance_limits, conformance_damage, golden, evolution.
#include <cmath>

#include "every_family.hpp"

namespace {

using namespace conformance;

struct nothing {
  bool operator==(const nothing&) const = default;
};
TROUPE_DESCRIBE(nothing)

struct ring {
  std::shared_ptr<ring> next;
};
TROUPE_DESCRIBE(ring, next)

// Their counts may be infinite or not a number.
using real_seconds = std::chrono::duration<double>;
using real_minutes = std::chrono::duration<float, std::ratio<60>>;
using real_time = std::chrono::time_point<std::chrono::system_clock, std::chrono::duration<double, std::nano>>;

class plain_values : public every_family {
protected:
  plain_values() {
    rich::add_to(types);
    add_cereal<nothing>(types, "nothing"); // Equals types.add() for all families but `cereal`.
    add_cereal<wanted>(types, "wanted");
    add_cereal<ring>(types, "ring");
    add_cereal<std::vector<nothing>>(types, "nothings");
    add_cereal<std::vector<frame>>(types, "frames");
    add_cereal<real_seconds>(types, "seconds");
    add_cereal<real_minutes>(types, "minutes");
    add_cereal<real_time>(types, "time");
  }
};

INSTANTIATE_TEST_SUITE_P(, plain_values, testing::ValuesIn(all_families), name_of_row);

TEST_P(plain_values, carries_a_value_of_every_sort) {
  const auto value = rich::full();
  auto back = decoded<rich::everything>(encoded(value));
  ASSERT_TRUE(back.has_value()) << back.error().message();
  EXPECT_EQ(rich::difference(value, *back), "");
}

TEST_P(plain_values, carries_the_empty_value_of_every_sort) {
  auto back = decoded<rich::everything>(encoded(rich::everything{}));
  ASSERT_TRUE(back.has_value()) << back.error().message();
  EXPECT_FALSE(back->left);
  EXPECT_FALSE(back->perhaps.has_value());
}

TEST_P(plain_values, carries_numbers_at_their_ends) {
  expect_back(std::numeric_limits<std::int64_t>::min());
  expect_back(std::numeric_limits<std::uint64_t>::max());
  expect_back(std::numeric_limits<std::int8_t>::min());
  expect_back(std::numeric_limits<double>::denorm_min());
  expect_back(std::numeric_limits<float>::infinity());
  auto nan = decoded<double>(encoded(std::nan("")));
  EXPECT_TRUE(nan && std::isnan(*nan));
  for (int shift = 0; shift < 64; ++shift)
    for (int near = -1; near <= 1; ++near) {
      expect_back(static_cast<std::int64_t>((std::uint64_t{1} << shift) + static_cast<std::uint64_t>(near)));
      expect_back((std::uint64_t{1} << shift) + static_cast<std::uint64_t>(near));
    }
}

TEST_P(plain_values, carries_times_without_end_and_times_that_are_not_a_number) {
  constexpr auto infinity = std::numeric_limits<double>::infinity();
  expect_back(real_seconds(infinity));
  expect_back(real_minutes(-std::numeric_limits<float>::infinity()));
  expect_back(real_time(real_time::duration(-infinity)));
  for (const auto sign : {1.0, -1.0}) { // The sign may get lost.
    const auto nan = std::copysign(std::nan("1"), sign);
    const auto seconds = decoded<real_seconds>(encoded(real_seconds(nan)));
    EXPECT_TRUE(seconds && std::isnan(seconds->count()));
    const auto minutes = decoded<real_minutes>(encoded(real_minutes(nan)));
    EXPECT_TRUE(minutes && std::isnan(minutes->count()));
    const auto time = decoded<real_time>(encoded(real_time(real_time::duration(nan))));
    EXPECT_TRUE(time && std::isnan(time->time_since_epoch().count()));
  }
}

TEST_P(plain_values, carries_texts_and_arrays_around_every_boundary_of_size) {
  for (const std::size_t size : {0, 1, 31, 32, 63, 64, 255, 256, 4095, 4096, 4097, 65'535, 65'536, 200'000}) {
    expect_back(std::string(size, 'x'));
    expect_back(std::vector<std::byte>(size, std::byte{3}));
    expect_back(std::vector<float>(size, 1.5F));
    expect_back(array<std::int16_t>(std::vector<std::int16_t>(size, -2)));
  }
}

TEST_P(plain_values, carries_values_that_take_no_room) {
  expect_back(nothing{});
  expect_back(std::vector<nothing>(1000));
}

TEST_P(plain_values, carries_frames_of_no_length_and_no_frames) {
  EXPECT_TRUE(decoded<std::vector<frame>>(encoded(std::vector<frame>())));
  auto back = decoded<std::vector<frame>>(encoded(std::vector<frame>{frame(), rich::frame_of("a"), frame()}));
  ASSERT_TRUE(back.has_value()) << back.error().message();
  ASSERT_EQ(back->size(), 3U);
  EXPECT_EQ(rich::text_of((*back)[1]), "a");
}

TEST_P(plain_values, keeps_a_frames_bytes_at_their_address) {
  if (!GetParam().attaches_frames)
    GTEST_SKIP() << "frames lie in the body";
  const auto sent = rich::frame_of("the very bytes");
  auto back = decoded<std::vector<frame>>(encoded(std::vector<frame>{sent}));
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ((*back)[0].bytes().data(), sent.bytes().data());
  EXPECT_EQ((*back)[0].owner(), sent.owner());
}

TEST_P(plain_values, keeps_circles_of_shared_objects) {
  ring start;
  start.next = std::make_shared<ring>();
  start.next->next = start.next;
  auto back = decoded<ring>(encoded(start));
  ASSERT_TRUE(back.has_value()) << back.error().message();
  EXPECT_EQ(back->next->next, back->next);
  start.next->next.reset();
  back->next->next.reset();
}

TEST_P(plain_values, refuses_bytes_behind_the_value) {
  auto sent = encoded(wanted{4, {"a"}});
  auto body = body_of(sent);
  body.push_back(std::byte{0});
  EXPECT_EQ(code_of<wanted>(with_body(sent, body)), serialize_errc::malformed);
}

TEST_P(plain_values, refuses_a_frame_too_many_and_a_frame_too_few) {
  auto sent = encoded(std::vector<frame>{rich::frame_of("a")});
  sent.frames.push_back(frame());
  EXPECT_EQ(code_of<std::vector<frame>>(sent), serialize_errc::malformed);
  sent.frames.resize(1);
  EXPECT_EQ(code_of<std::vector<frame>>(sent),
            GetParam().attaches_frames ? serialize_errc::malformed : serialize_errc::none);
  sent.frames.clear();
  EXPECT_EQ(code_of<std::vector<frame>>(sent), serialize_errc::malformed);
}

TEST_P(plain_values, refuses_a_payload_without_frames_and_one_with_an_empty_body) {
  auto sent = encoded(wanted{});
  sent.frames[0] = frame();
  EXPECT_EQ(code_of<wanted>(sent), serialize_errc::malformed);
  sent.frames.clear();
  EXPECT_EQ(code_of<wanted>(sent), serialize_errc::malformed);
}

TEST_P(plain_values, refuses_an_enum_value_without_a_name) {
  if (!GetParam().names_enumerators)
    GTEST_SKIP() << "enums are numbers";
  rich::everything value;
  value.paint = static_cast<rich::color>(200);
  auto refused = made_of(value, {});
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().message(), said("everything.paint: 200 is no value of the enum color"));
}

} // namespace
