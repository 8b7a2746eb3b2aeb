// Encodes the elements of a message into the bytes of its packet.
#include <troupe/framework/internal/link/message_encoder.hpp>

#include <string>
#include <vector>

#include <caf/allowed_unsafe_message_type.hpp>
#include <caf/make_message.hpp>
#include <caf/system_messages.hpp>

#include <troupe/framework/internal/caf_port/builtin_types.hpp>

#include "way_out.hpp"

namespace encoder_test {

struct unknown {
  int value = 0;
};

struct reading {
  std::string sensor;
  std::vector<double> samples;
};
TROUPE_DESCRIBE(reading, sensor, samples)

} // namespace encoder_test

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(encoder_test::unknown)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(encoder_test::reading)

namespace troupe::internal {
namespace {

using encoder_test::reading;
using encoder_test::unknown;

class encoding_messages : public encoding_way_out {
protected:
  encoding_messages() {
    add_builtin_types(types);
    types.add<reading>("reading");
  }
  ~encoding_messages() override { clear(); }

  void clear() {
    draft.clear();
    encoder.clear();
    encoder.forget_values();
    owner = std::make_shared<message_owner>(); // Frames may keep the previous one.
  }
  template <class... Ts>
  std::string failure(Ts... values) {
    const auto encoded = encode_values(draft, std::move(values)...);
    clear();
    return encoded ? "" : encoded.error().why.message();
  }
  /// Returns the number of payloads that are counted after the draft is sent.
  std::uint64_t carried() {
    draft.count_carried();
    std::vector<type_stats> rows;
    counts.add_to(rows, &type_stats::sent);
    std::uint64_t result = 0;
    for (const auto& row : rows)
      result += row.sent.payloads;
    return result;
  }
  message_draft draft;
};

TEST_F(encoding_messages, elements_come_one_after_the_other) {
  ASSERT_TRUE(encode_values(draft, std::string{"tea"}, std::int32_t{5}));
  EXPECT_EQ(draft.types().aliases(), (std::vector<std::string>{"str", "i32"}));
  EXPECT_EQ(carried(), 2u);
  EXPECT_NE(troupe::tests::text_of(draft.elements()).find("tea"), std::string::npos);
}

TEST_F(encoding_messages, a_header_is_defined_once_for_each_type) {
  ASSERT_TRUE(encode_values(draft, std::string{"tea"}));
  const auto once = appended();
  EXPECT_NE(once, "");
  clear();
  ASSERT_TRUE(encode_values(draft, std::string{"milk"}));
  EXPECT_EQ(appended(), once);
  clear();
  ASSERT_TRUE(encode_values(draft, std::int32_t{5}));
  EXPECT_NE(appended(), once);
}

TEST_F(encoding_messages, types_that_nobody_has_named_are_refused) {
  EXPECT_NE(failure(unknown{}).find("has no alias; add it to the node's type registry"), std::string::npos);
}

TEST_F(encoding_messages, types_that_the_peer_cannot_read_are_refused_but_for_third_nodes) {
  auto next = std::make_shared<sending_terms>(*newest);
  next->number = ++last_number;
  next->context.families = next->families;
  next->refused = std::make_shared<refused_types>(refused_types{{types.find<reading>(), "far has none"}});
  newest = next;
  terms_number = next->number;
  EXPECT_EQ(failure(reading{}), "far has none; near sends with [typed], far accepts [typed]");
  owner->element = element(nullptr, caf::make_message_id(), reading{});
  draft.begin(drafts, terms, false);
  EXPECT_TRUE(encoder.encode(encodings, (std::uint64_t{1} << 63) + 1, owner, draft));
}

TEST_F(encoding_messages, what_no_family_carries_names_both_lists) {
  renew({});
  const auto text = failure(std::string{"tea"});
  EXPECT_NE(text.find("near sends with [], far accepts []"), std::string::npos) << text;
}

TEST_F(encoding_messages, what_is_larger_than_the_peer_takes_is_refused) {
  auto agreed = terms_.now();
  agreed.peer.message_bytes = 10;
  lone_link::agree(std::move(agreed));
  EXPECT_NE(failure(std::string(100, 'a')).find("far takes at most 10"), std::string::npos);
  EXPECT_EQ(failure(std::string{"a"}), "");
}

TEST_F(encoding_messages, a_change_of_the_peers_lists_makes_what_defines_a_header_outdated) {
  owner->element = element(nullptr, caf::make_message_id(), std::string{"tea"});
  draft.begin(drafts, terms, false);
  change_peers_lists();
  const auto late = encoder.encode(encodings, 3, owner, draft);
  ASSERT_FALSE(late);
  EXPECT_TRUE(late.error().is_outdated);
  clear();
  owner->element = element(nullptr, caf::make_message_id(), std::string{"tea"});
  draft.begin(drafts, terms, true);
  EXPECT_TRUE(draft.cargo().claims.has_epoch());
  EXPECT_TRUE(epochs.take_acknowledgement());
  change_peers_lists();
  EXPECT_TRUE(encoder.encode(encodings, 3, owner, draft)); // Delays the acknowledgement.
  EXPECT_FALSE(epochs.take_acknowledgement());
}

TEST_F(encoding_messages, new_terms_are_used_from_the_next_message_on) {
  ASSERT_TRUE(encode_values(draft, std::string{"tea"}));
  const auto first = draft.terms().number;
  clear();
  renew({"msgpack"});
  ASSERT_TRUE(encode_values(draft, std::string{"tea"}));
  EXPECT_NE(draft.terms().number, first);
  EXPECT_EQ(draft.terms().families.size(), 1u);
}

TEST_F(encoding_messages, errors_and_exits_are_urgent) {
  ASSERT_TRUE(encode_values(draft, caf::make_error(caf::sec::runtime_error)));
  EXPECT_EQ(draft.how(), urgency::answers_anyway);
  clear();
  ASSERT_TRUE(encode_values(draft, std::string{"tea"}));
  EXPECT_EQ(draft.how(), urgency::ordinary);
}

TEST_F(encoding_messages, values_pass_as_they_are_where_both_ends_are_in_one_process) {
  passing = beside;
  ASSERT_TRUE(encode_values(draft, std::string(1000, 'a')));
  EXPECT_TRUE(draft.cargo().value.has_value());
  EXPECT_GT(draft.cost_without_head(), 1000u);
  EXPECT_LT(draft.elements().size(), 10u);
  EXPECT_EQ(carried(), 1u);
}

TEST_F(encoding_messages, handles_do_not_pass_as_they_are) {
  passing = beside;
  ASSERT_TRUE(encode_values(draft, caf::actor_cast<caf::actor>(actor())));
  EXPECT_FALSE(draft.cargo().value.has_value());
  EXPECT_EQ(draft.cargo().claims.actors(), 1u);
}

TEST_F(encoding_messages, what_several_hold_is_encoded_once_for_all_links) {
  const auto content = caf::make_message(reading{"a", std::vector<double>(1000)});
  auto shared = [&] { return caf::make_mailbox_element(nullptr, caf::make_message_id(), {}, content); };
  ASSERT_TRUE(encode(shared(), draft));
  const auto first = draft.elements().size();
  clear();
  const auto what = shared();
  EXPECT_NE(cache->find(message_view{*what}, newest->context), nullptr);
  ASSERT_TRUE(encode(shared(), draft));
  EXPECT_EQ(draft.elements().size(), first);
  cache->close();
}

TEST_F(encoding_messages, nothing_stays_named_of_what_was_not_sent) {
  const auto ann = actor();
  EXPECT_NE(failure(caf::actor_cast<caf::actor>(ann), unknown{}), "");
  const auto held = mutex_.lock();
  EXPECT_EQ(actors.own(held, ann->id()), nullptr);
}

TEST_F(encoding_messages, weighing_stops_where_it_is_enough_and_finds_what_passes_weightless) {
  const auto what = element(nullptr, caf::make_message_id(), std::string(5000, 'a'), std::string(5000, 'b'));
  const message_view content{*what};
  EXPECT_GT(weigh(encodings, known, content, 1'000'000), 10'000u);
  EXPECT_LT(weigh(encodings, known, content, 100), 10'000u);
  passing = beside;
  EXPECT_EQ(weigh(encodings, known, content, 1'000'000), 0u);
}

} // namespace
} // namespace troupe::internal
