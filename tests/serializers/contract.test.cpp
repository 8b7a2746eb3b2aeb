// Goal: a contract states the visible facts of a registry in a stable text. A comparison says correctly which changes
// break older peers. Each answer is checked with real payloads.
#include <cstdlib>
#include <fstream>

#include <troupe/serializers/contract.hpp>
#include <troupe/serializers/function.hpp>
#include <troupe/serializers/record.hpp>

#include "every_family.hpp"

namespace contracts {

using namespace troupe;
using enum contract_effect;

template <class T>
struct box {
  T value{};
  TROUPE_DESCRIBE_INSIDE(box, value)
};

struct wider {
  int value = 0;
  std::string added = "default";
};
TROUPE_DESCRIBE(wider, value, added)

struct narrow {
  int value = 0;
};
TROUPE_DESCRIBE(narrow, value)

enum class color { red, green };
TROUPE_DESCRIBE_ENUM(color, red, green)
enum class more_colors { red, green, blue };
TROUPE_DESCRIBE_ENUM(more_colors, red, green, blue)

struct ring {
  std::shared_ptr<ring> next;
  std::string name;
};
TROUPE_DESCRIBE(ring, next, name)

int twice(int of) {
  return 2 * of;
}

template <class T>
std::string contract_with(const std::string& alias = "it") {
  type_registry types;
  types.add<T>(alias);
  return contract_of(types);
}

/// Returns the worst effect of changing a field from one type to the other.
template <class From, class To>
contract_effect effect_of() {
  const auto changes = compare_contracts(contract_with<box<From>>(), contract_with<box<To>>());
  EXPECT_TRUE(changes.has_value()) << (changes ? "" : changes.error().message());
  auto worst = harmless;
  for (const auto& each : changes.value_or(std::vector<contract_change>()))
    worst = std::max(worst, each.effect);
  return worst;
}

template <class From, class To>
bool passes(const From& value, const char* family) {
  const family_set families;
  type_registry there;
  there.add<box<From>>("it");
  type_registry here;
  here.add<box<To>>("it");
  const auto sent = serialize(box<From>{value}, {.serializers = {family}, .on_error = on_error::raise, .context = {}},
                              there, families);
  EXPECT_TRUE(sent.has_value());
  return deserialize<box<To>>(*sent, {.deserializers = {family}, .context = {}}, here, families).has_value();
}

template <class From, class To>
bool is_unreadable() {
  const auto found = find_unreadable(contract_with<box<From>>(), contract_with<box<To>>());
  EXPECT_TRUE(found.has_value()) << (found ? "" : found.error().message());
  return found && found->has_value();
}

/// Expects the comparison of the two types to give `effect`, and real payloads in both directions to confirm it.
template <class From, class To>
void expect_true(contract_effect effect, const From& there, const To& here) {
  EXPECT_EQ((effect_of<From, To>()), effect) << typeid(From).name() << " to " << typeid(To).name();
  for (const auto* family : {"typed", "msgpack", "json"}) {
    const auto both = passes<From, To>(there, family) && passes<To, From>(here, family);
    EXPECT_EQ(both, effect != breaking) << family << ": " << typeid(From).name() << " and " << typeid(To).name();
    EXPECT_EQ((is_unreadable<From, To>()), (!passes<From, To>(there, family))) << family << ": there to here";
    EXPECT_EQ((is_unreadable<To, From>()), (!passes<To, From>(here, family))) << family << ": here to there";
  }
}

TEST(contract, says_of_each_change_what_really_happens) {
  expect_true(harmless, std::vector{1, 2}, std::list{1, 2});
  expect_true(harmless, std::set<std::string>{"a"}, std::vector<std::string>{"a"});
  expect_true(harmless, std::map<std::string, int>{{"a", 1}}, std::unordered_map<std::string, int>{{"a", 1}});
  expect_true(harmless, narrow{1}, wider{1, "x"});
  expect_true(harmless, wider{1, "x"}, narrow{1});
  expect_true(harmless, std::make_shared<int>(1), std::make_shared<int>(1));

  expect_true(depends_on_values, 5, std::int64_t{5});
  expect_true(depends_on_values, std::int64_t{5}, 5.0);
  expect_true(depends_on_values, 5, std::optional(5));
  expect_true(depends_on_values, std::optional(5), 5);
  expect_true(depends_on_values, std::vector{1, 2}, std::array{1, 2});
  expect_true(depends_on_values, std::vector{1, 2}, std::vector<std::int64_t>{1, 2});
  expect_true(depends_on_values, std::vector{1, 2}, std::list<std::int64_t>{1, 2});
  expect_true(depends_on_values, std::vector{1, 2}, std::tuple{1, 2});
  expect_true(depends_on_values, color::green, more_colors::green);
  expect_true(depends_on_values, std::variant<int, std::string>(1), std::variant<std::string, int, bool>(1));
  expect_true(depends_on_values, array<int>(std::vector{1}), array<std::int64_t>(std::vector<std::int64_t>{1}));
  expect_true(depends_on_values, record(5), 5);

  expect_true(depends_on_values, color::green, std::string("green"));
  expect_true(depends_on_values, std::monostate(), std::optional<int>());
  expect_true(breaking, 5, std::string("5"));
  expect_true(breaking, 1, true);
  expect_true(breaking, std::vector{1}, std::map<int, int>{{1, 1}});
  expect_true(breaking, std::array{1, 2}, std::array{1, 2, 3});
  expect_true(breaking, std::chrono::seconds(5), std::chrono::milliseconds(5));
  expect_true(breaking, std::make_shared<narrow>(narrow{1}), narrow{1});
  expect_true(breaking, narrow{1}, std::make_shared<narrow>(narrow{1}));
  expect_true(breaking, narrow{1}, 1);
}

TEST(contract, is_a_text_that_people_read) {
  type_registry types;
  types.add<wider>("wider").add<box<std::variant<color, std::vector<wider>>>>("box").add_function<&twice>("twice");
  types.add<ring>("ring").add<box<std::map<std::string, std::optional<std::chrono::milliseconds>>>>("times");
  const auto text = contract_of(types);
  EXPECT_TRUE(text.starts_with("troupe contract 1\ntype \"array<byte>\": array u8\n")) << text;
  const auto shows = [&](std::string_view part) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  };
  shows("type \"wider\": struct\n  .value: i32\n  .added: text\n");
  shows("type \"box\": struct\n"
        "  .value: variant\n"
        "    <\"color\">: enum i32\n"
        "      .red: 0\n"
        "      .green: 1\n"
        "    <\"list<wider>\">: list struct\n"
        "      .value: i32\n"
        "      .added: text\n");
  shows("type \"ring\": struct\n  .next: shared again 0\n  .name: text\n");
  shows("  .value: map\n    {key}: text\n    {}: optional unit \"1/1000\" i64\n");
  shows("function \"twice\": (i32) -> i32\n");
  EXPECT_EQ(text, contract_of(types));
  EXPECT_TRUE(compare_contracts(text, text).value().empty());
}

