// Protobuf messages between two nodes: alone, with the family "protobuf", and inside described values.
#include <troupe/serializers/protobuf/protobuf_type.hpp>

#include "orders.pb.h"
#include "two_nodes.hpp"

namespace troupe::tests {
namespace {

struct table {
  int number = 0;
  orders::order wanted;
  caf::actor guest; // A protobuf message cannot contain it.
};
TROUPE_DESCRIBE(table, number, wanted, guest)

} // namespace
} // namespace troupe::tests

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::tests::orders::order)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::tests::orders::bill)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::tests::table)

namespace troupe::tests {
namespace {

class protobuf_link : public two_nodes {
protected:
  protobuf_link() {
    more_families_ = [](family_set& families) { families.add(std::make_unique<protobuf_family>()); };
    far_types_ = near_types_ = [](type_registry& types) {
      add_protobuf<orders::order>(types, "test.order");
      add_protobuf<orders::bill>(types, "test.bill");
      types.add<table>("test.table");
    };
  }

  void publish_cook() {
    publish("cook", far().system.spawn([](caf::event_based_actor* self) -> caf::behavior {
      return {
          [](const orders::order& wanted) {
            orders::bill answer;
            answer.set_total(12.5 * wanted.dishes_size());
            return answer;
          },
          [self](const table& of) {
            self->send(of.guest, of.wanted);
            return of.number;
          },
          [](int number) { return number; },
      };
    }));
  }

  static orders::order some_order() {
    orders::order made;
    made.set_number(7);
    made.add_dishes("soup");
    made.add_dishes("fish");
    return made;
  }
};

TEST_F(protobuf_link, carries_messages_and_their_answers) {
  far_options_.accepted_links = {.serializers = {"protobuf", "typed"}};
  publish_cook();
  connect({.serializers = {"protobuf", "typed"}});
  EXPECT_EQ(link_->serializers(), (std::vector<std::string>{"protobuf", "typed"}));
  const auto answer = ask<orders::bill>(near().system, find("cook"), some_order());
  ASSERT_TRUE(answer) << text_of(answer);
  EXPECT_EQ(answer->total(), 25);
  EXPECT_EQ(ask<int>(near().system, find("cook"), 3), 3); // Uses the next family.
}

TEST_F(protobuf_link, messages_go_by_other_families_where_the_peer_does_not_accept_this_one) {
  publish_cook();
  connect({.serializers = {"protobuf", "typed"}});
  const auto answer = ask<orders::bill>(near().system, find("cook"), some_order());
  ASSERT_TRUE(answer) << text_of(answer);
  EXPECT_EQ(answer->total(), 25);
}

TEST_F(protobuf_link, alone_does_not_link_to_an_end_that_does_not_accept_it) {
  far();
  const auto connected = near().home->connect(address_, {.serializers = {"protobuf"}});
  ASSERT_FALSE(connected);
  EXPECT_EQ(connected.error().code(), node_errc::nothing_in_common);
}

TEST_F(protobuf_link, described_values_with_messages_in_them_cross) {
  publish_cook();
  connect();
  caf::scoped_actor self{near().system};
  const table sent{4, some_order(), caf::actor_cast<caf::actor>(self)};
  EXPECT_EQ(ask<int>(near().system, find("cook"), sent), 4);
  self->receive([](const orders::order& arrived) { EXPECT_EQ(arrived.dishes(1), "fish"); },
                caf::after(10s) >> [] { FAIL() << "the order did not come back"; });
}

TEST_F(protobuf_link, messages_pass_as_they_are_within_a_process) {
  far_options_.listen = {address_ = "inproc://" + unique_name("troupe-test")};
  publish_cook();
  connect();
  const auto answer = ask<orders::bill>(near().system, find("cook"), some_order());
  ASSERT_TRUE(answer) << text_of(answer);
  EXPECT_EQ(answer->total(), 25);
}

} // namespace
} // namespace troupe::tests
