// Types that travel in another form: codec<T>, reduce() and rebuild(), a type's own codec, and the context that each of
// these gets.
#include <stdexcept>

#include <gtest/gtest.h>

#include <troupe/serializers/bitset.hpp>
#include <troupe/serializers/inspect.hpp>

#include "rich.hpp"

namespace hooks {

// Has no default constructor.
class celsius {
public:
  explicit celsius(double degrees) : degrees_(degrees) {}
  [[nodiscard]] double degrees() const { return degrees_; }
  auto operator<=>(const celsius&) const = default;

private:
  double degrees_;
};

struct silent : std::exception {
  [[nodiscard]] const char* what() const noexcept override { return nullptr; }
};

class fraction {
public:
  fraction(int over, int under) : over_(over), under_(under) {}
  [[nodiscard]] std::tuple<int, int> reduce() const { return {over_, under_}; }
  static fraction rebuild(int over, int under) {
    if (under == 0)
      throw std::domain_error("a fraction over zero");
    if (under < 0)
      throw silent();
    return {over, under};
  }
  bool operator==(const fraction&) const = default;

private:
  int over_;
  int under_;
};

// Contains itself directly, with no structure in between. No two levels are equal.
class tree {
public:
  tree(std::string name, std::vector<tree> below) : name_(std::move(name)), below_(std::move(below)) {}
  [[nodiscard]] std::tuple<std::string, std::vector<tree>> reduce() const { return {name_, below_}; }
  static tree rebuild(std::string name, std::vector<tree> below) { return {std::move(name), std::move(below)}; }
  bool operator==(const tree&) const = default;

private:
  std::string name_;
  std::vector<tree> below_;
};

// Contains itself, and another type that contains itself.
class bush {
public:
  bush() = default;
  bush(std::vector<tree> trees, std::shared_ptr<bush> next) : trees_(std::move(trees)), next_(std::move(next)) {}
  [[nodiscard]] std::tuple<std::vector<tree>, std::shared_ptr<bush>> reduce() const { return {trees_, next_}; }
  static bush rebuild(std::vector<tree> trees, std::shared_ptr<bush> next) {
    return {std::move(trees), std::move(next)};
  }
  bool operator==(const bush& other) const {
    return trees_ == other.trees_ && (next_ == nullptr) == (other.next_ == nullptr)
           && (next_ == nullptr || *next_ == *other.next_);
  }

private:
  std::vector<tree> trees_;
  std::shared_ptr<bush> next_;
};

struct garden {
  int number = 0;
  bush first;
  std::optional<tree> tallest;
};
TROUPE_DESCRIBE(garden, number, first, tallest)

struct newer_garden {
  std::optional<tree> tallest;
  std::string owner;
  bush first;
  std::int64_t number = 0;
};
TROUPE_DESCRIBE(newer_garden, tallest, owner, first, number)

// Stands for a link's tables.
struct address_book : troupe::context_extension {
  std::vector<std::string> names;
};

// A handle that has a meaning only together with the context; its bytes are sent out of band.
struct handle {
  std::string name;
  troupe::frame bytes;
};

struct handle_form {
  std::uint32_t number = 0;
  troupe::frame bytes;
};
TROUPE_DESCRIBE(handle_form, number, bytes)

struct letter {
  handle to;
  std::vector<celsius> weather;
  std::map<int, fraction> shares;
  std::optional<celsius> now;
  std::shared_ptr<fraction> half;
};
TROUPE_DESCRIBE(letter, to, weather, shares, now, half)

// This file cannot describe it; it has a codec of its own.
struct human {
  std::string name;
};

} // namespace hooks

template <>
struct troupe::codec<hooks::celsius> {
  using form = double;
  static std::expected<form, serialize_error> reduce(const hooks::celsius& value, const context&) {
    return value.degrees();
  }
  static std::expected<hooks::celsius, serialize_error> rebuild(form&& degrees, const context&) {
    return hooks::celsius(degrees);
  }
};

