// Values of a file, as a contract describes them: `troupe bench --sample` without any measurement.
#include "bench/sample/sample_values.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <troupe/serializers/contract.hpp>
#include <troupe/serializers/serialize.hpp>

namespace troupe::tools {

enum class sampled_payment { cash = 3, card = -7 };
TROUPE_DESCRIBE_ENUM(sampled_payment, cash, card)

struct sampled_line {
  std::string article;
  std::uint16_t count = 0;
};
TROUPE_DESCRIBE(sampled_line, article, count)

struct sampled_order {
  std::uint64_t number = 0;
  std::int8_t floor = 0;
  bool is_paid = false;
  double total = 0;
  float weight = 0;
  sampled_payment paid_by = sampled_payment::cash;
  std::vector<sampled_line> lines;
  std::vector<double> prices;
  std::vector<std::uint8_t> picture;
  std::array<std::int32_t, 2> place{};
  std::map<std::string, std::int64_t> stock;
  std::map<std::int32_t, std::string> shelves;
  std::optional<std::string> remark;
  std::variant<std::int32_t, std::string> who;
  std::pair<std::string, bool> flag;
  std::chrono::milliseconds took{0};
  std::shared_ptr<sampled_line> gift;
};
TROUPE_DESCRIBE(sampled_order, number, floor, is_paid, total, weight, paid_by, lines, prices, picture, place, stock,
                shelves, remark, who, flag, took, gift)

namespace {

using testing::HasSubstr;

[[nodiscard]] sampled_order full_order() {
  return {.number = 18'000'000'000'000'000'000u,
          .floor = -2,
          .is_paid = true,
          .total = 7,
          .weight = 0.5,
          .paid_by = sampled_payment::card,
          .lines = {{"pear", 300}, {"apple", 1}},
          .prices = std::vector<double>(1'000, 1.25),
          .picture = {1, 2, 255},
          .place = {-5, 70'000},
          .stock = {{"pear", -1}, {"fig", 5'000'000'000}},
          .shelves = {{-1, "cellar"}, {7, "roof"}},
          .remark = "please ring",
          .who = "Ada",
          .flag = {"left", true},
          .took = std::chrono::milliseconds(250),
          .gift = std::make_shared<sampled_line>("card", 1)};
}

/// One value by each family, and the contract of its type, as a program would write them.
class known_value {
public:
  explicit known_value(const sampled_order& value) : value_(value) { types_.add<sampled_order>("shop.order"); }

  [[nodiscard]] std::vector<std::byte> body(const std::string& family) const {
    const auto made = serialize(value_, {.serializers = {family}}, types_, families_).value();
    std::vector<std::byte> all;
    for (const auto& each : made.frames)
      all.insert(all.end(), each.bytes().begin(), each.bytes().end());
    return all;
  }
  [[nodiscard]] std::string json() const {
    const auto bytes = body("json");
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  [[nodiscard]] std::string contract() const { return contract_of(types_); }

private:
  sampled_order value_;
  type_registry types_;
  family_set families_;
};

[[nodiscard]] std::string error_of(const std::string& json, const std::string& type = "") {
  const auto read = read_samples(json, known_value{{}}.contract(), type);
  return read ? "no error" : read.error();
}

/// Behind the form and the fingerprint.
constexpr std::size_t typed_head = 5;

} // namespace

TEST(sample_values, have_as_many_bytes_as_the_programs_own_type) {
  for (const auto& value : {sampled_order{}, full_order()}) { // With a large array, a frame of its own over a link.
    const known_value known{value};
    const auto read = read_samples(known.json(), known.contract(), "");
    ASSERT_TRUE(read) << read.error();
    EXPECT_EQ(read->type, "shop.order");
    ASSERT_EQ(read->typed.size(), 1);
    EXPECT_EQ(read->typed[0].size_bytes(), known.body("typed").size() - typed_head);
  }
}

TEST(sample_values, are_bytes_that_a_reader_of_the_type_understands) {
  auto value = full_order();
  value.prices.resize(3); // Small: in place over links, too.
  const known_value known{value};
  const auto expected = known.body("typed");
  const auto read = read_samples(known.json(), known.contract(), "").value();
  const auto found = read.typed[0].bytes();
  EXPECT_TRUE(std::ranges::equal(found, std::span(expected).subspan(typed_head)));
}

TEST(sample_values, are_records_of_the_size_that_the_programs_own_type_has_in_json) {
  auto value = full_order();
  value.gift = nullptr; // A record does not tell which objects are the same.
  const known_value known{value};
  const auto read = read_samples(known.json(), known.contract(), "").value();
  const type_registry types;
  const family_set families;
  const auto json = serialize(read.values[0], {.serializers = {"json"}}, types, families).value();
  EXPECT_EQ(json.frames[0].size_bytes(), known.json().size());
}

TEST(sample_values, take_a_list_for_several_values_unless_the_type_is_a_list) {
  const auto contract = known_value{{}}.contract();
  EXPECT_EQ(read_samples(R"([{"number":1},{"number":2}])", contract, "").value().values.size(), 2);
  EXPECT_EQ(read_samples("[1.5, 2]", contract, "list<f64>").value().values.size(), 1);
}

TEST(sample_values, have_reals_where_the_type_has_reals_and_defaults_for_missing_fields) {
  const auto read = read_samples(R"({"total": 7})", known_value{{}}.contract(), "").value();
  EXPECT_EQ(read.values[0].find("total")->kind(), record_kind::real);
  EXPECT_EQ(read.values[0].find("paid_by")->text()->c_str(), std::string("cash"));
  EXPECT_TRUE(read.values[0].find("remark")->is_null());
}

TEST(sample_values, are_refused_with_the_place_that_does_not_fit_the_contract) {
  EXPECT_THAT(error_of(R"({"lines":[{"article":"pear","count":70000}]})"),
              HasSubstr(".lines[0].count: 70000 does not fit u16"));
  EXPECT_THAT(error_of(R"({"floor":"two"})"), HasSubstr(".floor: expected i8, found a text"));
  EXPECT_THAT(error_of(R"({"flor":2})"), HasSubstr(".flor: the type has no such field"));
  EXPECT_THAT(error_of(R"({"paid_by":"shells"})"), HasSubstr(".paid_by: no value 'shells'"));
  EXPECT_THAT(error_of(R"({"place":[1]})"), HasSubstr(".place: 1 elements, expected 2"));
  EXPECT_THAT(error_of(R"({"who":{"f64":1.5}})"), HasSubstr(".who: no alternative 'f64'"));
  EXPECT_THAT(error_of(R"([{"number":1},{"number":-1}])"), HasSubstr("[1].number: -1 does not fit u64"));
  EXPECT_THAT(error_of("{"), HasSubstr("the text ends too early"));
  EXPECT_THAT(error_of("{}", "shop.ordr"), HasSubstr("the contract has no type 'shop.ordr'"));
}

TEST(sample_values, need_a_choice_between_the_types_of_a_contract) {
  type_registry types;
  types.add<sampled_order>("shop.order");
  types.add<sampled_line>("shop.line");
  const auto read = read_samples("{}", contract_of(types), "");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error(), "the contract has several types; choose one (--type): shop.line, shop.order");
  EXPECT_TRUE(read_samples("{}", contract_of(types), "shop.line"));
  EXPECT_THAT(read_samples("{}", "troupe contract 7\n", "").error(), HasSubstr("the contract: "));
}

TEST(sample_values, have_no_bytes_of_types_that_a_contract_does_not_describe) {
  const auto read = read_samples(R"({"a":1})", contract_of(type_registry()), "record").value();
  EXPECT_TRUE(read.typed.empty());
  EXPECT_EQ(read.values.size(), 1);
}

} // namespace troupe::tools
