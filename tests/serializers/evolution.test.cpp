// Two versions of one program: fields that were added, removed or reordered between them still travel, with all
// families that name fields.
#include "every_family.hpp"

namespace {

using namespace conformance;

namespace old_version {

enum class state { idle, busy, gone };
TROUPE_DESCRIBE_ENUM(state, idle, busy, gone)

struct part {
  int number = 0;
  std::string name;
};
TROUPE_DESCRIBE(part, number, name)

struct message {
  std::int32_t count = 0;
  std::string removed;
  std::vector<part> removed_parts;
  std::map<std::string, std::optional<std::optional<int>>> removed_map;
  std::shared_ptr<part> removed_shared;
  array<double> removed_array;
  frame removed_frame;
  std::variant<int, std::string> choice;
  std::vector<part> parts;
  state now = state::idle;
  std::vector<std::int32_t> numbers;
  std::vector<std::byte> bytes;
  std::array<int, 2> two{};
  std::optional<int> maybe;
  std::optional<std::optional<int>> perhaps;
  std::map<int, std::string> index;
  std::tuple<int, bool> both;
  std::shared_ptr<part> left;
  std::shared_ptr<part> right;
  std::chrono::seconds wait{};
  array<float> grid;
  frame blob;
  std::unique_ptr<part> one;
};
TROUPE_DESCRIBE(message, count, removed, removed_parts, removed_map, removed_shared, removed_array, removed_frame,
                choice, parts, now, numbers, bytes, two, maybe, perhaps, index, both, left, right, wait, grid, blob,
                one)

} // namespace old_version

namespace new_version {

enum class state { busy, idle, waiting }; // Renumbered, one enumerator removed, one added.
TROUPE_DESCRIBE_ENUM(state, busy, idle, waiting)

struct part {
  std::string name;
  std::int64_t number = 0;
  double weight = 1.5;
};
TROUPE_DESCRIBE(part, name, number, weight)

struct message {
  std::unique_ptr<part> one;
  std::variant<double, std::string, int> choice; // Reordered, one added.
  std::string added = "default";
  std::int64_t count = 0; // Wider.
  std::deque<part> parts; // Another container.
  state now = state::busy;
  std::vector<double> numbers;
  std::vector<std::byte> bytes;
  std::array<int, 2> two{};
  int maybe = -1; // No longer optional.
  std::optional<std::optional<int>> perhaps;
  std::map<int, std::string> index;
  std::tuple<int, bool> both;
  frame blob;
  std::shared_ptr<part> left;
  std::shared_ptr<part> right;
  std::chrono::seconds wait{};
  array<float> grid;
};
TROUPE_DESCRIBE(message, one, choice, added, count, parts, now, numbers, bytes, two, maybe, perhaps, index, both, blob,
                left, right, wait, grid)

} // namespace new_version

struct narrow {
  std::int8_t count = 0;
};
TROUPE_DESCRIBE(narrow, count)
struct wide {
  std::int32_t count = 0;
};
TROUPE_DESCRIBE(wide, count)

struct counted_in_text {
  std::string count;
};
TROUPE_DESCRIBE(counted_in_text, count)
struct counted_in_texts {
  std::vector<std::string> count;
};
TROUPE_DESCRIBE(counted_in_texts, count)

struct in_seconds {
  std::chrono::seconds wait{};
};
TROUPE_DESCRIBE(in_seconds, wait)
struct in_milliseconds {
  std::chrono::milliseconds wait{};
};
TROUPE_DESCRIBE(in_milliseconds, wait)

std::vector<row> families_that(bool name_fields) {
  std::vector<row> found;
  for (const auto& each : all_families)
    if (each.names_fields == name_fields)
      found.push_back(each);
  return found;
}

class evolution : public testing::TestWithParam<row> {
protected:
  evolution() { add_families(families); }

  // Sends a value of one program's type, and decodes it as the other program's type with the same alias.
  template <class To, class From>
  std::expected<To, serialize_error> sent(const From& value) {
    type_registry from;
    from.add<From>("message");
    type_registry to;
    to.add<To>("message");
    const auto made = serialize(value, {.serializers = {GetParam().name}, .on_error = on_error::raise, .context = {}},
                                from, families);
    if (!made)
      return std::unexpected(made.error());
    payload_sent = *made;
    return deserialize<To>(*made, {.deserializers = {GetParam().name}, .context = {}}, to, families);
  }

  static std::string said(const std::string& text) { return std::string(GetParam().name) + ": " + text; }

