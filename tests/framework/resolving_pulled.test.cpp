// Values that really are on another host; two stores stand for two hosts.
#include <troupe/framework/fetching.hpp>

#include "resolving_actors.hpp"

namespace troupe::tests {
namespace {

class pulled_values : public two_nodes {
protected:
  pulled_values() {
    near_options_.store.edit()->name = unique_name("near-host");
    far_options_.store.edit()->name = unique_name("far-host");
    far_options_.handle_grace = near_options_.handle_grace = 200ms;
    connect();
  }

  template <class T>
  object_ref<T> put(const T& value) {
    auto ref = near().home->put(value);
    if (!ref)
      throw std::runtime_error(ref.error().message());
    return *ref;
  }

  /// Sends near's reference to far. Returns far's reference.
  object_ref<doubles> sent_to_far(const object_ref<doubles>& ref) {
    auto arrived = std::make_shared<std::promise<object_ref<doubles>>>();
    publish("keeper", far().system.spawn([=](caf::event_based_actor*) -> caf::behavior {
      return {[=](const object_ref<doubles>& got) { arrived->set_value(got); }};
    }));
    caf::anon_send(find("keeper"), ref);
    auto got = arrived->get_future().get();
    far().home->unpublish("keeper");
    return got;
  }

  /// Puts ten different values at near. Returns far's references to them.
  std::vector<object_ref<doubles>> several_sent_to_far(std::size_t values = 100'000) {
    std::vector<object_ref<doubles>> refs;
    for (int i = 0; i < 10; ++i)
      refs.push_back(sent_to_far(put(doubles(std::vector(values, double(i))))));
    return refs;
  }

  std::shared_ptr<notes> notes_ = std::make_shared<notes>();
};

/// Shares `life` as long as a handle to the actor exists.
class living : public caf::event_based_actor {
public:
  living(caf::actor_config& config, std::shared_ptr<std::atomic<int>> life)
      : caf::event_based_actor(config), life_(std::move(life)) {}

protected:
  const std::shared_ptr<std::atomic<int>> life_;
};

class summing : public living {
public:
  using living::living;

private:
  caf::behavior make_behavior() override {
    return troupe::resolving{this,
                             [this](const doubles& values) {
                               *life_ += static_cast<int>(values[0]);
                               return values[0];
                             },
                             [this](stir_atom) { quit(); }};
  }
};

struct fetches {
  std::atomic<int> begun = 0;
  std::atomic<int> values = 0;
  std::atomic<int> errors = 0;
};

class fetching_once : public living {
public:
  fetching_once(caf::actor_config& config, std::shared_ptr<std::atomic<int>> life, troupe::node& home,
                object_ref<doubles> ref, fetches& all)
      : living(config, std::move(life)), home_(home), ref_(std::move(ref)), all_(all) {}

private:
  caf::behavior make_behavior() override {
    home_.fetch(this, ref_, 10s)
        .then([this](const doubles&) { ++all_.values; }, [this](const caf::error&) { ++all_.errors; });
    ++all_.begun;
    return {[](caf::unit_t) {}};
  }

