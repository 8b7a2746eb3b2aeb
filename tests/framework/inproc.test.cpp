// Links within one process: some values are handed over without encoding, and others are not. Both kinds are bounded.
#include "two_nodes.hpp"

#include <numeric>

namespace troupe::tests {

/// No family carries this type.
struct sealed {
  int value = 0;
};

} // namespace troupe::tests

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::tests::sealed)

namespace troupe::tests {
namespace {

/// Registered at the sender only.
struct parcel {
  std::string label;
  std::vector<double> content;
};
TROUPE_DESCRIBE(parcel, label, content)

class inproc : public two_nodes {
protected:
  inproc() {
    far_options_.listen = {"inproc://" + unique_name("troupe-inproc")};
    near_types_ = [](type_registry& types) { types.add<parcel>("test.parcel"); };
  }

  /// Publishes an actor that answers with the address of the values it received.
  caf::actor storekeeper() {
    publish("storekeeper", far().system.spawn([](caf::event_based_actor*) -> caf::behavior {
      return {[](const parcel& got) { return reinterpret_cast<std::uint64_t>(got.content.data()); },
              [](std::uint64_t number) { return number + 1; }};
    }));
    if (!link_)
      connect();
    return find("storekeeper");
  }
};

TEST_F(inproc, values_are_handed_over_as_they_are) {
  auto keeper = storekeeper();
  parcel sent{.label = "fragile", .content = std::vector<double>(1'000'000, 0.5)};
  auto address = reinterpret_cast<std::uint64_t>(sent.content.data());
  EXPECT_EQ(ask<std::uint64_t>(near().system, keeper, std::move(sent)), address);
  EXPECT_LT(link_->stats().socket_bytes_sent, 10'000u);
}

TEST_F(inproc, actors_in_messages_are_the_links_own) {
  // The far end has to answer through the link, and receives the same handle that it sent.
  publish("host", far().system.spawn([](caf::event_based_actor* self) -> caf::behavior {
    return {[self](const guest_list& list) {
      for (const auto& guest : list.guests)
        self->send(guest, list.host);
      return list;
    }};
  }));
  connect();
  auto heard = std::make_shared<std::promise<bool>>();
  auto guest = near().system.spawn([heard](caf::event_based_actor* self) -> caf::behavior {
    return {[self, heard](const std::string&) {
      auto from = self->current_sender();
      heard->set_value(from && from->node() != self->node() && from->home_system == &self->system());
    }};
  });
  auto back = ask<guest_list>(near().system, find("host"), guest_list{.host = "me", .guests = {guest}});
  ASSERT_TRUE(back) << text_of(back);
  EXPECT_EQ(back->guests, std::vector<caf::actor>{guest});
  auto is_proxy = heard->get_future();
  ASSERT_EQ(is_proxy.wait_for(10s), std::future_status::ready);
  EXPECT_TRUE(is_proxy.get());
}

TEST_F(inproc, encoded_and_handed_over_messages_keep_their_order) {
  auto next = std::make_shared<int>(0);
  auto done = std::make_shared<std::promise<bool>>();
  auto note = [next, done](int value) {
    if (value != (*next)++ || *next == 2'000)
      done->set_value(value == 1'999);
  };
  publish("collector", far().system.spawn([note](caf::event_based_actor*) -> caf::behavior {
    return {[note](int value) { note(value); }, [note](const guest_list& list) { note(std::stoi(list.host)); }};
  }));
  connect();
  auto remote = find("collector");
  caf::scoped_actor self{near().system};
  for (int i = 0; i < 2'000; ++i) {
    if (i % 3 == 0)
      self->send(remote, guest_list{.host = std::to_string(i), .guests = {caf::actor{self}}});
    else
      self->send(remote, i);
  }
  auto in_order = done->get_future();
  ASSERT_EQ(in_order.wait_for(10s), std::future_status::ready);
  EXPECT_TRUE(in_order.get());
}

TEST_F(inproc, large_values_fill_the_window_too) {
  link_options small;
  small.window_bytes = small.actor_window_bytes = 1'000'000;
  small.queue_bytes = small.actor_queue_bytes = 500'000;
  small.block_timeout = 0ms;
  far_options_.accepted_links = small;
  auto gate = std::make_shared<std::promise<void>>();
  auto consumed = std::make_shared<std::atomic<int>>(0);
  publish("stuck",
          far().system.spawn([opens = gate->get_future().share(), consumed](caf::event_based_actor*) -> caf::behavior {
            return {[=](const parcel&) {
              opens.wait_for(10s);
              consumed->fetch_add(1);
            }};
          }));
  connect(small);
  auto stuck = find("stuck");
  int taken = -1;
  for (; link_->stats().refused_at_bound == 0 && taken < 1'000; ++taken)
    caf::anon_send(stuck, parcel{.label = "large", .content = std::vector<double>(12'500)}); // 100 kB
  EXPECT_GE(taken, 12);
  EXPECT_LE(taken, 18);
  gate->set_value();
  EXPECT_TRUE(eventually([&] { return *consumed == taken; })) << *consumed << " of " << taken;
  EXPECT_TRUE(eventually([&] { return link_->stats().unconsumed_bytes_there < 1'000'000; }));
}

TEST_F(inproc, what_is_passed_on_still_counts) {
  link_options small;
  small.window_bytes = small.actor_window_bytes = 1'000'000;
  small.queue_bytes = small.actor_queue_bytes = 500'000;
  small.block_timeout = 0ms;
  far_options_.accepted_links = small;
  auto gate = std::make_shared<std::promise<void>>();
  auto worker =
      far().system.spawn<caf::detached>([opens = gate->get_future().share()](caf::event_based_actor*) -> caf::behavior {
        return {[opens](const parcel&) { opens.wait_for(20s); }};
      });
  auto routed = std::make_shared<std::atomic<int>>(0);
  publish("router", far().system.spawn([worker, routed](caf::event_based_actor* self) -> caf::behavior {
    return {[self, worker, routed](const parcel&) {
      self->send(worker, self->current_mailbox_element()->copy_content_to_message());
      routed->fetch_add(1);
    }};
  }));
  connect(small);
  auto router = find("router");
  int taken = 0;
  for (; link_->stats().refused_at_bound == 0 && taken < 100; ++taken) {
    caf::anon_send(router, parcel{.label = "large", .content = std::vector<double>(12'500)}); // 100 kB
    (void)eventually([&] { return *routed > taken || *routed >= 10; }); // The last one never arrives.
  }
  EXPECT_LE(taken, 30);
  gate->set_value();
}

TEST_F(inproc, a_handler_may_change_what_it_got_without_the_sender_seeing) {
  publish("changer", far().system.spawn([](caf::event_based_actor*) -> caf::behavior {
    return {[](parcel& got) {
      got.content[0] = 7;
      return got.content[0];
    }};
  }));
  connect();
  auto message = caf::make_message(parcel{.label = "shared", .content = {1}});
  caf::scoped_actor self{near().system};
  self->request(find("changer"), 10s, message)
      .receive([](double first) { EXPECT_EQ(first, 7); },
               [](const caf::error& error) { ADD_FAILURE() << troupe::text_of(error); });
  EXPECT_EQ(message.get_as<parcel>(0).content[0], 1);
}

TEST_F(inproc, the_links_end_fails_what_is_asked_and_frees_what_is_under_way) {
  auto silent = publish("silent", far().system.spawn([](caf::event_based_actor* self) -> caf::behavior {
    auto promises = std::make_shared<std::vector<caf::typed_response_promise<int>>>();
    return {[self, promises](const parcel&) { return promises->emplace_back(self->make_response_promise<int>()); }};
  }));
  connect();
  auto remote = find("silent");
  caf::scoped_actor self{near().system};
  auto asked = self->request(remote, 10s, parcel{});
  link_->close();
  asked.receive([](int) { ADD_FAILURE() << "an answer"; },
                [](const caf::error& error) {
                  EXPECT_EQ(error.code(), static_cast<std::uint8_t>(node_errc::link_down)) << troupe::text_of(error);
                });
  caf::anon_send_exit(silent, caf::exit_reason::user_shutdown); // Breaks the cycle: its promises refer to it.
}

/// If either end asks for verification, the link verifies.
class verifying_inproc : public inproc, public testing::WithParamInterface<bool> {
protected:
  link_options verifying(link_options options = {}) {
    far_options_.accepted_links.verify_serialization = GetParam();
    options.verify_serialization = !GetParam();
    return options;
  }
};

TEST_P(verifying_inproc, values_are_encoded) {
  far_types_ = near_types_;
  connect(verifying());
  auto keeper = storekeeper();
  ASSERT_TRUE(ask<std::uint64_t>(near().system, keeper, parcel{"fragile", std::vector<double>(100'000, 0.5)}));
  EXPECT_GT(link_->stats().socket_bytes_sent + link_->stats().handle_bytes_sent, 800'000u);
}

TEST_P(verifying_inproc, what_the_peer_does_not_know_is_refused_as_on_a_socket) {
  connect(verifying());
  auto answer = ask<std::uint64_t>(near().system, storekeeper(), parcel{.label = "fragile", .content = {}});
  ASSERT_FALSE(answer);
  EXPECT_EQ(text_of(answer),
            "far has no type \"test.parcel\" in its registry; add it there with types.add<T>(\"test.parcel\")");
}

TEST_P(verifying_inproc, what_no_family_carries_is_refused_as_on_a_socket) {
  near_types_ = [](type_registry& types) { types.add<sealed>("test.sealed"); };
  connect(verifying());
  auto answer = ask<std::uint64_t>(near().system, storekeeper(), sealed{5});
  ASSERT_FALSE(answer);
  EXPECT_NE(text_of(answer).find("near sends with [typed, msgpack], far accepts [typed, msgpack]"), std::string::npos)
      << text_of(answer);
}

INSTANTIATE_TEST_SUITE_P(wished_by, verifying_inproc, testing::Bool(),
                         [](const auto& each) { return each.param ? "the_listener" : "the_dialer"; });

TEST_F(inproc, a_name_belongs_to_one_node_while_it_lives) {
  far();
  type_registry types;
  family_set families;
  system_config config;
  caf::actor_system system{config};
  auto open = [&] {
    return node::open(system, types, families,
                      {.name = "second", .listen = far_options_.listen, .store = std::nullopt});
  };
  auto second = open();
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code(), node_errc::cannot_connect);
  EXPECT_NE(second.error().message().find("the name is already in use in this process"), std::string::npos)
      << second.error().message();
  far_.reset();
  EXPECT_TRUE(open());
}

TEST_F(inproc, nobody_under_a_name_is_said_at_once) {
  auto connected = near().home->connect("inproc://nobody-at-all");
  ASSERT_FALSE(connected);
  EXPECT_EQ(connected.error().code(), node_errc::cannot_connect);
  EXPECT_EQ(connected.error().message(),
            "cannot connect to inproc://nobody-at-all: no node in this process listens there");
}

} // namespace
} // namespace troupe::tests
