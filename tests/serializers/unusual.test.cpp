// Types that are unusual, and versions of a type that are easily confused.
#include <memory_resource>

#include <troupe/serializers/inspect.hpp>
#include <troupe/serializers/record.hpp>

#include "every_family.hpp"

namespace unusual {

using namespace troupe;

struct level {
  explicit level(int at = 0) : value(at) {}
  int value;
  bool operator==(const level&) const = default;
};
TROUPE_DESCRIBE(level, value)

struct levels {
  level one;
  std::vector<level> several;
  std::optional<level> maybe;
  std::shared_ptr<level> shared;
};
TROUPE_DESCRIBE(levels, one, several, maybe, shared)

// Contain themselves directly, with no structure in between.
struct branches : std::vector<branches> {};
struct folder : std::map<std::string, folder> {};
struct woods {
  std::variant<int, branches, folder> either;
};
TROUPE_DESCRIBE(woods, either)

template <class Base>
struct tagged {};
struct with_tag : tagged<with_tag> {
  int value = 0;
};
TROUPE_DESCRIBE(with_tag, value)

struct other_memory {
  std::pmr::vector<int> numbers;
  std::pmr::string text;
};
TROUPE_DESCRIBE(other_memory, numbers, text)

struct constants {
  std::tuple<const int, int> pair;
  std::optional<const int> maybe;
};
TROUPE_DESCRIBE(constants, pair, maybe)

struct of_anything {
  std::shared_ptr<void> any;
};
TROUPE_DESCRIBE(of_anything, any)

struct simulated_clock {
  using duration = std::chrono::milliseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<simulated_clock>;
  static constexpr bool is_steady = true;
};

template <class T>
struct box {
  T value{};
  TROUPE_DESCRIBE_INSIDE(box, value)
};

// Two versions. In the second version, a member and an owned object became shared.
struct held {
  box<int> first;
  std::unique_ptr<box<int>> owned;
  std::shared_ptr<box<int>> left;
  std::shared_ptr<box<int>> right;
};
TROUPE_DESCRIBE(held, first, owned, left, right)
struct shared {
  std::shared_ptr<box<int>> first;
  std::shared_ptr<box<int>> owned;
  std::shared_ptr<box<int>> left;
  std::shared_ptr<box<int>> right;
};
TROUPE_DESCRIBE(shared, first, owned, left, right)

struct alignas(64) wide {
  inline static int taken = 0;
  inline static int given_back = 0;
  static void* operator new(std::size_t size, std::align_val_t alignment) {
    return ++taken, ::operator new(size, alignment);
  }
  static void operator delete(void* memory, std::align_val_t alignment) {
    ++given_back;
    ::operator delete(memory, alignment);
  }
  virtual ~wide() = default;
  int value = 0;
};
TROUPE_DESCRIBE(wide, value)
struct wider final : wide {
  int more = 0;
};
TROUPE_DESCRIBE_DERIVED(wider, (wide), more)

} // namespace unusual

namespace {

using namespace conformance;
using namespace unusual;

class unusual_types : public testing::TestWithParam<const char*> {
protected:
  template <class From>
  std::expected<payload, serialize_error> made(const From& value) {
    type_registry there;
    there.add<wider>("wider").add<From>("it");
    return serialize(value, {.serializers = {GetParam()}, .on_error = on_error::raise, .context = {}}, there, families);
  }
  template <class To, class From>
  std::expected<To, serialize_error> sent(const From& value) {
    const auto encoded = made(value);
    if (!encoded)
      return std::unexpected(encoded.error());
    type_registry here;
    here.add<wider>("wider").add<To>("it");
    return deserialize<To>(*encoded, {.deserializers = {GetParam()}, .context = {}}, here, families);
  }
  /// Sends the value of a box as another box. Returns nullopt if that is refused.
  template <class To, class From>
  std::optional<To> becomes(From value) {
    const auto encoded = made(box<From>{std::move(value)});
    EXPECT_TRUE(encoded.has_value()) << (encoded ? "" : encoded.error().message());
    type_registry here;
    here.add<box<To>>("it");
    auto back = deserialize<box<To>>(*encoded, {.deserializers = {GetParam()}, .context = {}}, here, families);
    return back ? std::optional<To>(std::move(back->value)) : std::optional<To>();
  }

