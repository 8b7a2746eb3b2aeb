// Tests what families do, over a link: classes behind pointers, codecs of the registry, payloads inside messages,
// refusals, and that the link stays open after them.
#include <stdexcept>

#include <gmock/gmock.h>

#include <troupe/framework/message_types.hpp>
#include <troupe/serializers/cereal/cereal_type.hpp>
#include <troupe/serializers/record.hpp>
#include <troupe/serializers/serialized.hpp>

#include "two_nodes.hpp"

namespace troupe::tests {

struct utensil {
  virtual ~utensil() = default;
  int stirs = 0;
};
TROUPE_DESCRIBE(utensil, stirs)

struct spoon : utensil {
  std::string metal;
};
TROUPE_DESCRIBE_DERIVED(spoon, (utensil), metal)

struct drawer {
  std::vector<std::shared_ptr<utensil>> content;
};
TROUPE_DESCRIBE(drawer, content)

struct envelope {
  std::string to;
  serialized content;
};
TROUPE_DESCRIBE(envelope, to, content)

// Has no description, and cannot have one.
class vault {
public:
  vault() = default;
  explicit vault(int value) : value_(value) {}
  [[nodiscard]] int value() const { return value_; }

private:
  int value_ = 0;
};

// Carried by cereal only.
struct legacy {
  int value = 0;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(value);
  }
};

using either = std::variant<secret, legacy>;

} // namespace troupe::tests

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::tests::vault)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::tests::legacy)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(std::vector<troupe::tests::either>)

namespace troupe::tests {
namespace {

using testing::HasSubstr;

class families_over_a_link : public two_nodes {
protected:
  families_over_a_link() { far_types_ = near_types_ = &add_types; }

  static void add_types(type_registry& types) {
    types.add<drawer>("test.drawer").add<spoon>("test.spoon").add<envelope>("test.envelope").add<vault>("test.vault");
    types.add<secret>("test.secret");
    add_cereal<legacy>(types, "test.legacy");
    types.add<std::vector<either>>("test.eithers");
  }

  static void register_vault(type_registry& types) {
    types.register_serializer<vault>([](const vault& from) { return from.value(); },
                                     [](int value) { return vault(value); });
  }

