// Nodes that record the links of others.
#include <troupe/framework/remote_recording.hpp>

#include <atomic>
#include <filesystem>
#include <future>
#include <string>
#include <vector>

#include <troupe/framework/internal/tape/remote_recordings.hpp>
#include <troupe/framework/internal/tape/tape_format.hpp>
#include <troupe/framework/internal/tape/tape_queue.hpp>
#include <troupe/framework/tape.hpp>

#include "internal/tape/tape_support.hpp"
#include "two_nodes.hpp"

namespace troupe::tests {
namespace {

caf::behavior adder() {
  return {[](int x) { return x + 1; }, [](const std::string& x) { return x.size(); }};
}

class remote_recording : public two_nodes {
protected:
  remote_recording() {
    near_options_.store = std::nullopt;
    near_options_.name = "near";
    far_options_.store = std::nullopt;
    far_options_.accepted_links.allow_recording = true;
  }
  ~remote_recording() override { end_recording(); }

  /// A third node, which records.
  link& observed() {
    if (!observer_) {
      observer_ = std::make_unique<side>(node_options{.name = "observer", .store = std::nullopt});
      observing_.emplace(observer_->home->connect(address_).value());
    }
    return *observing_;
  }

  remote_recording_options to_file(std::vector<std::string> actors = {}) {
    remote_recording_options options{.actors = std::move(actors)};
    options.to.file = file_;
    options.is_enough = [this] { return is_enough_.load(); };
    return options;
  }

  void begin_recording(remote_recording_options options) {
    auto& from = observed();
    recorded_ = std::async(std::launch::async, [&from, options] { return record_peer(from, options); });
    ASSERT_TRUE(eventually([&] { return std::filesystem::exists(file_); }));
  }

  std::expected<remote_recording_report, node_error> end_recording() {
    is_enough_ = true;
    if (recorded_.valid())
      return recorded_.get();
    return {};
  }

  std::vector<tape_message> messages() const {
    std::vector<tape_message> found;
    auto from = tape::open(file_).value();
    while (auto event = from.next())
      if (auto* message = std::get_if<tape_message>(&*event))
        found.push_back(std::move(*message));
    return found;
  }

  const scratch_folder folder_;
  const std::string file_ = folder_.file("day.tape");
  std::unique_ptr<side> observer_;
  std::optional<link> observing_;
  std::atomic<bool> is_enough_{false};
  std::future<std::expected<remote_recording_report, node_error>> recorded_;
};

TEST_F(remote_recording, needs_the_permission_of_the_recorded_node) {
  far_options_.accepted_links.allow_recording = false;
  far_options_.accepted_links.allow_report = true;
  far();
  auto refused = record_peer(observed(), to_file());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), node_errc::not_allowed);
  EXPECT_NE(refused.error().message().find("must have allow_recording"), std::string::npos)
      << refused.error().message();
  EXPECT_FALSE(std::filesystem::exists(file_));
}

TEST_F(remote_recording, may_be_allowed_to_a_role_only) {
  far_options_.accepted_links.allow_recording = false;
  far_options_.accepted_links.roles.push_back({.name = "here", .same_user = true, .allow_recording = true});
  far();
  auto options = to_file();
  options.time = std::chrono::milliseconds{1};
  EXPECT_TRUE(record_peer(observed(), options));
}

// The link near <-> far carried messages before the recording begins, so that the tape needs what was defined then.
TEST_F(remote_recording, has_the_messages_of_links_that_were_open_before_and_of_later_ones) {
  publish("adder", far().system.spawn(adder));
  connect();
  EXPECT_EQ(ask<int>(near().system, find("adder"), 1), 2);
  begin_recording(to_file());
  EXPECT_TRUE(eventually([&] { // The link may begin to be recorded a moment later.
    EXPECT_EQ(ask<int>(near().system, find("adder"), 10), 11);
    return !messages().empty();
  }));
  link_.reset();
  connect();
  EXPECT_EQ(ask<std::size_t>(near().system, find("adder"), std::string{"later"}), 5u);
  const auto report = end_recording();
  ASSERT_TRUE(report) << report.error().message();
  EXPECT_EQ(report->ended_early, "");
  EXPECT_EQ(report->refused, 0u);
  const auto found = messages();
  ASSERT_GE(found.size(), 4u);
  for (const auto& each : found) {
    EXPECT_EQ(each.missing, "");
    ASSERT_EQ(each.elements.size(), 1u);
    EXPECT_EQ(each.elements[0].missing, "");
    const auto& actor = each.kind == tape_message_kind::request ? each.to : each.from;
    EXPECT_EQ(actor.name, "adder");
    EXPECT_EQ(actor.exporter, tape_side::recorder);
  }
  EXPECT_EQ(to_text(to_record(found[0].elements[0]).value()), "10");
  EXPECT_EQ(to_text(to_record(found[found.size() - 2].elements[0]).value()), "\"later\"");
  EXPECT_NE(found.front().link, found.back().link);
  auto from = tape::open(file_).value();
  while (from.next()) {
  }
  EXPECT_EQ(from.info().node, "far");
}

