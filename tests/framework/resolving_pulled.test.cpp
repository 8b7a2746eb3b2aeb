// Values that really are on another host: two stores stand for two of them.
#include <troupe/framework/fetching.hpp>

#include "resolving_actors.hpp"

namespace troupe::tests {
namespace {

class pulled_values : public two_nodes {
protected:
  pulled_values() {
    near_options_.store->name = unique_name("near-host");
    far_options_.store->name = unique_name("far-host");
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

  /// A reference to near's value, as far has it.
  object_ref<doubles> sent_to_far(const object_ref<doubles>& ref) {
    auto arrived = std::make_shared<std::promise<object_ref<doubles>>>();
    publish("keeper", far().system.spawn([=](caf::event_based_actor*) -> caf::behavior {
      return {[=](const object_ref<doubles>& got) { arrived->set_value(got); }};
    }));
    caf::anon_send(find("keeper"), ref);
    return arrived->get_future().get();
  }

  std::shared_ptr<notes> notes_ = std::make_shared<notes>();
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

} // namespace
} // namespace troupe::tests
