// An option that knows whether the program has set it.
#include <troupe/framework/setting.hpp>

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace troupe {
namespace {

using namespace std::chrono_literals;

struct some_options {
  setting<std::vector<std::string>> names{by_default, {"typed", "msgpack"}};
  setting<std::size_t> bytes{by_default, 5};
  setting<std::chrono::milliseconds> pause{by_default, 100ms};
  setting<std::optional<bool>> shared = {};
  setting<std::string> title{by_default, "node"};
};

TEST(a_setting, has_its_default_until_it_is_set) {
  some_options options;
  EXPECT_FALSE(options.names.is_set());
  EXPECT_EQ(options.names->size(), 2u);
  EXPECT_EQ(options.bytes, 5u);
  options.bytes.set_default(6);
  EXPECT_EQ(options.bytes, 6u);
  EXPECT_FALSE(options.bytes.is_set());
  options.bytes = 5;
  EXPECT_TRUE(options.bytes.is_set());
  options.bytes.set_default(7);
  EXPECT_EQ(options.bytes, 5u);
}

TEST(a_setting, is_set_by_whatever_its_value_is_made_from) {
  const some_options options{.names = {"json"}, .bytes = 1, .pause = 2s, .shared = true, .title = "kitchen"};
  EXPECT_EQ(options.names, std::vector<std::string>{"json"});
  EXPECT_EQ(*options.pause, 2000ms);
  EXPECT_EQ(*options.shared, true);
  EXPECT_EQ(options.title, "kitchen");
  for (bool is_set : {options.names.is_set(), options.bytes.is_set(), options.pause.is_set(), options.shared.is_set(),
                      options.title.is_set()})
    EXPECT_TRUE(is_set);
  // An empty list and "neither" are values like any others.
  const some_options empty{.names = std::vector<std::string>{}, .shared = std::nullopt};
  EXPECT_TRUE(empty.names.is_set());
  EXPECT_TRUE(empty.names->empty());
  EXPECT_TRUE(empty.shared.is_set());
}

TEST(a_setting, that_is_edited_is_set) {
  some_options options;
  options.names.edit().emplace_back("json");
  EXPECT_TRUE(options.names.is_set());
  EXPECT_EQ(options.names->size(), 3u);
  const auto copy = options;
  EXPECT_TRUE(copy.names.is_set());
  EXPECT_TRUE(copy.names == options.names);
  EXPECT_FALSE(copy.title.is_set());
}

} // namespace
} // namespace troupe
