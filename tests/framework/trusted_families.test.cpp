// Families that trust their input: both ends refuse them unless the link's options admit them.
#include <troupe/serializers/cereal/cereal_type.hpp>

#include "two_nodes.hpp"

namespace troupe::tests {
namespace {

/// Has cereal functions and no description, so no other family carries it.
struct gauge {
  std::string name;
  std::map<std::string, double> values;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(name, values);
  }
};

/// Described, with all kinds of handles inside.
struct parcel {
  caf::actor from;
  object_ref<array<double>> load;
  array<double> weights;
};
TROUPE_DESCRIBE(parcel, from, load, weights)

} // namespace
} // namespace troupe::tests

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::tests::gauge)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::tests::parcel)

namespace troupe::tests {
namespace {

class trusted_families : public two_nodes {
protected:
  trusted_families() {
    far_types_ = near_types_ = [](type_registry& types) {
      add_cereal<gauge>(types, "test.gauge");
      add_cereal<parcel>(types, "test.parcel");
    };
  }

  void publish_reader() {
    publish("reader", far().system.spawn([](caf::event_based_actor* self) -> caf::behavior {
      return {
          [](const gauge& of) { return of.values.at("level"); },
          [](int value) { return value; },
          [](bool) -> caf::result<int> { return caf::make_error(caf::sec::bad_function_call, "a reason"); },
          [self](const parcel& what) {
            const auto load = what.load.get();
            self->send(what.from, load ? load->size() : std::size_t{0});
            return static_cast<int>(what.weights.size());
          },
      };
    }));
  }

  static gauge some_gauge() { return {"tank", {{"level", 0.75}}}; }

  static link_options trusting(std::vector<std::string> families) {
    return {.serializers = std::move(families), .trusted_families = true};
  }
};

// The default lists do not change, so permission alone does not lose a peer that knows only "msgpack".
TEST_F(trusted_families, are_in_no_list_by_themselves) {
  far_options_.accepted_links.trusted_families = true;
  connect({.trusted_families = true});
  EXPECT_EQ(link_->serializers(), (std::vector<std::string>{"typed", "msgpack"}));
  connect({.serializers = {"msgpack"}});
  EXPECT_EQ(link_->serializers(), (std::vector<std::string>{"msgpack"}));
}

TEST_F(trusted_families, are_refused_at_connect_without_trust) {
  far();
  for (const auto& options : {link_options{.serializers = {"typed", "cereal"}},
                              link_options{.serializers = {"typed"}, .deserializers = {"typed", "cereal"}}}) {
    const auto connected = near().home->connect(address_, options);
    ASSERT_FALSE(connected);
    EXPECT_EQ(connected.error().code(), node_errc::bad_option);
    EXPECT_NE(connected.error().message().find("family cereal trusts its input; list it only with trusted_families"),
              std::string::npos)
        << connected.error().message();
  }
}

TEST_F(trusted_families, are_refused_when_a_node_opens_without_trust) {
  far_options_.accepted_links = {.serializers = {"typed"}, .deserializers = {"typed", "cereal"}};
  try {
    far();
    FAIL() << "the node was opened";
  } catch (const std::runtime_error& refused) {
    EXPECT_NE(std::string{refused.what()}.find("family cereal trusts its input"), std::string::npos) << refused.what();
  }
}

TEST_F(trusted_families, carry_what_no_other_family_can_where_both_ends_trust) {
  far_options_.accepted_links = trusting({"typed", "cereal"});
  publish_reader();
  connect(trusting({"typed", "cereal"}));
  EXPECT_EQ(ask<double>(near().system, find("reader"), some_gauge()), 0.75);
}

TEST_F(trusted_families, are_not_sent_to_an_end_that_does_not_trust) {
  publish_reader();
  connect(trusting({"typed", "cereal"}));
  EXPECT_EQ(link_->serializers(), std::vector<std::string>{"typed"});
  const auto text = text_of(ask<double>(near().system, find("reader"), some_gauge()));
  EXPECT_NE(text.find("near sends with [typed, cereal], far accepts [typed, msgpack]"), std::string::npos) << text;
  EXPECT_EQ(ask<int>(near().system, find("reader"), 3), 3); // The link stays open.
}

TEST_F(trusted_families, alone_do_not_link_to_an_end_that_does_not_trust) {
  far();
  const auto connected = near().home->connect(address_, trusting({"cereal"}));
  ASSERT_FALSE(connected);
  EXPECT_EQ(connected.error().code(), node_errc::nothing_in_common);
  EXPECT_NE(connected.error().message().find("near sends with [cereal], far accepts [typed, msgpack]"),
            std::string::npos)
      << connected.error().message();
}

TEST_F(trusted_families, alone_are_enough_for_answers_errors_and_handles) {
  far_options_.accepted_links = trusting({"cereal"});
  publish_reader();
  connect(trusting({"cereal"}));
  auto reader = find("reader");
  EXPECT_EQ(ask<double>(near().system, reader, some_gauge()), 0.75);
  EXPECT_EQ(ask<int>(near().system, reader, 3), 3);
  const auto text = text_of(ask<int>(near().system, reader, true));
  EXPECT_NE(text.find("a reason"), std::string::npos) << text;

  auto load = near().home->put(array<double>(std::vector<double>(100'000, 1.5)));
  ASSERT_TRUE(load) << load.error().message();
  caf::scoped_actor self{near().system};
  const parcel sent{caf::actor_cast<caf::actor>(self), *load, array<double>(std::vector<double>(50'000, 2.5))};
  EXPECT_EQ(ask<int>(near().system, reader, sent), 50'000);
  self->receive([](std::size_t count) { EXPECT_EQ(count, 100'000u); },
                caf::after(10s) >> [] { FAIL() << "the handle did not lead back"; });
  EXPECT_EQ(link_->stats().handle_bytes_sent, 1'200'000u);
}

} // namespace
} // namespace troupe::tests
