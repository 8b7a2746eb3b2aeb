// What holds for every family; a new family adds its row to `all_families`.
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include <troupe/serializers/cereal/cereal_type.hpp>

#include "rich.hpp"

namespace {

using namespace troupe;

/// A family, and what sets it apart where a test depends on it.
struct row {
  const char* name;
  bool attaches_frames = true;   // Else their bytes lie in the body.
  bool counts_ahead = true;      // A list says how long it is before its first element.
  bool names_enumerators = true; // Enums travel by name or are checked by it.
};

void PrintTo(const row& of, std::ostream* to) {
  *to << of.name;
}

constexpr row all_families[] = {{.name = "typed"},
                                {.name = "msgpack"},
                                {.name = "json", .attaches_frames = false, .counts_ahead = false},
                                {.name = "cereal", .names_enumerators = false}};

struct nothing {
  bool operator==(const nothing&) const = default;
};
TROUPE_DESCRIBE(nothing)

struct wanted {
  int kept = 3;
  std::vector<std::string> names;
};
TROUPE_DESCRIBE(wanted, kept, names)

struct ring {
  std::shared_ptr<ring> next;
};
TROUPE_DESCRIBE(ring, next)

class every_family : public testing::TestWithParam<row> {
protected:
  every_family() {
    families.add(std::make_unique<cereal_family>());
    rich::add_to(types);
    add_cereal<nothing>(types, "nothing"); // Which is types.add() for all families but `cereal`.
    add_cereal<wanted>(types, "wanted");
    add_cereal<ring>(types, "ring");
    add_cereal<std::vector<nothing>>(types, "nothings");
    add_cereal<std::vector<frame>>(types, "frames");
  }

  template <class T>
  payload encoded(const T& value) {
    auto made = serialize(value, {.serializers = {GetParam().name}, .on_error = on_error::raise, .context = ctx}, types,
                          families);
    EXPECT_TRUE(made.has_value()) << (made ? "" : made.error().message());
    return made.value_or(payload{});
  }

  template <class T>
  std::expected<T, serialize_error> decoded(const payload& from) {
    return deserialize<T>(from, {.deserializers = {GetParam().name}, .context = ctx}, types, families);
  }

  template <class T>
  void expect_back(const T& value) {
    auto back = decoded<T>(encoded(value));
    ASSERT_TRUE(back.has_value()) << back.error().message();
    EXPECT_TRUE(*back == value);
  }

  template <class T>
  serialize_errc code_of(const payload& from) {
    auto back = decoded<T>(from);
    return back ? serialize_errc::none : back.error().code();
  }

  // The same payload with another body.
  static payload with_body(payload from, std::vector<std::byte> body) {
    from.frames[0] = frame::adopt(std::move(body));
    return from;
  }

  static std::vector<std::byte> body_of(const payload& of) {
    return {of.frames[0].bytes().begin(), of.frames[0].bytes().end()};
  }

