// Goal: circles of shared objects cannot hide how deeply their destruction recurses once the program has cut them.
// Ordinary circles are accepted.
#include <gmock/gmock.h>

#include "hostile.hpp"

namespace {

using namespace troupe;

struct knot {
  std::shared_ptr<knot> next;
  std::vector<std::shared_ptr<knot>> kids;
};
TROUPE_DESCRIBE(knot, next, kids)
using knots = std::vector<std::shared_ptr<knot>>;

std::shared_ptr<knot> knot_before(std::shared_ptr<knot> next) {
  return std::make_shared<knot>(knot{std::move(next), {}});
}

void cut(const knots& all) {
  for (const auto& each : all) {
    each->next.reset();
    each->kids.clear();
  }
}

// Each block has a chain, an object that owns the chain, and a second object. The two objects own each other. The chain
// of the next block owns the second object.
knots blocks(std::size_t count, std::size_t chain_length) {
  knots all;
  std::shared_ptr<knot> below;
  for (std::size_t block = 0; block < count; ++block) {
    for (std::size_t i = 0; i < chain_length; ++i)
      all.push_back(below = knot_before(below));
    auto outer = knot_before(nullptr);
    outer->kids = {below};
    outer->next = below = knot_before(outer);
    all.push_back(outer);
  }
  return all;
}

/// Counts its living instances.
struct counted_knot {
  counted_knot() { ++alive; }
  counted_knot(const counted_knot& other) : next(other.next) { ++alive; }
  counted_knot& operator=(const counted_knot&) = default;
  ~counted_knot() { --alive; }

  std::shared_ptr<counted_knot> next;
  static inline int alive = 0;
};
TROUPE_DESCRIBE(counted_knot, next)
using counted_knots = std::vector<std::shared_ptr<counted_knot>>;

class hostile_circles : public testing::TestWithParam<const char*> {
protected:
  hostile_circles() { types.add<knots>("knots"); }

  std::expected<payload, serialize_error> encoded(const knots& all, const context& with) {
    return serialize(all, {.serializers = {GetParam()}, .on_error = on_error::raise, .context = with}, types, families);
  }
  std::expected<knots, serialize_error> decoded(const payload& from) {
    return deserialize<knots>(from, {.deserializers = {GetParam()}, .context = ctx}, types, families);
  }

  void expect_refused(const knots& all) {
    const auto refused = encoded(all, ctx);
    ASSERT_FALSE(refused.has_value());
    EXPECT_THAT(refused.error().message(), testing::HasSubstr("(limits::height)"));
    context lenient;
    lenient.limits.height = SIZE_MAX;
    const auto sent = encoded(all, lenient);
    ASSERT_TRUE(sent.has_value()) << sent.error().message();
    const auto back = decoded(*sent);
    ASSERT_FALSE(back.has_value());
    EXPECT_THAT(back.error().message(), testing::HasSubstr("(limits::height)"));
  }

  knots expect_passes(const knots& all) {
    const auto sent = encoded(all, ctx);
    EXPECT_TRUE(sent.has_value()) << sent.error().message();
    auto back = sent ? decoded(*sent) : knots();
    EXPECT_TRUE(back.has_value()) << back.error().message();
    return back ? *std::move(back) : knots();
  }

  type_registry types;
  family_set families;
  context ctx;
};
INSTANTIATE_TEST_SUITE_P(, hostile_circles, testing::Values("typed", "msgpack", "json"),
                         [](const auto& of) { return std::string(of.param); });

TEST_P(hostile_circles, add_up_where_chains_hang_on_them) {
  const auto all = blocks(3, 900);
  expect_refused(all);
  cut(all);
}

TEST_P(hostile_circles, of_one_block_pass_and_can_be_dropped) {
  const auto all = blocks(1, 900);
  auto back = expect_passes(all);
  ASSERT_EQ(back.size(), all.size());
  auto last = back.back();
  EXPECT_EQ(last->next->next, last);
  back.clear();
  last->next.reset();
  last.reset(); // Drops the chain.
  cut(all);
}

// A chain leads from each level to the level above, while all levels are still being read.
TEST_P(hostile_circles, add_up_within_each_other) {
  constexpr std::size_t levels = 3;
  knots all{knot_before(nullptr)};
  for (std::size_t level = 0; level < levels; ++level) {
    const auto outer = all.back();
    const auto inner = knot_before(nullptr);
    auto below = outer;
    for (int i = 0; i < 900; ++i)
      inner->kids.push_back(below = knot_before(below));
    outer->kids.push_back(inner);
    all.push_back(inner);
  }
  expect_refused({all.front()});
  for (const auto& each : all)
    cut(each->kids);
  cut(all);
}

TEST_P(hostile_circles, of_lists_that_are_linked_in_both_directions_pass) {
  knots all{knot_before(nullptr)};
  for (int i = 1; i < 60; ++i) {
    all.push_back(knot_before(all.back()));
    all[all.size() - 2]->kids = {all.back()};
  }
  const auto back = expect_passes(all);
  ASSERT_EQ(back.size(), all.size());
  EXPECT_EQ(back[59]->next, back[58]);
  cut(back);
  cut(all);
}

TEST_P(hostile_circles, of_large_trees_whose_children_own_their_parents_pass) {
  knots all{knot_before(nullptr)};
  for (std::size_t i = 0; all.size() < 5'000; ++i)
    for (int child = 0; child < 4; ++child) {
      all.push_back(knot_before(all[i]));
      all[i]->kids.push_back(all.back());
    }
  const auto back = expect_passes(all);
  ASSERT_EQ(back.size(), all.size());
  EXPECT_EQ(back[4]->next, back[0]);
  cut(back);
  cut(all);
}

// Goal: if the rest of a value cannot be read, a circle in it that is already complete is freed.
TEST_P(hostile_circles, of_a_value_that_breaks_off_are_cut) {
  types.add<counted_knots>("counted_knots");
  counted_knots all{std::make_shared<counted_knot>(), std::make_shared<counted_knot>(),
                    std::make_shared<counted_knot>()};
  all[0]->next = all[1];
  all[1]->next = all[0];
  auto sent = serialize(all, {.serializers = {GetParam()}, .on_error = on_error::raise}, types, families);
  ASSERT_TRUE(sent.has_value()) << sent.error().message();
  const auto before = counted_knot::alive;
  const auto decoded = [&] {
    return deserialize<counted_knots>(*sent, {.deserializers = {GetParam()}}, types, families);
  };
  {
    const auto whole = decoded();
    ASSERT_TRUE(whole.has_value()) << whole.error().message();
    EXPECT_EQ(counted_knot::alive, before + 3);
    whole->front()->next.reset();
  }
  EXPECT_EQ(counted_knot::alive, before);
  sent->frames[0] = sent->frames[0].slice(0, sent->frames[0].size_bytes() - 1);
  EXPECT_FALSE(decoded().has_value());
  EXPECT_EQ(counted_knot::alive, before);
  all[0]->next.reset();
}

TEST_P(hostile_circles, are_not_needed_for_a_height_below_the_depth_to_count) {
  std::shared_ptr<knot> first;
  for (int i = 0; i < 40; ++i)
    first = knot_before(first);
  ctx.limits.height = 20;
  expect_refused({first});
}

} // namespace
