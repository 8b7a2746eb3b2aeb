// What a comparison of families says about given figures.
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <troupe/framework/bench/comparison.hpp>

namespace troupe::tests {

using bench::comparison;
using bench::comparison_row;
using bench::figure;
using testing::HasSubstr;
using testing::Not;

namespace {

/// A row whose codec takes these times in each round.
comparison_row row_of(const std::string& family, double encode_ns, double decode_ns, double bytes,
                      compression how = compression::none, double spread_part = 0) {
  const auto around = [&](double ns) {
    return figure{ns, ns * (1 - 2 * spread_part), ns * (1 + 2 * spread_part), ns * (1 - spread_part),
                  ns * (1 + spread_part)};
  };
  return {.family = family,
          .compression = how,
          .over = "tcp",
          .bytes = bytes,
          .socket_bytes = bytes + 18,
          .encode_ns = around(encode_ns),
          .decode_ns = around(decode_ns),
          .one_way_ns = around(2 * encode_ns + decode_ns),
          .round_trip_ns = around(10'000),
          .messages_per_second = around(1e9 / (2 * encode_ns + decode_ns))};
}

comparison_row failed_row(const std::string& family, const std::string& why) {
  return {.family = family, .over = "tcp", .failure = why};
}

comparison comparison_of(std::vector<comparison_row> rows) {
  return {.type = "shop.order", .samples = 2, .rounds = 3, .rows = std::move(rows)};
}

} // namespace

TEST(comparison_figure, has_the_median_and_the_range_of_its_rounds) {
  EXPECT_EQ(figure::of({5, 1, 3}), (figure{3, 1, 5, 1, 5}));
  EXPECT_EQ(figure::of({4, 2}), (figure{3, 2, 4, 2, 4}));
  EXPECT_EQ(figure::of({7}), (figure{7, 7, 7, 7, 7}));
}

TEST(comparison_figure, has_a_middle_half_that_one_disturbed_round_does_not_move) {
  EXPECT_EQ(figure::of({10, 11, 12, 13, 900}), (figure{12, 10, 900, 11, 13}));
}

TEST(comparison_advice, names_the_fastest_family_and_how_the_others_compare) {
  const auto of = comparison_of({row_of("json", 410, 410, 100), row_of("typed", 100, 100, 60)});
  EXPECT_EQ(of.advice(), "typed: 4.1 x faster than json and 0.6 of its bytes");
}

TEST(comparison_advice, writes_large_ratios_in_whole_numbers) {
  const auto of = comparison_of({row_of("json", 36'040, 36'000, 100), row_of("typed", 100, 100, 50)});
  EXPECT_EQ(of.advice(), "typed: 360 x faster than json and 0.5 of its bytes");
}

TEST(comparison_advice, does_not_rank_families_whose_spreads_overlap) {
  const auto of = comparison_of(
      {row_of("typed", 100, 100, 60, compression::none, 0.2), row_of("msgpack", 110, 110, 60, compression::none, 0.2)});
  EXPECT_EQ(of.advice(), "typed: about as fast as msgpack and as many bytes");
}

TEST(comparison_advice, says_below_which_speed_a_slower_and_smaller_family_takes_less_time) {
  // 100 bytes less are 800 bits; 800 ns more for them: 1 bit each ns.
  const auto of = comparison_of({row_of("typed", 100, 100, 200), row_of("msgpack", 500, 500, 100)});
  EXPECT_EQ(of.advice(), "typed: 5 x faster than msgpack and 2 x its bytes (msgpack takes less time below 1 Gbit/s)");
}

TEST(comparison_advice, warns_that_the_fastest_family_trusts_its_input) {
  auto caf = row_of("caf", 50, 50, 60);
  caf.needs_trust = true;
  EXPECT_THAT(comparison_of({row_of("typed", 100, 100, 60), caf}).advice(), HasSubstr("caf: 2 x faster than typed"));
  EXPECT_THAT(comparison_of({row_of("typed", 100, 100, 60), caf}).advice(), HasSubstr("it trusts its input"));
}

TEST(comparison_advice, says_below_which_speed_a_compression_pays) {
  // 75,000 bytes less are 600,000 bits; 500,000 ns more for them.
  const auto of = comparison_of(
      {row_of("typed", 10'000, 10'000, 100'000), row_of("typed", 410'000, 110'000, 25'000, compression::lz4)});
  EXPECT_EQ(of.advice(), "typed: 10 us to encode and 10 us to decode 97.7 KiB; lz4 pays below 1.2 Gbit/s");
}

TEST(comparison_advice, says_that_a_compression_saves_nothing) {
  const auto of = comparison_of({row_of("typed", 100, 100, 60), row_of("typed", 101, 100, 60, compression::zstd)});
  EXPECT_THAT(of.advice(), HasSubstr("zstd saves nothing"));
}

TEST(comparison_advice, gives_the_reason_if_nothing_was_measured) {
  EXPECT_EQ(comparison_of({failed_row("cereal", "it is too round")}).advice(),
            "no family was measured: cereal: it is too round");
}

TEST(comparison_advice, compares_bytes_only_if_a_familys_times_need_the_program) {
  auto typed = row_of("typed", 1, 1, 60);
  typed.needs_program = true;
  const auto of = comparison_of({row_of("json", 400, 400, 100), typed, row_of("msgpack", 200, 200, 61)});
  EXPECT_EQ(of.advice(), "typed: 0.6 of the bytes of json; as many bytes as msgpack; times need the program");
  EXPECT_THAT(of.table(), testing::ContainsRegex("\ntyped +none +60 B +- +- "));
}

TEST(comparison_break_even, is_where_both_take_equally_long) {
  const auto of = comparison_of(
      {row_of("typed", 10'000, 10'000, 100'000), row_of("typed", 410'000, 110'000, 25'000, compression::lz4)});
  ASSERT_EQ(of.break_evens().size(), 1);
  const auto speed = of.break_evens()[0].bits_per_second;
  EXPECT_DOUBLE_EQ(speed, 1.2e9);
  EXPECT_DOUBLE_EQ(of.break_evens()[0].bytes_saved, 75'000);
  const auto there = of.at(speed);
  ASSERT_EQ(there.size(), 2);
  EXPECT_NEAR(there[0].total_ns(), there[1].total_ns(), 1);
  EXPECT_EQ(of.at(speed / 2)[0].compression, compression::lz4);
  EXPECT_EQ(of.at(speed * 2)[0].compression, compression::none);
}

TEST(comparison_break_even, is_infinite_if_the_compression_takes_no_time) {
  const auto of = comparison_of({row_of("json", 500, 500, 1000), row_of("json", 400, 500, 300, compression::lz4)});
  EXPECT_TRUE(std::isinf(of.break_evens().at(0).bits_per_second));
  EXPECT_THAT(of.advice(), HasSubstr("lz4 always pays"));
}

TEST(comparison_at, adds_encoding_transmission_and_decoding) {
  const auto there = comparison_of({row_of("typed", 100, 50, 1'000)}).at(1e9);
  ASSERT_EQ(there.size(), 1);
  EXPECT_DOUBLE_EQ(there[0].transmit_ns, 8'000);
  EXPECT_DOUBLE_EQ(there[0].total_ns(), 8'150);
}

TEST(comparison_table, has_each_codec_once_and_each_link) {
  auto unix_row = row_of("typed", 1'200, 900, 60, compression::none, 0.04);
  unix_row.over = "unix";
  const auto text = comparison_of({row_of("typed", 1'200, 900, 60, compression::none, 0.04), unix_row}).table();
  EXPECT_THAT(text, HasSubstr("shop.order, 2 samples; medians of 3 rounds"));
  EXPECT_THAT(text, HasSubstr("\ntyped   none          60 B  1.2 us +-4 %  900 ns +-4 %       50.1 us         6.9 us  "
                              "    2.58 us       2.15 us\n"));
  EXPECT_THAT(text, HasSubstr("\ntcp   typed"));
  EXPECT_THAT(text, HasSubstr("\nunix  typed"));
  EXPECT_EQ(text.find("1.2 us"), text.rfind("1.2 us"));
}

TEST(comparison_table, names_the_family_that_failed_with_its_reason_once) {
  auto over_unix = failed_row("cereal", "no family of [cereal] can carry it");
  over_unix.over = "unix";
  const auto text =
      comparison_of({row_of("typed", 1, 1, 1), over_unix, failed_row("cereal", "no family of [cereal] can carry it")})
          .table();
  EXPECT_THAT(text, HasSubstr("\nnot measured:\ncereal over unix, tcp: no family of [cereal] can carry it\n"));
}

TEST(comparison_table, shows_no_spread_of_a_single_round) {
  auto of = comparison_of({row_of("typed", 1'200, 900, 60)});
  of.rounds = 1;
  EXPECT_THAT(of.table(), Not(HasSubstr("+-")));
}

TEST(comparison_table, says_that_figures_without_optimization_mean_nothing) {
  auto of = comparison_of({row_of("typed", 1'200, 900, 60)});
  EXPECT_THAT(of.table(), Not(HasSubstr("optimization")));
  of.is_optimized = false;
  EXPECT_THAT(of.table(), HasSubstr("compiled without optimization"));
}

TEST(comparison_json, has_rows_break_evens_and_advice) {
  const auto of = comparison_of({row_of("typed", 100, 100, 60), failed_row("cereal", "why\n\"not\""),
                                 row_of("typed", 90, 100, 30, compression::lz4)});
  const auto read = nlohmann::json::parse(of.json());
  EXPECT_EQ(read["kind"], "comparison");
  EXPECT_EQ(read["advice"], of.advice());
  ASSERT_EQ(read["rows"].size(), 3);
  EXPECT_EQ(read["rows"][0]["encode_ns"]["median"], 100);
  EXPECT_EQ(read["rows"][1]["failure"], "why\n\"not\"");
  EXPECT_FALSE(read["rows"][1].contains("bytes"));
  EXPECT_EQ(read["rows"][2]["compression"], "lz4");
  EXPECT_TRUE(read["break_evens"][0]["bits_per_second"].is_null()) << "it always pays";
}

} // namespace troupe::tests
