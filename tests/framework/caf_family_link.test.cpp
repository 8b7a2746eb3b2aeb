// Sends types that have a CAF inspect function between two nodes, with the family "caf".
#include <troupe/framework/caf_family/caf_type.hpp>

#include "two_nodes.hpp"

namespace troupe::tests {
namespace {

/// Has an inspect function and no description, so no other family carries it.
struct gauge {
  std::string name;
  std::map<std::string, double> values;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, gauge& x) {
  return f(x.name, x.values);
}

/// Contains handles; CAF's own serializer would need its own network for them.
struct parcel {
  caf::actor from;
  caf::weak_actor_ptr carrier;
  object_ref<array<double>> load;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, parcel& x) {
  return f(x.from, x.carrier, x.load);
}

class caf_family_link : public two_nodes {
protected:
  caf_family_link() {
    more_families_ = [](family_set& families) { families.add(std::make_unique<caf_family>()); };
    far_types_ = near_types_ = [](type_registry& types) {
      add_caf<gauge>(types, "test.gauge");
      add_caf<parcel>(types, "test.parcel");
    };
  }

  void publish_reader() {
    publish("reader", far().system.spawn([](caf::event_based_actor* self) -> caf::behavior {
      return {
          [](const gauge& of) { return of.values.at("level"); },
          [](int value) { return value; },
          [](bool) -> caf::result<int> { return caf::make_error(caf::sec::bad_function_call, "a reason"); },
          [](caf::atom_value what, const std::vector<std::string>& of) { return caf::to_string(what) + of.at(0); },
          [self](const parcel& what) {
            const auto load = what.load.get();
            self->send(what.from, load ? load->size() : std::size_t{0});
            return what.carrier.lock() == caf::actor_cast<caf::strong_actor_ptr>(what.from);
          },
      };
    }));
  }

  static gauge some_gauge() { return {"tank", {{"level", 0.75}}}; }

  static link_options trusting(std::vector<std::string> families) {
    return {.serializers = std::move(families), .trusted_families = true};
  }
};

TEST_F(caf_family_link, is_refused_at_connect_without_trust) {
  far();
  const auto connected = near().home->connect(address_, {.serializers = {"typed", "caf"}});
  ASSERT_FALSE(connected);
  EXPECT_NE(connected.error().message().find("family caf trusts its input"), std::string::npos)
      << connected.error().message();
}

TEST_F(caf_family_link, carries_what_no_other_family_can_where_both_ends_trust) {
  far_options_.accepted_links = trusting({"typed", "caf"});
  publish_reader();
  connect(trusting({"typed", "caf"}));
  EXPECT_EQ(ask<double>(near().system, find("reader"), some_gauge()), 0.75);
}

TEST_F(caf_family_link, is_not_sent_to_an_end_that_does_not_trust) {
  publish_reader();
  connect(trusting({"typed", "caf"}));
  const auto text = text_of(ask<double>(near().system, find("reader"), some_gauge()));
  EXPECT_NE(text.find("near sends with [typed, caf], far accepts [typed, msgpack]"), std::string::npos) << text;
  EXPECT_EQ(ask<int>(near().system, find("reader"), 3), 3); // The link stays open.
}

TEST_F(caf_family_link, alone_is_enough_for_answers_errors_and_handles) {
  far_options_.accepted_links = trusting({"caf"});
  publish_reader();
  connect(trusting({"caf"}));
  auto reader = find("reader");
  EXPECT_EQ(ask<double>(near().system, reader, some_gauge()), 0.75);
  EXPECT_EQ(ask<int>(near().system, reader, 3), 3);
  EXPECT_EQ(ask<std::string>(near().system, reader, caf::atom("what"), std::vector<std::string>{"ever"}), "whatever");
  const auto text = text_of(ask<int>(near().system, reader, true));
  EXPECT_NE(text.find("a reason"), std::string::npos) << text;

  auto load = near().home->put(array<double>(std::vector<double>(100'000, 1.5)));
  ASSERT_TRUE(load) << load.error().message();
  caf::scoped_actor self{near().system};
  const auto me = caf::actor_cast<caf::actor>(self);
  const parcel sent{me, caf::actor_cast<caf::weak_actor_ptr>(me), *load};
  EXPECT_EQ(ask<bool>(near().system, reader, sent), true);
  self->receive([](std::size_t count) { EXPECT_EQ(count, 100'000u); },
                caf::after(10s) >> [] { FAIL() << "the handle did not lead back"; });
}

} // namespace
} // namespace troupe::tests
