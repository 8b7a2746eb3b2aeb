// A message that waits for an object's bytes keeps its place among its sender's messages and in the mailbox.
#include "resolving_actors.hpp"

namespace troupe::tests {
namespace {

using resolving_order = resolving_test;

TEST_F(resolving_order, messages_of_one_sender_keep_their_order_and_others_go_on) {
  auto actor = spawn(noting, notes_);
  auto far = far_reading("roof");
  caf::scoped_actor self{home_.system};
  self->send(actor, far.ref);
  self->send(actor, note_atom::value, "behind it");
  self->send(actor, reading{"behind it, too", 0, {}});
  ASSERT_TRUE(far.source->is_fetched());
  EXPECT_EQ(ask<bool>(actor, note_atom::value, "another's"), true);
  far.source->arrive();
  EXPECT_TRUE(notes_->become({"another's", "roof", "behind it", "behind it, too"}));
}

TEST_F(resolving_order, what_comes_first_does_not_overtake) {
  auto actor = spawn(noting, notes_);
  auto one = far_reading("one");
  auto two = far_reading("two");
  caf::scoped_actor self{home_.system};
  self->send(actor, one.ref);
  self->send(actor, two.ref);
  ASSERT_TRUE(two.source->is_fetched()); // Fetched ahead of its turn.
  two.source->arrive();
  EXPECT_EQ(ask<bool>(actor, note_atom::value, "another's"), true);
  one.source->arrive();
  EXPECT_TRUE(notes_->become({"another's", "one", "two"}));
  EXPECT_EQ(two.source->fetches(), 1);
}

TEST_F(resolving_order, only_so_many_are_fetched_ahead_and_all_are_handled_in_order) {
  auto actor = spawn(noting, notes_);
  std::vector<far_object<reading>> all;
  std::vector<std::string> names;
  caf::scoped_actor self{home_.system};
  for (int i = 0; i < 40; ++i) {
    names.push_back(std::to_string(i));
    all.push_back(far_reading(names.back()));
    self->send(actor, all.back().ref);
  }
  EXPECT_EQ(ask<bool>(actor, note_atom::value, "all have been met"), true);
  EXPECT_EQ(all[15].source->fetches(), 1);
  EXPECT_EQ(all[16].source->fetches(), 0);
  for (auto one = all.rbegin(); one != all.rend(); ++one)
    one->source->arrive();
  names.insert(names.begin(), "all have been met");
  EXPECT_TRUE(notes_->become(names));
}

TEST_F(resolving_order, a_failure_lets_those_behind_go_on) {
  auto actor = spawn(noting, notes_);
  auto far = far_reading("roof");
  caf::scoped_actor self{home_.system};
  auto lost = self->request(actor, caf::infinite, far.ref);
  auto next = self->request(actor, caf::infinite, note_atom::value, "next");
  ASSERT_TRUE(far.source->is_fetched());
  far.source->fail({node_errc::object_lost, "gone"});
  std::string reason;
  lost.receive([](double) {}, [&](caf::error& error) { reason = troupe::text_of(error); });
  EXPECT_EQ(reason, "gone");
  bool handled = false;
  next.receive([&](bool value) { handled = value; }, [](const caf::error&) {});
  EXPECT_TRUE(handled);
}

TEST_F(resolving_order, the_actors_end_answers_what_waits_and_cancels_its_fetches) {
  auto actor = spawn(noting, notes_);
  auto far = far_reading("roof");
  caf::scoped_actor self{home_.system};
  auto first = self->request(actor, caf::infinite, far.ref);
  auto behind = self->request(actor, caf::infinite, note_atom::value, "behind");
  ASSERT_TRUE(far.source->is_fetched());
  self->send_exit(actor, caf::exit_reason::kill);
  int errors = 0;
  auto counted = [&](const caf::error&) { ++errors; };
  first.receive([](double) {}, counted);
  behind.receive([](bool) {}, counted);
  EXPECT_EQ(errors, 2);
  EXPECT_TRUE(far.source->is_left_alone());
  EXPECT_EQ(far.source->cancelled(), 1);
  EXPECT_TRUE(notes_->all().empty());
}

/// Keeps a copy of its behavior for as long as a handle to the actor exists.
class keeper : public caf::event_based_actor {
public:
  explicit keeper(caf::actor_config& config) : caf::event_based_actor(config) {}

private:
  caf::behavior make_behavior() override { return kept_; }

