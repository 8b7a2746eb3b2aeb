// If a handler takes a value, it is called for a reference as if the value had been sent.
#include "resolving_actors.hpp"

#include <troupe/framework/log.hpp>

#include "log_lines.hpp"

using refs_of_readings = std::vector<troupe::object_ref<troupe::tests::reading>>;
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(refs_of_readings)

namespace troupe::tests {
namespace {

using resolving_values = resolving_test;

TEST_F(resolving_values, a_value_that_is_sent_is_handled_as_ever) {
  auto actor = spawn(noting, notes_);
  EXPECT_EQ(ask<double>(actor, reading{"roof", 21, {}}), 21.0);
  EXPECT_EQ(ask<double>(actor, stir_atom::value, doubles(std::vector{7.0})), 7.0);
}

TEST_F(resolving_values, a_reference_to_what_is_here_is_handled_at_once) {
  auto actor = spawn(noting, notes_);
  EXPECT_EQ(ask<double>(actor, put(reading{"roof", 21, {}})), 21.0);
  EXPECT_EQ(ask<double>(actor, stir_atom::value, put(doubles(std::vector{7.0}))), 7.0);
}

TEST_F(resolving_values, a_reference_to_what_is_elsewhere_is_handled_when_it_has_come) {
  auto actor = spawn(noting, notes_);
  auto far = far_reading("roof");
  caf::scoped_actor self{home_.system};
  auto request = self->request(actor, caf::infinite, far.ref);
  ASSERT_TRUE(far.source->is_fetched());
  EXPECT_EQ(ask<bool>(actor, note_atom::value, "meanwhile"), true);
  far.source->arrive();
  double answer = 0;
  request.receive([&](double value) { answer = value; }, [](const caf::error&) {});
  EXPECT_EQ(answer, 20.0);
  EXPECT_EQ(notes_->all(), (std::vector<std::string>{"meanwhile", "roof"}));
  EXPECT_EQ(far.source->fetches(), 1);
}

TEST_F(resolving_values, a_handler_that_takes_the_reference_gets_it) {
  auto actor = spawn([](caf::event_based_actor* self) -> caf::behavior {
    return troupe::resolving{self, [](const reading&) { return std::string("value"); },
                             [](const object_ref<reading>&) { return std::string("reference"); }};
  });
  auto far = far_reading("roof");
  EXPECT_EQ(ask<std::string>(actor, far.ref), "reference");
  EXPECT_EQ(ask<std::string>(actor, reading{}), "value");
  EXPECT_EQ(far.source->fetches(), 0);
}

TEST_F(resolving_values, references_inside_containers_stay_references) {
  auto actor = spawn([](caf::event_based_actor* self) -> caf::behavior {
    return troupe::resolving{self, [](const refs_of_readings& refs) { return static_cast<int>(refs.size()); }};
  });
  auto far = far_reading("roof");
  EXPECT_EQ(ask<int>(actor, refs_of_readings{far.ref, far.ref}), 2);
  EXPECT_EQ(far.source->fetches(), 0);
}

TEST_F(resolving_values, several_references_in_a_message_are_fetched_at_the_same_time) {
  auto actor = spawn([](caf::event_based_actor* self) -> caf::behavior {
    return troupe::resolving{self, [](const reading& one, int number, const reading& two) {
                               return one.sensor + std::to_string(number) + two.sensor;
                             }};
  });
  auto roof = far_reading("roof");
  auto cellar = far_reading("cellar");
  caf::scoped_actor self{home_.system};
  auto request = self->request(actor, caf::infinite, roof.ref, 3, cellar.ref);
  ASSERT_TRUE(roof.source->is_fetched() && cellar.source->is_fetched());
  cellar.source->arrive();
  roof.source->arrive();
  std::string answer;
  request.receive([&](std::string& text) { answer = text; }, [](const caf::error&) {});
  EXPECT_EQ(answer, "roof3cellar");
  EXPECT_EQ(ask<std::string>(actor, reading{"a", 0, {}}, 1, roof.ref), "a1roof");
}

TEST_F(resolving_values, a_request_whose_object_is_lost_is_answered_with_the_reason) {
  auto actor = spawn(noting, notes_);
  auto far = far_reading("roof");
  caf::scoped_actor self{home_.system};
  auto request = self->request(actor, caf::infinite, far.ref);
  ASSERT_TRUE(far.source->is_fetched());
  far.source->fail({node_errc::object_lost, "its owner is gone"});
  std::optional<node_error> reason;
  request.receive([](double) {}, [&](caf::error& error) { reason = to_node_error(error); });
  ASSERT_TRUE(reason);
  EXPECT_EQ(reason->code(), node_errc::object_lost);
  EXPECT_EQ(reason->message(), "its owner is gone");
  EXPECT_EQ(text_of(ask<double>(actor, object_ref<reading>())), "the object_ref is empty: it refers to no object");
}

TEST_F(resolving_values, a_request_whose_object_does_not_decode_is_answered_with_the_reason) {
  auto actor = spawn(noting, notes_);
  far_object<doubles> far(put(doubles(std::vector{1.0})), frame::copy_of(std::vector<std::byte>(5)));
  far.source->arrive();
  auto answer = ask<double>(actor, stir_atom::value, far.ref);
  ASSERT_FALSE(answer);
  EXPECT_EQ(to_node_error(answer.error()).code(), node_errc::undecodable);
}

TEST_F(resolving_values, a_plain_message_whose_object_is_lost_is_logged_and_dropped) {
  log_lines lines(log_level::warning);
  auto actor = spawn(noting, notes_);
  auto far = far_reading("roof");
  far.source->fail({node_errc::object_lost, "its owner is gone"});
  caf::anon_send(actor, far.ref);
  caf::anon_send(actor, note_atom::value, std::string("next"));
  EXPECT_TRUE(notes_->become({"next"}));
  EXPECT_EQ(lines.with("its owner is gone"), 1u);
}

TEST_F(resolving_values, to_the_handler_all_looks_as_if_the_value_had_been_sent) {
  auto helper = spawn([](caf::event_based_actor*) -> caf::behavior {
    return {[](const reading& value) { return value.celsius + 1; }};
  });
  std::promise<caf::strong_actor_ptr> sender;
  auto actor = spawn([&](caf::event_based_actor* self) -> caf::behavior {
    return troupe::resolving{self,
                             [&, self, helper](const reading& value) {
                               sender.set_value(self->current_sender());
                               return self->delegate(helper, value);
                             },
                             [self](stir_atom, const reading& value) {
                               auto promise = self->make_response_promise<double>();
                               promise.deliver(value.celsius);
                               return promise;
                             }};
  });
  auto far = far_reading("roof");
  caf::scoped_actor self{home_.system};
  auto delegated = self->request<caf::message_priority::high>(actor, caf::infinite, far.ref);
  auto promised = self->request(actor, caf::infinite, stir_atom::value, far.ref);
  ASSERT_TRUE(far.source->is_fetched(2)); // Two priorities, so there is no order between them.
  far.source->arrive();
  double first = 0;
  double second = 0;
  delegated.receive([&](double value) { first = value; }, [](const caf::error&) {});
  promised.receive([&](double value) { second = value; }, [](const caf::error&) {});
  EXPECT_EQ(first, 21.0);
  EXPECT_EQ(second, 20.0);
  EXPECT_EQ(sender.get_future().get(), caf::actor_cast<caf::strong_actor_ptr>(self->address()));
}

TEST_F(resolving_values, a_handler_may_change_what_it_gets_and_nobody_else_sees_it) {
  auto actor = spawn([](caf::event_based_actor* self) -> caf::behavior {
    return troupe::resolving{self, [](std::string& text, reading& value) {
                               text += value.sensor;
                               value.sensor = "changed";
                               return text;
                             }};
  });
  auto far = far_reading("roof");
  far.source->arrive();
  auto shared = caf::make_message(std::string("the "), far.ref);
  caf::scoped_actor self{home_.system};
  for (int i = 0; i < 2; ++i)
    self->send(actor, shared);
  for (int i = 0; i < 2; ++i)
    self->receive([](const std::string& text) { EXPECT_EQ(text, "the roof"); });
  EXPECT_EQ(shared.get_as<std::string>(0), "the ");
}

TEST_F(resolving_values, what_no_handler_takes_goes_to_the_default_handler) {
  auto actor = spawn([](caf::event_based_actor* self) -> caf::behavior {
    self->set_default_handler([](caf::scheduled_actor*, caf::message_view&) -> caf::result<caf::message> {
      return caf::make_message(std::string("default"));
    });
    return troupe::resolving{self, [](const reading&) { return std::string("value"); }};
  });
  EXPECT_EQ(ask<std::string>(actor, put(doubles(std::vector{1.0}))), "default");
  EXPECT_EQ(ask<std::string>(actor, 5), "default");
}

struct counting_state {
  int handled = 0;
};

TEST_F(resolving_values, actors_with_state_and_actors_that_become_something_resolve_too) {
  auto with_state = spawn([](caf::stateful_actor<counting_state>* self) -> caf::behavior {
    return troupe::resolving{self, [self](const reading&) { return ++self->state.handled; }};
  });
  auto becoming = spawn([](caf::event_based_actor* self) -> caf::behavior {
    self->become(troupe::resolving{self, [](const reading&) { return 2; }});
    return troupe::resolving{self, [](const reading&) { return 1; }}.behavior();
  });
  auto ref = put(reading{});
  EXPECT_EQ(ask<int>(with_state, ref), 1);
  EXPECT_EQ(ask<int>(with_state, ref), 2);
  EXPECT_EQ(ask<int>(becoming, ref), 1);
}

TEST_F(resolving_values, a_blocking_actor_waits_for_the_bytes) {
  auto far = far_reading("roof");
  auto actor = keep(home_.system.spawn([](caf::blocking_actor* self) {
    bool goes_on = true;
    self->receive_while(goes_on)(
        troupe::resolving{self, [](const reading& value) { return value.sensor; }},
        caf::others >> [&](caf::message_view&) -> caf::result<caf::message> {
          goes_on = false;
          return caf::message{};
        });
  }));
  caf::scoped_actor self{home_.system};
  auto request = self->request(actor, caf::infinite, far.ref);
  ASSERT_TRUE(far.source->is_fetched());
  far.source->arrive();
  std::string answer;
  request.receive([&](std::string& text) { answer = text; }, [](const caf::error&) {});
  EXPECT_EQ(answer, "roof");

  self->send(self, far.ref);
  self->receive(troupe::resolving{&*self, [&](const reading& value) { answer = "own " + value.sensor; }});
  EXPECT_EQ(answer, "own roof");
}

} // namespace
} // namespace troupe::tests