TEST_F(remote_recording, of_some_actors_has_only_their_messages) {
  publish("adder", far().system.spawn(adder));
  publish("other", far().system.spawn(adder));
  connect();
  EXPECT_EQ(ask<int>(near().system, find("other"), 1), 2);
  begin_recording(to_file({"adder"}));
  EXPECT_TRUE(eventually([&] {
    EXPECT_EQ(ask<int>(near().system, find("other"), 1), 2);
    EXPECT_EQ(ask<int>(near().system, find("adder"), 10), 11);
    return messages().size() >= 4;
  }));
  const std::string large(100'000, 'x'); // Travels in chunks.
  for (const auto* const name : {"other", "adder", "other"})
    EXPECT_EQ(ask<std::size_t>(near().system, find(name), large), large.size());
  ASSERT_TRUE(end_recording());
  std::size_t in_chunks = 0;
  for (const auto& each : messages()) {
    EXPECT_EQ((each.kind == tape_message_kind::request ? each.to : each.from).name, "adder");
    EXPECT_EQ(each.elements.at(0).missing, "");
    for (const auto& frame : each.elements.at(0).frames)
      in_chunks += frame.place == tape_frame_place::chunks && frame.is_recorded ? 1 : 0;
  }
  EXPECT_EQ(in_chunks, 1u);
}

// Goal: the recorded node waits for nobody.
// Method: an observer takes nothing until far more has passed than the node keeps for it.
TEST_F(remote_recording, with_a_slow_reader_holds_nothing_up_and_tells_what_was_dropped) {
  publish("adder", far().system.spawn(adder));
  connect();
  const auto begun = observed().record(10s, {.queue_bytes = 512 * 1024});
  ASSERT_TRUE(begun) << begun.error().message();
  const std::string large(100'000, 'x');
  for (int i = 0; i < 100; ++i)
    EXPECT_EQ(ask<std::size_t>(near().system, find("adder"), large), large.size());
  const auto part = observed().record(10s, {.recording = begun->recording, .ends = true});
  ASSERT_TRUE(part) << part.error().message();
  EXPECT_GT(part->records.size(), 100'000u);
  EXPECT_LT(part->records.size(), 600'000u);
  std::uint64_t dropped = 0;
  internal::packet_reader in{std::as_bytes(std::span{part->records})};
  while (!in.rest().empty()) {
    const auto record = internal::read_tape_record(in);
    ASSERT_TRUE(record);
    if (const auto* lost = std::get_if<internal::tape_dropped>(&*record))
      dropped += lost->packets; // The texts travelled in chunks.
  }
  EXPECT_GT(dropped, 50u);
  const auto over = observed().record(10s, {.recording = begun->recording});
  ASSERT_FALSE(over);
  EXPECT_EQ(over.error().code(), node_errc::not_found);
}

TEST_F(remote_recording, is_limited_in_number) {
  far();
  for (int i = 0; i < 4; ++i)
    ASSERT_TRUE(observed().record(10s, {}));
  const auto refused = observed().record(10s, {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), node_errc::link_busy);
}

TEST_F(remote_recording, ends_with_the_link_and_keeps_what_it_has) {
  publish("adder", far().system.spawn(adder));
  connect();
  begin_recording(to_file());
  EXPECT_TRUE(eventually([&] {
    EXPECT_EQ(ask<int>(near().system, find("adder"), 10), 11);
    return !messages().empty();
  }));
  far_.reset();
  const auto report = recorded_.get();
  ASSERT_TRUE(report) << report.error().message();
  EXPECT_NE(report->ended_early, "");
  EXPECT_FALSE(messages().empty());
}

// Goal: observers that were killed take nobody's place, also while no message passes.
TEST(remote_recordings, that_nobody_takes_make_room_for_others) {
  internal::remote_recordings recordings{1ms};
  for (std::size_t i = 0; i < internal::remote_recordings::recordings_max; ++i)
    ASSERT_TRUE(recordings.begin({}));
  EXPECT_TRUE(eventually([&] { return recordings.begin({}).has_value(); }));
}

TEST(remote_recordings, that_are_taken_from_stay) {
  internal::remote_recordings recordings{10min};
  const auto begun = recordings.begin({}).value();
  EXPECT_TRUE(recordings.take(begun.number));
  for (std::size_t i = 1; i < internal::remote_recordings::recordings_max; ++i)
    ASSERT_TRUE(recordings.begin({}));
  const auto refused = recordings.begin({});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), node_errc::link_busy);
  EXPECT_TRUE(recordings.end(begun.number));
  EXPECT_TRUE(recordings.begin({}));
}

TEST(tape_queue, that_nobody_empties_closes_after_its_lease) {
  internal::tape_queue queue{100'000, 1ms};
  const auto link = queue.begin_link({});
  EXPECT_TRUE(eventually([&] {
    queue.packet(link, tape_side::peer, internal::packet_kind::message, 0, internal::bytes_view{});
    return queue.is_closed();
  }));
  EXPECT_TRUE(queue.take_now().empty());
  EXPECT_EQ(queue.now().waiting_bytes, 0u);
}

} // namespace
} // namespace troupe::tests