template <>
struct troupe::codec<hooks::handle> {
  using form = hooks::handle_form;
  static std::expected<form, serialize_error> reduce(const hooks::handle& value, const context& ctx) {
    auto* book = dynamic_cast<hooks::address_book*>(ctx.extension);
    if (book == nullptr)
      return std::unexpected(serialize_error(serialize_errc::out_of_band_handle, "a handle outside a message"));
    book->names.push_back(value.name);
    return form{static_cast<std::uint32_t>(book->names.size() - 1), value.bytes};
  }
  static std::expected<hooks::handle, serialize_error> rebuild(form&& from, const context& ctx) {
    auto* book = dynamic_cast<hooks::address_book*>(ctx.extension);
    if (book == nullptr || from.number >= book->names.size())
      return std::unexpected(serialize_error(serialize_errc::malformed, "an unknown handle"));
    return hooks::handle{book->names[from.number], from.bytes};
  }
};

namespace {

using namespace troupe;
using namespace hooks;

class hooked_types : public testing::TestWithParam<const char*> {
protected:
  hooked_types() {
    types.add<letter>("letter").add<handle>("handle").add<std::vector<fraction>>("fractions");
    ctx.extension = &book;
  }

  template <class T>
  std::expected<T, serialize_error> there_and_back(const T& value) {
    auto made =
        serialize(value, {.serializers = {GetParam()}, .on_error = on_error::raise, .context = ctx}, types, families);
    if (!made)
      return std::unexpected(made.error());
    return deserialize<T>(*made, {.deserializers = {GetParam()}, .context = ctx}, types, families);
  }

  type_registry types;
  family_set families;
  address_book book;
  context ctx;
};

INSTANTIATE_TEST_SUITE_P(, hooked_types, testing::Values("typed", "msgpack", "json"),
                         [](const auto& of) { return of.param; });

TEST_P(hooked_types, travel_alone_and_see_the_context) {
  const auto sent = rich::frame_of("bytes");
  const auto back = there_and_back(handle{"cup", sent});
  ASSERT_TRUE(back.has_value()) << back.error().message();
  EXPECT_EQ(back->name, "cup");
  EXPECT_EQ(rich::text_of(back->bytes), "bytes");
  if (GetParam() != std::string_view("json")) {
    EXPECT_EQ(back->bytes.bytes().data(), sent.bytes().data()) << "a frame must not be copied";
  }
}

TEST_P(hooked_types, travel_anywhere_inside_described_types) {
  letter sent{{"cup", rich::frame_of("b")},
              {celsius(1), celsius(-2)},
              {{1, {1, 2}}},
              celsius(9),
              std::make_shared<fraction>(1, 2)};
  const auto back = there_and_back(sent);
  ASSERT_TRUE(back.has_value()) << back.error().message();
  EXPECT_EQ(back->to.name, "cup");
  EXPECT_EQ(back->weather, sent.weather);
  EXPECT_EQ(back->shares, sent.shares);
  EXPECT_EQ(back->now, sent.now);
  EXPECT_EQ(*back->half, *sent.half);
}

TEST_P(hooked_types, may_contain_themselves) {
  types.add<tree>("tree").add<garden>("garden");
  type_registry newer;
  newer.add<newer_garden>("garden");
  const tree oak("oak", {tree("branch", {tree("leaf", {})}), tree("nest", {})});
  const garden value{5, bush({oak, tree("birch", {})}, std::make_shared<bush>(std::vector{oak}, nullptr)), oak};
  const auto alone = there_and_back(oak);
  ASSERT_TRUE(alone.has_value()) << alone.error().message();
  EXPECT_EQ(*alone, oak);
  const auto sent =
      serialize(value, {.serializers = {GetParam()}, .on_error = on_error::raise, .context = ctx}, types, families);
  ASSERT_TRUE(sent.has_value()) << sent.error().message();
  const auto back = deserialize<garden>(*sent, {.deserializers = {GetParam()}, .context = ctx}, types, families);
  ASSERT_TRUE(back.has_value()) << back.error().message();
  EXPECT_TRUE(back->first == value.first && back->tallest == value.tallest);
  const auto there = deserialize<newer_garden>(*sent, {.deserializers = {GetParam()}, .context = ctx}, newer, families);
  ASSERT_TRUE(there.has_value()) << there.error().message();
  EXPECT_EQ(there->number, 5);
  EXPECT_TRUE(there->first == value.first && there->tallest == value.tallest);
  const auto seen = inspect_serializability<garden>(types, families);
  EXPECT_TRUE(seen.ok()) << seen.to_text();
}

TEST_P(hooked_types, tell_why_they_refuse_and_where) {
  ctx.extension = nullptr;
  const auto back = there_and_back(letter{});
  ASSERT_FALSE(back.has_value());
  EXPECT_EQ(back.error().code(), serialize_errc::out_of_band_handle);
  EXPECT_EQ(back.error().message(), std::string(GetParam()) + ": letter.to: a handle outside a message");
}

TEST_P(hooked_types, may_throw) {
  const auto back = there_and_back(std::vector<fraction>{{1, 0}});
  ASSERT_FALSE(back.has_value());
  EXPECT_EQ(back.error().code(), serialize_errc::codec_failed);
  EXPECT_EQ(back.error().message(), std::string(GetParam()) + ": fractions[0]: a codec threw: a fraction over zero");
}

TEST_P(hooked_types, may_throw_what_says_nothing) {
  const auto back = there_and_back(std::vector<fraction>{{1, -1}});
  ASSERT_FALSE(back.has_value());
  EXPECT_EQ(back.error().message(),
            std::string(GetParam()) + ": fractions[0]: a codec threw: an exception without a text");
}

class own_codecs : public testing::Test {
protected:
  own_codecs() {
    types.add<human>(
        "human",
        [](const human& value, const context&) -> std::expected<own_form, serialize_error> {
          if (value.name == "ghost")
            throw silent();
          if (value.name.empty())
            return std::unexpected(serialize_error(serialize_errc::codec_failed, "nobody"));
          return own_form{{std::byte{42}}, {rich::frame_of(value.name), frame()}};
        },
        [](std::span<const std::byte> header, std::span<const frame> frames,
           const context&) -> std::expected<human, serialize_error> {
          if (header.size() != 1 || header[0] != std::byte{42} || frames.size() != 2)
            return std::unexpected(serialize_error(serialize_errc::malformed, "no human"));
          return human{rich::text_of(frames[0])};
        });
  }

