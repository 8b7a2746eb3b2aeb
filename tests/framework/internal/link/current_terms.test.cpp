// The terms by which a link's messages are encoded, without a peer.
#include <troupe/framework/internal/link/current_terms.hpp>

#include <troupe/serializers/contract.hpp>

#include "lone_link.hpp"

namespace troupe::internal {
namespace {

class terms_of_encoding : public lone_link {
protected:
  void open_with(family_names mine, family_names theirs) {
    lists_.open(std::move(mine), std::move(theirs));
    {
      const auto held = mutex_.lock();
      terms_now_.open(held, {.spill_bytes = 7}, lists_);
    }
    open();
  }
  std::shared_ptr<const sending_terms> now() {
    const auto held = mutex_.lock();
    return terms_now_.now(held);
  }

  type_registry types_;
  family_set families_;
  negotiation lists_;
  current_terms terms_now_{common_, types_, families_, "near", 9};
};

TEST_F(terms_of_encoding, are_what_both_ends_lists_leave_in_this_ends_order) {
  EXPECT_EQ(terms_now_.number(), 0u);
  EXPECT_EQ(now(), nullptr);
  EXPECT_TRUE(terms_now_.families().empty());
  open_with({{"msgpack", "typed", "json"}, {}}, {{}, {"typed", "msgpack"}});
  EXPECT_EQ(terms_now_.families(), (std::vector<std::string>{"msgpack", "typed"}));
  EXPECT_EQ(terms_now_.number(), now()->number);
  EXPECT_NE(terms_now_.number(), 0u);
  EXPECT_EQ(now()->context.families.size(), 2u);
  EXPECT_EQ(now()->spill_bytes, 7u);
  EXPECT_EQ(terms_now_.lists_text(*now()), "near sends with [msgpack, typed, json], far accepts [typed, msgpack]");
}

TEST_F(terms_of_encoding, get_another_number_with_each_change_and_stay_for_who_has_them) {
  open_with({{"typed"}, {}}, {{}, {"typed"}});
  const auto before = now();
  {
    const auto held = mutex_.lock();
    terms_now_.renew(held, lists_, [](sending_terms& terms) { terms.spill_bytes = 8; });
  }
  EXPECT_NE(now()->number, before->number);
  EXPECT_EQ(now()->spill_bytes, 8u);
  EXPECT_EQ(before->spill_bytes, 7u);
  EXPECT_EQ(terms_now_.offload_bytes(), 9u);
  terms_now_.offload_from(10);
  EXPECT_EQ(terms_now_.offload_bytes(), 10u);
}

TEST_F(terms_of_encoding, leave_out_types_that_the_peer_does_not_know) {
  open_with({{"typed"}, {}}, {{}, {"typed"}});
  const auto before = now()->number;
  terms_now_.on_type_refused({.alias = "nowhere", .contract = {}});
  EXPECT_EQ(now()->number, before); // This node also does not know it.
  terms_now_.on_type_refused({.alias = "str", .contract = {}});
  ASSERT_TRUE(now()->refused);
  const auto* type = types_.find("str");
  ASSERT_TRUE(now()->refused->contains(type));
  EXPECT_NE(now()->refused->at(type).find("far has no type \"str\" in its registry"), std::string::npos);
  const auto after = now()->number;
  EXPECT_NE(after, before);
  terms_now_.on_type_refused({.alias = "str", .contract = {}});
  EXPECT_EQ(now()->number, after); // Already known.
}

TEST_F(terms_of_encoding, believe_only_what_can_be_checked_of_a_type_that_the_peer_knows) {
  open_with({{"typed"}, {}}, {{}, {"typed"}});
  const auto* type = types_.find("str");
  terms_now_.on_type_refused({.alias = "str", .is_known = true, .contract = {}});
  terms_now_.on_type_refused({.alias = "str", .is_known = true, .contract = contract_of(*type)});
  EXPECT_EQ(now()->refused, nullptr); // The value was refused, not the type.
  terms_now_.on_type_refused({.alias = "str", .is_known = true, .contract = contract_of(*types_.find("i32"))});
  ASSERT_TRUE(now()->refused);
  EXPECT_NE(now()->refused->at(type).find("far has another version of type \"str\""), std::string::npos);
}

TEST_F(terms_of_encoding, do_not_change_once_the_link_is_down) {
  open_with({{"typed"}, {}}, {{}, {"typed"}});
  enter(link_state::closed);
  terms_now_.on_type_refused({.alias = "str", .contract = {}});
  EXPECT_EQ(now()->refused, nullptr);
}

} // namespace
} // namespace troupe::internal