  static old_version::message old_message() {
    old_version::message it;
    it.count = 77;
    it.removed = std::string(5000, 'r');
    it.removed_parts = {{1, "x"}, {2, "y"}};
    it.removed_map = {{"k", std::optional<int>(4)}, {"l", std::nullopt}};
    it.removed_shared = std::make_shared<old_version::part>();
    it.removed_array = array<double>(std::vector<double>(1000, 1.0));
    it.removed_frame = rich::frame_of("gone");
    it.choice = std::string("chosen");
    it.parts = {{10, "ten"}, {11, "eleven"}};
    it.now = old_version::state::busy;
    it.numbers.assign(2000, 5);
    it.bytes.assign(5000, std::byte{8});
    it.two = {3, 4};
    it.maybe = 9;
    it.perhaps = std::optional<int>(6);
    it.index = {{1, "one"}};
    it.both = {5, true};
    it.left = std::make_shared<old_version::part>(old_version::part{12, "twelve"});
    it.right = it.left;
    it.wait = std::chrono::seconds(30);
    const std::vector<float> values = {1, 2, 3, 4};
    it.grid = array<float>::copy_of(values, {2, 2});
    it.blob = rich::frame_of("kept");
    it.one = std::make_unique<old_version::part>(old_version::part{13, "thirteen"});
    return it;
  }

