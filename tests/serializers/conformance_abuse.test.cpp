// Goal: every family refuses well-formed input that is meant to do harm: memory that nothing was charged for, circles
// that are never freed, chains whose destruction recurses, keys with one hash, arrays of very many dimensions. Input
// that only looks similar is accepted.
#include <chrono>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include <cereal/types/map.hpp>
#include <cereal/types/unordered_map.hpp>
#include <cereal/types/unordered_set.hpp>

#include <troupe/serializers/extend/circle_account.hpp>

#include "every_family.hpp"

namespace {

using namespace conformance;
using namespace troupe::literals;

/// Both types have the same fields. The sender's type views elements that the receiver's type owns.
struct viewed {
  std::vector<array<std::int64_t>> grids;
};
TROUPE_DESCRIBE(viewed, grids)
struct owned {
  std::vector<writable_array<std::int64_t>> grids;
};
TROUPE_DESCRIBE(owned, grids)

struct branch {
  std::vector<std::shared_ptr<branch>> children;
  std::weak_ptr<branch> parent;
};
TROUPE_DESCRIBE(branch, children, parent)
using branches = std::vector<std::shared_ptr<branch>>;

/// Its back pointers are decoded first.
struct leaf;
struct observed {
  std::vector<std::weak_ptr<leaf>> observers;
  int seen = 0;
};
TROUPE_DESCRIBE(observed, observers, seen)
struct leaf {
  std::shared_ptr<observed> sees;
  std::shared_ptr<leaf> beside;
};
TROUPE_DESCRIBE(leaf, sees, beside)
struct observation {
  std::shared_ptr<observed> subject;
  std::vector<std::shared_ptr<leaf>> leaves;
};
TROUPE_DESCRIBE(observation, subject, leaves)

/// The hash of a class that expects few elements.
struct weak_hash {
  std::size_t operator()(std::uint64_t value) const { return value % 16; }
};
/// The hash of keys chosen by a peer that knows the hash function: all equal.
struct one_hash {
  std::size_t operator()(std::uint64_t) const { return 7; }
};
template <class Hash>
using numbers = std::unordered_set<std::uint64_t, Hash>;
using counts = std::unordered_map<std::uint64_t, int, one_hash>;
using many_numbers = std::unordered_multiset<std::uint64_t, one_hash>;
using many_counts = std::unordered_multimap<std::uint64_t, int, one_hash>;

class abuse : public every_family {
protected:
  abuse() {
    add_cereal<branches>(types, "branches");
    add_cereal<branch>(types, "branch");
    add_cereal<leaf>(types, "leaf");
    add_cereal<observation>(types, "observation");
    add_cereal<array<std::int64_t>>(types, "array<i64>");
    add_cereal<numbers<weak_hash>>(types, "weak numbers");
    add_cereal<numbers<one_hash>>(types, "numbers");
    add_cereal<counts>(types, "counts");
    add_cereal<many_numbers>(types, "many numbers");
    add_cereal<many_counts>(types, "many counts");
    add_cereal<viewed>(types, "grids");
    add_cereal<owned>(types_here, "grids");
  }

  /// Decodes the views of the peer as owners of their elements.
  std::expected<owned, serialize_error> owned_from(const payload& from) {
    return deserialize<owned>(from, {.deserializers = {GetParam().name}, .context = ctx}, types_here, families);
  }

  template <class T>
  void expect_refused(const std::expected<T, serialize_error>& refused, const std::string& why) {
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().code(), serialize_errc::limit_exceeded);
    EXPECT_NE(refused.error().message().find(why), std::string::npos) << refused.error().message();
  }

  /// Expects that the sender refuses the value, and that the receiver refuses it from a sender with higher limits.
  template <class T>
  void expect_refused_in_both_directions(const T& value, const std::string& why) {
    expect_refused(made_of(value, ctx), why);
    context lenient;
    lenient.limits.height = SIZE_MAX;
    const auto sent = made_of(value, lenient);
    ASSERT_TRUE(sent.has_value()) << sent.error().message();
    expect_refused(decoded<T>(*sent), why);
  }

  type_registry types_here;
};

INSTANTIATE_TEST_SUITE_P(, abuse, testing::ValuesIn(all_families), name_of_row);

// -- memory

TEST_P(abuse, charges_elements_that_are_repeated_once_the_receiver_owns_them) {
  const auto repeated = *array<std::int64_t>::filled(1, {8 << 20});
  ctx.limits.memory_bytes = 100_MiB;
  ctx.limits.memory_ratio = 1 << 30;
  const auto sent = encoded(viewed{std::vector(3, repeated)});
  const auto before = allocated_bytes.load();
  expect_refused(owned_from(sent), "(limits::memory_bytes)");
  EXPECT_LT(allocated_bytes - before, 101_MiB);
  const auto one = encoded(viewed{{repeated}});
  const auto back = owned_from(one);
  ASSERT_TRUE(back.has_value()) << back.error().message();
  EXPECT_EQ(back->grids[0].size(), 8U << 20);
}

