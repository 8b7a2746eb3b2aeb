#include <troupe/framework/internal/objects/local_holds.hpp>

#include <unistd.h>

#include <string>

#include <gtest/gtest.h>

#include <troupe/base/sizes.hpp>

namespace troupe::tests {
namespace {

using namespace internal;

class local_holds_test : public testing::Test {
protected:
  [[nodiscard]] store::handle put(std::size_t size_bytes) {
    return store_.put(std::vector<std::byte>(size_bytes, std::byte{1})).value();
  }
  [[nodiscard]] bool lives(const store::object_id& place) { return store_.find(place).has_value(); }

  store::object_store store_ =
      store::object_store::open({.name = "holds-" + std::to_string(::getpid()), .capacity_bytes = 1_MiB}).value();
  local_holds holds_{store_};
};

TEST_F(local_holds_test, keep_an_object_until_the_last_is_dropped) {
  auto object = put(100);
  const auto place = object.id();
  holds_.keep(object);
  holds_.hold(place);
  object = {};
  EXPECT_EQ(holds_.size_of(place), 100u);
  holds_.drop(place);
  EXPECT_TRUE(lives(place));
  EXPECT_EQ(holds_.find(place).id(), place);
  holds_.drop(place);
  EXPECT_TRUE(holds_.find(place).empty());
  EXPECT_FALSE(lives(place));
}

TEST_F(local_holds_test, find_what_is_held_by_others_of_the_store) {
  const auto object = put(100);
  holds_.hold(object.id());
  EXPECT_EQ(holds_.find(object.id()).size_bytes(), 100u);
}

TEST_F(local_holds_test, know_what_comes_home_by_proof_and_size) {
  auto object = put(100);
  const auto home = holds_.home_of(object.id());
  EXPECT_FALSE(holds_.hold_at_home({home.name, home.proof + 1}, 100));
  EXPECT_FALSE(holds_.hold_at_home(home, 101));
  EXPECT_FALSE(holds_.hold_at_home({{home.name.store + 1, home.name.index, home.name.generation}, home.proof}, 100));
  EXPECT_EQ(holds_.size(), 0u);
  EXPECT_TRUE(holds_.hold_at_home(home, 100));
  EXPECT_FALSE(holds_.hold_at_home(home, 101)) << "also where it is held";
  object = {};
  EXPECT_TRUE(lives(home.name));
  holds_.drop(home.name);
  EXPECT_FALSE(lives(home.name));
  EXPECT_FALSE(holds_.hold_at_home(home, 100)) << "it is gone";
}

TEST_F(local_holds_test, hand_over_and_adopt_on_open_links_only) {
  const auto object = put(100);
  holds_.keep(object);
  EXPECT_FALSE(holds_.hand_over(object.id(), 1));
  EXPECT_EQ(holds_.adopt(object.id(), 1), local_holds::adoption::absent);
  const auto self = store_.self();
  holds_.open(1, {.peer = self, .send = 5, .receive = 5});
  EXPECT_TRUE(holds_.hand_over(object.id(), 1));
  EXPECT_EQ(holds_.adopt(object.id(), 1), local_holds::adoption::done);
  EXPECT_EQ(holds_.adopt(object.id(), 1), local_holds::adoption::absent) << "it was adopted";
  holds_.close(1);
  EXPECT_FALSE(holds_.hand_over(object.id(), 1));
}

} // namespace
} // namespace troupe::tests
