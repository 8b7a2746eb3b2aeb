// Goal: handles of actors and objects in a payload within a message are counted like any others, wherever the payload
// is forwarded. No forwarding node decodes the payload.
#include <gmock/gmock.h>

#include <troupe/serializers/payload_bytes.hpp>
#include <troupe/serializers/serialized.hpp>

#include "two_nodes.hpp"

namespace troupe::tests {
namespace {

using testing::HasSubstr;
using numbers = array<double>;
using number_ref = object_ref<numbers>;

struct parcel {
  std::string to;
  caf::actor from; // Beside the content, so that positions differ.
  serialized content;
};
TROUPE_DESCRIBE(parcel, to, from, content)

struct letter {
  std::string text;
  std::vector<caf::actor> friends;
  std::optional<number_ref> picture;
  serialized inner;
};
TROUPE_DESCRIBE(letter, text, friends, picture, inner)

struct crate {
  serialized content;
};
TROUPE_DESCRIBE(crate, content)

class nested_handles : public two_nodes {
protected:
  void SetUp() override {
    for (auto* list : {&far_options_.accepted_links.serializers, &far_options_.accepted_links.deserializers})
      *list = {"typed", "msgpack", "json"};
    near_types_ = [](type_registry& types) { types.add<parcel>("parcel").add<letter>("letter"); };
    far_types_ = [](type_registry& types) { types.add<parcel>("parcel"); }; // The far end cannot read letters.
    publish("post", far().system.spawn([this]() -> caf::behavior {
      return {[](const parcel& from) { return from; }, [this](const parcel& from, int) { return kept_ = from, 1; },
              [this](int) { return *kept_; }};
    }));
  }

  caf::actor adding(int by) {
    return near().system.spawn([this, by](caf::event_based_actor* self) -> caf::behavior {
      self->attach_functor([this] { ++ended_; });
      return {[by](int value) { return value + by; }};
    });
  }
  std::expected<letter, serialize_error> opened(const parcel& from, const std::string& family = "typed") {
    return from.content.get<letter>({.deserializers = {family}}, near().types, near().families);
  }
  parcel sent_parcel(bool with_inner = true) {
    letter content{"hello", {adding(1), adding(2)}, *near().home->put(numbers({1.0, 2.0, 3.0})), {}};
    content.friends.push_back(content.friends[0]);
    content.friends.emplace_back();
    if (with_inner)
      content.inner = to_serialize(letter{"inner", {adding(10), content.friends[1]}, content.picture, {}});
    return {"you", adding(100), to_serialize(std::move(content))};
  }
  void expect_works(const letter& from, const std::string& family = "typed") {
    ASSERT_EQ(from.friends.size(), 4u);
    EXPECT_EQ(*ask<int>(near().system, from.friends[0], 5), 6);
    EXPECT_EQ(*ask<int>(near().system, from.friends[1], 5), 7);
    EXPECT_EQ(from.friends[2], from.friends[0]);
    EXPECT_EQ(from.friends[3], nullptr);
    EXPECT_EQ(*from.picture->get(), numbers({1.0, 2.0, 3.0}));
    const auto inner = from.inner.get<letter>({.deserializers = {family}}, near().types, near().families);
    ASSERT_TRUE(inner) << inner.error().message();
    EXPECT_EQ(*ask<int>(near().system, inner->friends[0], 5), 15);
    EXPECT_EQ(inner->friends[1], from.friends[1]);
    EXPECT_EQ(*inner->picture->get(), numbers({1.0, 2.0, 3.0}));
  }

  std::optional<parcel> kept_;
  std::atomic<int> ended_ = 0;
};

TEST_F(nested_handles, travel_and_come_back_undecoded) {
  connect();
  for (const std::string family : {"typed", "msgpack", "json"}) {
    connect({.serializers = {family}});
    const auto back = ask<parcel>(near().system, find("post"), sent_parcel());
    ASSERT_TRUE(back) << text_of(back);
    EXPECT_EQ(back->content.header()->type, "letter");
    const auto content = opened(*back, family);
    ASSERT_TRUE(content) << family << ": " << content.error().message();
    expect_works(*content, family);
  }
}

TEST_F(nested_handles, hold_what_they_mention_as_long_as_somebody_keeps_the_payload) {
  connect();
  ASSERT_TRUE(ask<int>(near().system, find("post"), sent_parcel(), 1));
  const auto back = ask<parcel>(near().system, find("post"), 1);
  ASSERT_TRUE(back) << text_of(back);
  expect_works(*opened(*back));
  EXPECT_EQ(ended_, 0);
}

TEST_F(nested_handles, are_let_go_with_the_last_payload) {
  connect();
  ASSERT_TRUE(ask<parcel>(near().system, find("post"), sent_parcel()));
  EXPECT_TRUE(eventually([&] { return ended_ == 4; })) << ended_;
  EXPECT_TRUE(store_empties());
}

TEST_F(nested_handles, mean_nothing_outside_of_messages) {
  connect();
  const auto outside = serialize(sent_parcel().content, {.on_error = on_error::raise}, near().types, near().families);
  EXPECT_FALSE(outside);
  const auto back = ask<parcel>(near().system, find("post"), sent_parcel());
  ASSERT_TRUE(back) << text_of(back);
  const auto bytes = to_bytes(back->content.encoded());
  ASSERT_FALSE(bytes);
  EXPECT_EQ(bytes.error().code(), serialize_errc::out_of_band_handle);
  const auto text =
      text_of(ask<parcel>(near().system, find("post"), parcel{"x", nullptr, serialized(back->content.encoded())}));
  EXPECT_THAT(text, HasSubstr("taken out of the troupe::serialized"));
  EXPECT_FALSE(deserialize<letter>(back->content.encoded(), {}, near().types, near().families));
}

TEST_F(nested_handles, can_be_put_into_the_store) {
  near_types_ = [](type_registry& types) { types.add<crate>("crate").add<letter>("letter"); };
  auto picture = *near().home->put(numbers({1.0, 2.0, 3.0}));
  const auto put = near().home->put(crate{to_serialize(letter{"kept", {}, picture, {}})});
  ASSERT_TRUE(put) << put.error().message();
  picture = {};
  const auto back = put->get();
  ASSERT_TRUE(back) << back.error().message();
  const auto content = back->content.get<letter>({}, near().types, near().families);
  ASSERT_TRUE(content) << content.error().message();
  EXPECT_EQ(*content->picture->get(), numbers({1.0, 2.0, 3.0}));
}

} // namespace
} // namespace troupe::tests