  type_registry types;
  family_set families;
};

TEST_F(own_codecs, get_their_header_and_frames_back_untouched) {
  const auto sent = serialize(human{"Ada"}, {}, types, families);
  ASSERT_TRUE(sent.has_value()) << sent.error().message();
  EXPECT_EQ(sent->frames.size(), 3U);
  EXPECT_EQ(parse_header(sent->header.bytes())->type, "human");
  const auto back = deserialize<human>(*sent, {}, types, families);
  ASSERT_TRUE(back.has_value()) << back.error().message();
  EXPECT_EQ(back->name, "Ada");
}

// Never changes after its construction.
struct constant {
  const int value;
  [[nodiscard]] std::tuple<int> reduce() const { return {value}; }
  static constant rebuild(int value) { return {value}; }
};

TEST(constant_values, travel_alone_and_inside_others) {
  type_registry types;
  const family_set families;
  types.add<constant>("constant").add<std::vector<constant>>("constants").add<std::map<int, constant>>("by number");
  types.add<std::optional<constant>>("maybe").add<std::shared_ptr<constant>>("shared");
  for (const auto* family : {"typed", "msgpack", "json"}) {
    const auto back = [&]<class T>(const T& value) {
      return *deserialize<T>(*serialize(value, {.serializers = {family}, .context = {}}, types, families),
                             {.deserializers = {family}, .context = {}}, types, families);
    };
    EXPECT_EQ(back(constant{3}).value, 3);
    EXPECT_EQ(back(std::vector<constant>{{1}, {2}})[1].value, 2);
    EXPECT_EQ(back(std::map<int, constant>{{1, {7}}}).at(1).value, 7);
    EXPECT_EQ(back(std::optional<constant>(constant{4}))->value, 4);
    EXPECT_EQ(back(std::make_shared<constant>(constant{5}))->value, 5);
  }
}

TEST(own_headers, cannot_be_taken_for_the_payloads_header) {
  type_registry types;
  const family_set families;
  const auto forged = make_header({.family = "cereal", .type = "other", .schema = {}, .extra = {}});
  const std::vector<std::byte> written(forged.bytes().begin(), forged.bytes().end());
  std::vector<std::byte> seen;
  types.add<human>(
      "human",
      [&](const human&, const context&) -> std::expected<own_form, serialize_error> {
        return own_form{written, {}};
      },
      [&](std::span<const std::byte> header, std::span<const frame>,
          const context&) -> std::expected<human, serialize_error> {
        seen.assign(header.begin(), header.end());
        return human{};
      });
  const auto sent = serialize(human{}, {}, types, families);
  const auto fields = parse_header(sent->header.bytes());
  EXPECT_EQ(fields->family, "typed");
  EXPECT_EQ(fields->type, "human");
  EXPECT_TRUE(deserialize<human>(*sent, {.deserializers = {"typed"}, .context = {}}, types, families));
  EXPECT_EQ(seen, written);
}

TEST_F(own_codecs, serve_the_other_families_too) {
  for (const auto* family : {"msgpack", "json"}) {
    const auto sent =
        serialize(human{"Ada"}, {.serializers = {family}, .on_error = on_error::raise, .context = {}}, types, families);
    ASSERT_TRUE(sent.has_value()) << sent.error().message();
    const auto back = deserialize<human>(*sent, {.deserializers = {family}, .context = {}}, types, families);
    ASSERT_TRUE(back.has_value()) << back.error().message();
    EXPECT_EQ(back->name, "Ada");
  }
}

TEST(own_headers, are_never_larger_than_a_receiver_takes) {
  const auto with_header = [](std::size_t bytes) {
    type_registry types;
    types.add<human>(
        "human",
        [bytes](const human&, const context&) -> std::expected<own_form, serialize_error> {
          return own_form{std::vector<std::byte>(bytes), {}};
        },
        [](std::span<const std::byte>, std::span<const frame>,
           const context&) -> std::expected<human, serialize_error> { return human{}; });
    const family_set families;
    const auto sent = serialize(human{}, {.on_error = on_error::raise, .context = {}}, types, families);
    if (!sent)
      return sent.error().message();
    const auto back = deserialize<human>(*sent, {}, types, families);
    return back ? "arrived" : "sent, and refused: " + back.error().message();
  };
  const auto refused = with_header(64 * 1024);
  EXPECT_TRUE(refused.starts_with("typed: human: its codec makes a header of 65,")) << refused;
  std::size_t most = 64 * 1024;
  while (with_header(most) != "arrived" && most > 0)
    EXPECT_TRUE(with_header(most--).starts_with("typed: human: its codec")) << most;
  EXPECT_GT(most, 65'400U);
}

TEST_F(own_codecs, may_refuse_a_value) {
  const auto sent = serialize(human{}, {.on_error = on_error::raise, .context = {}}, types, families);
  ASSERT_FALSE(sent.has_value());
  EXPECT_EQ(sent.error().message(), "typed: human: nobody");
}

template <std::size_t Count>
std::string bits_sent_as(std::vector<std::uint8_t> bytes) {
  const context ctx;
  const auto made = codec<std::bitset<Count>>::rebuild(std::move(bytes), ctx);
  return made ? made->to_string() : made.error().message();
}

TEST(bitsets, take_their_own_size_only) {
  EXPECT_EQ(bits_sent_as<12>({0x0a, 0x08}), "100000001010");
  EXPECT_EQ(bits_sent_as<0>({}), "");
  constexpr auto refused = "the bitset does not have the expected 12 bits";
  EXPECT_EQ(bits_sent_as<12>({}), refused);
  EXPECT_EQ(bits_sent_as<12>({0x0a}), refused);
  EXPECT_EQ(bits_sent_as<12>({0x0a, 0x10}), refused); // A thirteenth bit.
  EXPECT_EQ(bits_sent_as<12>({0x0a, 0x08, 0}), refused);
}

} // namespace
