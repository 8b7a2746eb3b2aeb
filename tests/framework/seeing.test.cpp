// The counts and log lines of links and nodes.
#include "log_lines.hpp"
#include "raw_peer.hpp"
#include "two_nodes.hpp"

#include <numeric>

namespace troupe::tests {
namespace {

using namespace internal;

/// Returns the row of this family and type, or an empty one if there is none.
type_stats row(const link_stats& stats, std::string_view family, std::string_view type) {
  for (const auto& each : stats.by_type)
    if (each.family == family && each.type == type)
      return each;
  return {};
}

class seeing : public two_nodes {
protected:
  /// Publishes an actor that answers a reading with its temperature, times a factor if one is given.
  caf::actor thermometer(const link_options& options = {.serializers = {"typed"}}) {
    publish("thermometer", far().system.spawn([](caf::event_based_actor*) -> caf::behavior {
      return {[](const reading& what) { return what.celsius; },
              [](const reading& what, std::int32_t factor) { return what.celsius * factor; }};
    }));
    connect(options);
    return find("thermometer");
  }

  link_stats far_stats() { return far().home->links().at(0).stats(); }
};

TEST_F(seeing, payloads_are_counted_by_family_and_type_at_both_ends) {
  auto thermometer_there = thermometer();
  for (int i = 0; i < 10; ++i)
    ASSERT_EQ((ask<double>(near().system, thermometer_there, reading{.sensor = "roof", .celsius = 21.5})), 21.5);
  const auto here = link_->stats();
  const auto there = far_stats();
  EXPECT_EQ(here.messages_sent, 10u);
  EXPECT_EQ(row(here, "typed", "test.reading").sent.payloads, 10u);
  EXPECT_EQ(row(here, "typed", "f64").received.payloads, 10u);
  EXPECT_GE(row(here, "typed", "test.reading").sent.bytes, 10 * (4 + sizeof(double)));
  EXPECT_EQ(row(there, "typed", "test.reading").received.bytes, row(here, "typed", "test.reading").sent.bytes);
  EXPECT_EQ(row(there, "typed", "f64").sent.bytes, row(here, "typed", "f64").received.bytes);
  EXPECT_EQ(row(here, "typed", "test.reading").received.payloads, 0u);
  EXPECT_EQ(here.by_type.size(), 2u);
  EXPECT_GT(here.encode_time.count(), 0);
  EXPECT_EQ(here.encode_time, row(here, "typed", "test.reading").sent.time);
  EXPECT_GT(here.decode_time.count(), 0);
}

TEST_F(seeing, a_message_has_a_payload_for_each_of_its_elements) {
  auto thermometer_there = thermometer();
  for (int i = 0; i < 3; ++i)
    ASSERT_EQ((ask<double>(near().system, thermometer_there, reading{.celsius = 2}, std::int32_t{3})), 6);
  const auto here = link_->stats();
  EXPECT_EQ(here.messages_sent, 3u);
  EXPECT_EQ(row(here, "typed", "test.reading").sent.payloads, 3u);
  EXPECT_EQ(row(here, "typed", "i32").sent.payloads, 3u);
}

TEST_F(seeing, the_family_is_the_one_that_was_used) {
  far_options_.accepted_links = {.serializers = {"msgpack"}, .deserializers = {"json", "typed"}};
  auto thermometer_there = thermometer({.serializers = {"json"}, .deserializers = {"msgpack"}});
  ASSERT_TRUE((ask<double>(near().system, thermometer_there, reading{})));
  EXPECT_EQ(row(link_->stats(), "json", "test.reading").sent.payloads, 1u);
  EXPECT_EQ(row(link_->stats(), "msgpack", "f64").received.payloads, 1u);
}

TEST_F(seeing, large_payloads_count_with_all_their_frames_whichever_way_they_go) {
  reading large{.sensor = "roof", .celsius = 1, .samples = std::vector<double>(100'000, 0.5)};
  auto thermometer_there = thermometer({.serializers = {"typed"}, .spill_bytes = 64_KiB});
  ASSERT_TRUE((ask<double>(near().system, thermometer_there, large)));
  EXPECT_GE(row(link_->stats(), "typed", "test.reading").sent.bytes, 800'000u);
  EXPECT_EQ(row(far_stats(), "typed", "test.reading").received.bytes,
            row(link_->stats(), "typed", "test.reading").sent.bytes);
  EXPECT_GE(link_->stats().spilled_bytes, 800'000u);
  EXPECT_EQ(link_->stats().spilled_bytes, link_->stats().handle_bytes_sent);
}

TEST_F(seeing, compressed_payloads_count_as_they_travel) {
  far_options_.store = near_options_.store = std::nullopt;
  auto thermometer_there = thermometer({.serializers = {"typed"}, .compression = compression::lz4});
  ASSERT_TRUE((ask<double>(near().system, thermometer_there, reading{.samples = std::vector<double>(100'000, 0.5)})));
  const auto sent = row(link_->stats(), "typed", "test.reading").sent;
  EXPECT_EQ(sent.payloads, 1u);
  EXPECT_LT(sent.bytes, 100'000u);
  EXPECT_EQ(row(far_stats(), "typed", "test.reading").received.bytes, sent.bytes);
  EXPECT_EQ(link_->stats().spilled_bytes, 0u);
}

TEST_F(seeing, what_is_handed_over_within_a_process_has_no_family_and_takes_no_time) {
  far_options_.listen = {"inproc://" + unique_name("troupe-seeing")};
  auto thermometer_there = thermometer();
  for (int i = 0; i < 3; ++i)
    ASSERT_TRUE((ask<double>(near().system, thermometer_there, reading{.samples = std::vector<double>(1000)})));
  ASSERT_TRUE((ask<double>(near().system, thermometer_there, reading{}, std::int32_t{3})));
  const auto here = link_->stats();
  EXPECT_EQ(row(here, "none", "test.reading").sent.payloads, 4u);
  EXPECT_GE(row(here, "none", "test.reading").sent.bytes, 24'000u);
  EXPECT_EQ(row(here, "none", "f64").received.payloads, 4u);
  EXPECT_EQ(row(far_stats(), "none", "test.reading").received.bytes, row(here, "none", "test.reading").sent.bytes);
  EXPECT_EQ(here.encode_time.count(), 0);
}

TEST_F(seeing, what_is_not_sent_is_not_counted_by_type) {
  far_options_.accepted_links.message_bytes = 100'000;
  far_options_.store = near_options_.store = std::nullopt;
  auto thermometer_there = thermometer();
  EXPECT_FALSE((ask<double>(near().system, thermometer_there, reading{.samples = std::vector<double>(100'000)})));
  EXPECT_EQ(row(link_->stats(), "typed", "test.reading").sent.payloads, 0u);
  EXPECT_EQ(link_->stats().unserializable, 1u);
  EXPECT_EQ(link_->stats().refused_by_policy, 0u);
}

TEST_F(seeing, what_the_policy_forbids_is_counted_apart) {
  auto thermometer_there = thermometer();
  caf::anon_send_exit(thermometer_there, caf::exit_reason::kill);
  EXPECT_EQ(link_->stats().unserializable, 1u);
  EXPECT_EQ(link_->stats().refused_by_policy, 1u);
  EXPECT_EQ(near().home->stats().links.refused_by_policy, 1u);
}

TEST_F(seeing, details_can_be_turned_off) {
  near_options_.detailed_stats = false;
  auto thermometer_there = thermometer();
  ASSERT_TRUE((ask<double>(near().system, thermometer_there, reading{})));
  EXPECT_EQ(link_->stats().messages_sent, 1u);
  EXPECT_TRUE(link_->stats().by_type.empty());
  EXPECT_EQ(link_->stats().encode_time.count(), 0);
  EXPECT_EQ(far_stats().by_type.size(), 2u); // Each end decides for itself.
}

TEST_F(seeing, the_window_and_what_is_left_of_it_can_be_seen) {
  auto gate = std::make_shared<std::promise<void>>();
  auto opened = std::make_shared<std::shared_future<void>>(gate->get_future());
  publish("stuck", far().system.spawn([opened](caf::event_based_actor*) -> caf::behavior {
    return {[opened](const std::string&) { opened->wait_for(10s); }};
  }));
  connect({.window_bytes = 1_MiB});
  auto stuck = find("stuck");
  EXPECT_EQ(link_->stats().window_bytes, 1_MiB);
  EXPECT_EQ(link_->stats().credit_bytes, 1_MiB);
  EXPECT_EQ(link_->stats().actors_imported, 1u);
  EXPECT_EQ(far_stats().actors_exported, 1u);
  caf::anon_send(stuck, std::string(10'000, 'x'));
  EXPECT_LT(link_->stats().credit_bytes, 1_MiB - 10'000);
  EXPECT_EQ(link_->stats().credit_bytes + link_->stats().unconsumed_bytes_there, 1_MiB);
  gate->set_value();
  stuck = nullptr;
  EXPECT_TRUE(eventually([&] { return link_->stats().actors_imported == 0; }));
}

// -- nodes

TEST_F(seeing, a_nodes_totals_are_those_of_the_links_that_are_and_were) {
  auto thermometer_there = thermometer();
  ASSERT_TRUE((ask<double>(near().system, thermometer_there, reading{})));
  EXPECT_EQ(near().home->stats().links_open, 1u);
  EXPECT_EQ(near().home->stats().links.messages_sent, 1u);
  EXPECT_EQ(far().home->stats().names_published, 1u);
  link_->close();
  ASSERT_TRUE(eventually([&] { return near().home->stats().links_open == 0; }));
  auto after = near().home->stats();
  EXPECT_EQ(after.name, "near");
  EXPECT_EQ(after.links.messages_sent, 1u);
  EXPECT_EQ(after.links.socket_bytes_sent, link_->stats().socket_bytes_sent);
  EXPECT_EQ(row(after.links, "typed", "test.reading").sent.payloads, 1u);
  EXPECT_EQ(after.links.window_bytes, 0u);
  EXPECT_EQ(after.links.actors_imported, 0u);

  auto second = near().home->connect(address_, {.serializers = {"typed"}});
  ASSERT_TRUE(second);
  ASSERT_TRUE((ask<double>(near().system, *second->find("thermometer"), reading{})));
  EXPECT_NE(second->number(), link_->number());
  after = near().home->stats();
  EXPECT_EQ(after.links.messages_sent, 2u);
  EXPECT_EQ(row(after.links, "typed", "test.reading").sent.payloads, 2u);
  EXPECT_EQ(after.links_opened, 2u);
  EXPECT_EQ(after.links_open, 1u);
}

TEST_F(seeing, what_is_sent_to_a_link_that_has_ended_is_in_the_nodes_totals_too) {
  auto thermometer_there = thermometer();
  link_->close();
  ASSERT_TRUE(eventually([&] { return near().home->stats().links_open == 0; }));
  const auto before = near().home->stats().links.undelivered;
  for (int i = 0; i < 3; ++i)
    caf::anon_send(thermometer_there, reading{});
  EXPECT_EQ(near().home->stats().links.undelivered, before + 3);
}

TEST_F(seeing, refused_peers_are_counted) {
  far_options_.accepted_links = {.serializers = {"json"}, .deserializers = {"json"}};
  far();
  EXPECT_FALSE(near().home->connect(address_, {.serializers = {"msgpack"}}));
  EXPECT_TRUE(eventually([&] { return far().home->stats().peers_refused == 1; }));
  EXPECT_EQ(far().home->stats().links_opened, 0u);
}

TEST_F(seeing, a_view_sees_nothing_once_the_node_has_ended) {
  auto thermometer_there = thermometer();
  const auto view = near().home->weak();
  ASSERT_TRUE(view.stats());
  EXPECT_EQ(view.links().size(), 1u);
  near().home.reset();
  EXPECT_FALSE(view.stats());
  EXPECT_TRUE(view.links().empty());
}

// -- the log

TEST_F(seeing, debug_shows_the_life_of_a_link) {
  log_lines log{log_level::debug};
  auto thermometer_there = thermometer();
  ASSERT_TRUE((ask<double>(near().system, thermometer_there, reading{})));
  EXPECT_FALSE(link_->find("nobody", 0s));
  caf::anon_send_exit(thermometer_there, caf::exit_reason::kill);
  link_->close();
  ASSERT_TRUE(eventually([&] { return log.with("link to near is down") == 1 && log.with("link to far is down") == 1; }))
      << log.text();
  for (const auto& line : std::vector<std::string>{
           "info: link to far at " + address_ + " is open; sends [typed], accepts [typed], shares the store",
           "info: link to near is open; sends [typed], accepts [typed, msgpack], shares the store",
           "debug: near says that it sends with [typed] and accepts [typed]",
           "debug: asked far for \"thermometer\": actor ", "debug: near asks for \"thermometer\": actor ",
           "debug: asked far for \"nobody\": nothing of that name",
           "debug: near asks for \"nobody\": nothing of that name",
           "debug: to far: header 1 is \"test.reading\" by typed",
           "debug: from near: header 1 is \"test.reading\" by typed", "debug: to far: signature 0 is [test.reading]",
           "debug: from near: signature 0 is [test.reading]",
           "warning: not sent to far: far rejects exit messages on this link"})
    EXPECT_EQ(log.with(line), 1u) << line << " is not in\n" << log.text();
}

TEST_F(seeing, a_peers_name_cannot_steer_a_terminal_nor_look_like_a_line) {
  log_lines log{log_level::info};
  near_options_.name = "evil\ntroupe error: all is lost\x1b[2J\xff";
  connect();
  EXPECT_TRUE(eventually([&] { return log.with("link to evil?troupe error: all is lost?[2J? is open") == 1; }))
      << log.text();
}

// Goal: a peer cannot make a node log one line for each of tens of thousands of definitions.
TEST_F(seeing, a_peer_that_defines_without_end_does_not_fill_the_log) {
  far();
  log_lines log{log_level::debug};
  const auto began = std::chrono::steady_clock::now();
  {
    raw_peer peer{address_};
    peer.open();
    for (std::uint64_t i = 0; i < 10'000; ++i)
      peer.define_signature({"i32"}, i);
    peer.write_admin(admin_op::find, find_query{1, "nobody"});
    EXPECT_TRUE(peer.hear<found>(admin_op::found)); // Everything before it has been read.
  }
  ASSERT_TRUE(eventually([&] { return far().home->links().empty(); }));
  ASSERT_TRUE(eventually([&] { return log.with("were left out") > 0; })) << log.text();
  const auto seconds = static_cast<std::size_t>((std::chrono::steady_clock::now() - began) / 1s) + 1;
  EXPECT_GE(log.with(": signature "), 5u); // Other details are among the ten.
  EXPECT_LE(log.with(": signature "), 11 * seconds);
}

} // namespace
} // namespace troupe::tests
