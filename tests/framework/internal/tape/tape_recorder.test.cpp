#include <troupe/framework/internal/tape/tape_recorder.hpp>

#include <condition_variable>
#include <mutex>
#include <thread>

#include <sys/resource.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <troupe/framework/internal/tape/link_recording.hpp>
#include <troupe/framework/internal/wire/admin.hpp>
#include <troupe/store/object_store.hpp>

#include "../../../eventually.hpp"
#include "tape_support.hpp"

namespace troupe::internal {
namespace {

using tests::bytes_of;
using tests::content_of;
using tests::read_all;

/// Holds the recorder's thread up, like a slow disk.
class gate {
public:
  void pass() {
    std::unique_lock held{mutex_};
    ++waiting_;
    changed_.notify_all();
    changed_.wait(held, [this] { return is_open_; });
    --waiting_;
  }
  void open() {
    std::lock_guard guard{mutex_};
    is_open_ = true;
    changed_.notify_all();
  }
  /// Returns false if the thread does not come.
  bool await_waiting() {
    std::unique_lock held{mutex_};
    return changed_.wait_for(held, std::chrono::seconds{30}, [this] { return waiting_ > 0; });
  }

private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_open_ = false;
  int waiting_ = 0;
};

class tape_recorder_test : public testing::Test {
protected:
  std::unique_ptr<tape_recorder> open(std::size_t queue_bytes = 1'000'000, std::function<void()> before = {}) {
    auto made = tape_recorder::open({.place = {.file = file_, .codec = tape_codec::none},
                                     .node = "kitchen",
                                     .software = "0.1.0",
                                     .queue_bytes = queue_bytes,
                                     .tell = [this](const std::string& news) { told_.push_back(news); },
                                     .before_writing = std::move(before)});
    EXPECT_TRUE(made) << made.error().message();
    return made ? *std::move(made) : nullptr;
  }
  static void end(tape_recorder& of) { of.end(std::chrono::steady_clock::now() + std::chrono::seconds{30}); }
  [[nodiscard]] std::vector<std::string> read() const { return read_all(content_of(file_)); }

