// What the messages of a tape would have cost by other families and compressions.
#include <troupe/framework/tape_cost.hpp>

#include <sstream>
#include <string>
#include <vector>

#include <troupe/serializers/cereal/cereal_type.hpp>

#include "internal/tape/tape_support.hpp"
#include "two_nodes.hpp"

namespace troupe::tests {
namespace {

struct bill {
  std::string dish;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(dish);
  }
};
TROUPE_DESCRIBE(bill, dish)

class costs_of_a_tape : public two_nodes {
protected:
  costs_of_a_tape() {
    near_options_.store = std::nullopt;
    far_options_.store = std::nullopt;
    far_types_ = near_types_ = [](type_registry& types) { add_cereal<bill>(types, "test.bill"); };
    far_options_.accepted_links.trusted_families = true;
    far_options_.accepted_links.deserializers = {"typed", "cereal", "msgpack", "json"};
  }

  /// Records values that are sent by that family.
  template <class... Values>
  void record_sent(const std::string& family, compression by, const Values&... values) {
    publish("sink", far().system.spawn([]() -> caf::behavior {
      return {[](const reading&) { return 1; }, [](const bill&) { return 1; }, [](const std::string&) { return 1; }};
    }));
    link_options options{
        .serializers = {family}, .deserializers = {"typed"}, .compression = by, .trusted_families = true};
    options.recording.file = file_;
    connect(options);
    const auto there = find("sink");
    EXPECT_TRUE(((ask<int>(near().system, there, values) == 1) && ...));
    link_.reset();
    near_.reset();
  }

  tape_cost_report report(const type_registry& types, const family_set& families, const tape_cost_options& how = {}) {
    auto from = tape::open(file_).value();
    auto made = tape_cost(from, types, families, how);
    if (!made)
      throw std::runtime_error(made.error().message());
    return *std::move(made);
  }
  tape_cost_report report_without_types(const tape_cost_options& how = {}) {
    return report(type_registry{}, family_set{}, how);
  }

  static const tape_cost_row& row_of(const tape_cost_report& report, const std::string& type) {
    for (const auto& each : report.rows)
      if (each.type == type && each.writer == tape_side::recorder)
        return each;
    throw std::runtime_error("no row of " + type);
  }
  static const tape_cost_figure& figure_of(const tape_cost_row& row, const std::string& family,
                                           compression by = compression::none) {
    for (const auto& each : row.figures)
      if (each.family == family && each.compressed_by == by)
        return each;
    throw std::runtime_error("no figure of " + family);
  }