TEST_P(abuse, charges_repeated_elements_to_what_was_received) {
  const auto sent = encoded(viewed{{*array<std::int64_t>::filled(1, {1 << 20})}});
  const auto before = allocated_bytes.load();
  expect_refused(owned_from(sent), "(limits::memory_ratio, limits::memory_free_bytes)");
  EXPECT_LT(allocated_bytes - before, 2_MiB);
}

TEST_P(abuse, charges_no_memory_for_views_of_repeated_elements) {
  const auto back = decoded<viewed>(encoded(viewed{std::vector(12, *array<std::int64_t>::filled(1, {1 << 28}))}));
  ASSERT_TRUE(back.has_value()) << back.error().message();
  EXPECT_EQ(back->grids[11].size(), 1U << 28);
}

// -- arrays

TEST_P(abuse, refuses_arrays_of_more_dimensions_than_travel) {
  const std::vector<std::size_t> most(array_dimensions_max, 1);
  expect_back(*array<std::int64_t>::filled(5, most));
  auto more = most;
  more.push_back(1);
  expect_refused(made_of(*array<std::int64_t>::filled(5, more), ctx), "an array of 65 dimensions");
  const auto sent = encoded(*array<std::int64_t>::filled(5, most));
  ctx.limits.depth = 32;
  expect_refused(decoded<array<std::int64_t>>(sent), "an array of 64 dimensions");
  expect_refused(made_of(*array<std::int64_t>::filled(5, most), ctx), "an array of 64 dimensions");
}

// -- shared objects

TEST_P(abuse, refuses_chains_of_shared_objects_that_would_be_dropped_by_deep_recursion) {
  branches chain;
  for (int i = 0; i < 300'000; ++i) {
    chain.push_back(std::make_shared<branch>());
    if (i > 0)
      chain.back()->children.push_back(chain[chain.size() - 2]);
  }
  expect_refused_in_both_directions(chain, "(limits::height)");
  for (auto& each : chain) // Otherwise this test's own cleanup overflows the stack.
    each->children.clear();
}

TEST_P(abuse, counts_what_lies_between_shared_objects) {
  branches chain;
  for (std::size_t i = 0; i < 50; ++i) {
    chain.push_back(std::make_shared<branch>());
    if (i > 0)
      chain.back()->children.push_back(chain[i - 1]);
  }
  const auto sent = encoded(chain);
  ctx.limits.height = 104; // A list and a pointer each, plus what some families also count.
  EXPECT_EQ(failure_of<branches>(sent), "");
  ctx.limits.height = 90;
  expect_refused(decoded<branches>(sent), "(limits::height)");
}