TEST(contract, names_the_place_of_a_change) {
  const auto before = contract_with<std::vector<box<std::map<std::string, box<color>>>>>("deep");
  const auto after = contract_with<std::vector<box<std::map<std::string, box<more_colors>>>>>("deep");
  const auto changes = compare_contracts(before, after);
  ASSERT_TRUE(changes.has_value()) << changes.error().message();
  ASSERT_EQ(changes->size(), 1U);
  EXPECT_EQ(to_text(*changes),
            "depends on values: deep[].value{}.value.blue: the value is new: older peers refuse it\n");
}

TEST(contract, knows_types_and_functions_that_come_and_go) {
  type_registry before;
  before.add<narrow>("gone").add_function<&twice>("old");
  type_registry after;
  after.add<narrow>("came").add_function<&twice>("new");
  const auto changes = compare_contracts(contract_of(before), contract_of(after));
  ASSERT_TRUE(changes.has_value()) << changes.error().message();
  EXPECT_EQ(to_text(*changes), "breaking: gone: is removed: values of it from older peers are refused\n"
                               "harmless: came: is new: older peers refuse it\n"
                               "breaking: function old: is removed: tasks from older peers are refused\n"
                               "harmless: function new: is new: older peers do not have it\n");
}

TEST(contract, of_what_contains_itself_is_compared_once) {
  EXPECT_TRUE(compare_contracts(contract_with<ring>(), contract_with<ring>()).value().empty());
  struct guard {};
  const auto without = compare_contracts(contract_with<ring>(), contract_with<box<std::shared_ptr<ring>>>());
  ASSERT_TRUE(without.has_value());
  EXPECT_EQ(without->size(), 3U) << to_text(*without);
}

TEST(contract, of_one_type_is_its_part_of_the_whole) {
  type_registry types;
  types.add<narrow>("it");
  EXPECT_EQ(contract_of(*types.find<narrow>()), "troupe contract 1\ntype \"it\": struct\n  .value: i32\n");
}