  const scratch_folder folder_;
  const std::string file_ = folder_.file("day.tape");
};

TEST_F(costs_of_a_tape, with_the_types_are_those_that_serialize_has) {
  const reading value{"roof", 21.5, {1, 2, 3}};
  record_sent("typed", compression::none, value, value, value);
  const auto made = report(far().types, far().families);
  const auto& row = row_of(made, "test.reading");
  EXPECT_EQ(row.payloads, 3u);
  EXPECT_EQ(row.measured, 3u);
  EXPECT_EQ(row.family, "typed");
  for (const std::string family : {"typed", "msgpack", "json"}) {
    const auto& figure = figure_of(row, family);
    EXPECT_EQ(figure.basis, tape_cost_basis::type);
    EXPECT_EQ(figure.payloads, 3u);
    EXPECT_EQ(figure.why_not, "");
    EXPECT_GT(figure.encode.count(), 0);
    EXPECT_GT(figure.decode.count(), 0);
    const auto encoded = serialize(value, {.serializers = {family}}, far().types, far().families).value();
    const auto frame_bytes = encoded.size_bytes() - encoded.header.size_bytes();
    EXPECT_EQ(figure.bytes, 3 * frame_bytes + encoded.header.size_bytes() + 2 * 2) << family;
  }
  EXPECT_NE(figure_of(row, "cereal").why_not, "") << "a reading has no functions for cereal";
}

TEST_F(costs_of_a_tape, without_the_types_are_close_to_those_with_them) {
  const reading value{"roof", 21.5, {1, 2, 3}};
  record_sent("typed", compression::none, value, value, value);
  const auto with = report(far().types, far().families);
  const auto without = report_without_types();
  for (const std::string family : {"typed", "msgpack", "json"}) {
    const auto& exact = figure_of(row_of(with, "test.reading"), family);
    const auto& estimate = figure_of(row_of(without, "test.reading"), family);
    EXPECT_EQ(estimate.basis, tape_cost_basis::record);
    EXPECT_EQ(estimate.payloads, 3u);
    EXPECT_NEAR(static_cast<double>(estimate.bytes), static_cast<double>(exact.bytes),
                0.2 * static_cast<double>(exact.bytes))
        << family;
  }
}

TEST_F(costs_of_a_tape, of_families_that_need_the_type_say_so) {
  record_sent("cereal", compression::none, bill{"soup"}, bill{"bread"});
  const auto without = report_without_types({.families = {"typed", "msgpack", "protobuf"}});
  const auto& row = row_of(without, "test.bill");
  for (const std::string family : {"typed", "msgpack", "protobuf"}) {
    EXPECT_EQ(figure_of(row, family).why_not, "needs the program");
    EXPECT_EQ(figure_of(row, family).payloads, 0u);
  }
  EXPECT_EQ(figure_of(row, "cereal").basis, tape_cost_basis::payload) << "its bytes are on the tape";
  EXPECT_EQ(figure_of(row, "cereal").payloads, 2u);
  const auto with = report(far().types, far().families);
  EXPECT_EQ(figure_of(row_of(with, "test.bill"), "msgpack").basis, tape_cost_basis::type);
  EXPECT_EQ(figure_of(row_of(with, "test.bill"), "cereal").bytes, figure_of(row, "cereal").bytes);
}

TEST_F(costs_of_a_tape, compress_what_was_not_and_restore_what_was) {
  std::string text;
  for (int i = 0; text.size() < 100'000; ++i)
    text += std::to_string(i) + " pots of tea, ";
  record_sent("cereal", compression::lz4, bill{text});
  const auto made = report_without_types();
  const auto& row = row_of(made, "test.bill");
  EXPECT_EQ(row.compressed_by, compression::lz4);
  EXPECT_GT(figure_of(row, "cereal", compression::none).bytes, 100'000u);
  EXPECT_LT(figure_of(row, "cereal", compression::lz4).bytes, 70'000u);
  EXPECT_LT(figure_of(row, "cereal", compression::zstd).bytes, figure_of(row, "cereal", compression::lz4).bytes);
}

TEST_F(costs_of_a_tape, give_an_advice_that_a_configuration_accepts) {
  std::string text;
  for (int i = 0; i < 20'000; ++i)
    text += "all work and no play ";
  record_sent("json", compression::none, text, text);
  const auto made = report(far().types, far().families,
                           {.compressions = {compression::none, compression::lz4}, .bytes_per_second = 10'000'000});
  ASSERT_FALSE(made.advice.empty());
  const auto& advice = made.advice.front();
  EXPECT_TRUE(advice.is_change);
  EXPECT_EQ(advice.compressed_by, compression::lz4) << advice.configuration;
  EXPECT_LT(advice.advised, advice.as_recorded);
  system_config config;
  std::istringstream file{advice.configuration};
  const auto error = config.parse({}, file);
  EXPECT_FALSE(error) << troupe::text_of(error) << advice.configuration;
  const auto completed = config.link_options_for(address_, far().families);
  ASSERT_TRUE(completed) << completed.error().message();
  EXPECT_EQ(*completed->compression, compression::lz4);
  EXPECT_EQ(*completed->serializers, advice.serializers);
  const auto silent =
      report(far().types, far().families, {.families = {"json"}, .compressions = {compression::none}}).advice.front();
  EXPECT_FALSE(silent.is_change);
  EXPECT_EQ(silent.configuration.find("troupe.links"), std::string::npos);
}

TEST_F(costs_of_a_tape, are_measured_up_to_the_bounds) {
  const reading value{"roof", 21.5, {}};
  record_sent("msgpack", compression::none, value, value, value, value);
  const auto made = report_without_types({.payloads_most = 2});
  EXPECT_EQ(row_of(made, "test.reading").payloads, 4u);
  EXPECT_EQ(row_of(made, "test.reading").measured, 2u);
  EXPECT_EQ(figure_of(row_of(made, "test.reading"), "msgpack").payloads, 2u);
}

TEST_F(costs_of_a_tape, need_a_compression_and_the_next_file_of_the_recording) {
  record_sent("typed", compression::none, std::string{"x"});
  auto from = tape::open(file_).value();
  auto refused = tape_cost(from, type_registry{}, family_set{}, {.compressions = {}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), node_errc::bad_option);
  refused = tape_cost(from, type_registry{}, family_set{}, {.next_files = {file_}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), node_errc::unreadable);
}

} // namespace
} // namespace troupe::tests