  /// Publishes an actor that answers a vault with its value.
  caf::actor publish_opener() {
    return publish("opener", far().system.spawn([]() -> caf::behavior {
      return {[](const vault& what) { return what.value(); }, [](int value) { return value; }};
    }));
  }
};

TEST_F(families_over_a_link, pointers_arrive_as_the_class_that_they_are) {
  far_options_.accepted_links.deserializers = {"typed", "msgpack", "json"};
  far_options_.accepted_links.serializers = {"typed", "msgpack", "json"};
  publish("kitchen", far().system.spawn([]() -> caf::behavior {
    return {[](const drawer& from) {
      const auto* first = dynamic_cast<const spoon*>(from.content.at(0).get());
      const auto same = from.content.at(0) == from.content.at(1);
      return first != nullptr && same ? first->metal + std::to_string(first->stirs) : std::string("sliced");
    }};
  }));
  auto silver = std::make_shared<spoon>();
  silver->metal = "silver";
  silver->stirs = 3;
  for (const auto* family : {"typed", "msgpack", "json"}) {
    connect({.serializers = {family}});
    EXPECT_EQ(ask<std::string>(near().system, find("kitchen"), drawer{{silver, silver}}), "silver3") << family;
    link_->close();
  }
}

TEST_F(families_over_a_link, a_serializer_registered_on_a_living_link_counts_from_the_next_message) {
  publish_opener();
  register_vault(far().types);
  connect();
  EXPECT_THAT(text_of(ask<int>(near().system, find("opener"), vault(7))), HasSubstr("nor a codec in the registry"));
  register_vault(near().types);
  EXPECT_EQ(ask<int>(near().system, find("opener"), vault(7)), 7);
  near().types.register_serializer<vault>([](const vault& from) { return from.value() + 1; },
                                          [](int value) { return vault(value); });
  EXPECT_EQ(ask<int>(near().system, find("opener"), vault(7)), 8);
  near().types.deregister_serializer<vault>();
  EXPECT_FALSE(ask<int>(near().system, find("opener"), vault(7)));
  EXPECT_EQ(ask<int>(near().system, find("opener"), 3), 3) << "the link lives";
}

TEST_F(families_over_a_link, what_a_codec_throws_on_arrival_answers_the_request_and_is_cut) {
  publish_opener();
  register_vault(near().types);
  far().types.register_serializer<vault>([](const vault& from) { return from.value(); },
                                         [](int) -> vault { throw std::runtime_error(std::string(100'000, 'x')); });
  connect();
  const auto text = text_of(ask<int>(near().system, find("opener"), vault(7)));
  EXPECT_THAT(text, HasSubstr("a codec threw: xxx"));
  EXPECT_LT(text.size(), 2000U);
  EXPECT_EQ(ask<int>(near().system, find("opener"), 3), 3) << "the link lives";
  EXPECT_EQ(far().home->links().at(0).stats().undecodable, 1U);
}

TEST_F(families_over_a_link, what_a_codec_throws_when_it_sends_ends_the_request_only) {
  publish_opener();
  near().types.register_serializer<vault>([](const vault&) -> int { throw std::runtime_error("locked"); },
                                          [](int value) { return vault(value); });
  connect();
  EXPECT_THAT(text_of(ask<int>(near().system, find("opener"), vault(7))), HasSubstr("a codec threw: locked"));
  EXPECT_EQ(ask<int>(near().system, find("opener"), 3), 3);
}

TEST_F(families_over_a_link, codecs_are_told_of_the_link) {
  publish_opener();
  std::mutex guard;
  std::string seen;
  const auto look = [&](const context& ctx) {
    const std::scoped_lock lock(guard);
    seen += std::string(ctx.sender) + ">" + std::string(ctx.recipient) + " " + std::string(ctx.transport)
            + (ctx.same_host ? " same host;" : ";");
  };
  near().types.register_serializer<vault>(
      [&](const vault& from, const context& ctx) {
        look(ctx);
        return from.value();
      },
      [](int value) { return vault(value); });
  far().types.register_serializer<vault>([](const vault& from) { return from.value(); },
                                         [&](int value, const context& ctx) {
                                           look(ctx);
                                           return vault(value);
                                         });
  connect();
  EXPECT_EQ(ask<int>(near().system, find("opener"), vault(7)), 7);
  const std::scoped_lock lock(guard);
  EXPECT_EQ(seen, "near>far unix same host;near>far unix same host;");
}

TEST_F(families_over_a_link, a_payload_inside_a_message_is_passed_on_unread) {
  // The far end knows envelopes, but not the type inside this one.
  far_types_ = [](type_registry& types) { types.add<envelope>("test.envelope"); };
  publish("post", far().system.spawn([]() -> caf::behavior {
    return {[](const envelope& from) {
      auto back = from;
      back.to = std::string(from.content.header()->type);
      return back;
    }};
  }));
  connect({.serializers = {"msgpack", "typed"}});
  const reading sent{.sensor = "roof", .celsius = 21.5, .samples = std::vector<double>(10'000, 0.5)};
  const auto back = ask<envelope>(near().system, find("post"), envelope{"", to_serialize(sent)});
  ASSERT_TRUE(back) << text_of(back);
  EXPECT_EQ(back->to, "test.reading");
  EXPECT_EQ(back->content.header()->family, "msgpack") << "as this end encoded it, whatever the answer's family is";
  EXPECT_EQ(*back->content.get<reading>({}, near().types, near().families), sent);
}

TEST_F(families_over_a_link, a_payload_of_a_family_that_the_peer_does_not_accept_is_answered_with_the_reason) {
  far_options_.accepted_links.deserializers = {"typed"};
  publish("post", far().system.spawn([]() -> caf::behavior {
    return {[](const envelope& from) { return from.to; }, [](int value) { return value; }};
  }));
  connect({.serializers = {"typed", "msgpack"}});
  const auto inner = serialize(1, {.serializers = {"msgpack"}, .context = {}}, near().types, near().families);
  const auto text = text_of(ask<std::string>(near().system, find("post"), envelope{"x", serialized(*inner)}));
  EXPECT_THAT(text, HasSubstr("data serialized with msgpack but this link only accepts [typed]"));
  EXPECT_EQ(ask<int>(near().system, find("post"), 3), 3) << "the link lives";
}

TEST_F(families_over_a_link, handles_travel_in_payloads_inside_messages) {
  publish("post", far().system.spawn([this]() -> caf::behavior {
    return {[this](const envelope& from) -> caf::result<int> {
      const auto guests = from.content.get<guest_list>({}, far().types, far().families);
      return guests ? static_cast<int>(guests->guests.size()) : -1;
    }};
  }));
  connect();
  const guest_list guests{.host = "h", .guests = {find("post"), find("post")}};
  EXPECT_EQ(ask<int>(near().system, find("post"), envelope{"x", to_serialize(guests)}), 2);
}

TEST_F(families_over_a_link, elements_travel_each_by_the_family_that_carries_them) {
  far_options_.accepted_links.trusted_families = true;
  far_options_.accepted_links.deserializers = {"typed", "cereal"};
  publish("sum", far().system.spawn([]() -> caf::behavior {
    return {[](const std::vector<either>& from) {
      int sum = 0;
      for (const auto& each : from)
        std::visit([&](const auto& value) { sum += value.value; }, each);
      return sum;
    }};
  }));
  connect({.serializers = {"typed", "cereal"}, .trusted_families = true});
  EXPECT_EQ(ask<int>(near().system, find("sum"), std::vector<either>{secret{1}, legacy{2}, secret{3}}), 6);
}

TEST_F(families_over_a_link, an_answer_comes_by_a_family_that_the_asker_accepts) {
  far_options_.accepted_links.serializers = {"typed", "msgpack", "json"};
  far_options_.accepted_links.deserializers = {"typed"};
  publish("echo", far().system.spawn([]() -> caf::behavior { return {[](const reading& value) { return value; }}; }));
  const reading sent{.sensor = "roof", .celsius = 1, .samples = {}};
  connect({.serializers = {"typed"}, .deserializers = {"json"}}); // The near end would fail at any other family.
  EXPECT_EQ(ask<reading>(near().system, find("echo"), sent), sent);
  EXPECT_TRUE(link_->is_open());
}

TEST_F(families_over_a_link, records_travel) {
  publish("field", far().system.spawn([]() -> caf::behavior {
    return {[](const record& from) { return from.find("b") != nullptr ? *from.find("b") : record(); }};
  }));
  connect();
  EXPECT_EQ(ask<record>(near().system, find("field"), record::of({{"a", 1}, {"b", record::list{"x", 2.5}}})),
            record(record::list{"x", 2.5}));
}

} // namespace
} // namespace troupe::tests
