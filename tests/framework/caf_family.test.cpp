// The family "caf": what all families promise, and what is special to it.
#include <cmath>
#include <list>
#include <set>

#include <caf/all.hpp>

#include <troupe/framework/caf_family/caf_type.hpp>
#include <troupe/framework/message_types.hpp>
#include <troupe/framework/node_error.hpp>
#include <troupe/framework/object_ref.hpp>
#include <troupe/serializers/inspect.hpp>

#include "../serializers/own_types_family.hpp"

namespace lamps {

enum class colour : std::uint16_t { warm = 1, cold = 2 };

struct lamp {
  std::string room;
  double lumens = 0;
  std::vector<std::int32_t> steps;
  friend bool operator==(const lamp&, const lamp&) = default;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, lamp& x) {
  return f(caf::meta::type_name("lamp"), x.room, x.lumens, x.steps);
}

// Described, but without an inspect function.
struct spot {
  std::int32_t x = 0;
  float y = 0;
  friend bool operator==(const spot&, const spot&) = default;
};
TROUPE_DESCRIBE(spot, x, y)

// Contains one of each kind of type that CAF supports.
struct house {
  bool lit = false;
  std::int8_t small = 0;
  std::uint64_t large = 0;
  float ratio = 0;
  long double precise = 0;
  colour paint = colour::warm;
  caf::atom_value kind = caf::atom("");
  std::u16string wide;
  std::u32string wider;
  std::vector<lamp> lamps;
  std::vector<bool> windows;
  std::vector<unsigned char> plan;
  std::list<std::pair<std::string, int>> rents;
  std::map<std::string, lamp> by_room;
  std::set<int> numbers;
  std::tuple<int, std::string> two;
  std::array<std::int16_t, 3> fixed{};
  caf::optional<std::string> owner;
  caf::variant<int, std::string> price;
  std::chrono::milliseconds age{};
  caf::timestamp built;
  spot at;
  friend bool operator==(const house&, const house&) = default;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, house& x) {
  return f(x.lit, x.small, x.large, x.ratio, x.precise, x.paint, x.kind, x.wide, x.wider, x.lamps, x.windows, x.plan,
           x.rents, x.by_room, x.numbers, x.two, x.fixed, x.owner, x.price, x.age, x.built, x.at);
}

house full_house() {
  house made;
  made.lit = true;
  made.small = -7;
  made.large = UINT64_MAX;
  made.ratio = -0.0F;
  made.precise = 0.1L;
  made.paint = colour::cold;
  made.kind = caf::atom("villa");
  made.wide = u"caf\u00e9";
  made.wider = U"\U0001f3e0";
  made.lamps = {{"hall", 1.5, {1, -2, 300'000}}, {}};
  made.windows = {true, false, true, true, false, false, false, false, true};
  made.plan = {0, 255};
  made.rents = {{"attic", 300}, {"cellar", -1}};
  made.by_room = {{"hall", {"hall", 2, {}}}};
  made.numbers = {3, 1, 2};
  made.two = {2, "two"};
  made.fixed = {1, -2, 3};
  made.owner = "Anna";
  made.price = std::string("much");
  made.age = std::chrono::milliseconds(-1500);
  made.built = caf::timestamp(std::chrono::nanoseconds(1'600'000'000'000'000'000));
  made.at = {4, 2.5F};
  return made;
}

struct nest {
  std::vector<nest> eggs;
  friend bool operator==(const nest&, const nest&) = default;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, nest& x) {
  return f(x.eggs);
}

// Takes one byte on the wire and many in memory.
struct roomy {
  std::array<std::int64_t, 64> space{};
  std::uint8_t sent = 0;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, roomy& x) {
  return f(x.sent);
}
struct rooms {
  std::vector<roomy> all;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, rooms& x) {
  return f(x.all);
}

// Has callbacks that refuse values and one that throws.
struct picky {
  int value = 0;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, picky& x) {
  const auto check = [&]() -> caf::error {
    if (x.value == 13)
      return caf::make_error(caf::sec::bad_function_call, "unlucky");
    if (x.value == 14)
      throw std::runtime_error("worse");
    if (x.value == 15)
      throw 15;
    return caf::none;
  };
  return f(x.value, caf::meta::save_callback(check), caf::meta::load_callback(check));
}

// CAF carries the contents of letter and club only on its own network.
struct letter {
  caf::message content;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, letter& x) {
  return f(x.content);
}
struct club {
  caf::group members;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, club& x) {
  return f(x.members);
}

// Handles: one type has an inspect for any inspector, the other one for CAF's own only.
struct guest {
  caf::actor who;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, guest& x) {
  return f(x.who);
}
struct old_guest {
  caf::actor who;
  std::vector<std::string> names;
};
caf::error inspect(caf::serializer& f, old_guest& x) {
  return f(x.names, x.who);
}
caf::error inspect(caf::deserializer& f, old_guest& x) {
  return f(x.names, x.who);
}
struct old_list {
  std::vector<std::string> names;
  std::vector<unsigned char> bytes;
};
caf::error inspect(caf::serializer& f, old_list& x) {
  return f(x.names, x.bytes);
}
caf::error inspect(caf::deserializer& f, old_list& x) {
  return f(x.names, x.bytes);
}

// Has one inspect for printing and another for the wire.
struct two_faced {
  int value = 0;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, two_faced&) {
  return f(caf::meta::type_name("two_faced"));
}
caf::error inspect(caf::serializer& f, two_faced& x) {
  return f(x.value);
}
caf::error inspect(caf::deserializer& f, two_faced& x) {
  return f(x.value);
}

struct opaque {
  int value = 0;
};
struct holds_opaque {
  std::vector<opaque> all;
};
TROUPE_DESCRIBE(holds_opaque, all)

} // namespace lamps

namespace {

using namespace troupe;
using namespace lamps;

struct caf_subject {
  using value = house;
  using wide = rooms;
  using nested = nest;
  static constexpr bool tells_cuts = true;
  static constexpr std::size_t empty_bytes = 75;

  static std::unique_ptr<family> make() { return std::make_unique<caf_family>(); }
  static void add(type_registry& types) {
    add_caf<house>(types, "house");
    add_caf<rooms>(types, "rooms");
    add_caf<nest>(types, "nest");
  }
  static value full() { return full_house(); }
  static bool equal(const value& left, const value& right) {
    return left == right && std::signbit(left.ratio) == std::signbit(right.ratio);
  }
  static wide wide_of(std::size_t count) { return {std::vector<roomy>(count)}; }
  static nested deep(std::size_t depth) {
    nested made;
    auto* last = &made;
    for (std::size_t i = 1; i < depth; ++i)
      last = &last->eggs.emplace_back();
    return made;
  }
  static value with_text(std::size_t size_bytes) {
    value made;
    made.owner = std::string(size_bytes, 'x');
    return made;
  }
};

class caf_family_test : public testing::Test {
protected:
  caf_family_test() {
    families.add(std::make_unique<caf_family>());
    add_caf<lamp>(types, "lamp");
    add_caf<house>(types, "house");
  }

  template <class T>
  void know() {
    if (types.find<T>() == nullptr)
      add_caf<T>(types, detail::type_text(typeid(T)));
  }
  template <class T>
  std::expected<payload, serialize_error> encoded(const T& value, std::vector<std::string> by = {"caf"}) {
    know<T>();
    return serialize(value, {.serializers = std::move(by), .on_error = on_error::raise, .context = ctx}, types,
                     families);
  }
  template <class T>
  std::expected<T, serialize_error> decoded(const payload& from) {
    know<T>();
    return deserialize<T>(from, {.deserializers = {"caf"}, .context = ctx}, types, families);
  }
  template <class T>
  T back(const T& value) {
    const auto sent = encoded(value);
    if (!sent)
      throw std::runtime_error(sent.error().message());
    auto arrived = decoded<T>(*sent);
    if (!arrived)
      throw std::runtime_error(arrived.error().message());
    return *std::move(arrived);
  }
  template <class T>
  payload with_body(std::string_view body) {
    know<T>();
    return {standard_header(*families.find("caf"), *types.find<T>()), {frame::copy_of(std::as_bytes(std::span(body)))}};
  }
  template <class T>
  std::string error_of(std::string_view body) {
    const auto arrived = decoded<T>(with_body<T>(body));
    return arrived ? "none" : arrived.error().message();
  }
  template <class T>
  std::string refusal_of(const T& value) {
    const auto sent = encoded(value);
    return sent ? "none" : sent.error().message();
  }
  static std::string text_of(const frame& of) {
    return {reinterpret_cast<const char*>(of.bytes().data()), of.size_bytes()};
  }

  type_registry types;
  family_set families;
  context ctx;
};

static_assert(serializable<lamp, caf_family>);
static_assert(serializable<std::map<int, std::vector<lamp>>, caf_family>);
static_assert(serializable<spot, caf_family>);
static_assert(!serializable<opaque, caf_family>);
static_assert(!serializable<holds_opaque, caf_family>);
static_assert(!serializable<lamp*, caf_family>);

// -- what travels

TEST_F(caf_family_test, carries_types_with_an_inspect_and_without) {
  const lamp sent{"kitchen", -0.5, {1, -2}};
  EXPECT_EQ(back(sent), sent);
  EXPECT_EQ(back(std::map<int, std::vector<lamp>>{{3, {sent}}}).at(3).at(0), sent);
  EXPECT_EQ(back(spot{1, 2.5F}), (spot{1, 2.5F}));
  EXPECT_EQ(back(caf::atom("hello")), caf::atom("hello"));
  EXPECT_EQ(back(two_faced{5}).value, 5);
  EXPECT_EQ(back(old_list{{"a", "b"}, {1, 2, 3}}).bytes.at(2), 3);
}

TEST_F(caf_family_test, carries_numbers_that_cafs_own_serializer_does_not) {
  EXPECT_TRUE(std::signbit(back(-0.0)));
  EXPECT_EQ(back(std::numeric_limits<double>::infinity()), std::numeric_limits<double>::infinity());
  EXPECT_EQ(back(-std::numeric_limits<float>::infinity()), -std::numeric_limits<float>::infinity());
  EXPECT_EQ(back(std::numeric_limits<double>::denorm_min()), std::numeric_limits<double>::denorm_min());
  EXPECT_TRUE(std::isnan(back(std::nan(""))));
}

TEST_F(caf_family_test, carries_what_the_registry_knows_as_far_as_caf_does) {
  EXPECT_EQ(back(std::vector<std::string>{"a", ""}), (std::vector<std::string>{"a", ""}));
  EXPECT_EQ(back(std::map<std::string, std::string>{{"a", "b"}}).at("a"), "b");
  EXPECT_EQ(back(std::vector<double>{1.5, -2}).at(1), -2);
}

TEST_F(caf_family_test, carries_errors_with_their_texts) {
  const auto arrived = back(caf::make_error(caf::sec::bad_function_call, "a reason"));
  EXPECT_EQ(arrived, caf::sec::bad_function_call);
  EXPECT_NE(troupe::text_of(arrived).find("a reason"), std::string::npos) << troupe::text_of(arrived);
}

// -- the form

TEST_F(caf_family_test, writes_what_cafs_own_serializer_writes_and_reads_it) {
  auto value = full_house();
  value.ratio = 0.7F;
  value.at = {}; // CAF lists this type as unsafe, and its serializer skips it.
  std::vector<char> bytes;
  caf::binary_serializer sink(nullptr, bytes);
  ASSERT_EQ(sink(value), caf::none);
  const auto sent = encoded(value);
  ASSERT_TRUE(sent) << sent.error().message();
  const std::string of_caf(bytes.begin(), bytes.end());
  EXPECT_EQ(text_of(sent->frames[0]), of_caf + std::string(8, '\0')); // Followed by the fields that CAF skips.
  house arrived;
  caf::binary_deserializer source(nullptr, reinterpret_cast<const char*>(sent->frames[0].bytes().data()),
                                  of_caf.size());
  ASSERT_EQ(source(arrived), caf::none);
  EXPECT_EQ(arrived, value);
}

TEST_F(caf_family_test, has_golden_bytes) {
  const auto sent = encoded(lamp{"hall", 1.5, {-1, 258}});
  ASSERT_TRUE(sent);
  using namespace std::string_view_literals;
  EXPECT_EQ(text_of(sent->frames[0]), "\x04hall"                             // a count, the characters
                                      "\x3f\xf8\0\0\0\0\0\0"                 // 1.5, big-endian
                                      "\x02\xff\xff\xff\xff\0\0\x01\x02"sv); // two numbers
  EXPECT_TRUE(parse_header(sent->header.bytes())->schema.empty());
  EXPECT_FALSE(parse_header(encoded(spot())->header.bytes())->schema.empty());
}

// -- which family

TEST_F(caf_family_test, is_in_no_set_from_the_start_and_needs_trust) {
  EXPECT_EQ(family_set().find("caf"), nullptr);
  EXPECT_TRUE(families.find("caf")->needs_trust());
}

TEST_F(caf_family_test, takes_what_the_families_before_it_cannot_carry) {
  const auto sent = encoded(lamp{}, {"typed", "msgpack", "caf"});
  ASSERT_TRUE(sent) << sent.error().message();
  EXPECT_EQ(parse_header(sent->header.bytes())->family, "caf");
  const auto refused = encoded(lamp{}, {"typed", "msgpack"});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), serialize_errc::not_supported);
}

TEST_F(caf_family_test, inspection_says_what_it_carries) {
  EXPECT_TRUE(inspect_serializability<lamp>(types, families).carried_by("caf"));
  EXPECT_FALSE(inspect_serializability<lamp>(types, families).carried_by("typed"));
  EXPECT_FALSE(inspect_serializability<opaque>(types, families).carried_by("caf"));
}

TEST_F(caf_family_test, another_version_of_a_described_type_is_refused) {
  auto sent = *encoded(spot{1, 2});
  sent.header = make_header({.family = "caf", .type = detail::type_text(typeid(spot)), .schema = {}, .extra = {}});
  const auto refused = decoded<spot>(sent);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), serialize_errc::layout_mismatch);
}

