// Goal: the schema is a document that other programs can read, of what the token may use and nothing else.
#include <nlohmann/json.hpp>

#include "json_schema_check.hpp"
#include "open_gateway.hpp"

#include <troupe/framework/gateway/internal/messages/schema.hpp>

namespace troupe::tests {
enum class heat : std::uint8_t { low, high };
TROUPE_DESCRIBE_ENUM(heat, low, high)

struct kettle_state {
  bool is_on = false;
  heat level = heat::low;
  std::int16_t degrees = 0;
  double litres = 0;
  std::optional<std::string> label;
  std::vector<std::int32_t> history;
  std::vector<std::byte> picture;
  std::map<std::string, std::uint8_t> spoons;
  std::map<std::uint32_t, std::string> slots;
  std::tuple<bool, std::string> pair;
  std::variant<std::string, std::uint32_t> owner;
  std::chrono::milliseconds since{0};
  std::array<float, 3> place{};
  array<double> samples;
  std::vector<std::vector<std::string>> notes;
};
TROUPE_DESCRIBE(kettle_state, is_on, level, degrees, litres, label, history, picture, spoons, slots, pair, owner, since,
                place, samples, notes)

namespace {

using nlohmann::json;

class the_schema : public open_gateway {
protected:
  [[nodiscard]] json schema(const std::string& token = full_token) {
    const auto answer = answer_to(request("GET", "/schema", "", "", token));
    EXPECT_EQ(answer.status, 200);
    return json::parse(answer.body);
  }
};

TEST(the_schema_of_a_type, describes_what_the_family_json_writes) {
  type_registry types;
  types.add<kettle_state>("kettle");
  const auto document = json::parse(web::json_schema_of(types, "kettle"));
  EXPECT_EQ(document.at("allOf")[0].at("$ref"), "#/components/schemas/kettle");
  const auto& of = document.at("components").at("schemas").at("kettle");
  ASSERT_EQ(of.at("type"), "object");
  const auto& fields = of.at("properties");
  const auto text = json::parse(R"({"$ref":"#/components/schemas/troupe.text"})");
  EXPECT_EQ(fields.size(), 15U);
  EXPECT_EQ(fields.at("is_on"), json::parse(R"({"type":"boolean"})"));
  EXPECT_EQ(fields.at("level"), json::parse(R"({"enum":["low","high"]})"));
  EXPECT_EQ(fields.at("degrees"), json::parse(R"({"type":"integer","minimum":-32768,"maximum":32767})"));
  EXPECT_EQ(fields.at("litres").at("anyOf")[0].at("type"), "number");
  EXPECT_EQ(fields.at("label").at("anyOf")[0], text);
  EXPECT_EQ(fields.at("label").at("anyOf")[1], json::parse(R"({"type":"null"})"));
  EXPECT_EQ(fields.at("history").at("items").at("type"), "integer");
  EXPECT_EQ(fields.at("picture").at("required")[0], "$bytes");
  EXPECT_EQ(fields.at("spoons").at("anyOf")[0].at("additionalProperties").at("maximum"), 255);
  EXPECT_EQ(fields.at("slots").at("items").at("prefixItems")[1], text);
  EXPECT_EQ(fields.at("pair").at("prefixItems").size(), 2U);
  EXPECT_EQ(fields.at("owner").at("oneOf").size(), 2U);
  EXPECT_EQ(fields.at("since").at("type"), "string");
  EXPECT_EQ(fields.at("place").at("minItems"), 3);
  EXPECT_EQ(fields.at("samples").at("properties").at("type").at("const"), "f64");
  EXPECT_EQ(fields.at("notes").at("items").at("items"), text);
}

TEST(the_schema_of_a_type, exists_for_every_type_that_a_registry_begins_with) {
  const type_registry types;
  for (const auto* const type : types.entries())
    EXPECT_TRUE(json::accept(web::json_schema_of(types, type->alias()))) << type->alias();
}

TEST_F(the_schema, has_the_actors_that_the_token_may_use_and_the_types_of_their_messages) {
  const auto typed = home().system.spawn(
      []() -> typed_cup::behavior_type { return {[](stir_atom, const spoon& with) { return with.metal; }}; });
  ASSERT_TRUE(gateway().expose("typed", typed, {.description = "stirs \"well\""}));
  ASSERT_TRUE(gateway().withdraw("cup"));
  const auto all = schema();
  EXPECT_EQ(all.at("openapi"), "3.1.0");
  ASSERT_EQ(all.at("paths").size(), 1U);
  const auto& post = all.at("paths").at("/actors/typed").at("post");
  EXPECT_EQ(post.at("description"), "stirs \"well\"");
  const auto& takes = post.at("requestBody").at("content").at("application/json").at("schema").at("anyOf")[0];
  const auto is_taken = [&](const char* message) { return misfit_of(json::parse(message), takes, all).empty(); };
  EXPECT_TRUE(is_taken(R"([{"atom":"stir"},{"type":"test.spoon","value":{"metal":"tin","turns":1}}])"));
  EXPECT_TRUE(
      is_taken(R"([{"type":"caf.atom","value":"stir"},{"type":"test.spoon","value":{"metal":"tin","turns":1}}])"));
  EXPECT_FALSE(is_taken(R"([{"atom":"shake"},{"type":"test.spoon","value":{"metal":"tin","turns":1}}])"));
  EXPECT_FALSE(is_taken(R"([{"atom":"stir"},{"type":"test.spoon","value":{"metal":"tin","turns":1},"more":1}])"));
  EXPECT_EQ(post.at("parameters")[0].at("name"), "Troupe-Timeout-Ms");
  EXPECT_EQ(takes.at("prefixItems")[1].at("properties").at("value").at("$ref"), "#/components/schemas/test.spoon");
  const auto& schemas = all.at("components").at("schemas");
  EXPECT_EQ(schemas.at("test.spoon").at("properties").at("turns").at("maximum"), 4294967295U);
  EXPECT_TRUE(schemas.contains("str"));
  EXPECT_FALSE(schemas.contains("test.reading"));
}

TEST_F(the_schema, lists_all_types_if_an_actor_takes_any_message) {
  const auto all = schema();
  EXPECT_TRUE(all.at("paths").contains("/actors/cup"));
  EXPECT_TRUE(all.at("components").at("schemas").contains("test.reading"));
  EXPECT_FALSE(all.at("components").at("schemas").contains("caf.exit"));
  const auto& any = all.at("components").at("schemas").at("troupe.any_message");
  EXPECT_EQ(misfit_of(json::parse(R"([{"atom":"stir"},{"type":"i32","value":1}])"), any, all), "");
  EXPECT_NE(misfit_of(json::parse(R"({"type":"i32","value":1,"more":1})"), any, all), "");
  for (const auto& [name, schema] : all.at("components").at("schemas").items()) // OpenAPI 3.1, components object.
    EXPECT_EQ(name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_"),
              std::string::npos)
        << name;
}

TEST_F(the_schema, is_shown_only_to_tokens_that_may_read_it) {
  EXPECT_EQ(answer_to(request("GET", "/schema", "", "", small_token)).status, 403);
}

} // namespace
} // namespace troupe::tests