  troupe::node& home_;
  const object_ref<doubles> ref_;
  fetches& all_;
};

TEST_F(pulled_values, a_handler_is_called_when_the_bytes_have_come_and_in_order) {
  publish("noting", far().system.spawn(noting, notes_));
  auto actor = find("noting");
  std::vector<std::string> expected;
  caf::scoped_actor self{near().system};
  for (int i = 0; i < 20; ++i) {
    expected.push_back("object " + std::to_string(i));
    self->send(actor, put(reading{expected.back(), 1, std::vector(10'000, 1.0)}));
    expected.push_back("text " + std::to_string(i));
    self->send(actor, note_atom::value, expected.back());
  }
  EXPECT_TRUE(notes_->become(expected));
}

TEST_F(pulled_values, requests_of_one_sender_keep_their_order) {
  publish("noting", far().system.spawn(noting, notes_));
  auto actor = find("noting");
  caf::scoped_actor self{near().system};
  auto first = self->request(actor, 10s, put(reading{"object", 5, std::vector(100'000, 1.0)}));
  auto second = self->request(actor, 10s, note_atom::value, std::string("text"));
  double answer = 0;
  bool noted = false;
  first.receive([&](double value) { answer = value; }, [](const caf::error&) {});
  second.receive([&](bool value) { noted = value; }, [](const caf::error&) {});
  EXPECT_EQ(answer, 5.0);
  EXPECT_TRUE(noted);
  EXPECT_EQ(notes_->all(), (std::vector<std::string>{"object", "text"}));
}

TEST_F(pulled_values, get_fetches_over_the_link) {
  auto ref = sent_to_far(put(doubles(std::vector(100'000, 3.0))));
  EXPECT_EQ(ref.get().error().code(), node_errc::fetch_timed_out);
  auto value = ref.get(10s);
  ASSERT_TRUE(value) << value.error().message();
  EXPECT_EQ(value->size(), 100'000u);
  EXPECT_TRUE(ref.get());
}

TEST_F(pulled_values, actors_fetch_over_the_link) {
  auto ref = sent_to_far(put(doubles(std::vector(100'000, 3.0))));
  caf::scoped_actor self{far().system};
  double first = 0;
  far().home->fetch(self, ref, 10s).receive([&](const doubles& value) { first = value[0]; }, [](const caf::error&) {});
  EXPECT_EQ(first, 3.0);
}

TEST_F(pulled_values, wait_fetches_over_the_link) {
  const std::vector refs{sent_to_far(put(doubles(std::vector(100'000, 3.0))))};
  auto got = wait(refs, 1, 10s);
  ASSERT_TRUE(got);
  EXPECT_EQ(got->here, std::vector<std::size_t>{0});
  EXPECT_TRUE(refs[0].get());
}

TEST_F(pulled_values, what_is_lost_with_its_link_is_an_error) {
  auto ref = sent_to_far(put(doubles(std::vector(100'000, 3.0))));
  near_->home.reset();
  auto value = ref.get(30s);
  ASSERT_FALSE(value);
  EXPECT_EQ(value.error().code(), node_errc::object_lost) << value.error().message();
}

TEST_F(pulled_values, an_actor_that_nobody_refers_to_handles_what_it_was_sent_and_ends) {
  auto life = std::make_shared<std::atomic<int>>(0);
  for (const auto& ref : several_sent_to_far())
    caf::anon_send(far().system.spawn<summing>(life), ref);
  EXPECT_TRUE(eventually([&] { return life.use_count() == 1; }));
  EXPECT_EQ(*life, 45);
}

TEST_F(pulled_values, an_actor_that_nobody_refers_to_answers_requests) {
  caf::scoped_actor self{far().system};
  double expected = 0;
  for (const auto& ref : several_sent_to_far()) {
    auto asked = self->request(far().system.spawn<summing>(std::make_shared<std::atomic<int>>(0)), 10s, ref);
    double first = -1;
    asked.receive([&](double value) { first = value; },
                  [](const caf::error& error) { ADD_FAILURE() << to_string(error); });
    EXPECT_EQ(first, expected++);
  }
}

TEST_F(pulled_values, an_actor_that_nobody_refers_to_gets_what_it_fetches_and_ends) {
  auto life = std::make_shared<std::atomic<int>>(0);
  fetches all;
  for (const auto& ref : several_sent_to_far())
    far().system.spawn<fetching_once>(life, *far().home, ref, all);
  EXPECT_TRUE(eventually([&] { return life.use_count() == 1; }));
  EXPECT_EQ(all.values, 10);
  EXPECT_EQ(all.errors, 0);
}

// Goal: if an actor's values can never arrive, nothing keeps the actor alive.
// Method: either node or the link ends while values are on their way. Some values may have arrived by then.
TEST_F(pulled_values, an_actor_that_nobody_refers_to_ends_with_what_it_waits_for) {
  const std::vector<std::function<void()>> ends{[&] { far_->home.reset(); }, [&] { near_->home.reset(); },
                                                [&] { link_->close(); },
                                                [&] {
                                                  link_.reset();
                                                  near_.reset();
                                                }};
  for (std::size_t which = 0; which < ends.size(); ++which) {
    SCOPED_TRACE(which);
    auto life = std::make_shared<std::atomic<int>>(0);
    fetches all;
    for (const auto& ref : several_sent_to_far(500'000)) {
      far().system.spawn<fetching_once>(life, *far().home, ref, all);
      caf::anon_send(far().system.spawn<summing>(life), ref);
    }
    ASSERT_TRUE(eventually([&] { return all.begun == 10; }));
    ends[which]();
    EXPECT_TRUE(eventually([&] { return life.use_count() == 1; }));
    EXPECT_EQ(all.values + all.errors, 10);
    link_.reset();
    near_.reset();
    far_.reset();
    connect();
  }
}

TEST_F(pulled_values, an_actor_that_has_quit_is_not_kept_for_what_it_waits_for) {
  auto far_away = far_object(put(doubles(std::vector(3, 1.0))));
  auto life = std::make_shared<std::atomic<int>>(0);
  {
    auto actor = far().system.spawn<summing>(life);
    caf::anon_send(actor, far_away.ref);
    ASSERT_TRUE(far_away.source->is_fetched());
    caf::scoped_actor other{far().system};
    other->send(actor, stir_atom::value);
  }
  EXPECT_TRUE(far_away.source->is_left_alone());
  EXPECT_TRUE(eventually([&] { return life.use_count() == 1; }));
}

} // namespace
} // namespace troupe::tests
