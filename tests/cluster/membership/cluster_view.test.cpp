// Goal: the view says what the directory's entries mean, and tells each change once.
#include <gtest/gtest.h>

#include <troupe/framework/cluster/internal/membership/cluster_view.hpp>
#include <troupe/framework/cluster/internal/membership/entry_keys.hpp>
#include <troupe/framework/cluster/internal/membership/member_record.hpp>

namespace troupe::tests {
namespace {

using namespace membership;

cluster_member member(std::string name, std::string incarnation = "1") {
  return {.name = std::move(name),
          .incarnation = std::move(incarnation),
          .addresses = {"tcp://127.0.0.1:1"},
          .roles = {"worker"},
          .host = "h",
          .version = "Troupe"};
}

directory_entry entry_of(const cluster_member& of, std::uint64_t lease) {
  return {.key = member_key(of.name), .value = member_record(of), .lease = lease};
}

directory_entry name_of(const std::string& member, const std::string& name, std::uint64_t lease) {
  return {.key = name_key(member, name), .value = "{}", .lease = lease};
}

directory_change put(directory_entry entry) {
  return {.what = directory_change::kind::put, .entry = std::move(entry)};
}

directory_change removed(std::string key) {
  return {.what = directory_change::kind::removed, .entry = {.key = std::move(key)}};
}

/// "up a", "added a/cart".
std::string words_of(const cluster_view::events& all) {
  std::string words;
  for (const auto& one : all) {
    using enum cluster_event::kind;
    const auto& who = one.member.name;
    words += words.empty() ? "" : ", ";
    words += one.what == member_up         ? "up " + who
             : one.what == member_changed  ? "changed " + who
             : one.what == member_down     ? "down " + who
             : one.what == name_added      ? "added " + who + '/' + one.name
             : one.what == drain_ordered   ? "ordered " + who
             : one.what == drain_cancelled ? "cancelled " + who
             : one.what == singleton_moved ? one.name + " to " + (who.empty() ? "nobody" : who)
                                           : "gone " + who + '/' + one.name;
  }
  return words;
}

class a_view : public testing::Test {
protected:
  std::string apply(std::vector<directory_change> changes) { return words_of(view_.apply(changes)); }
  std::string reset(std::vector<directory_entry> entries) { return words_of(view_.reset(entries)); }

  cluster_view view_;
};

TEST_F(a_view, tells_members_and_names_as_they_come_and_go) {
  EXPECT_EQ(apply({put(entry_of(member("a"), 7))}), "up a");
  EXPECT_EQ(apply({put(name_of("a", "cart", 7))}), "added a/cart");
  EXPECT_EQ(apply({removed(name_key("a", "cart"))}), "gone a/cart");
  EXPECT_EQ(apply({removed(member_key("a"))}), "down a");
  EXPECT_EQ(apply({removed(member_key("a"))}), "");
}

TEST_F(a_view, takes_a_lost_lease_as_the_end_of_a_member_and_its_names) {
  EXPECT_EQ(apply({put(entry_of(member("a"), 7)), put(name_of("a", "cart", 7))}), "up a, added a/cart");
  EXPECT_EQ(apply({removed(member_key("a")), removed(name_key("a", "cart"))}), "gone a/cart, down a");
  EXPECT_TRUE(view_.members().empty());
  EXPECT_TRUE(view_.providers("cart").empty());
}

TEST_F(a_view, shows_a_name_only_with_its_member) {
  EXPECT_EQ(apply({put(name_of("a", "cart", 7))}), "");
  EXPECT_TRUE(view_.providers("cart").empty());
  EXPECT_EQ(apply({put(entry_of(member("a"), 7))}), "up a, added a/cart");
  EXPECT_EQ(view_.providers("cart").size(), 1u);
}

TEST_F(a_view, shows_a_shard_only_if_its_owner_is_a_member_with_the_same_lease) {
  const auto shard = [](const std::string& part, const std::string& owner, std::uint64_t lease) {
    return put({.key = "shards/" + part, .value = owner, .lease = lease});
  };
  static_cast<void>(apply({put({.key = "kinds/cart", .value = R"({"shards":8})"}), put(entry_of(member("a"), 7)),
                           shard("cart/3", "a", 7), shard("cart/4", "a", 8), shard("cart/5", "b", 7),
                           shard("cart/03", "a", 7), shard("cart/x", "a", 7), shard("cart/8", "a", 7)}));
  ASSERT_EQ(view_.owned_shards().size(), 1u);
  EXPECT_EQ(view_.owned_shards().front().first.shard, 3u);
  EXPECT_EQ(view_.owned_shards().front().second, "a");
  static_cast<void>(apply({removed("shards/cart/3")}));
  EXPECT_TRUE(view_.owned_shards().empty());
}

/// What a view says of the owners of the shard 1, if each change has a revision of its own.
class owners_of_a_shard : public a_view {
protected:
  owners_of_a_shard() { change({kind(1), entry_of(member("a"), 7)}); }