// -- what goes wrong

TEST_F(caf_family_test, what_inspect_functions_give_or_throw_becomes_an_error) {
  EXPECT_EQ(refusal_of(picky{13}).find("caf: lamps::picky: an inspect function gave: "), 0U) << refusal_of(picky{13});
  EXPECT_NE(refusal_of(picky{13}).find("unlucky"), std::string::npos) << refusal_of(picky{13});
  EXPECT_EQ(refusal_of(picky{14}), "caf: lamps::picky: an inspect function threw: worse");
  EXPECT_EQ(refusal_of(picky{15}),
            "caf: lamps::picky: an inspect function threw: an object that is not a std::exception");
  using namespace std::string_view_literals;
  EXPECT_NE(error_of<picky>("\0\0\0\x0d"sv).find("unlucky"), std::string::npos) << error_of<picky>("\0\0\0\x0d"sv);
  EXPECT_EQ(error_of<picky>("\0\0\0\x0e"sv), "caf: lamps::picky: an inspect function threw: worse");
}

TEST_F(caf_family_test, handles_do_not_leave_outside_a_link) {
  caf::actor_system_config config;
  caf::actor_system system{config};
  auto someone = system.spawn([](caf::event_based_actor*) -> caf::behavior { return {[](int) {}}; });
  const auto refused = encoded(guest{someone});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), serialize_errc::out_of_band_handle) << refused.error().message();
  EXPECT_NE(refusal_of(old_guest{someone, {"a"}}).find("CAF sends only on its own network"), std::string::npos)
      << refusal_of(old_guest{someone, {"a"}});
  EXPECT_EQ(system.registry().running(), 1U);
}

