// Comparing families with a program's own type, over real links. The time is short: the figures mean nothing here.
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <troupe/framework/bench/compare.hpp>
#include <troupe/framework/caf_family/caf_type.hpp>
#include <troupe/serializers/cereal/cereal_family.hpp>
#include <troupe/serializers/cereal/cereal_type.hpp>

namespace troupe::tests {

struct compared_order {
  std::string customer;
  std::vector<double> prices;
};
TROUPE_DESCRIBE(compared_order, customer, prices)

/// No family carries it by description.
struct sealed_thing {
  int value = 0;
};

} // namespace troupe::tests

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::tests::sealed_thing)

namespace troupe::tests {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::Gt;
using testing::HasSubstr;

namespace {

const std::vector<compared_order> orders{{"Ada", {1.5, 2.5}}, {"Grace", std::vector<double>(2'000, 0.5)}};

bench::comparison value_of(std::expected<bench::comparison, node_error> made) {
  if (!made)
    throw std::runtime_error(made.error().message());
  return *std::move(made);
}

void expect_measured(const bench::comparison_row& row) {
  EXPECT_TRUE(row.is_measured()) << row.family << " over " << row.over << ": " << row.failure;
  EXPECT_GT(row.one_way_ns.median, 0);
  EXPECT_GT(row.round_trip_ns.median, 0);
  EXPECT_GT(row.messages_per_second.median, 0);
  EXPECT_GE(row.one_way_ns.max, row.one_way_ns.median);
  EXPECT_LE(row.one_way_ns.min, row.one_way_ns.median);
}

} // namespace

TEST(compare, measures_each_family_over_each_kind_of_link) {
  const auto made = value_of(bench::compare<compared_order>(
      orders, {.families = {"typed", "json"}, .over = {"inproc", "unix", "tcp", "store"}, .time = 200ms, .rounds = 2}));
  std::vector<std::string> rows;
  for (const auto& row : made.rows) {
    expect_measured(row);
    rows.push_back(row.family + ' ' + row.over);
    if (!row.is_encoded())
      continue;
    EXPECT_GT(row.encode_ns.median, 0);
    EXPECT_GT(row.decode_ns.median, 0);
    EXPECT_GT(row.bytes, 0);
  }
  EXPECT_THAT(rows, ElementsAre("none inproc", "typed unix", "typed tcp", "typed store", "json unix", "json tcp",
                                "json store"));
  EXPECT_GT(made.find("json", "unix")->socket_bytes, made.find("json", "unix")->bytes * 0.9);
  EXPECT_THAT(made.advice(), testing::AnyOf(HasSubstr("than json"), HasSubstr("than typed"), HasSubstr("as fast as")));
  EXPECT_THAT(made.table(), HasSubstr("sample, 2 samples"));
}

TEST(compare, sends_large_frames_by_handle_if_the_ends_share_a_store) {
  const std::vector<compared_order> large{{"Ada", std::vector<double>(20'000, 1.5)}};
  const auto made = value_of(bench::compare<compared_order>(
      large, {.families = {"typed"}, .over = {"unix", "store"}, .time = 50ms, .rounds = 1}));
  EXPECT_EQ(made.find("typed", "unix")->handle_bytes, 0);
  EXPECT_GE(made.find("typed", "unix")->socket_bytes, 160'000);
  EXPECT_GE(made.find("typed", "store")->handle_bytes, 160'000);
  EXPECT_LT(made.find("typed", "store")->socket_bytes, 10'000);
}

TEST(compare, compresses_what_goes_through_sockets_only) {
  const std::vector<compared_order> large{{"Ada", std::vector<double>(20'000, 1.5)}};
  const auto made =
      value_of(bench::compare<compared_order>(large, {.families = {"typed"},
                                                      .compressions = {compression::lz4, compression::zstd},
                                                      .over = {"unix", "store"},
                                                      .time = 50ms,
                                                      .rounds = 1}));
  ASSERT_EQ(made.rows.size(), 3);
  EXPECT_LT(made.find("typed", "unix", compression::lz4)->socket_bytes, 20'000);
  EXPECT_LT(made.find("typed", "unix", compression::zstd)->bytes, 20'000);
  ASSERT_NE(made.find("typed", "store", compression::none), nullptr);
  EXPECT_GE(made.find("typed", "store", compression::none)->bytes, 160'000);
}

TEST(compare, names_the_family_that_cannot_carry_the_type_and_measures_the_others) {
  const auto made = value_of(bench::compare<compared_order>(
      orders, {.families = {"caf", "typed"}, .over = {"unix"}, .time = 20ms, .rounds = 1}));
  EXPECT_THAT(made.find("caf", "unix")->failure, HasSubstr("add_caf<T>"));
  expect_measured(*made.find("typed", "unix"));
  EXPECT_THAT(made.table(), HasSubstr("caf over unix: "));
}

TEST(compare, uses_the_programs_own_families_and_registry) {
  type_registry types;
  add_cereal<compared_order>(types, "shop.order");
  add_caf<compared_order>(types, "shop.order");
  family_set families;
  families.add(std::make_unique<cereal_family>());
  families.add(std::make_unique<caf_family>());
  const auto made = value_of(bench::compare<compared_order>(orders, {.families = {"cereal", "caf", "msgpack"},
                                                                     .over = {"tcp"},
                                                                     .time = 50ms,
                                                                     .rounds = 1,
                                                                     .types = &types,
                                                                     .known_families = &families}));
  for (const auto& row : made.rows)
    expect_measured(row);
  EXPECT_TRUE(made.find("cereal", "tcp")->needs_trust);
  EXPECT_FALSE(made.find("msgpack", "tcp")->needs_trust);
}

TEST(compare, encodes_a_type_with_its_own_codec_within_a_process_too) {
  type_registry types;
  types.register_serializer<sealed_thing>([](const sealed_thing& from) { return from.value; },
                                          [](int value) { return sealed_thing{value}; });
  types.add<sealed_thing>("sealed");
  const std::vector<sealed_thing> things{{1}};
  const auto made = value_of(bench::compare<sealed_thing>(
      things, {.families = {"typed", "json"}, .over = {"inproc"}, .time = 20ms, .rounds = 1, .types = &types}));
  ASSERT_NE(made.find("json", "inproc"), nullptr);
  expect_measured(*made.find("json", "inproc"));
  EXPECT_GT(made.find("typed", "inproc")->encode_ns.median, 0);
}

TEST(compare, makes_fewer_rounds_rather_than_taking_much_longer) {
  const std::vector<compared_order> large{{"Ada", std::vector<double>(100'000, 1.5)}};
  const auto made = value_of(
      bench::compare<compared_order>(large, {.families = {"json"}, .over = {"unix"}, .time = 10ms, .rounds = 50}));
  EXPECT_GE(made.rounds, 1);
  EXPECT_LT(made.rounds, 50);
}

struct refused_case {
  std::string name;
  bench::compare_options options;
  std::string says;
};

class compare_refuses : public testing::TestWithParam<refused_case> {};

TEST_P(compare_refuses, unusable_options_by_name) {
  const auto made = bench::compare<compared_order>(orders, GetParam().options);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code(), node_errc::bad_option);
  EXPECT_THAT(made.error().message(), HasSubstr(GetParam().says));
}

INSTANTIATE_TEST_SUITE_P(
    all, compare_refuses,
    testing::Values(
        refused_case{"family", {.families = {"jsno"}}, "no family 'jsno'; known are [typed, msgpack, json, caf]"},
        refused_case{
            "way", {.over = {"unix", "pigeon"}}, "no kind of links 'pigeon'; known are [inproc, unix, tcp, store]"},
        refused_case{"families", {.families = {}}, "compare_options::families is empty"},
        refused_case{"rounds", {.rounds = 0}, "must be above 0"},
        refused_case{"time", {.time = 0ms}, "must be above 0"}),
    [](const auto& one) { return one.param.name; });

TEST(compare, refuses_to_compare_nothing) {
  const auto made = bench::compare<compared_order>({});
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message(), HasSubstr("there are no samples"));
}

TEST(compare, refuses_a_registry_without_the_type) {
  type_registry types;
  const auto made = bench::compare<compared_order>(orders, {.types = &types});
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message(), HasSubstr("lacks the type"));
}

TEST(compare, leaves_no_store_behind) {
  const auto stores = [] {
    std::size_t count = 0;
    for (const auto& each : std::filesystem::directory_iterator("/dev/shm"))
      count += each.path().string().find("troupe-compare-" + std::to_string(::getpid())) != std::string::npos ? 1 : 0;
    return count;
  };
  value_of(
      bench::compare<compared_order>(orders, {.families = {"typed"}, .over = {"store"}, .time = 10ms, .rounds = 1}));
  EXPECT_EQ(stores(), 0);
}

} // namespace troupe::tests
