// Another JSON library reads the texts that the family json writes. The family reads the texts that that library
// writes.
#include <cmath>
#include <random>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <troupe/serializers/json/described.hpp>

#include "rich.hpp"

namespace {

using namespace troupe;

class json_elsewhere : public testing::Test {
protected:
  json_elsewhere() { rich::add_to(types); }

  std::string written(const rich::everything& value) {
    const auto sent =
        serialize(value, {.serializers = {"json"}, .on_error = on_error::raise, .context = {}}, types, families);
    EXPECT_TRUE(sent.has_value()) << sent.error().message();
    return sent ? rich::text_of(sent->frames[0]) : "";
  }

  std::expected<rich::everything, serialize_error> read(std::string_view text) {
    const payload received{make_header({.family = "json", .type = "everything", .schema = {}, .extra = {}}),
                           {rich::frame_of(text)}};
    return deserialize<rich::everything>(received, {.deserializers = {"json"}, .context = {}}, types, families);
  }

  type_registry types;
  family_set families;
};

TEST_F(json_elsewhere, what_is_written_is_read_as_the_same_value) {
  const auto tree = nlohmann::json::parse(written(rich::full()));
  EXPECT_EQ(tree.at("yes"), true);
  EXPECT_EQ(tree.at("i64").get<std::int64_t>(), INT64_MIN);
  EXPECT_EQ(tree.at("u64").get<std::uint64_t>(), UINT64_MAX);
  EXPECT_TRUE(tree.at("f64").is_number_float() && std::signbit(tree.at("f64").get<double>()));
  EXPECT_EQ(tree.at("numbers"), nlohmann::json({1.0, 2.25, -0.0, 1e300}));
  EXPECT_TRUE(tree.at("numbers").at(0).is_number_float());
  EXPECT_EQ(tree.at("paint"), "blue");
  EXPECT_EQ(tree.at("index").at("k"), nlohmann::json({1, 2}));
  EXPECT_EQ(tree.at("paints").at(0), nlohmann::json({-1, "red"}));
  EXPECT_EQ(tree.at("one_of").at("point").at("x"), 3);
  EXPECT_EQ(tree.at("grid").at("shape"), nlohmann::json({2, 3}));
  EXPECT_EQ(tree.at("grid").at("type"), "f64");
  EXPECT_EQ(tree.at("grid").at("data"), nlohmann::json({{1.0, 2.0, 3.0}, {4.0, 5.0, 6.0}}));
  EXPECT_EQ(tree.at("blob").at("$bytes"), "b3V0IG9mIGJhbmQ=");
  EXPECT_EQ(tree.at("right"), (nlohmann::json{{"$ref", 0}}));
}

TEST_F(json_elsewhere, what_is_read_and_written_again_comes_back_in_any_layout) {
  const auto value = rich::full();
  // Keeps the order of the text. Otherwise references could precede the objects that they refer to.
  const auto tree = nlohmann::ordered_json::parse(written(value));
  for (const auto& text : {tree.dump(), tree.dump(4), tree.dump(-1, ' ', true)}) {
    const auto back = read(text);
    ASSERT_TRUE(back.has_value()) << back.error().message();
    EXPECT_EQ(rich::difference(value, *back), "");
  }
}

TEST_F(json_elsewhere, values_without_shared_objects_come_back_in_any_order_of_fields) {
  auto value = rich::full();
  const auto sorted = nlohmann::json::parse(written(value)).dump();
  EXPECT_TRUE(sorted.starts_with(R"({"bits":)")) << sorted;
  const auto back = read(sorted);
  ASSERT_TRUE(back.has_value()) << back.error().message();
  EXPECT_EQ(rich::difference(value, *back), ""); // "left" happens to come before "right".
}

TEST_F(json_elsewhere, numbers_are_the_same_in_both) {
  std::mt19937_64 random(42);
  for (int round = 0; round < 20'000; ++round) {
    const auto real = std::bit_cast<double>(random());
    if (!std::isfinite(real))
      continue;
    EXPECT_EQ(nlohmann::json::parse(json::encode_described(real).value()).get<double>(), real);
    EXPECT_EQ(json::decode_described<double>(nlohmann::json(real).dump()), real);
    const auto whole = std::bit_cast<std::int64_t>(random());
    EXPECT_EQ(json::decode_described<std::int64_t>(nlohmann::json(whole).dump()), whole);
  }
}

/// Returns the reason why the text is not JSON, or an empty text if it is.
std::string refusal_of(std::string_view text) {
  const context ctx;
  json_reader reader(ctx, std::as_bytes(std::span(text)), text.size());
  return reader.skip() && reader.finish() ? "" : reader.reason();
}

// Goal: both libraries accept the same texts, except that the family refuses repeated keys.
TEST(json_grammar, is_the_same_elsewhere) {
  const std::string text =
      R"({"a":[1,-2.5e+3,0,"x\n\u00e9\ud83c\udfad"],"b":{"c":null,"d":true,"e":[]},"f":"é€","g":false, "h":{}})";
  ASSERT_EQ(refusal_of(text), "");
  constexpr std::string_view significant = "{}[],:\"\\e.-+0u ";
  std::mt19937 random(42);
  std::size_t accepted = 0;
  for (int round = 0; round < 50'000; ++round) {
    auto damaged = text;
    for (auto times = random() % 3 + 1; times > 0; --times)
      damaged[random() % damaged.size()] =
          random() % 2 == 0 ? static_cast<char>(random()) : significant[random() % significant.size()];
    if (damaged[0] == '\xef')
      continue; // The other library skips a byte order mark.
    const auto reason = refusal_of(damaged);
    accepted += reason.empty() ? 1 : 0;
    if (reason.find("twice") == std::string::npos) {
      ASSERT_EQ(reason.empty(), nlohmann::json::accept(damaged)) << damaged << "\n" << reason;
    }
  }
  EXPECT_GT(accepted, 1000U);
}

} // namespace