TEST_F(caf_family_test, handles_cannot_be_forged_by_bytes) {
  using namespace std::string_view_literals;
  EXPECT_NE(error_of<guest>("\1\0\0\0\0\0\0\0\x05"sv), "none");
  for (const auto& body : {"\0\0\0\0\0\0\0\0\x05\0"sv, "\0\0\0\0\0\0\0\0\x05\1\0\0\0\1aaaaaaaaaaaaaaaaaaaa"sv}) {
    EXPECT_NE(error_of<old_guest>(body), "none");
  }
}

TEST_F(caf_family_test, what_needs_cafs_own_network_is_refused_in_both_directions) {
  const auto refused = encoded(letter{caf::make_message(1)});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), serialize_errc::not_supported);
  EXPECT_NE(refused.error().message().find("CAF sends only on its own network: a message"), std::string::npos)
      << refused.error().message();
  caf::actor_system_config config;
  caf::actor_system system{config};
  EXPECT_NE(refusal_of(club{system.groups().get_local("the club")}).find("only on its own network"), std::string::npos)
      << refusal_of(club{system.groups().get_local("the club")});
  using namespace std::string_view_literals;
  for (const auto& body : {"\x04@<>+"sv, "\0\0\x05@<>+@"sv, "\x05local\x01x"sv, "\x03@i3"sv}) {
    EXPECT_NE(error_of<letter>(body), "none");
    EXPECT_NE(error_of<club>(body), "none");
  }
}