TEST_P(abuse, passes_objects_that_are_shared_often) {
  const auto common = std::make_shared<branch>();
  branches all;
  for (int i = 0; i < 20'000; ++i) {
    all.push_back(std::make_shared<branch>());
    all.back()->children = {common, common};
  }
  const auto back = decoded<branches>(encoded(all));
  ASSERT_TRUE(back.has_value()) << back.error().message();
  EXPECT_EQ((*back)[0]->children[0], (*back)[19'999]->children[1]);
}

TEST_P(abuse, refuses_circles_where_they_are_not_allowed_and_frees_what_was_read) {
  auto self = std::make_shared<branch>();
  self->children = {self};
  const branches sent_value(10, self);
  const auto sent = encoded(sent_value);
  ctx.allow_cycles = false;
  expect_refused(made_of(sent_value, ctx), "link_options::allow_cycles");
  expect_refused(decoded<branches>(sent), "link_options::allow_cycles");
  self->children.clear();
}

TEST_P(abuse, refuses_circles_over_several_objects) {
  branches all;
  for (int i = 0; i < 3; ++i)
    all.push_back(std::make_shared<branch>());
  for (std::size_t i = 0; i < 3; ++i)
    all[i]->children = {all[(i + 1) % 3]};
  const auto sent = encoded(all);
  ctx.allow_cycles = false;
  expect_refused(made_of(all, ctx), "link_options::allow_cycles");
  expect_refused(decoded<branches>(sent), "link_options::allow_cycles");
  all[0]->children.clear();
}

TEST_P(abuse, passes_weak_pointers_back_where_circles_are_not_allowed) {
  ctx.allow_cycles = false;
  auto root = std::make_shared<branch>();
  for (int i = 0; i < 5; ++i) {
    root->children.push_back(std::make_shared<branch>());
    root->children.back()->parent = root;
  }
  const auto back = decoded<branches>(encoded(branches{root, root->children[3]}));
  ASSERT_TRUE(back.has_value()) << back.error().message();
  EXPECT_EQ((*back)[1]->parent.lock(), (*back)[0]);
  EXPECT_EQ((*back)[1], (*back)[0]->children[3]);
}

TEST_P(abuse, passes_weak_pointers_that_come_before_those_that_own) {
  ctx.allow_cycles = false;
  observation value{std::make_shared<observed>(), {}};
  for (int i = 0; i < 3; ++i) {
    value.leaves.push_back(std::make_shared<leaf>());
    value.leaves.back()->sees = value.subject;
    value.subject->observers.push_back(value.leaves.back());
  }
  const auto back = decoded<observation>(encoded(value));
  ASSERT_TRUE(back.has_value()) << back.error().message();
  EXPECT_EQ(back->leaves[2]->sees, back->subject);
  EXPECT_EQ(back->subject->observers[2].lock(), back->leaves[2]);
}

// A weak pointer leads into the circle. The pointer that closes the circle leads to an object that was read before.
TEST_P(abuse, refuses_circles_into_which_a_weak_pointer_led) {
  auto outer = std::make_shared<leaf>();
  auto inner = std::make_shared<leaf>();
  outer->sees = std::make_shared<observed>();
  outer->sees->observers.push_back(inner);
  inner->beside = outer; // No circle yet: `outer` does not own `inner`.
  const auto harmless = *outer;
  ctx.allow_cycles = false;
  EXPECT_TRUE(made_of(harmless, ctx).has_value());
  outer->beside = inner;
  ctx.allow_cycles = true;
  const auto sent = encoded(leaf{nullptr, outer});
  ctx.allow_cycles = false;
  expect_refused(made_of(leaf{nullptr, outer}, ctx), "link_options::allow_cycles");
  expect_refused(decoded<leaf>(sent), "link_options::allow_cycles");
  outer->beside.reset();
}

TEST_P(abuse, counts_what_circles_keep_until_they_are_cut) {
  auto self = std::make_shared<branch>();
  self->children = {self};
  const auto sent = encoded(branches{self});
  self->children.clear();
  circle_account account(64_KiB);
  ctx.circles = &account;
  std::vector<branches> kept;
  for (auto back = decoded<branches>(sent); back; back = decoded<branches>(sent)) {
    kept.push_back(*back);
    ASSERT_LT(kept.size(), 100U);
  }
  EXPECT_GT(kept.size(), 3U);
  EXPECT_GT(account.kept_bytes(), 0U);
  expect_refused(decoded<branches>(sent), "(link_options::cycle_bytes)");
  for (auto& each : kept)
    each[0]->children.clear();
  kept.clear();
  EXPECT_EQ(account.kept_bytes(), 0U);
  const auto back = decoded<branches>(sent);
  ASSERT_TRUE(back.has_value()) << back.error().message();
  (*back)[0]->children.clear();
}

// -- keys of one hash

TEST_P(abuse, refuses_unordered_containers_whose_keys_all_stand_in_one_bucket) {
  // Filled with a better hash, because filling a container of the receiver's type would take minutes.
  std::unordered_set<std::uint64_t> set;
  std::unordered_map<std::uint64_t, int> map;
  for (std::uint64_t i = 0; i < 350'000; ++i) {
    set.insert(i);
    map[i] = 1;
  }
  type_registry there;
  add_cereal<std::unordered_set<std::uint64_t>>(there, "numbers");
  add_cereal<std::unordered_map<std::uint64_t, int>>(there, "counts");
  const auto send = [&](const auto& value, type_registry& by) {
    return serialize(value, {.serializers = {GetParam().name}, .on_error = on_error::raise}, by, families);
  };
  const auto start = std::chrono::steady_clock::now();
  auto refused = decoded<numbers<one_hash>>(*send(set, there));
  expect_refused(refused, "(limits::hash_probes)");
  EXPECT_NE(refused.error().message().find("std::unordered_set<"), std::string::npos) << refused.error().message();
  expect_refused(decoded<counts>(*send(map, there)), "std::unordered_map<");
  type_registry many;
  add_cereal<std::unordered_set<std::uint64_t>>(many, "many numbers");
  add_cereal<std::unordered_map<std::uint64_t, int>>(many, "many counts");
  expect_refused(decoded<many_numbers>(*send(set, many)), "std::unordered_multiset<");
  expect_refused(decoded<many_counts>(*send(map, many)), "std::unordered_multimap<");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60)); // Without the limit it takes minutes.
}

TEST_P(abuse, passes_weak_hashes_of_few_keys) {
  numbers<weak_hash> weak;
  for (std::uint64_t i = 0; i < 10'000; ++i)
    weak.insert(i);
  expect_back(weak);
  numbers<one_hash> one;
  for (std::uint64_t i = 0; i < 3000; ++i)
    one.insert(i);
  expect_back(one);
}

TEST_P(abuse, passes_equal_keys_of_containers_that_may_have_them) {
  many_numbers same;
  many_counts same_too;
  for (int i = 0; i < 100'000; ++i) {
    same.insert(5);
    same_too.emplace(5, 1);
  }
  expect_back(same);
  const auto back = decoded<many_counts>(encoded(same_too));
  ASSERT_TRUE(back.has_value()) << back.error().message();
  EXPECT_EQ(back->count(5), 100'000U);
}

} // namespace