  static directory_entry kind(std::uint64_t changed) {
    return {.key = "kinds/cart", .value = R"({"shards":2})", .changed_revision = changed};
  }
  static directory_entry shard(std::uint64_t made) {
    return {.key = "shards/cart/1", .value = "a", .created_revision = made, .changed_revision = made, .lease = 7};
  }
  void change(std::vector<directory_entry> made) {
    for (auto& one : made)
      static_cast<void>(apply({put(std::move(one))}));
  }
  /// At one revision.
  void remove(const std::vector<std::string>& keys, const std::vector<directory_entry>& made = {}) {
    std::vector<directory_change> all;
    for (const auto& one : made)
      all.push_back(put(one));
    for (const auto& key : keys) {
      all.push_back(removed(key));
      all.back().entry.changed_revision = removed_at_;
    }
    static_cast<void>(view_.apply(all));
  }
  std::pair<std::uint64_t, std::uint64_t> past() {
    const auto of = view_.shard_pasts("cart").at(1);
    return {of.last, of.oldest};
  }
  using pair = std::pair<std::uint64_t, std::uint64_t>;

  const std::string key_ = "shards/cart/1";
  static constexpr std::uint64_t removed_at_ = 99;
};

TEST_F(owners_of_a_shard, are_not_known_before_the_first_that_was_seen) {
  EXPECT_EQ(past(), pair(0, 0));
  change({shard(10)});
  EXPECT_EQ(past(), pair(10, 10));
}

TEST_F(owners_of_a_shard, inherit_what_an_owner_knows_that_has_released_it) {
  change({shard(10)});
  remove({key_});
  change({shard(20)});
  EXPECT_EQ(past(), pair(20, 10));
  remove({key_});
  change({shard(30)});
  EXPECT_EQ(past(), pair(30, 10));
}

TEST_F(owners_of_a_shard, inherit_nothing_from_an_owner_that_was_lost) {
  change({shard(10)});
  remove({key_});
  change({shard(20)});
  remove({key_, member_key("a")}); // The lease.
  change({entry_of(member("a"), 7), shard(30)});
  EXPECT_EQ(past(), pair(30, 20));
  remove({member_key("a")});
  remove({key_});
  change({entry_of(member("a"), 7), shard(40)});
  EXPECT_EQ(past(), pair(40, 30));
}

TEST_F(owners_of_a_shard, inherit_nothing_from_an_owner_that_has_more_to_tell) {
  change({shard(10)});
  remove({key_}, {kind(removed_at_)});
  change({shard(110)});
  remove({key_}, {kind(removed_at_)});
  change({shard(120)});
  EXPECT_EQ(past(), pair(120, 110));
}

TEST_F(owners_of_a_shard, are_known_after_a_time_without_watching_if_they_stayed_or_nobody_came) {
  change({shard(10)});
  remove({key_});
  change({kind(20), shard(20)});
  static_cast<void>(view_.reset(std::vector{kind(50), entry_of(member("a"), 7), shard(20)})); // It has stayed.
  EXPECT_EQ(past(), pair(20, 10));
  static_cast<void>(view_.reset(std::vector{kind(50), entry_of(member("a"), 7)})); // It has gone.
  EXPECT_EQ(past(), pair(20, 10));
  change({shard(60)});
  EXPECT_EQ(past(), pair(60, 20));
  static_cast<void>(view_.reset(std::vector{kind(70), entry_of(member("a"), 7), shard(80)})); // Others may have come.
  EXPECT_EQ(past(), pair(80, 80));
  static_cast<void>(view_.reset(std::vector{kind(90), entry_of(member("a"), 7)}));
  EXPECT_EQ(past(), pair(0, 0));
}

TEST_F(a_view, tells_an_order_only_to_the_process_that_it_is_for) {
  const auto order = [](const std::string& incarnation) {
    return put({.key = "orders/a", .value = R"({"drain":true,"by":"x","incarnation":")" + incarnation + R"("})"});
  };
  EXPECT_EQ(apply({put(entry_of(member("a", "1"), 7))}), "up a");
  EXPECT_EQ(apply({order("1")}), "ordered a");
  EXPECT_EQ(view_.order_to("a")->by, "x");
  EXPECT_EQ(apply({order("1")}), "");
  EXPECT_EQ(apply({removed("orders/a")}), "cancelled a");
  EXPECT_EQ(apply({order("0")}), "");
  EXPECT_EQ(view_.order_to("a"), std::nullopt);
  EXPECT_EQ(view_.left_over().count("orders/a"), 1u);
  EXPECT_EQ(apply({order("1"), put({.key = "orders/b", .value = "{}"})}), "ordered a");
  EXPECT_EQ(apply({put(entry_of(member("a", "2"), 8))}), "down a, up a");
  EXPECT_EQ(view_.unreadable().count("orders/b"), 1u);
}

TEST_F(a_view, tells_that_a_member_drains) {
  auto drained = member("a");
  EXPECT_EQ(apply({put(entry_of(drained, 7))}), "up a");
  drained.is_draining = true;
  EXPECT_EQ(apply({put(entry_of(drained, 7))}), "changed a");
  EXPECT_TRUE(view_.member("a")->is_draining);
}

TEST_F(a_view, believes_no_name_that_another_lease_has_published) {
  EXPECT_EQ(apply({put(entry_of(member("a"), 7)), put(name_of("a", "cart", 8))}), "up a");
  EXPECT_TRUE(view_.providers("cart").empty());
}

TEST_F(a_view, tells_a_new_incarnation_as_another_member) {
  EXPECT_EQ(apply({put(entry_of(member("a", "1"), 7)), put(name_of("a", "cart", 7))}), "up a, added a/cart");
  EXPECT_EQ(apply({put(entry_of(member("a", "2"), 8))}), "gone a/cart, down a, up a");
  EXPECT_EQ(apply({put(name_of("a", "cart", 8))}), "added a/cart");
}

TEST_F(a_view, tells_other_roles_of_the_same_incarnation_as_a_change) {
  auto one = member("a");
  EXPECT_EQ(apply({put(entry_of(one, 7))}), "up a");
  one.roles = {"other"};
  EXPECT_EQ(apply({put(entry_of(one, 7))}), "changed a");
  EXPECT_EQ(view_.member("a"), one);
}

TEST_F(a_view, tells_only_what_has_changed_when_everything_is_read_again) {
  EXPECT_EQ(reset({entry_of(member("a"), 7), entry_of(member("b"), 8), name_of("a", "cart", 7)}),
            "up a, added a/cart, up b");
  EXPECT_EQ(reset({entry_of(member("a"), 7), entry_of(member("c"), 9), name_of("a", "till", 7)}),
            "down b, gone a/cart, added a/till, up c");
}

TEST_F(a_view, leaves_out_what_it_cannot_read) {
  EXPECT_EQ(apply({put({.key = "members/a", .value = "[]"}), put({.key = "members/b", .value = R"({"addresses":[]})"}),
                   put({.key = "members/", .value = "{}"}), put({.key = "members/%zz", .value = "{}"}),
                   put({.key = "names/a", .value = ""}), put({.key = "other", .value = ""}),
                   put({.key = "members/c", .value = R"({"addresses":["x"],"roles":7})"})}),
            "");
  EXPECT_TRUE(view_.members().empty());
  EXPECT_EQ(view_.unreadable().size(), 3u);
  EXPECT_EQ(apply({removed("members/a"), removed("members/b"), removed("members/c")}), "");
  EXPECT_TRUE(view_.unreadable().empty());
}

TEST_F(a_view, tells_who_owns_a_singleton_as_long_as_the_owner_is_a_member) {
  const directory_entry owned{.key = singleton_key("clock"), .value = "a", .lease = 7};
  EXPECT_EQ(apply({put(owned)}), "");
  EXPECT_EQ(apply({put(entry_of(member("a"), 7))}), "up a, clock to a");
  EXPECT_EQ(apply({removed(member_key("a"))}), "down a, clock to nobody");
  EXPECT_EQ(apply({put(entry_of(member("a"), 8))}), "up a"); // The entry has another lease.
  EXPECT_EQ(apply({put({.key = owned.key, .value = "a", .lease = 8})}), "clock to a");
  EXPECT_EQ(apply({removed(owned.key)}), "clock to nobody");
}

TEST_F(a_view, tells_that_a_singleton_has_moved_to_another_incarnation_of_its_owner) {
  const auto owned_under = [](std::uint64_t lease) {
    return put({.key = singleton_key("clock"), .value = "a", .lease = lease});
  };
  EXPECT_EQ(apply({put(entry_of(member("a", "1"), 7)), owned_under(7)}), "up a, clock to a");
  EXPECT_EQ(apply({put(entry_of(member("a", "2"), 8)), owned_under(8)}), "down a, up a, clock to a");
}

TEST_F(a_view, ends_a_member_whose_record_becomes_unreadable) {
  EXPECT_EQ(apply({put(entry_of(member("a"), 7))}), "up a");
  EXPECT_EQ(apply({put({.key = "members/a", .value = "?", .lease = 7})}), "down a");
}

TEST(a_key, keeps_any_name) {
  for (const auto& name : std::vector<std::string>{"cart", "a/b", "%2F", "100 %", "ä", std::string(1, '\0')})
    EXPECT_EQ(name_in(key_part(name)), name);
  EXPECT_EQ(published_name_in(name_key("a/b", "c/d"))->member, "a/b");
  EXPECT_EQ(published_name_in(name_key("a/b", "c/d"))->name, "c/d");
  EXPECT_EQ(member_in("members/tcp://a:1"), "tcp://a:1");
  EXPECT_FALSE(name_in("a/b"));
  EXPECT_FALSE(name_in("%2"));
  EXPECT_FALSE(name_in(""));
}

// -- bounds: any user of the directory may write entries

TEST(a_bounded_view, names_the_members_that_it_skips) {
  cluster_view view{{.members = 3}};
  std::vector<directory_entry> all;
  for (const auto* name : {"a", "b", "c", "d", "e"})
    all.push_back(entry_of(member(name), 1));
  EXPECT_EQ(words_of(view.reset(all)), "up a, up b, up c");
  ASSERT_EQ(view.unreadable().size(), 2u);
  EXPECT_EQ(view.unreadable().at(member_key("d")), "the cluster has more than 3 members");
  const std::vector<directory_change> changes{removed(member_key("a")), put(entry_of(member("late"), 1)),
                                              put(entry_of(member("later"), 1))};
  EXPECT_EQ(words_of(view.apply(changes)), "down a, up late");
}

TEST(a_bounded_view, skips_names_beyond_those_of_a_member_and_of_members_that_nobody_knows) {
  cluster_view view{{.members = 2, .names = 2}};
  const std::vector<directory_entry> all{entry_of(member("a"), 1), name_of("a", "1", 1), name_of("a", "2", 1),
                                         name_of("a", "3", 1),     name_of("b", "1", 1), name_of("c", "1", 1)};
  EXPECT_EQ(words_of(view.reset(all)), "up a, added a/1, added a/2");
  EXPECT_EQ(view.unreadable().size(), 2u);
  const std::vector<directory_change> changes{removed(name_key("a", "1")), put(name_of("a", "3", 1))};
  EXPECT_EQ(words_of(view.apply(changes)), "gone a/1, added a/3");
}

TEST(a_bounded_view, counts_the_bytes_of_an_entry_once_and_gets_them_back) {
  const auto entry = entry_of(member("a"), 1);
  cluster_view view{{.bytes = 3 * (entry.key.size() + entry.value.size())}};
  for (auto i = 0; i < 10; ++i)
    static_cast<void>(view.apply(std::vector{put(entry)}));
  static_cast<void>(view.apply(std::vector{put(entry_of(member("b"), 1)), put(entry_of(member("c"), 1)),
                                           put(name_of("a", "n", 1)), put(entry_of(member("d"), 1))}));
  EXPECT_EQ(view.members().size(), 3u);
  EXPECT_EQ(view.unreadable().size(), 2u);
  static_cast<void>(view.apply(std::vector{removed(member_key("a")), put(entry_of(member("d"), 1))}));
  EXPECT_EQ(view.members().size(), 3u);
  EXPECT_TRUE(view.member("d"));
}

TEST(a_bounded_view, has_a_bound_for_singletons) {
  cluster_view view{{.singletons = 1}};
  const std::vector<directory_entry> all{entry_of(member("a"), 1),
                                         {.key = singleton_key("one"), .value = "a", .lease = 1},
                                         {.key = singleton_key("two"), .value = "a", .lease = 1}};
  static_cast<void>(view.reset(all));
  EXPECT_EQ(view.singletons().size(), 1u);
  EXPECT_EQ(view.unreadable().size(), 1u);
}

TEST_F(a_view, keeps_features_and_contract_and_skips_a_record_whose_lists_are_too_long) {
  auto modern = member("a");
  modern.features = {"load"};
  modern.contract = "0123456789abcdef";
  EXPECT_EQ(apply({put(entry_of(modern, 1))}), "up a");
  EXPECT_EQ(view_.members().front(), modern);
  modern.features = std::vector<std::string>(65, "x");
  EXPECT_EQ(apply({put(entry_of(modern, 1))}), "down a");
}

} // namespace
} // namespace troupe::tests