  family_set families;
};

INSTANTIATE_TEST_SUITE_P(, unusual_types, testing::Values("typed", "msgpack", "json"),
                         [](const auto& of) { return std::string(of.param); });

TEST_P(unusual_types, with_an_explicit_default_constructor_arrive) {
  const levels value{level(1), {level(2), level(3)}, level(4), std::make_shared<level>(5)};
  const auto back = sent<levels>(value);
  ASSERT_TRUE(back.has_value()) << back.error().message();
  EXPECT_EQ(back->one, value.one);
  EXPECT_EQ(back->several, value.several);
  EXPECT_EQ(back->maybe, value.maybe);
  EXPECT_EQ(*back->shared, *value.shared);
}

TEST_P(unusual_types, that_contain_themselves_arrive) {
  branches tree;
  tree.resize(2);
  tree[1].resize(3);
  const auto back = sent<branches>(tree);
  ASSERT_TRUE(back.has_value()) << back.error().message();
  EXPECT_EQ(back->at(1).size(), 3U);
  folder root;
  root["a"]["b"];
  const auto there_too = sent<box<decltype(woods::either)>>(box<decltype(woods::either)>{root});
  ASSERT_TRUE(there_too.has_value()) << there_too.error().message();
  EXPECT_TRUE(std::get<folder>(there_too->value).at("a").contains("b"));
}

TEST(unusual_registries, take_what_contains_itself) {
  type_registry types;
  types.add<woods>("woods");
  EXPECT_EQ(types.find("woods")->unsupported(), "");
  EXPECT_TRUE(inspect_serializability<woods>(types, family_set()).ok());
}

TEST_P(unusual_types, with_other_memory_or_an_empty_base_arrive) {
  const auto back = sent<with_tag>(with_tag{{}, 5});
  ASSERT_TRUE(back.has_value()) << back.error().message();
  EXPECT_EQ(back->value, 5);
  type_registry types;
  types.add<other_memory>("memory");
  const auto encoded =
      serialize(other_memory{{1, 2}, "text"}, {.serializers = {GetParam()}, .on_error = on_error::raise, .context = {}},
                types, families);
  ASSERT_TRUE(encoded.has_value()) << encoded.error().message();
  const auto memory =
      deserialize<other_memory>(*encoded, {.deserializers = {GetParam()}, .context = {}}, types, families);
  ASSERT_TRUE(memory.has_value()) << memory.error().message();
  EXPECT_EQ(memory->numbers, (std::pmr::vector<int>{1, 2}));
  EXPECT_EQ(memory->text, "text");
}

TEST_P(unusual_types, that_cannot_be_filled_in_are_not_supported) {
  for (const auto& failure : {made(of_anything{}), made(constants{{1, 2}, 3}),
                              made(box<std::map<int, const std::string>>{}), made(box<volatile int>{})})
    EXPECT_EQ(failure ? serialize_errc::none : failure.error().code(), serialize_errc::not_supported);
}

TEST_P(unusual_types, keep_objects_apart_that_became_shared) {
  auto object = std::make_shared<box<int>>(box<int>{3});
  const auto back = sent<unusual::shared>(held{{1}, std::make_unique<box<int>>(box<int>{2}), object, object});
  ASSERT_TRUE(back.has_value()) << back.error().message();
  EXPECT_EQ(back->first->value, 1);
  EXPECT_EQ(back->owned->value, 2);
  EXPECT_EQ(back->left->value, 3);
  EXPECT_EQ(back->left, back->right);
}

TEST_P(unusual_types, of_one_alternative_arrive_as_that_one) {
  using sets = std::variant<std::set<int>, std::set<int, std::less<>>>;
  const auto back = becomes<sets>(sets(std::in_place_index<1>, {1, 2}));
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(back->index(), 1U);
}

TEST_P(unusual_types, of_one_clock_are_not_those_of_another) {
  using simulated = simulated_clock::time_point;
  using file = std::chrono::time_point<std::chrono::file_clock, std::chrono::milliseconds>;
  EXPECT_EQ(becomes<simulated>(simulated(std::chrono::milliseconds(5))), simulated(std::chrono::milliseconds(5)));
  EXPECT_FALSE(becomes<file>(simulated(std::chrono::milliseconds(5))).has_value());
  EXPECT_FALSE((becomes<std::chrono::sys_time<std::chrono::milliseconds>>(simulated()).has_value()));
}

TEST_P(unusual_types, of_bytes_are_no_texts) {
  EXPECT_FALSE(becomes<std::vector<std::byte>>(std::string("abcd")).has_value());
  EXPECT_FALSE(becomes<frame>(std::string("abcd")).has_value());
  const auto text = becomes<std::string>(std::vector<char>{'a', 'b'});
  EXPECT_TRUE(!text || *text == "ab") << *text;
}

TEST_P(unusual_types, of_bytes_may_become_wider_numbers) {
  const std::vector<std::uint8_t> bytes{1, 2, 255};
  EXPECT_EQ(becomes<std::vector<std::uint16_t>>(bytes), (std::vector<std::uint16_t>{1, 2, 255}));
  EXPECT_EQ(becomes<std::deque<std::uint8_t>>(bytes), (std::deque<std::uint8_t>{1, 2, 255}));
  EXPECT_EQ(becomes<std::set<int>>(bytes), (std::set<int>{1, 2, 255}));
  EXPECT_EQ((becomes<std::array<int, 3>>(bytes)), (std::array<int, 3>{1, 2, 255}));
  EXPECT_EQ(becomes<std::vector<std::int8_t>>(bytes), std::nullopt) << "255 does not fit";
  EXPECT_EQ((becomes<std::array<int, 2>>(bytes)), std::nullopt);
  EXPECT_EQ(becomes<array<int>>(array<std::uint8_t>(bytes)), array<int>(std::vector{1, 2, 255}));
}

TEST_P(unusual_types, of_a_record_with_a_name_twice_are_refused_where_they_are_sent) {
  record::map twice;
  twice.emplace_back("a", 1);
  twice.emplace_back("a", 2);
  const auto failure = made(box<record>{record(twice)});
  ASSERT_FALSE(failure.has_value());
  EXPECT_NE(failure.error().message().find("value: a record with the name 'a' twice"), std::string::npos)
      << failure.error().message();
}

TEST_P(unusual_types, of_more_frames_than_allowed_are_refused_where_they_are_sent) {
  type_registry there;
  there.add<std::vector<array<double>>>("arrays");
  context ctx;
  ctx.limits.frames = 4;
  const std::vector<array<double>> several(6, array<double>(std::vector<double>(1000)));
  const auto encoded =
      serialize(several, {.serializers = {GetParam()}, .on_error = on_error::raise, .context = ctx}, there, families);
  EXPECT_EQ(encoded ? serialize_errc::none : encoded.error().code(),
            GetParam() == std::string_view("typed") ? serialize_errc::limit_exceeded : serialize_errc::none);
}

TEST_P(unusual_types, with_aligned_memory_of_their_own_keep_it) {
  box<std::unique_ptr<wide>> value{std::make_unique<wider>()};
  const auto taken = wide::taken;
  {
    const auto back = sent<box<std::unique_ptr<wide>>>(value);
    ASSERT_TRUE(back.has_value()) << back.error().message();
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(back->value.get()) % 64, 0U);
    EXPECT_EQ(wide::taken, taken + 1);
  }
  value.value.reset();
  EXPECT_EQ(wide::given_back, wide::taken);
}