  const tests::scratch_folder folder_;
  const std::string file_ = folder_.file("one.tape");
  std::vector<std::string> told_;
};

TEST_F(tape_recorder_test, what_links_carry_is_on_the_tape_in_order) {
  auto recorder = open();
  const auto first = recorder->queue()->begin_link({.peer_name = "b"});
  const auto second = recorder->queue()->begin_link({.peer_name = "c"});
  EXPECT_EQ(first, 1u);
  EXPECT_EQ(second, 2u);
  recorder->queue()->packet(first, tape_side::recorder, packet_kind::message, 0, bytes_of("hel"), bytes_of("lo"));
  recorder->queue()->packet(second, tape_side::peer, packet_kind::message, 0, bytes_of("there"));
  recorder->queue()->name_actor(first, tape_side::peer, 4, "cup");
  recorder->queue()->end_link(first, "done");
  end(*recorder);
  EXPECT_EQ(read(), (std::vector<std::string>{"by kitchen", "link 1 to b", "link 2 to c", ">1 kind 2: hello",
                                              "<2 kind 2: there", "actor 4 is cup", "link 1 ended: done", "ended 1"}));
  recorder->queue()->packet(first, tape_side::recorder, packet_kind::message, 0, bytes_of("late"));
  EXPECT_EQ(read().size(), 8u);
}

TEST_F(tape_recorder_test, records_reach_the_file_while_the_recording_goes_on) {
  auto recorder = open();
  recorder->queue()->packet(1, tape_side::recorder, packet_kind::message, 0, bytes_of("hello"));
  EXPECT_TRUE(tests::eventually([&] { return read().size() == 2; }));
}

class objects_on_a_tape : public tape_recorder_test {
protected:
  tape_object named(const store::handle& of) const {
    return {.link = 1, .store = of.id().store, .index = of.id().index, .generation = of.id().generation};
  }
  store::object_store store_ =
      store::object_store::open({.name = "taped-" + std::to_string(::getpid()), .capacity_bytes = 64_MiB}).value();
};

TEST_F(objects_on_a_tape, precede_the_message_that_mentions_them) {
  auto recorder = open();
  auto held = store_.put(bytes_of("some bytes")).value();
  const auto id = named(held);
  recorder->queue()->packet(1, tape_side::recorder, packet_kind::message, 0, bytes_of("first"));
  recorder->queue()->object(id, 10, std::move(held));
  recorder->queue()->packet(1, tape_side::recorder, packet_kind::message, 0, bytes_of("second"));
  end(*recorder);
  EXPECT_EQ(read(), (std::vector<std::string>{"by kitchen", ">1 kind 2: first", "object of 10 from 0: 10",
                                              ">1 kind 2: second", "ended 1"}));
}

TEST_F(objects_on_a_tape, are_recorded_in_pieces_if_they_are_large) {
  auto recorder = open(8'000'000);
  auto held = store_.put(std::vector<std::byte>(2'500'000)).value();
  auto id = named(held);
  id.offset = 100'000;
  recorder->queue()->object(id, 2'500'000, std::move(held));
  recorder->queue()->packet(1, tape_side::recorder, packet_kind::message, 0, bytes_of("it"));
  end(*recorder);
  EXPECT_EQ(read(), (std::vector<std::string>{"by kitchen", "object of 2500000 from 100000: 1048576",
                                              "object of 2500000 from 1148576: 1048576",
                                              "object of 2500000 from 2197152: 302848", ">1 kind 2: it", "ended 1"}));
}

// Goal: a recorder that does not follow keeps no more of the store than its bound.
// Method: its thread is held up; each object is half of the bound and a little more.
TEST_F(objects_on_a_tape, that_find_no_room_are_not_kept) {
  gate slow;
  auto recorder = open(10'000, [&] { slow.pass(); });
  recorder->queue()->packet(1, tape_side::recorder, packet_kind::message, 0, bytes_of("first"));
  ASSERT_TRUE(slow.await_waiting());
  for (int i = 0; i < 3; ++i) {
    auto held = store_.put(std::vector<std::byte>(6'000)).value();
    const auto id = named(held);
    recorder->queue()->object(id, 6'000, std::move(held));
  }
  EXPECT_EQ(store_.totals().value().objects, 1u);
  slow.open();
  end(*recorder);
  EXPECT_EQ(read(), (std::vector<std::string>{"by kitchen", ">1 kind 2: first", "object of 6000 from 0: 6000",
                                              "no object", "no object", "ended 1"}));
  EXPECT_EQ(store_.totals().value().objects, 0u);
}

TEST_F(objects_on_a_tape, are_not_recorded_beyond_their_end) {
  auto recorder = open();
  auto held = store_.put(bytes_of("some bytes")).value();
  const auto id = named(held);
  recorder->queue()->object(id, 11, std::move(held));
  recorder->queue()->object(id, 5, {});
  end(*recorder);
  EXPECT_EQ(read(), (std::vector<std::string>{"by kitchen", "no object", "no object", "ended 1"}));
}

// Goal: a recorder that does not follow costs messages on the tape, never time of the link.
// Method: its thread is held up; what is offered meanwhile exceeds the queue.
TEST_F(tape_recorder_test, what_finds_no_room_is_dropped_and_counted_and_definitions_never_are) {
  gate slow;
  auto recorder = open(10'000, [&] { slow.pass(); });
  recorder->queue()->packet(1, tape_side::recorder, packet_kind::message, 0, bytes_of("first"));
  ASSERT_TRUE(slow.await_waiting());
  const std::string large(1'000, 'x');
  for (int i = 0; i < 20; ++i)
    recorder->queue()->packet(1, tape_side::recorder, packet_kind::message, 0, bytes_of(large));
  recorder->queue()->packet(1, tape_side::recorder, packet_kind::signature, 0, bytes_of(large));
  recorder->queue()->packet(1, tape_side::peer, packet_kind::chunk, 0, bytes_of(large));
  const auto figures = recorder->now().queue;
  EXPECT_EQ(figures.packets + figures.dropped_packets, 23u);
  EXPECT_GE(figures.dropped_messages, 10u);
  slow.open();
  ASSERT_TRUE(tests::eventually([&] { return recorder->now().written_bytes > 10'000; }));
  recorder->queue()->packet(1, tape_side::recorder, packet_kind::message, 0, bytes_of("last"));
  end(*recorder);
  const auto texts = read();
  const auto count = [&](std::string_view beginning) {
    return static_cast<std::uint64_t>(
        std::ranges::count_if(texts, [&](const auto& each) { return each.starts_with(beginning); }));
  };
  EXPECT_EQ(count(">1 kind 2: xxx"), 20 - figures.dropped_messages);
  EXPECT_EQ(count(">1 kind 4: xxx"), 1u);
  EXPECT_EQ(count("dropped " + std::to_string(figures.dropped_messages) + " packets, "
                  + std::to_string(figures.dropped_messages) + " messages, "
                  + std::to_string(figures.dropped_messages * 1'008) + " bytes, why 1"),
            1u);
  EXPECT_EQ(count(">1 kind 2: last"), 1u);
}

// Goal: a disk that does not answer holds nobody up for longer than the deadline.
// Method: the recorder's thread is held up beyond the end of the recording, and released at the end of the test.
TEST_F(tape_recorder_test, ending_waits_for_the_disk_until_the_deadline_and_tells_what_is_missing) {
  auto hung = std::make_shared<gate>();
  const std::weak_ptr<gate> watched = hung;
  auto recorder = open(100'000, [hung] { hung->pass(); });
  recorder->queue()->packet(1, tape_side::recorder, packet_kind::message, 0, bytes_of("hello"));
  ASSERT_TRUE(hung->await_waiting());
  recorder->queue()->packet(1, tape_side::recorder, packet_kind::message, 0, bytes_of(std::string(1'000, 'x')));
  recorder->end(std::chrono::steady_clock::now() + std::chrono::milliseconds{50});
  ASSERT_EQ(told_.size(), 1u);
  EXPECT_NE(told_[0].find("the disk of the tape \"" + file_ + "\" does not answer"), std::string::npos) << told_[0];
  EXPECT_NE(told_[0].find("1,0"), std::string::npos) << told_[0];
  recorder.reset();
  const auto before = content_of(file_);
  hung->open();
  hung.reset(); // The thread keeps the gate until it has ended.
  EXPECT_TRUE(tests::eventually([&] { return watched.expired(); }));
  EXPECT_EQ(content_of(file_), before) << "a tape that was given up stays as it is";
}

// Goal: the process's limit on the size of files costs messages on the tape, and does not end the process.
TEST_F(tape_recorder_test, a_limit_on_the_size_of_files_is_told_like_a_full_disk) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  auto recorder = open();
  const rlimit lower{.rlim_cur = 100'000, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &lower), 0);
  for (int i = 0; i < 300; ++i)
    recorder->queue()->packet(1, tape_side::recorder, packet_kind::message, 0, bytes_of(std::string(1'000, 'x')));
  const auto is_told = tests::eventually([&] { return recorder->now().lost_packets > 0; });
  EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_TRUE(is_told);
  end(*recorder);
  ASSERT_FALSE(told_.empty());
  EXPECT_NE(told_[0].find("cannot be written: File too large"), std::string::npos) << told_[0];
}

TEST_F(tape_recorder_test, many_threads_record_at_once) {
  auto recorder = open(100'000'000);
  std::vector<std::thread> threads;
  for (std::uint64_t link = 1; link <= 4; ++link)
    threads.emplace_back([&, link] {
      for (int i = 0; i < 1'000; ++i)
        recorder->queue()->packet(link, tape_side::recorder, packet_kind::message, 0, bytes_of("hello"));
    });
  for (auto& each : threads)
    each.join();
  end(*recorder);
  EXPECT_EQ(read().size(), 4'002u);
  EXPECT_EQ(recorder->now().queue.packets, 4'000u);
}

TEST_F(tape_recorder_test, a_tape_that_cannot_be_made_is_refused) {
  std::ofstream{file_} << "there";
  const auto refused = tape_recorder::open({.place = {.file = file_}, .node = "kitchen", .software = "0.1.0"});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), node_errc::bad_option);
}

TEST_F(tape_recorder_test, of_admin_packets_only_names_of_actors_are_recorded) {
  auto recorder = open();
  link_recording link;
  link.add({.to = recorder->queue()}, {.peer_name = "b"}, {});
  const auto pass = [&](bool is_sent, admin_op op, const auto& what) {
    const auto body = encode_admin(what);
    if (is_sent)
      link.on_sent(packet_kind::admin, static_cast<std::uint8_t>(op), body, {});
    else
      link.on_received(packet_kind::admin, static_cast<std::uint8_t>(op), body);
  };
  pass(true, admin_op::find, find_query{.query = 1, .name = "cup"});
  pass(false, admin_op::found, found{.query = 1, .actor = 12, .interface = {}});
  pass(false, admin_op::find, find_query{.query = 1, .name = "pot"});
  pass(true, admin_op::found, found{.query = 1, .actor = 7, .interface = {}});
  pass(true, admin_op::find, find_query{.query = 2, .name = "nobody"});
  pass(false, admin_op::found, found{.query = 2, .actor = 0, .interface = {}});
  pass(false, admin_op::found, found{.query = 99, .actor = 5, .interface = {}});
  pass(true, admin_op::goodbye, goodbye{"done"});
  link.on_received(packet_kind::admin, static_cast<std::uint8_t>(admin_op::found), bytes_of("no map"));
  link.end("done");
  end(*recorder);
  EXPECT_EQ(read(), (std::vector<std::string>{"by kitchen", "link 1 to b", "actor 12 is cup", "actor 7 is pot",
                                              "link 1 ended: done", "ended 1"}));
}

} // namespace
} // namespace troupe::internal
