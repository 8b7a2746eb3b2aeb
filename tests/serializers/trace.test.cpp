// TROUPE_SERIALIZE_VERBOSE=1, tested in a process of its own, because the variable is read only once.
#include <cstdlib>

#include <gtest/gtest.h>

#include "rich.hpp"

namespace {

using namespace troupe;

class tracing : public testing::TestWithParam<const char*> {
protected:
  tracing() {
    testing::FLAGS_gtest_death_test_style = "threadsafe"; // Starts the program again.
    ::setenv("TROUPE_SERIALIZE_VERBOSE", "1", 1);
  }
  ~tracing() override { ::unsetenv("TROUPE_SERIALIZE_VERBOSE"); }

  [[noreturn]] static void travel() {
    type_registry types;
    const family_set families;
    rich::add_to(types);
    types.add<rich::point>("point");
    const auto sent = serialize(rich::point{7, 2.5}, {.serializers = {GetParam()}, .context = {}}, types, families);
    const auto back = deserialize<rich::point>(*sent, {.deserializers = {GetParam()}, .context = {}}, types, families);
    const auto all = serialize(rich::full(), {.serializers = {GetParam()}, .context = {}}, types, families);
    std::exit(
        back && all
                && deserialize<rich::everything>(*all, {.deserializers = {GetParam()}, .context = {}}, types, families)
            ? 0
            : 1);
  }
};

INSTANTIATE_TEST_SUITE_P(, tracing, testing::Values("typed", "msgpack", "json"),
                         [](const auto& of) { return of.param; });

TEST_P(tracing, shows_every_field_its_family_and_where_it_lies) {
  const auto family = std::string(GetParam());
  EXPECT_EXIT(travel(), testing::ExitedWithCode(0),
              "encode 'point' by " + family + ": 1 frames\n.*frame 0 \\(body\\): [0-9]+ bytes\n"
                  + ".*\\.x 7  bytes [0-9]+ to [0-9]+\n.*\\.y 2\\.5  bytes [0-9]+ to [0-9]+\n"
                  + "troupe: decode 'point' by " + family);
  EXPECT_EXIT(travel(), testing::ExitedWithCode(0), "\\.money\\.owner_ \"");
  EXPECT_EXIT(travel(), testing::ExitedWithCode(0), "\\.watched object 0 again");
}

[[noreturn]] void travel_compressed(const std::string& family) {
  const type_registry types;
  const family_set families;
  context ctx;
  ctx.compression = compression::lz4;
  const std::vector<std::string> value(10'000, "text");
  const auto sent = serialize(value, {.serializers = {family}, .context = ctx}, types, families);
  const auto back = deserialize<std::vector<std::string>>(*sent, {.deserializers = {family}}, types, families);
  std::exit(back && *back == value ? 0 : 1);
}

TEST_P(tracing, shows_what_compressing_has_left_and_the_fields_as_they_were) {
  const std::string note = "compressed 'list<str>':\n  frame 0 \\(body\\): lz4, [0-9,]+ of [0-9,]+ bytes\n";
  EXPECT_EXIT(travel_compressed(GetParam()), testing::ExitedWithCode(0), note);
  EXPECT_EXIT(travel_compressed(GetParam()), testing::ExitedWithCode(0),
              note + "troupe: decode 'list<str>' by .*\\[0\\] \"text\"");
}

[[noreturn]] void travel_with_controls(const std::string& family) {
  const type_registry types;
  const family_set families;
  const std::map<std::string, std::string> value{{"\x1b[2J\nkey\x07\xff", "\x1b[2J\nvalue"}};
  const auto sent = serialize(value, {.serializers = {family}, .context = {}}, types, families);
  std::exit(sent ? 0 : 1);
}

TEST_P(tracing, shows_no_control_characters_of_keys_or_texts) {
  EXPECT_EXIT(travel_with_controls(GetParam()), testing::ExitedWithCode(0),
              "\\.\\?\\[2J\\?key\\?\\? \"\\\\(x1b|u\\{1b\\})\\[2J");
}

TEST(not_tracing, is_silent_unless_asked) {
  testing::internal::CaptureStderr();
  const type_registry types;
  const family_set families;
  EXPECT_TRUE(serialize(1, {}, types, families));
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

} // namespace
