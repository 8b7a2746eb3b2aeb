// The latencies of links, as their users see them.
#include "two_nodes.hpp"

#include <future>

#include <troupe/framework/node_report.hpp>

namespace troupe::tests {
namespace {

using clock = std::chrono::steady_clock;

/// Returns once this time has passed on the clock by which links measure.
void let_pass(std::chrono::nanoseconds time) {
  for (const auto end = clock::now() + time; clock::now() < end;)
    std::this_thread::yield();
}

class latency : public two_nodes {
protected:
  /// Publishes an actor that answers numbers at once, and texts only when the gate is open.
  caf::actor counter(const link_options& options = {.serializers = {"typed"}}) {
    publish("counter", far().system.spawn([this](caf::event_based_actor*) -> caf::behavior {
      return {[](std::int32_t number) { return number; },
              [this](const std::string& text) {
                arrived_.set_value();
                gate_.wait_for(10s);
                return text;
              }};
    }));
    connect(options);
    return find("counter");
  }

  link_latencies here() { return link_->stats().latencies; }
  link_latencies there() { return far().home->links().at(0).stats().latencies; }

  std::promise<void> arrived_, opened_;
  std::shared_future<void> gate_{opened_.get_future()};
};

TEST_F(latency, of_a_handler_that_waits_is_in_its_time_and_in_that_of_the_round_trip) {
  const auto counter_there = counter();
  const auto begin = clock::now();
  auto answer = std::async(std::launch::async,
                           [&] { return ask<std::string>(near().system, counter_there, std::string{"tea"}); });
  ASSERT_EQ(arrived_.get_future().wait_for(10s), std::future_status::ready);
  const auto waits_from = clock::now();
  let_pass(20ms);
  const auto waited = clock::now() - waits_from;
  opened_.set_value();
  ASSERT_EQ(answer.get(), "tea");
  const auto took = clock::now() - begin;
  const auto trip = here().round_trip;
  const auto handled = there().handler;
  EXPECT_EQ(trip.count, 1u);
  EXPECT_EQ(handled.count, 1u);
  EXPECT_GE(handled.max, waited);
  EXPECT_GE(trip.max, handled.max) << "a round trip contains the handler";
  EXPECT_LE(trip.max, took);
  EXPECT_EQ(trip.p50, trip.max);
  EXPECT_EQ(handled.p99, handled.max);
  EXPECT_EQ(here().handler.count, 0u);
  EXPECT_EQ(there().round_trip.count, 0u);
}

TEST_F(latency, of_every_request_is_counted_although_few_are_timed) {
  const auto counter_there = counter();
  constexpr std::int32_t requests = 32 + 17 * 10;
  for (std::int32_t i = 0; i < requests; ++i)
    ASSERT_EQ((ask<std::int32_t>(near().system, counter_there, i)), i);
  const auto counts = [&](const latency_stats& of) { return of.count; };
  EXPECT_EQ(counts(here().round_trip), static_cast<std::uint64_t>(requests));
  EXPECT_EQ(counts(there().handler), static_cast<std::uint64_t>(requests));
  EXPECT_GT(here().round_trip.p50.count(), 0);
  EXPECT_LE(here().round_trip.p50, here().round_trip.p90);
  EXPECT_LE(here().round_trip.p90, here().round_trip.p99);
  EXPECT_LE(here().round_trip.p99, here().round_trip.max);
  EXPECT_EQ(here().credit_wait.count, 0u) << "nothing had to wait";
}

TEST_F(latency, of_coding_is_sampled_as_the_sums_of_times_are) {
  const auto counter_there = counter();
  for (std::int32_t i = 0; i < 10; ++i)
    ASSERT_TRUE((ask<std::int32_t>(near().system, counter_there, i)));
  const auto stats = link_->stats();
  EXPECT_EQ(stats.latencies.encode.count, 1u); // The first payload; later ones are too few.
  EXPECT_EQ(stats.latencies.encode.sum, stats.encode_time);
  EXPECT_EQ(stats.latencies.decode.count, 1u);
  EXPECT_EQ(stats.latencies.decode.sum, stats.decode_time);
}

TEST_F(latency, of_a_message_that_waits_for_credit_is_counted_once_it_has_left) {
  link_options small{.serializers = {"typed"}, .window_bytes = 4'000, .actor_window_bytes = 2'000};
  far_options_.accepted_links = small;
  const auto counter_there = counter(small);
  caf::anon_send(counter_there, std::string(3'000, 'x')); // Fills the window until the gate opens.
  ASSERT_EQ(arrived_.get_future().wait_for(10s), std::future_status::ready);
  auto answer = std::async(std::launch::async, [&] { return ask<std::int32_t>(near().system, counter_there, 7); });
  ASSERT_TRUE(eventually([&] { return link_->stats().waiting_bytes > 0; }));
  const auto waits_from = clock::now();
  let_pass(20ms);
  const auto waited = clock::now() - waits_from;
  EXPECT_EQ(here().credit_wait.count, 0u) << "it has not left";
  opened_.set_value();
  ASSERT_EQ(answer.get(), 7);
  const auto waits = here().credit_wait;
  EXPECT_EQ(waits.count, 1u);
  EXPECT_GE(waits.max, waited);
  ASSERT_EQ(here().round_trip.count, 1u);
}

TEST_F(latency, of_a_request_that_an_actor_drops_ends_when_it_is_dropped) {
  publish("mute", far().system.spawn([](caf::event_based_actor* self) -> caf::behavior {
    return {[self](std::int32_t) {
      auto dropped = self->make_response_promise();
      return caf::response_promise{};
    }};
  }));
  connect({.serializers = {"typed"}});
  EXPECT_FALSE((ask<std::int32_t>(near().system, find("mute"), 7)));
  EXPECT_EQ(here().round_trip.count, 1u);
  EXPECT_EQ(there().handler.count, 1u);
}

TEST_F(latency, is_not_measured_where_details_are_off) {
  near_options_.detailed_stats = false;
  const auto counter_there = counter();
  ASSERT_TRUE((ask<std::int32_t>(near().system, counter_there, 7)));
  for (const auto& [name, kind] : latency_kinds)
    EXPECT_EQ((here().*kind).count, 0u) << name;
  EXPECT_EQ(there().handler.count, 1u) << "each end decides for itself";
}

TEST_F(latency, of_ended_links_stays_in_the_sums_of_the_node) {
  const auto counter_there = counter();
  ASSERT_TRUE((ask<std::int32_t>(near().system, counter_there, 7)));
  link_->close();
  ASSERT_TRUE(eventually([&] { return near().home->stats().links_open == 0; }));
  EXPECT_EQ(near().home->stats().links.latencies.round_trip.count, 1u);
}

TEST_F(latency, of_requests_within_a_process_is_measured_as_well) {
  far_options_.listen = {"inproc://" + unique_name("troupe-latency")};
  const auto counter_there = counter();
  ASSERT_TRUE((ask<std::int32_t>(near().system, counter_there, 7)));
  EXPECT_EQ(here().round_trip.count, 1u);
  EXPECT_EQ(there().handler.count, 1u);
  EXPECT_EQ(here().encode.count, 0u) << "nothing is encoded";
}

TEST_F(latency, is_in_the_report_that_a_peer_may_ask_for) {
  far_options_.accepted_links.allow_report = true;
  const auto counter_there = counter();
  ASSERT_TRUE((ask<std::int32_t>(near().system, counter_there, 7)));
  const auto report = link_->report(10s, {});
  ASSERT_TRUE(report) << report.error().message();
  ASSERT_EQ(report->links.size(), 1u);
  const auto& handled = report->links[0].stats.latencies.handler;
  ASSERT_GE(handled.count, 1u);
  EXPECT_EQ(handled.p99, percentile(handled, 99));
  EXPECT_GE(handled.buckets.size(), 1u);
}

} // namespace
} // namespace troupe::tests
