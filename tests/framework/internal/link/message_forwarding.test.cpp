// Messages of third nodes are copied into a draft unchanged.
#include <troupe/framework/internal/link/message_forwarding.hpp>
#include <troupe/framework/internal/wire/message_extensions.hpp>

#include <troupe/framework/internal/caf_port/builtin_types.hpp>
#include <troupe/framework/internal/objects/lost_object.hpp>
#include <troupe/serializers/serialize.hpp>

#include "way_out.hpp"

namespace troupe::internal {
namespace {

class copying_messages : public encoding_way_out {
protected:
  copying_messages() {
    add_builtin_types(types);
    fields_ = *parse_header(text_.header.bytes());
    element_.fields = &fields_;
    element_.header = text_.header.bytes();
    element_.frames = text_.frames;
    element_.comes_again = true;
    message_.types = &signature_;
  }
  ~copying_messages() override { draft.clear(); }

  std::expected<void, node_error> copy(std::size_t elements = 1) {
    for (std::size_t i = 0; i < elements; ++i)
      message_.elements.push_back(element_);
    draft.begin(drafts, terms, true);
    return copy_forwarded({common_, own_name, headers, delay_, traces}, message_, receipt{}, draft);
  }
  node_errc failure() {
    const auto copied = copy();
    return copied ? node_errc::none : copied.error().code();
  }

  peer_delay delay_;
  const payload text_ = *serialize(std::string{"forwarded"}, {.serializers = {"typed"}}, types, known_families);
  header_fields fields_;
  forwarded_element element_;
  signature signature_{.aliases = {"not known here"}};
  forwarded_message message_;
  message_draft draft;
};

TEST_F(copying_messages, keeps_their_bytes) {
  ASSERT_TRUE(copy(2));
  EXPECT_TRUE(in_order(troupe::tests::text_of(draft.elements()), {"forwarded", "forwarded"}));
}

TEST_F(copying_messages, defines_a_header_that_comes_again_once) {
  ASSERT_TRUE(copy(2));
  const auto held = mutex_.lock();
  EXPECT_EQ(packets_in(*to->open_outbox(held)).size(), 1u);
}

TEST_F(copying_messages, leaves_another_header_in_its_element) {
  element_.comes_again = false;
  ASSERT_TRUE(copy());
  EXPECT_EQ(appended(), "");
  EXPECT_GT(draft.elements().size(), text_.header.size_bytes());
}

TEST_F(copying_messages, waits_as_long_as_need_be_but_for_errors) {
  ASSERT_TRUE(copy());
  EXPECT_EQ(draft.how(), urgency::always_waits);
  draft.clear();
  signature_ = resolve_signature({"caf.error"}, types);
  ASSERT_TRUE(copy());
  EXPECT_EQ(draft.how(), urgency::answers_anyway);
}

TEST_F(copying_messages, mentions_their_actors_anew) {
  const std::vector<caf::strong_actor_ptr> mentioned{actor(), actor()};
  element_.actors = mentioned;
  ASSERT_TRUE(copy());
  EXPECT_EQ(draft.cargo().claims.actors(), 2u);
}

TEST_F(copying_messages, refuses_objects_that_cannot_be_counted_for_the_peer) {
  const std::vector<object_source_ptr> lost{std::make_shared<lost_object>(5)};
  element_.objects = lost;
  EXPECT_EQ(failure(), node_errc::unsupported);
}

TEST_F(copying_messages, refuses_what_the_peer_does_not_read) {
  auto agreed = terms_.now();
  agreed.peer.header_bytes = text_.header.size_bytes() - 1;
  lone_link::agree(std::move(agreed));
  EXPECT_EQ(failure(), node_errc::unserializable);
}

TEST_F(copying_messages, refuses_more_than_the_peer_takes) {
  auto agreed = terms_.now();
  agreed.peer.message_bytes = 3;
  lone_link::agree(std::move(agreed));
  EXPECT_EQ(failure(), node_errc::unserializable);
}

TEST_F(copying_messages, leaves_out_a_map_that_is_too_long_for_the_peer) {
  byte_vector map;
  append_extension(map, 77, byte_vector(2'000));
  message_.extensions = map;
  const auto with = [&](std::vector<feature_offer> features) {
    auto agreed = terms_.now();
    agreed.features = feature_set::agree(features).value();
    lone_link::agree(std::move(agreed));
    draft.clear();
    message_.elements.clear();
    EXPECT_TRUE(copy());
    return draft.extensions().size();
  };
  EXPECT_EQ(with({{"extensions", 1}}), 0u) << "it takes 1,024 bytes";
  EXPECT_EQ(with({{"extensions", 1}, {"traces", 1}}), map.size());
}

TEST_F(copying_messages, needs_families_that_the_peer_accepts) {
  message_.elements.push_back(element_);
  EXPECT_TRUE(accepts(*newest, message_));
  renew({"msgpack"});
  EXPECT_FALSE(accepts(*newest, message_));
}

} // namespace
} // namespace troupe::internal