TEST_F(caf_family_test, sizes_are_charged_before_anything_is_allocated) {
  using namespace std::string_view_literals;
  const auto huge = "\xff\xff\xff\xff\x0f"sv; // 2^32 - 1 elements
  know<std::vector<lamp>>();
  know<std::vector<unsigned char>>();
  know<std::u32string>();
  know<std::vector<caf::unit_t>>();
  const auto before = allocated_bytes.load();
  EXPECT_NE(error_of<std::string>(huge), "none");
  EXPECT_NE(error_of<std::u32string>(huge), "none");
  EXPECT_NE(error_of<std::vector<lamp>>(huge), "none");
  EXPECT_NE(error_of<std::vector<unsigned char>>(huge), "none");
  EXPECT_NE(error_of<std::vector<caf::unit_t>>(huge), "none");
  EXPECT_NE(error_of<old_list>(huge), "none");
  EXPECT_LT(allocated_bytes.load() - before, 65'536U);
  EXPECT_EQ(error_of<std::string>("\xff\xff\xff\xff\x1f"sv), "caf: str: a count of more than 32 bits");
  EXPECT_EQ(error_of<std::string>("\xff\xff\xff\xff\x8f"sv), "caf: str: a count of more than 32 bits");
}

TEST_F(caf_family_test, errors_name_the_element_and_the_described_field) {
  using namespace std::string_view_literals;
  EXPECT_EQ(error_of<std::vector<std::string>>("\x02\x01x\x05y"sv), "caf: list<str>[1]: 5 bytes wanted, 1 are left");
  know<spot>();
  EXPECT_NE(error_of<spot>("\0\0\0\1\0"sv).find("lamps::spot.y: 4 bytes wanted, 1 are left"), std::string::npos)
      << error_of<spot>("\0\0\0\1\0"sv);
}

TEST_F(caf_family_test, the_same_key_twice_is_refused) {
  using namespace std::string_view_literals;
  EXPECT_EQ((error_of<std::map<std::string, std::string>>("\x02\x01x\x01y\x01x\x01z"sv)),
            "caf: map<str,str>: the same key twice");
}

} // namespace

namespace conformance {

INSTANTIATE_TYPED_TEST_SUITE_P(caf, own_types_family, caf_subject);

} // namespace conformance
