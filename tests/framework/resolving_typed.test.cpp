// Interfaces with arg<T> take values and references, within a node and over a link.
#include "resolving_actors.hpp"

namespace troupe::tests {
namespace {

using mixer = caf::typed_actor<caf::replies_to<stir_atom, arg<reading>>::with<double>,
                               caf::replies_to<note_atom, std::string>::with<bool>, caf::reacts_to<arg<doubles>>>;

mixer::behavior_type mixing(mixer::pointer self, std::shared_ptr<notes> to) {
  return troupe::resolving{self, [](stir_atom, const reading& value) { return value.celsius; },
                           [to](note_atom, const std::string& text) {
                             to->add(text);
                             return true;
                           },
                           [to](const doubles& values) { to->add(std::to_string(values.size())); }};
}

class resolving_typed : public resolving_test {
protected:
  mixer spawn_mixer() {
    auto actor = home_.system.spawn(mixing, notes_);
    keep(caf::actor_cast<caf::actor>(actor));
    return actor;
  }

  /// Sends a typed request and returns its result.
  std::expected<double, caf::error> stir(caf::actor_system& system, const mixer& whom, const arg<reading>& with) {
    caf::scoped_actor self{system};
    std::expected<double, caf::error> result = 0.0;
    self->request(whom, 10s, stir_atom::value, with)
        .receive([&](double value) { result = value; },
                 [&](caf::error& error) { result = std::unexpected{std::move(error)}; });
    return result;
  }
};

TEST_F(resolving_typed, an_argument_is_a_value_or_a_reference) {
  auto actor = spawn_mixer();
  EXPECT_EQ(stir(home_.system, actor, reading{"roof", 21, {}}), 21.0);
  EXPECT_EQ(stir(home_.system, actor, put(reading{"roof", 22, {}})), 22.0);
  auto far = far_reading("roof");
  far.source->fail({node_errc::object_lost, "gone"});
  EXPECT_EQ(text_of(stir(home_.system, actor, far.ref)), "gone");
}

TEST_F(resolving_typed, messages_of_one_sender_keep_their_order) {
  auto actor = spawn_mixer();
  auto far = far_object(put(doubles(std::vector{1.0, 2.0})));
  caf::scoped_actor self{home_.system};
  self->send(actor, arg<doubles>{far.ref});
  self->send(actor, note_atom::value, std::string("behind"));
  ASSERT_TRUE(far.source->is_fetched());
  far.source->arrive();
  EXPECT_TRUE(notes_->become({"2", "behind"}));
}

TEST_F(resolving_typed, whoever_knows_no_interface_may_send_the_value_itself) {
  auto actor = caf::actor_cast<caf::actor>(spawn_mixer());
  EXPECT_EQ(ask<double>(actor, stir_atom::value, reading{"roof", 21, {}}), 21.0);
  EXPECT_EQ(ask<double>(actor, stir_atom::value, put(reading{"roof", 22, {}})), 22.0);
  EXPECT_EQ(ask<double>(actor, stir_atom::value, arg{reading{"roof", 23, {}}}), 23.0);
}

TEST_F(resolving_typed, an_argument_can_be_had_without_a_resolving_behavior) {
  auto ref = put(reading{"roof", 21, {}});
  EXPECT_EQ(arg{ref}.get()->celsius, 21.0);
  EXPECT_EQ(arg(reading{"roof", 22, {}}).get()->celsius, 22.0);
  EXPECT_EQ(arg<reading>().get().error().code(), node_errc::object_lost);
}

/// Runs with each family that both nodes have.
class resolving_over_a_link : public two_nodes, public testing::WithParamInterface<std::string> {
protected:
  void SetUp() override {
    near_types_ = far_types_ = [](type_registry& types) {
      types.add<arg<reading>>("test.arg_reading");
      types.add<arg<doubles>>("test.arg_doubles");
    };
    const std::vector<std::string> names{GetParam(), "typed"}; // Objects use their node's family.
    far_options_.accepted_links = {.serializers = names, .deserializers = names, .trusted_families = true};
    connect({.serializers = names, .deserializers = names, .trusted_families = true});
  }

  template <class T>
  object_ref<T> put(const T& value) {
    return *near().home->put(value);
  }

  std::shared_ptr<notes> notes_ = std::make_shared<notes>();
};

TEST_P(resolving_over_a_link, references_and_values_reach_the_same_handler) {
  publish("noting", far().system.spawn(noting, notes_));
  auto actor = find("noting");
  reading value{"roof", 21, {}};
  EXPECT_EQ(ask<double>(near().system, actor, value), 21.0);
  EXPECT_EQ(ask<double>(near().system, actor, put(value)), 21.0);
  EXPECT_EQ(ask<double>(near().system, actor, stir_atom::value, put(doubles(std::vector(100'000, 7.0)))), 7.0);
}

TEST_P(resolving_over_a_link, an_argument_travels_as_what_it_holds) {
  auto actor = far().system.spawn(mixing, notes_);
  ASSERT_TRUE(far().home->publish("mixer", actor));
  auto found = link_->find<mixer>("mixer");
  ASSERT_TRUE(found) << found.error().message();
  caf::scoped_actor self{near().system};
  std::vector<double> answers;
  for (const auto& with : {arg{reading{"roof", 21, {}}}, arg{put(reading{"roof", 22, {}})}})
    self->request(*found, 10s, stir_atom::value, with)
        .receive([&](double value) { answers.push_back(value); },
                 [](const caf::error& error) { ADD_FAILURE() << troupe::text_of(error); });
  EXPECT_EQ(answers, (std::vector{21.0, 22.0}));
  self->send(*found, arg<doubles>{put(doubles(std::vector{1.0, 2.0}))});
  self->send(*found, arg<doubles>{doubles(std::vector{1.0})});
  EXPECT_TRUE(notes_->become({"2", "1"}));
  caf::anon_send_exit(actor, caf::exit_reason::user_shutdown);
}

TEST_P(resolving_over_a_link, what_does_not_decode_is_said_to_whoever_asked) {
  publish("noting", far().system.spawn(noting, notes_));
  auto ref = put(doubles(std::vector{1.0}));
  auto lying = std::make_shared<internal::object_state>(*internal::state_of(ref));
  lying->layout.shape = {5}; // More elements than there are.
  auto answer = ask<double>(near().system, find("noting"), stir_atom::value, internal::ref_to<doubles>(lying));
  ASSERT_FALSE(answer);
  EXPECT_EQ(to_node_error(answer.error()).code(), node_errc::undecodable);
}

INSTANTIATE_TEST_SUITE_P(families, resolving_over_a_link, testing::Values("typed", "msgpack", "cereal"),
                         [](const auto& which) { return which.param; });

} // namespace
} // namespace troupe::tests