  family_set families;
  payload payload_sent;
};

INSTANTIATE_TEST_SUITE_P(, evolution, testing::ValuesIn(families_that(true)), name_of_row);

TEST_P(evolution, a_new_program_understands_an_old_one) {
  const auto back = sent<new_version::message>(old_message());
  ASSERT_TRUE(back.has_value()) << back.error().message();
  EXPECT_EQ(back->count, 77);
  EXPECT_EQ(back->added, "default");
  EXPECT_EQ(std::get<std::string>(back->choice), "chosen");
  ASSERT_EQ(back->parts.size(), 2U);
  EXPECT_EQ(back->parts[1].number, 11);
  EXPECT_EQ(back->parts[1].name, "eleven");
  EXPECT_EQ(back->parts[1].weight, 1.5);
  EXPECT_EQ(back->now, new_version::state::busy);
  EXPECT_EQ(back->numbers, std::vector<double>(2000, 5.0));
  EXPECT_EQ(back->bytes, std::vector<std::byte>(5000, std::byte{8}));
  EXPECT_EQ(back->two, (std::array{3, 4}));
  EXPECT_EQ(back->maybe, 9);
  EXPECT_EQ(back->perhaps, std::optional(std::optional(6)));
  EXPECT_EQ(back->index.at(1), "one");
  EXPECT_EQ(back->both, std::tuple(5, true));
  EXPECT_EQ(back->left->number, 12);
  EXPECT_EQ(back->left, back->right);
  EXPECT_EQ(back->wait, std::chrono::seconds(30));
  EXPECT_EQ(back->grid.shape(), (std::vector<std::size_t>{2, 2}));
  EXPECT_EQ((back->grid[1, 1]), 4.0F);
  EXPECT_EQ(rich::text_of(back->blob), "kept");
  EXPECT_EQ(back->one->name, "thirteen");
}

TEST_P(evolution, an_old_program_understands_a_new_one) {
  new_version::message message;
  message.count = 5;
  message.choice = 3;
  message.now = new_version::state::idle;
  message.maybe = 4;
  message.grid = array<float>(std::vector<float>(4, 2.0F));
  const auto back = sent<old_version::message>(message);
  ASSERT_TRUE(back.has_value()) << back.error().message();
  EXPECT_EQ(back->count, 5);
  EXPECT_EQ(std::get<int>(back->choice), 3);
  EXPECT_EQ(back->now, old_version::state::idle);
  EXPECT_EQ(back->maybe, 4);
  EXPECT_EQ(back->removed, "");
}

TEST_P(evolution, a_value_too_large_for_the_narrower_type_is_an_error_that_names_the_field) {
  EXPECT_EQ(sent<narrow>(wide{100})->count, 100);
  const auto back = sent<narrow>(wide{300});
  ASSERT_FALSE(back.has_value());
  EXPECT_EQ(back.error().code(), serialize_errc::layout_mismatch);
  EXPECT_EQ(back.error().message(), said("message.count: 300 does not fit i8"));
}

// Goal: the error for a field of another type names both versions of the field, as far as the bytes tell the sender's.
TEST_P(evolution, a_field_of_another_type_is_an_error_that_names_what_was_expected_and_what_was_sent) {
  const auto knows_layout = GetParam().name == std::string_view("typed");
  const auto found = [&](const std::string& type, const std::string& form) {
    return knows_layout ? "the sender's version has " + type : "found " + form;
  };
  EXPECT_EQ(sent<narrow>(counted_in_text{"many"}).error().message(),
            said("message.count: expected i8, " + found("text", "a text")));
  EXPECT_EQ(sent<counted_in_text>(wide{7}).error().message(),
            said("message.count: expected a text, " + found("i32", "a number")));
  EXPECT_EQ(sent<counted_in_text>(counted_in_texts{{"a", "b"}}).error().message(),
            said("message.count: expected a text, " + found("list text", "a list")));
  EXPECT_EQ(sent<counted_in_texts>(counted_in_text{"many"}).error().message(),
            said("message.count: expected a list, " + found("text", "a text")));
}

TEST_P(evolution, a_removed_enum_value_is_an_error_that_names_the_field) {
  old_version::message message;
  message.maybe = 1;
  message.now = old_version::state::gone;
  const auto back = sent<new_version::message>(message);
  ASSERT_FALSE(back.has_value());
  EXPECT_EQ(back.error().message(), said("message.now: 'gone' is no value of the enum state"));
}

TEST_P(evolution, a_removed_alternative_is_an_error_that_names_the_field) {
  new_version::message message;
  message.choice = 2.5;
  const auto back = sent<old_version::message>(message);
  ASSERT_FALSE(back.has_value());
  EXPECT_EQ(back.error().message(), said("message.choice: 'f64' is no alternative of this variant"));
}

TEST_P(evolution, damaged_bytes_of_another_version_are_survived) {
  ASSERT_TRUE(sent<new_version::message>(old_message()));
  type_registry types;
  types.add<new_version::message>("message");
  const deserialize_options options{.deserializers = {GetParam().name}, .context = {}};
  const auto bytes = payload_sent.frames[0].bytes();
  const std::vector<std::byte> body(bytes.begin(), bytes.end());
  const auto step = 1 + body.size() * 8 / 4000; // All bits of a small body, some of a large one.
  for (std::size_t bit = 0; bit < body.size() * 8; bit += step) {
    auto flipped = body;
    flipped[bit / 8] ^= std::byte{1} << (bit % 8);
    auto damaged = payload_sent;
    damaged.frames[0] = frame::adopt(std::move(flipped));
    static_cast<void>(deserialize<new_version::message>(damaged, options, types, families));
  }
  for (std::size_t length = 0; length < body.size(); length += 1 + body.size() / 1000) {
    auto damaged = payload_sent;
    damaged.frames[0] = payload_sent.frames[0].slice(0, length);
    EXPECT_FALSE(deserialize<new_version::message>(damaged, options, types, families)) << "cut at byte " << length;
  }
}

TEST(typed_evolution, another_unit_of_time_is_an_error_not_another_time) {
  type_registry from;
  from.add<in_seconds>("message");
  type_registry to;
  to.add<in_milliseconds>("message");
  const family_set families;
  const auto sent = serialize(in_seconds{std::chrono::seconds(1)}, {}, from, families);
  const auto back = deserialize<in_milliseconds>(*sent, {}, to, families);
  ASSERT_FALSE(back.has_value());
  EXPECT_EQ(back.error().message(), "typed: message.wait: expected a time in units of '1/1000', the sender's version "
                                    "has units of '1/1'");
}

TEST(typed_evolution, without_the_senders_layout_another_version_is_refused) {
  type_registry from;
  from.add<wide>("message");
  type_registry to;
  to.add<narrow>("message");
  const family_set families;
  auto sent = *serialize(wide{1}, {}, from, families);
  sent.header = make_header({.family = "typed", .type = "message", .schema = {}, .extra = {}});
  EXPECT_EQ(deserialize<wide>(sent, {}, from, families)->count, 1);
  const auto back = deserialize<narrow>(sent, {}, to, families);
  ASSERT_FALSE(back.has_value());
  const auto fingerprint = [](const type_registry& of) { return of.find(std::string_view("message"))->fingerprint(); };
  EXPECT_EQ(back.error().message(), "typed: message: the sender has another version of the type ("
                                        + detail::fingerprints_text(fingerprint(from), fingerprint(to))
                                        + ") and did not send its layout; build both ends from one version of it");
}

// Goal: a layout with an empty body cannot make a reader step through more values than the limits grant.
// Method: each of a hundred structures contains the previous one twice.
TEST(typed_evolution, structures_of_nothing_are_not_passed_over_without_end) {
  type_registry types;
  types.add<narrow>("message");
  const family_set families;
  constexpr int count = 100;
  std::vector<std::byte> layout{std::byte{24}, std::byte{count}};
  const auto add = [&](std::initializer_list<int> codes) {
    for (const auto code : codes)
      layout.push_back(static_cast<std::byte>(code));
  };
  add({1, '?', 24, 0});
  for (int i = 1; i < count; ++i)
    add({1, '?', 24, 2, 0, 25, i, 0, 25, i});
  std::vector<std::byte> body(5, std::byte{1});
  const auto fingerprint = detail::fingerprint_of(layout);
  std::memcpy(body.data() + 1, &fingerprint, sizeof(fingerprint));
  const payload sent{make_header({.family = "typed", .type = "message", .schema = layout, .extra = {}}),
                     {frame::adopt(std::move(body))}};
  const auto back = deserialize<narrow>(sent, {}, types, families);
  ASSERT_FALSE(back.has_value());
  EXPECT_EQ(back.error().code(), serialize_errc::limit_exceeded);
}

} // namespace