  caf::behavior kept_ = troupe::resolving{this, [](const reading&) {}};
};

TEST_F(resolving_order, the_actors_end_cancels_the_fetches_of_a_behavior_that_is_kept) {
  auto actor = keep(home_.system.spawn<keeper>());
  auto far = far_reading("roof");
  caf::anon_send(actor, far.ref);
  ASSERT_TRUE(far.source->is_fetched());
  caf::anon_send_exit(actor, caf::exit_reason::user_shutdown);
  EXPECT_TRUE(far.source->is_left_alone());
  EXPECT_EQ(far.source->cancelled(), 1);
}

/// Skips readings until it receives turn_atom.
caf::behavior skipping(caf::event_based_actor* self, std::shared_ptr<notes> to) {
  auto has_turned = std::make_shared<bool>(false);
  return troupe::resolving{self,
                           [=](const reading& value) -> caf::optional<caf::skip_t> {
                             if (!*has_turned)
                               return caf::skip();
                             to->add(value.sensor);
                             return caf::none;
                           },
                           [=](note_atom, const std::string& text) {
                             to->add(text);
                             return true;
                           },
                           [=](turn_atom) { *has_turned = true; }};
}

TEST_F(resolving_order, what_its_handler_skips_waits_without_holding_up_its_sender) {
  auto actor = spawn(skipping, notes_);
  auto far = far_reading("roof");
  caf::scoped_actor self{home_.system};
  self->send(actor, far.ref);
  self->send(actor, note_atom::value, "behind");
  ASSERT_TRUE(far.source->is_fetched());
  far.source->arrive();
  EXPECT_TRUE(notes_->become({"behind"}));
  self->send(actor, turn_atom::value);
  EXPECT_TRUE(notes_->become({"behind", "roof"}));
  EXPECT_EQ(far.source->fetches(), 1);
}

TEST_F(resolving_order, what_waits_is_handled_by_whatever_the_actor_has_become) {
  auto actor = spawn([this](caf::event_based_actor* self) -> caf::behavior {
    auto to = notes_;
    return troupe::resolving{
        self, [=](const reading& value) { to->add("before " + value.sensor); },
        [=](turn_atom) {
          self->become(troupe::resolving{self, [=](const reading& value) { to->add("after " + value.sensor); }});
        }};
  });
  auto far = far_reading("roof");
  caf::scoped_actor self{home_.system};
  self->send(actor, far.ref);
  ASSERT_TRUE(far.source->is_fetched());
  caf::anon_send(actor, turn_atom::value);
  ASSERT_TRUE(far.source->is_fetched(2)); // Fetched again for the new behavior.
  far.source->arrive();
  EXPECT_TRUE(notes_->become({"after roof"}));
}

TEST_F(resolving_order, what_another_behavior_takes_is_forgotten) {
  auto actor = spawn([this](caf::event_based_actor* self) -> caf::behavior {
    auto to = notes_;
    return troupe::resolving{self, [=](const reading& value) { to->add(value.sensor); },
                             [=](note_atom, const std::string& text) { to->add(text); },
                             [=](turn_atom) {
                               self->become(caf::keep_behavior, [=](const object_ref<reading>&) {
                                 to->add("a reference");
                                 self->unbecome();
                               });
                             }};
  });
  auto far = far_reading("roof");
  caf::scoped_actor self{home_.system};
  self->send(actor, far.ref);
  ASSERT_TRUE(far.source->is_fetched());
  caf::anon_send(actor, turn_atom::value);
  self->send(actor, note_atom::value, "next"); // Does not wait for the dropped message, although that fetch still runs.
  EXPECT_TRUE(notes_->become({"a reference", "next"}));
  EXPECT_TRUE(far.source->is_left_alone());
  auto two = far_reading("two");
  self->send(actor, two.ref);
  two.source->arrive();
  EXPECT_TRUE(notes_->become({"a reference", "next", "two"}));
}

TEST_F(resolving_order, a_timeout_comes_while_a_message_waits) {
  auto actor = spawn([this](caf::event_based_actor* self) -> caf::behavior {
    auto to = notes_;
    return troupe::resolving{self, [=](const reading& value) { to->add(value.sensor); },
                             caf::after(20ms) >>
                                 [=] {
                                   if (to->all().empty())
                                     to->add("timeout");
                                 }};
  });
  auto far = far_reading("roof");
  caf::anon_send(actor, far.ref);
  EXPECT_TRUE(notes_->become({"timeout"}));
  far.source->arrive();
  EXPECT_TRUE(notes_->become({"timeout", "roof"}));
}

TEST_F(resolving_order, what_comes_while_the_actor_awaits_an_answer_is_handled_afterwards) {
  auto far = far_reading("roof");
  auto other = far_reading("other");
  auto actor = spawn([&](caf::event_based_actor* self) -> caf::behavior {
    auto to = notes_;
    return troupe::resolving{
        self, [=](const reading& value) { to->add(value.sensor); },
        [=, this, &other](turn_atom) {
          home_.home->fetch(self, other.ref).await([=](const reading& value) { to->add(value.sensor); });
        }};
  });
  caf::scoped_actor self{home_.system};
  self->send(actor, far.ref);
  ASSERT_TRUE(far.source->is_fetched());
  caf::anon_send(actor, turn_atom::value);
  ASSERT_TRUE(other.source->is_fetched());
  far.source->arrive();
  other.source->arrive();
  EXPECT_TRUE(notes_->become({"other", "roof"}));
}

TEST_F(resolving_order, thousands_of_messages_may_wait) {
  auto actor = spawn(noting, notes_);
  auto far = far_reading("roof");
  caf::scoped_actor self{home_.system};
  self->send(actor, far.ref);
  std::vector<std::string> expected{"roof"};
  for (int i = 0; i < 5000; ++i) {
    expected.push_back(std::to_string(i));
    self->send(actor, note_atom::value, expected.back());
  }
  ASSERT_TRUE(far.source->is_fetched());
  far.source->arrive();
  EXPECT_TRUE(notes_->become(expected));
}

TEST_F(resolving_order, many_senders_wait_each_for_their_own) {
  auto actor = spawn(noting, notes_);
  std::vector<far_object<reading>> all;
  for (int i = 0; i < 100; ++i) {
    all.push_back(far_reading(std::to_string(i)));
    spawn([=, ref = all.back().ref](caf::event_based_actor* self) {
      self->send(actor, ref);
      self->send(actor, note_atom::value, "behind " + std::to_string(i));
    });
  }
  for (const auto& one : all)
    ASSERT_TRUE(one.source->is_fetched());
  std::vector<std::string> expected;
  for (int i = 99; i >= 0; --i) {
    all[static_cast<std::size_t>(i)].source->arrive();
    expected.push_back(std::to_string(i));
    expected.push_back("behind " + expected.back());
    ASSERT_TRUE(notes_->become(expected));
  }
}

} // namespace
} // namespace troupe::tests