TEST(contract, whose_cycles_have_other_lengths_is_compared_in_bounded_depth) {
  const auto cycle = [](std::size_t length) {
    std::string text = "troupe contract 1\ntype \"it\": struct\n";
    for (std::size_t i = 1; i < length; ++i)
      text += std::string(2 * i, ' ') + ".a: struct\n";
    return text + std::string(2 * length, ' ') + ".a: again 0\n";
  };
  const auto found = find_unreadable(cycle(150), cycle(149));
  ASSERT_TRUE(found) << found.error().message();
  EXPECT_FALSE(*found);
  EXPECT_TRUE(compare_contracts(cycle(150), cycle(149)));
}

TEST(contract, that_is_none_is_refused_with_the_line) {
  const auto refused = [](const std::string& text) {
    const auto changes = compare_contracts(text, "troupe contract 1\n");
    return changes ? std::string("taken") : changes.error().message();
  };
  EXPECT_EQ(refused(""), "line 0: expected 'troupe contract 1'");
  EXPECT_EQ(refused("troupe contract 2\n"), "line 1: expected 'troupe contract 1'");
  EXPECT_EQ(refused("troupe contract 1\nnonsense\n"),
            "line 2: expected 'type \"alias\": ...' or 'function \"name\": ...'");
  EXPECT_EQ(refused("troupe contract 1\ntype \"a\": struct\n  .b: again 7\n"),
            "line 3: 'again' refers to a part that is not further up");
  EXPECT_EQ(refused("troupe contract 1\ntype \"a\": i32\ntype \"a\": i32\n"), "line 3: an alias twice");
  for (const auto* form : {"list", "optional", "shared", "form", "pointee", "fixed 3", "unit \"s\"", "numbers", "array",
                           "enum", "numbers f65", "nonsense", ""}) {
    const auto text = "troupe contract 1\ntype \"a\": struct\n  .x: " + std::string(form) + "\n";
    EXPECT_TRUE(refused(text).starts_with("line ")) << form;
    EXPECT_FALSE(compare_contracts(text, text).has_value()) << form;
  }
  std::string deep = "troupe contract 1\ntype \"a\": ";
  for (int i = 0; i < 100'000; ++i)
    deep += "list ";
  EXPECT_EQ(refused(deep + "i32\n"), "line 2: nested too deep");
  std::string nested = "troupe contract 1\ntype \"a\": struct\n";
  for (std::size_t i = 1; i < 3'000; ++i)
    nested += std::string(2 * i, ' ') + ".b: struct\n";
  EXPECT_NE(refused(nested).find("nested too deep"), std::string::npos);
}

/// Returns the contract of one type whose parts have numbered names, in rising or falling order.
std::string contract_of_many(const std::string& form, std::size_t count, bool reversed, const std::string& before,
                             const std::string& behind) {
  auto text = "troupe contract 1\ntype \"a\": " + form + "\n";
  for (std::size_t i = 0; i < count; ++i)
    text += "  " + before + std::to_string(reversed ? count - 1 - i : i) + behind + ": i32\n";
  return text;
}

// Goal: the texts are not trusted, so comparing them never takes time quadratic in the number of their parts.
TEST(contract, of_many_fields_is_compared_in_any_order) {
  constexpr std::size_t many = 100'000;
  const auto older = contract_of_many("struct", many, false, ".field_of_a_long_name_", "");
  const auto newer = contract_of_many("struct", many, true, ".field_of_a_long_name_", "");
  EXPECT_TRUE(compare_contracts(older, newer).value().empty());
  EXPECT_FALSE(find_unreadable(older, newer).value().has_value());
  const auto others = contract_of_many("struct", many, true, ".other_", "");
  EXPECT_EQ(compare_contracts(older, others)->size(), 2 * many);
}

TEST(contract, of_many_alternatives_is_compared_in_any_order) {
  constexpr std::size_t many = 100'000;
  const auto older = contract_of_many("variant", many, false, "<\"alternative ", "\">");
  const auto newer = contract_of_many("variant", many, true, "<\"alternative ", "\">");
  EXPECT_TRUE(compare_contracts(older, newer).value().empty());
  EXPECT_FALSE(find_unreadable(older, newer).value().has_value());
}

TEST(contract, that_names_a_field_twice_is_refused) {
  const std::string text = "troupe contract 1\ntype \"a\": struct\n  .x: i32\n  .y: i32\n  .x: i32\n";
  EXPECT_EQ(compare_contracts(text, text).error().message(), "line 5: .x twice");
}

TEST(contract, between_numbers_and_described_enums_is_kept_in_one_direction_only) {
  const std::string head = "troupe contract 1\ntype \"a\": struct\n  .x: ";
  const auto number = head + "i32\n";
  const auto names = head + "enum i32\n    .red: 0\n";
  const auto effect_of = [](const std::string& older, const std::string& newer) {
    const auto changes = compare_contracts(older, newer);
    return changes && changes->size() == 1 ? std::optional{changes->front().effect} : std::nullopt;
  };
  EXPECT_EQ(effect_of(number, names), breaking);
  EXPECT_EQ(effect_of(names, number), breaking);
  EXPECT_TRUE(find_unreadable(names, number).value());
  EXPECT_FALSE(find_unreadable(number, names).value());
}

// Goal: of each direction, exactly what its receiver refuses is reported, in words for sender and receiver.
TEST(contract, is_compared_in_one_direction) {
  const auto refused = [](const std::string& sender, const std::string& receiver) {
    const auto found = refused_by_receiver(sender, receiver);
    return found ? to_text(*found) : found.error().message();
  };
  const auto of = [](const std::string& lines) { return "troupe contract 1\n" + lines; };

  const auto point = of("type \"point\": struct\n  .x: i32\n");
  const auto wider_point = of("type \"point\": struct\n  .x: i64\n  .y: i32\ntype \"route\": text\n");
  EXPECT_EQ(refused(point, wider_point), "") << "a wider number has all values";
  EXPECT_EQ(refused(of("type \"point\": struct\n  .x: i32\n"), of("type \"point\": struct\n  .x: i32\n  .y: i32\n")),
            "");
  EXPECT_EQ(refused(of("type \"point\": struct\n  .x: i32\n  .y: i32\n"), of("type \"point\": struct\n  .x: i32\n")),
            "");
  EXPECT_EQ(refused(of("type \"route\": text\n"), of("")), "breaking: route: the receiver does not know this type\n");
  EXPECT_EQ(refused(of(""), of("type \"route\": text\n")), "");

  const auto two = of("type \"light\": enum i32\n  .red: 0\n  .green: 1\n");
  const auto three = of("type \"light\": enum i32\n  .red: 0\n  .green: 1\n  .amber: 2\n");
  EXPECT_EQ(refused(two, three), "");
  EXPECT_EQ(refused(three, two), "depends on values: light.amber: the receiver does not know this value\n");

  EXPECT_EQ(refused(of("type \"x\": i32\n"), contract_with<box<std::optional<int>>>()),
            "breaking: x: the receiver does not know this type\n");
  EXPECT_EQ(refused(contract_with<box<int>>(), contract_with<box<std::optional<int>>>()), "");
  EXPECT_NE(
      refused(contract_with<box<std::optional<int>>>(), contract_with<box<int>>()).find("absent values are refused"),
      std::string::npos);

  const auto call = of("function \"mean\": (list<f64>) -> f64\n");
  EXPECT_EQ(refused(of(""), call), "");
  EXPECT_EQ(refused(call, of("")), "breaking: function mean: the receiver does not have this function\n");
  EXPECT_EQ(refused("no contract", call), refused(call, "no contract"));
}

TEST(contract, in_a_file_is_checked_and_written) {
  const auto file = std::filesystem::temp_directory_path() / ("troupe-contract-" + std::to_string(::getpid()));
  type_registry before;
  before.add<wider>("it");
  EXPECT_TRUE(check_contract(file, before).value().empty()) << "written";
  EXPECT_TRUE(check_contract(file, before).value().empty());
  type_registry after;
  after.add<box<std::string>>("it");
  const auto changes = check_contract(file, after);
  ASSERT_TRUE(changes.has_value()) << changes.error().message();
  EXPECT_EQ(to_text(*changes), "breaking: it.value: i32 became text: neither end reads values of the other\n"
                               "harmless: it.added: is removed: older peers find its default, and theirs is "
                               "skipped\n");
  ::setenv("TROUPE_WRITE_CONTRACT", "1", 1);
  EXPECT_TRUE(check_contract(file, after).value().empty());
  ::unsetenv("TROUPE_WRITE_CONTRACT");
  EXPECT_TRUE(check_contract(file, after).value().empty());
  std::ofstream(file) << "nonsense";
  EXPECT_FALSE(check_contract(file, after).has_value());
  EXPECT_FALSE(check_contract("/nowhere/at/all", after).has_value());
  std::filesystem::remove(file);
}

} // namespace contracts