  type_registry types;
  family_set families;
  context ctx;
};

INSTANTIATE_TEST_SUITE_P(, every_family, testing::ValuesIn(all_families), [](const auto& of) { return of.param.name; });

TEST_P(every_family, carries_a_value_of_every_sort) {
  const auto value = rich::full();
  auto back = decoded<rich::everything>(encoded(value));
  ASSERT_TRUE(back.has_value()) << back.error().message();
  EXPECT_EQ(rich::difference(value, *back), "");
}

TEST_P(every_family, carries_the_empty_value_of_every_sort) {
  auto back = decoded<rich::everything>(encoded(rich::everything{}));
  ASSERT_TRUE(back.has_value()) << back.error().message();
  EXPECT_FALSE(back->left);
  EXPECT_FALSE(back->perhaps.has_value());
}

TEST_P(every_family, carries_numbers_at_their_ends) {
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

TEST_P(every_family, carries_texts_and_arrays_around_every_boundary_of_size) {
  for (const std::size_t size : {0, 1, 31, 32, 63, 64, 255, 256, 4095, 4096, 4097, 65'535, 65'536, 200'000}) {
    expect_back(std::string(size, 'x'));
    expect_back(std::vector<std::byte>(size, std::byte{3}));
    expect_back(std::vector<float>(size, 1.5F));
    expect_back(array<std::int16_t>(std::vector<std::int16_t>(size, -2)));
  }
}

TEST_P(every_family, carries_values_that_take_no_room) {
  expect_back(nothing{});
  expect_back(std::vector<nothing>(1000));
}

TEST_P(every_family, carries_frames_of_no_length_and_no_frames) {
  EXPECT_TRUE(decoded<std::vector<frame>>(encoded(std::vector<frame>())));
  auto back = decoded<std::vector<frame>>(encoded(std::vector<frame>{frame(), rich::frame_of("a"), frame()}));
  ASSERT_TRUE(back.has_value()) << back.error().message();
  ASSERT_EQ(back->size(), 3U);
  EXPECT_EQ(rich::text_of((*back)[1]), "a");
}

TEST_P(every_family, keeps_a_frames_bytes_at_their_address) {
  if (!GetParam().attaches_frames)
    GTEST_SKIP() << "frames lie in the body";
  const auto sent = rich::frame_of("the very bytes");
  auto back = decoded<std::vector<frame>>(encoded(std::vector<frame>{sent}));
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ((*back)[0].bytes().data(), sent.bytes().data());
  EXPECT_EQ((*back)[0].owner(), sent.owner());
}

TEST_P(every_family, keeps_circles_of_shared_objects) {
  ring start;
  start.next = std::make_shared<ring>();
  start.next->next = start.next;
  auto back = decoded<ring>(encoded(start));
  ASSERT_TRUE(back.has_value()) << back.error().message();
  EXPECT_EQ(back->next->next, back->next);
  start.next->next.reset();
  back->next->next.reset();
}

TEST_P(every_family, refuses_bytes_behind_the_value) {
  auto sent = encoded(wanted{4, {"a"}});
  auto body = body_of(sent);
  body.push_back(std::byte{0});
  EXPECT_EQ(code_of<wanted>(with_body(sent, body)), serialize_errc::malformed);
}

TEST_P(every_family, refuses_a_frame_too_many_and_a_frame_too_few) {
  auto sent = encoded(std::vector<frame>{rich::frame_of("a")});
  sent.frames.push_back(frame());
  EXPECT_EQ(code_of<std::vector<frame>>(sent), serialize_errc::malformed);
  sent.frames.resize(1);
  EXPECT_EQ(code_of<std::vector<frame>>(sent),
            GetParam().attaches_frames ? serialize_errc::malformed : serialize_errc::none);
  sent.frames.clear();
  EXPECT_EQ(code_of<std::vector<frame>>(sent), serialize_errc::malformed);
}

TEST_P(every_family, refuses_a_value_cut_at_any_byte) {
  const auto sent = encoded(rich::full());
  const auto body = body_of(sent);
  for (std::size_t length = 0; length < body.size(); ++length) {
    const auto cut = with_body(sent, {body.begin(), body.begin() + static_cast<std::ptrdiff_t>(length)});
    EXPECT_FALSE(decoded<rich::everything>(cut).has_value()) << "cut at byte " << length;
  }
}

TEST_P(every_family, survives_every_flipped_bit) {
  const auto sent = encoded(rich::full());
  const auto body = body_of(sent);
  for (std::size_t bit = 0; bit < body.size() * 8; ++bit) {
    auto flipped = body;
    flipped[bit / 8] ^= std::byte{1} << (bit % 8);
    auto back = decoded<rich::everything>(with_body(sent, std::move(flipped)));
    if (back) // A valid value: it can be encoded again.
      static_cast<void>(serialize(*back, {.serializers = {GetParam().name}}, types, families));
  }
}

TEST_P(every_family, survives_random_bytes) {
  const auto sent = encoded(rich::full());
  const auto body = body_of(sent);
  std::mt19937 random(42);
  for (int round = 0; round < 3000; ++round) {
    auto damaged = body;
    for (int times = 0; times < 8; ++times)
      damaged[random() % damaged.size()] = static_cast<std::byte>(random());
    static_cast<void>(decoded<rich::everything>(with_body(sent, std::move(damaged))));
  }
}

TEST_P(every_family, names_the_field_that_a_limit_stops) {
  ctx.limits.elements = 2;
  auto back = decoded<wanted>(encoded(wanted{1, {"a", "b", "c"}}));
  ASSERT_FALSE(back.has_value());
  EXPECT_EQ(back.error().code(), serialize_errc::limit_exceeded);
  EXPECT_EQ(back.error().message(),
            std::string(GetParam().name)
                + (GetParam().counts_ahead ? ": wanted.names: 3 elements, of 2 are 2 left (limits::elements)"
                                           : ": wanted.names[1]: 1 elements, of 2 are 0 left (limits::elements)"));
}

TEST_P(every_family, refuses_values_nested_too_deep_in_both_directions) {
  rich::tree root;
  auto* last = &root;
  for (int depth = 0; depth < 400; ++depth) {
    last->next = std::make_unique<rich::tree>();
    last = last->next.get();
  }
  auto refused =
      serialize(root, {.serializers = {GetParam().name}, .on_error = on_error::raise, .context = {}}, types, families);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code(), serialize_errc::limit_exceeded);
  ctx.limits.depth = 1000;
  const auto sent = encoded(root);
  EXPECT_EQ(code_of<rich::tree>(sent), serialize_errc::none);
  ctx.limits.depth = 100;
  EXPECT_EQ(code_of<rich::tree>(sent), serialize_errc::limit_exceeded);
}

TEST_P(every_family, refuses_an_enum_value_without_a_name) {
  if (!GetParam().names_enumerators)
    GTEST_SKIP() << "enums are numbers";
  rich::everything value;
  value.paint = static_cast<rich::color>(200);
  auto refused =
      serialize(value, {.serializers = {GetParam().name}, .on_error = on_error::raise, .context = {}}, types, families);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().message(),
            std::string(GetParam().name) + ": everything.paint: 200 is no value of the enum color");
}

} // namespace
