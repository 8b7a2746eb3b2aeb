// Large values travel as counted handles. To and from nodes without a store, they travel with their bytes.
#include <numeric>

#include <troupe/framework/resolving.hpp>

#include "two_nodes.hpp"

namespace troupe::tests {
namespace {

caf::behavior summer(caf::event_based_actor*) {
  return {
      [](const object_ref<array<double>>& ref) -> caf::result<double> {
        auto values = ref.get();
        if (!values)
          return to_caf_error(values.error());
        return std::accumulate(values->begin(), values->end(), 0.0);
      },
      [](const object_ref<reading>& ref) -> caf::result<reading> {
        auto value = ref.get();
        if (!value)
          return to_caf_error(value.error());
        return *std::move(value);
      },
      [](const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); },
      [](const array<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); },
  };
}

/// Keeps the references it gets.
caf::behavior keeper(caf::event_based_actor*, std::shared_ptr<std::vector<object_ref<array<double>>>> kept) {
  return {[kept](const object_ref<array<double>>& ref) {
    kept->push_back(ref);
    return static_cast<int>(kept->size());
  }};
}

std::vector<double> many() {
  std::vector<double> values(100'000);
  std::iota(values.begin(), values.end(), 0.0);
  return values;
}
const double sum_of_many = 99'999.0 * 100'000 / 2;

class shared : public two_nodes {
protected:
  void SetUp() override { publish("summer", far().system.spawn(summer)); }
};

TEST_F(shared, a_reference_travels_as_a_handle_and_reads_the_same_bytes) {
  auto ref = near().home->put(array<double>(many()));
  ASSERT_TRUE(ref) << ref.error().message();
  connect();
  EXPECT_TRUE(link_->shares_store());
  EXPECT_EQ(ask<double>(near().system, find("summer"), *ref), sum_of_many);
  auto stats = link_->stats();
  EXPECT_EQ(stats.handle_bytes_sent, 800'000u);
  EXPECT_LT(stats.socket_bytes_sent, 10'000u);
}

TEST_F(shared, a_described_value_travels_by_reference) {
  reading value{"roof", 21.5, many()};
  auto ref = near().home->put(value);
  ASSERT_TRUE(ref) << ref.error().message();
  connect();
  EXPECT_EQ(ask<reading>(near().system, find("summer"), *ref), value);
}

TEST_F(shared, a_large_vector_in_a_message_spills) {
  connect();
  EXPECT_EQ(ask<double>(near().system, find("summer"), many()), sum_of_many);
  EXPECT_EQ(link_->stats().handle_bytes_sent, 800'000u);
  EXPECT_TRUE(store_empties());
}

TEST_F(shared, a_large_array_in_a_message_spills) {
  connect();
  EXPECT_EQ(ask<double>(near().system, find("summer"), array<double>(many())), sum_of_many);
  EXPECT_EQ(link_->stats().handle_bytes_sent, 800'000u);
}

TEST_F(shared, what_is_smaller_than_the_threshold_stays_in_the_message) {
  connect({.spill_bytes = 1_MiB});
  EXPECT_EQ(ask<double>(near().system, find("summer"), many()), sum_of_many);
  EXPECT_EQ(link_->stats().handle_bytes_sent, 0u);
  EXPECT_GT(link_->stats().socket_bytes_sent, 800'000u);
}

TEST_F(shared, what_both_have_open_is_found_there_also_over_a_link_that_does_not_share_it) {
  auto ref = near().home->put(array<double>(many()));
  connect({.share_store = false});
  EXPECT_FALSE(link_->shares_store());
  EXPECT_EQ(ask<double>(near().system, find("summer"), *ref), sum_of_many);
  EXPECT_EQ(link_->stats().handle_bytes_sent, 0u);
  EXPECT_EQ(link_->stats().pulled_bytes_sent, 0u);
  EXPECT_LT(link_->stats().socket_bytes_sent, 10'000u);
}

TEST_F(shared, with_another_store_a_handler_that_needs_the_bytes_is_told_that_they_are_elsewhere) {
  near_options_.store.edit()->name = unique_name("other");
  auto ref = near().home->put(array<double>(many()));
  connect();
  EXPECT_FALSE(link_->shares_store());
  auto answer = ask<double>(near().system, find("summer"), *ref);
  ASSERT_FALSE(answer);
  EXPECT_EQ(to_node_error(answer.error()).code(), node_errc::fetch_timed_out) << text_of(answer);
  EXPECT_EQ(link_->stats().handle_bytes_sent, 0u);
  EXPECT_LT(link_->stats().socket_bytes_sent, 10'000u);
}

TEST_F(shared, nodes_with_different_stores_share_none) {
  near_options_.store.edit()->name = unique_name("other");
  connect();
  EXPECT_FALSE(link_->shares_store());
  auto ref = near().home->put(array<double>(many()));
  publish("resolver", far().system.spawn([](caf::event_based_actor* self) -> caf::behavior {
    return resolving{self,
                     [](const array<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }};
  }));
  EXPECT_EQ(ask<double>(near().system, find("resolver"), *ref), sum_of_many);
  EXPECT_EQ(link_->stats().pulled_bytes_sent, 800'000u);
}

TEST_F(shared, nodes_without_stores_work) {
  near_options_.store = std::nullopt;
  connect();
  EXPECT_EQ(near().home->store(), nullptr);
  auto ref = near().home->put(array<double>(many()));
  EXPECT_EQ(ask<double>(near().system, find("summer"), *ref), sum_of_many);
}

TEST_F(shared, a_builder_fills_its_array_in_place) {
  auto build = near().home->make_array<double>(1000);
  ASSERT_TRUE(build) << build.error().message();
  std::ranges::fill(build->values(), 2.0);
  build->shrink(10);
  auto ref = std::move(*build).seal();
  ASSERT_TRUE(ref) << ref.error().message();
  connect();
  EXPECT_EQ(ask<double>(near().system, find("summer"), *ref), 20.0);
}

TEST_F(shared, the_object_lives_while_the_receiver_keeps_it_and_no_longer) {
  auto kept = std::make_shared<std::vector<object_ref<array<double>>>>();
  publish("keeper", far().system.spawn(keeper, kept));
  connect();
  {
    auto ref = near().home->put(array<double>(many()));
    ASSERT_EQ(ask<int>(near().system, find("keeper"), *ref), 1);
    ASSERT_EQ(ask<int>(near().system, find("keeper"), *ref), 2);
  }
  auto values = kept->front().get();
  ASSERT_TRUE(values);
  EXPECT_EQ((*values)[99'999], 99'999.0);
  kept->clear();
  EXPECT_EQ((*values)[99'998], 99'998.0); // The view keeps its bytes alive.
  values = array<double>{};
  EXPECT_TRUE(store_empties());
}

TEST_F(shared, what_was_received_outlives_the_link) {
  auto kept = std::make_shared<std::vector<object_ref<array<double>>>>();
  publish("keeper", far().system.spawn(keeper, kept));
  connect();
  ASSERT_EQ(ask<int>(near().system, find("keeper"), *near().home->put(array<double>(many()))), 1);
  link_->close();
  ASSERT_TRUE(eventually([&] { return far().home->links().empty(); }));
  auto values = kept->front().get();
  ASSERT_TRUE(values);
  EXPECT_EQ(std::accumulate(values->begin(), values->end(), 0.0), sum_of_many);
  values = array<double>{};
  kept->clear();
  EXPECT_TRUE(store_empties());
}

TEST_F(shared, what_was_sent_before_a_close_arrives) {
  auto kept = std::make_shared<std::vector<object_ref<array<double>>>>();
  auto local = publish("keeper", far().system.spawn(keeper, kept));
  connect();
  auto remote = find("keeper");
  for (int i = 0; i < 200; ++i)
    caf::anon_send(remote, *near().home->put(array<double>(std::vector<double>(1000, i))));
  near_->home.reset();
  // Each question adds a reference, so the actor also counts the questions.
  int asked = 0;
  EXPECT_TRUE(eventually([&] {
    ++asked;
    return ask<int>(far().system, local, object_ref<array<double>>{}) == 200 + asked;
  }));
}

TEST_F(shared, objects_sent_to_actors_that_are_gone_are_let_go) {
  auto actor = publish("victim", far().system.spawn(summer));
  connect();
  auto remote = find("victim");
  caf::anon_send_exit(actor, caf::exit_reason::user_shutdown);
  ASSERT_TRUE(eventually([&] { return !ask<double>(near().system, remote, std::vector<double>{1}); }));
  for (int i = 0; i < 100; ++i)
    caf::anon_send(remote, *near().home->put(array<double>(many())));
  EXPECT_TRUE(store_empties());
}

TEST_F(shared, a_full_store_sends_through_the_socket) {
  auto build = near().home->make_array<std::byte>(63_MiB);
  ASSERT_TRUE(build) << build.error().message();
  std::vector<double> large(512 * 1024, 1.0); // 4 MiB, but only 1 is left.
  connect();
  EXPECT_EQ(ask<double>(near().system, find("summer"), large), 512.0 * 1024);
  EXPECT_EQ(link_->stats().store_fallbacks, 1u);
  EXPECT_EQ(near().home->put(array<double>(large)).error().code(), node_errc::store_full);
}

TEST_F(shared, a_reference_outside_a_message_is_refused) {
  auto ref = near().home->put(array<double>(many()));
  auto encoded = serialize(*ref, {.on_error = on_error::raise}, near().types, near().families);
  ASSERT_FALSE(encoded);
  EXPECT_NE(encoded.error().message().find("can only be serialized inside a message"), std::string::npos)
      << encoded.error().message();
}

TEST_F(shared, an_empty_reference_travels_and_says_so) {
  connect();
  auto text = text_of(ask<double>(near().system, find("summer"), object_ref<array<double>>{}));
  EXPECT_EQ(text, "the object_ref is empty: it refers to no object");
}

TEST_F(shared, references_travel_in_msgpack_too) {
  auto ref = near().home->put(array<double>(many()));
  connect({.serializers = {"msgpack"}});
  EXPECT_EQ(ask<double>(near().system, find("summer"), *ref), sum_of_many);
  EXPECT_EQ(link_->stats().handle_bytes_sent, 800'000u);
}

} // namespace
} // namespace troupe::tests