// Bytes in the registry's own memory are not lent with the value's owner.
TEST_P(unusual_types, leave_frames_that_outlive_the_registry) {
  struct no_owner final : frame_owner {};
  context ctx;
  ctx.value_owner = std::make_shared<no_owner>();
  const box<std::unique_ptr<wide>> value{std::make_unique<wider>()};
  const auto encoded = [&] {
    type_registry types;
    types.add<wider>("wider" + std::string(5'000, '.')).add<box<std::unique_ptr<wide>>>("it");
    return serialize(value, {.serializers = {GetParam()}, .on_error = on_error::raise, .context = ctx}, types,
                     families);
  }();
  ASSERT_TRUE(encoded.has_value()) << encoded.error().message();
  for (const auto& each : encoded->frames)
    EXPECT_NE(each.owner(), ctx.value_owner);
}

TEST_P(unusual_types, of_bytes_and_numbers_that_are_none_are_arrays_of_records) {
  const auto seen = [&](const auto& value) {
    const auto encoded = made(value);
    const type_registry unaware;
    auto any = deserialize_any(*encoded, {.deserializers = {GetParam()}, .context = {}}, unaware, families);
    EXPECT_TRUE(any.has_value()) << (any ? "" : any.error().message());
    return *any->template get<record>()->find("value");
  };
  const array<std::uint8_t> bytes(std::vector<std::uint8_t>{1, 255});
  EXPECT_EQ(seen(box<array<std::uint8_t>>{bytes}).as_array<std::uint8_t>(), bytes);
}

using maybe_int = std::optional<int>;
using twice_maybe = std::optional<maybe_int>;

TEST_P(unusual_types, that_can_be_nothing_become_optional) {
  const record some[] = {record(1),
                         record("text"),
                         record(record::list()),
                         record(record::list{record(5)}),
                         record(record::list{record(), record()}),
                         record(record::map{{"$some", record(1)}})};
  for (const auto& value : some) {
    EXPECT_EQ(becomes<std::optional<record>>(value).value(), std::optional(value));
    EXPECT_EQ(*becomes<std::shared_ptr<record>>(value).value(), value);
    EXPECT_EQ(becomes<record>(std::optional(value)).value(), value);
  }
  EXPECT_EQ(becomes<std::optional<record>>(record()).value(), std::nullopt);
  EXPECT_EQ(becomes<record>(std::optional<record>()).value(), record());
  EXPECT_EQ(becomes<record>(std::optional(record())).value(), record());

  EXPECT_EQ(becomes<twice_maybe>(maybe_int(5)).value(), twice_maybe(std::in_place, 5));
  EXPECT_EQ(becomes<twice_maybe>(maybe_int()).value(), twice_maybe());
  EXPECT_EQ(*becomes<std::unique_ptr<maybe_int>>(maybe_int(5)).value(), 5);
  EXPECT_EQ(*becomes<std::shared_ptr<maybe_int>>(maybe_int(5)).value(), 5);
  EXPECT_EQ(*becomes<std::optional<std::unique_ptr<int>>>(std::make_unique<int>(5)).value().value(), 5);
  EXPECT_EQ(*becomes<std::optional<std::shared_ptr<int>>>(std::make_shared<int>(5)).value().value(), 5);
  EXPECT_EQ((becomes<std::vector<twice_maybe>>(std::vector<maybe_int>{1, {}})).value(),
            (std::vector<twice_maybe>{twice_maybe(std::in_place, 1), {}}));
}

TEST_P(unusual_types, that_can_be_nothing_cease_to_be_optional_where_nothing_gets_lost) {
  EXPECT_EQ(becomes<maybe_int>(twice_maybe(std::in_place, 5)).value(), 5);
  EXPECT_EQ(becomes<maybe_int>(twice_maybe()).value(), std::nullopt);
  EXPECT_FALSE(becomes<maybe_int>(twice_maybe(std::in_place)).has_value()) << "nothing that was there";
  EXPECT_EQ(*becomes<std::unique_ptr<int>>(std::make_optional(std::make_unique<int>(5))).value(), 5);
  EXPECT_EQ(*becomes<std::shared_ptr<int>>(std::make_optional(std::make_shared<int>(5))).value(), 5);
  EXPECT_FALSE(becomes<std::vector<int>>(twice_maybe(std::in_place, 5)).has_value());
  EXPECT_FALSE(becomes<int>(twice_maybe(std::in_place, 5)).has_value());
}

TEST_P(unusual_types, that_can_be_nothing_keep_what_is_there) {
  for (const auto& value : {twice_maybe(), twice_maybe(std::in_place), twice_maybe(std::in_place, 3)}) {
    EXPECT_EQ(sent<box<twice_maybe>>(box<twice_maybe>{value})->value, value);
    EXPECT_EQ((becomes<std::map<std::string, twice_maybe>>(std::unordered_map<std::string, twice_maybe>{{"a", value}})),
              (std::map<std::string, twice_maybe>{{"a", value}}));
    const auto shared = std::make_shared<twice_maybe>(value);
    const auto back =
        becomes<std::list<std::shared_ptr<twice_maybe>>>(std::vector<std::shared_ptr<twice_maybe>>{shared, shared});
    ASSERT_TRUE(back.has_value());
    EXPECT_EQ(*back->front(), value);
    EXPECT_EQ(back->front(), back->back());
  }
}

} // namespace
