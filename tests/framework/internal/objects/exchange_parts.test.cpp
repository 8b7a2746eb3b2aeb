// Tests each part around the core of the exchange alone: with a store, but without a link or another node.
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <variant>

#include <gtest/gtest.h>

#include <troupe/base/sizes.hpp>
#include <troupe/framework/internal/objects/mapped_answers.hpp>
#include <troupe/framework/internal/objects/object_serving.hpp>
#include <troupe/framework/internal/objects/originals.hpp>
#include <troupe/framework/internal/objects/replica_rooms.hpp>
#include <troupe/framework/internal/objects/unfinished_bytes.hpp>
#include <troupe/framework/internal/wire/crc32c.hpp>

#include "../../../eventually.hpp"
#include "noting.hpp"

namespace troupe::tests {
namespace {

using namespace internal;
using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

std::string fresh_name() {
  static std::atomic<int> last = 0;
  return "parts-" + std::to_string(::getpid()) + '-' + std::to_string(++last);
}

/// Records requests about rooms, and forwards them to `rooms` if it is set.
struct rooms_of_parts final : noted_surroundings {
  void make(core_turn held, handles::room_id which, std::uint64_t size_bytes,
            const std::optional<handles::original>& of) override {
    noted_surroundings::make(held, which, size_bytes, of);
    if (rooms != nullptr)
      rooms->make(held, which, size_bytes, of);
  }
  void seal(core_turn held, handles::room_id which, std::vector<store::object_id> captured) override {
    noted_surroundings::seal(held, which, captured);
    if (rooms != nullptr)
      rooms->seal(held, which, std::move(captured));
  }
  void drop(core_turn held, handles::room_id which) override {
    if (rooms != nullptr)
      rooms->drop(held, which);
  }
  void room_is_left(core_turn held) override {
    if (rooms != nullptr)
      rooms->room_is_left(held);
  }

  replica_rooms* rooms = nullptr;
};

class exchange_parts : public testing::Test {
protected:
  static constexpr handles::link_number far_link = 5;

  exchange_parts() { EXPECT_TRUE(core_.lock()->link_up(far_link, {.peer = {30, 1}, .token = {}, .peer_name = "far"})); }
  ~exchange_parts() override {
    core_.lock()->end();
    maker_.end();
    worker_.end();
  }

  [[nodiscard]] static exchange_core::options options() {
    exchange_core::options made;
    made.capacity_bytes = 4_MiB;
    made.ledger.self = {20, 1};
    made.ledger.proxy_number = 1;
    made.ledger.fresh_token = [last = std::uint64_t{0}]() mutable { return ++last; };
    made.ledger.clock = [] { return handles::time_point{clock::now().time_since_epoch()}; };
    made.ledger.chunk_bytes_max = 64_KiB;
    return made;
  }

  /// Returns false if the condition does not hold within ten seconds. Calls it with the core's lock held.
  template <class Condition>
  [[nodiscard]] bool eventually(Condition condition) {
    const auto until = clock::now() + 10s;
    for (;;) {
      if (const auto held = core_.lock(); condition(held))
        return true;
      if (clock::now() > until)
        return false;
      std::this_thread::sleep_for(1ms);
    }
  }

  [[nodiscard]] static std::vector<std::byte> bytes_of(std::size_t size_bytes) {
    return std::vector<std::byte>(size_bytes, std::byte{7});
  }
  /// Receives a handle to an object that the peer has.
  handles::reference receive(std::uint64_t size_bytes, std::uint32_t index = 1) {
    const handles::handle_descriptor sent{
        .name = {88, index, 1}, .mode = handles::handle_mode::mine, .size_bytes = size_bytes};
    const auto held = core_.lock();
    return held->receive(far_link, {&sent, 1}).value()[0];
  }
  void fetch(handles::reference what, handles::waiter_id who) {
    core_.lock()->fetch(what, who, handles::time_point{(clock::now() + 60s).time_since_epoch()});
  }

  store::object_store store_ = store::object_store::open({.name = fresh_name(), .capacity_bytes = 4_MiB}).value();
  rooms_of_parts around_;
  shared_core core_{store_, options(), around_.all()};
  job_queue maker_;
  job_queue worker_;
};

// -- serving

TEST_F(exchange_parts, object_serving_cuts_what_the_peer_pulls) {
  object_serving serving{core_, around_, worker_};
  const auto object = store_.put(bytes_of(100'000)).value();
  {
    const auto held = core_.lock();
    held.holds().keep(object);
    const auto what = held->add(object.id());
    const auto sent = held->count_out(far_link, {&what, 1});
    ASSERT_TRUE(held->on_message(far_link, handles::pull{1, sent.at(0)->name}));
  }
  serving.prepare(far_link);
  EXPECT_FALSE(serving.has_piece(far_link)) << "it is being pinned";
  ASSERT_TRUE(eventually([&](const auto&) { return around_.to_write.erase(far_link) > 0; }));
  for (const auto until = clock::now() + 10s; !serving.has_piece(far_link) && clock::now() < until;)
    serving.prepare(far_link);
  ASSERT_TRUE(serving.has_piece(far_link));
  EXPECT_EQ(serving.next(far_link)->bytes.size_bytes(), 64_KiB);
  EXPECT_EQ(serving.next(far_link)->bytes.size_bytes(), 100'000 - 64_KiB);
  EXPECT_FALSE(serving.next(far_link));
  worker_.end();
}

TEST_F(exchange_parts, object_serving_forgets_a_link_and_what_is_ready_for_it) {
  object_serving serving{core_, around_, worker_};
  const auto object = store_.put(bytes_of(100)).value();
  {
    const auto held = core_.lock();
    held.holds().keep(object);
    const auto what = held->add(object.id());
    const auto sent = held->count_out(far_link, {&what, 1});
    ASSERT_TRUE(held->on_message(far_link, handles::pull{1, sent.at(0)->name}));
  }
  for (const auto until = clock::now() + 10s; !serving.has_piece(far_link) && clock::now() < until;)
    serving.prepare(far_link);
  ASSERT_TRUE(serving.has_piece(far_link));
  serving.forget(far_link);
  EXPECT_FALSE(serving.has_piece(far_link));
  worker_.end();
}

// Goal: a pull whose bytes are unavailable is not tried again, and the next pull is served.
// Method: one object is on disk, and the store has no memory to bring it back.
TEST_F(exchange_parts, object_serving_tells_the_peer_once_what_cannot_be_had) {
  const auto files = std::filesystem::temp_directory_path() / fresh_name();
  {
    auto store =
        store::object_store::open({.name = fresh_name(), .capacity_bytes = 1_MiB, .spill_directory = files}).value();
    shared_core core{store, options(), around_.all()};
    object_serving serving{core, around_, worker_};
    const auto on_disk = store.put(bytes_of(100'000)).value();
    const auto rest = store.create(1_MiB - 50'000).value(); // Moves the other object to disk.
    const auto pull = [&](const store::handle& object, handles::request_number request) {
      const auto held = core.lock();
      held.holds().keep(object);
      const auto what = held->add(object.id());
      const auto sent = held->count_out(far_link, {&what, 1});
      ASSERT_TRUE(held->on_message(far_link, handles::pull{request, sent.at(0)->name}));
    };
    ASSERT_TRUE(core.lock()->link_up(far_link, {.peer = {30, 1}, .token = {}, .peer_name = "far"}));
    pull(on_disk, 1);
    std::vector<handles::refused> refused;
    for (const auto until = clock::now() + 10s; refused.empty() && clock::now() < until;) {
      serving.prepare(far_link);
      for (const auto& each : core.lock()->take_messages(far_link))
        if (const auto* why = std::get_if<handles::refused>(&each))
          refused.push_back(*why);
    }
    ASSERT_EQ(refused.size(), 1u);
    EXPECT_EQ(refused[0].reason, handles::handle_errc::full);
    pull(store.put(bytes_of(100)).value(), 2);
    for (const auto until = clock::now() + 10s; !serving.has_piece(far_link) && clock::now() < until;)
      serving.prepare(far_link);
    EXPECT_EQ(serving.next(far_link)->bytes.size_bytes(), 100u);
    core.lock()->end();
    worker_.end();
  }
  std::filesystem::remove_all(files);
}

// -- callers

TEST_F(exchange_parts, mapped_answers_are_answered_once_and_keep_nothing) {
  mapped_answers callers{core_, worker_};
  const auto object = store_.put(bytes_of(100)).value();
  std::optional<std::expected<frame, node_error>> got;
  {
    const auto held = core_.lock();
    held.holds().keep(object);
    const auto who = callers.add(
        held->turn(), [&](auto answer) { got = std::move(answer); }, clock::time_point::max());
    callers.answer(held->turn(), {.waiter = who, .object = held->add(object.id()), .why = {}, .error = std::nullopt});
    callers.answer(held->turn(),
                   {.waiter = who, .object = {}, .why = {}, .error = node_error{node_errc::object_lost, "again"}});
    held.holds().drop(object.id());
  }
  ASSERT_TRUE(eventually([&](const auto& held) { return held.holds().size() == 0; }));
  worker_.end();
  ASSERT_TRUE(got && *got);
  EXPECT_EQ((*got)->size_bytes(), 100u);
}

TEST_F(exchange_parts, mapped_answers_get_the_reason) {
  mapped_answers callers{core_, worker_};
  std::optional<std::expected<frame, node_error>> got;
  {
    const auto held = core_.lock();
    const auto who = callers.add(
        held->turn(), [&](auto answer) { got = std::move(answer); }, clock::time_point::max());
    callers.answer(held->turn(),
                   {.waiter = who, .object = {}, .why = {}, .error = node_error{node_errc::object_lost, "gone"}});
  }
  ASSERT_TRUE(eventually([&](const auto&) { return got.has_value(); }));
  EXPECT_EQ(got->error().message(), "gone");
}

TEST_F(exchange_parts, mapped_answers_are_told_of_the_end) {
  mapped_answers callers{core_, worker_};
  int told = 0;
  {
    const auto held = core_.lock();
    for (int i = 0; i < 3; ++i)
      (void)callers.add(
          held->turn(), [&](auto answer) { told += answer.error().code() == node_errc::link_down; },
          clock::time_point::max());
  }
  callers.end();
  callers.end();
  EXPECT_EQ(told, 3);
}

// -- replicas

class replicas : public exchange_parts {
protected:
  replicas() { around_.rooms = &rooms_; }
  ~replicas() override {
    {
      const auto held = core_.lock();
      held->end();
      rooms_.room_is_left(held->turn());
    }
    maker_.end();
    rooms_.end();
    worker_.end();
  }

  handles::reference fetch(std::uint64_t size_bytes, std::uint32_t index = 1) {
    const auto what = receive(size_bytes, index);
    exchange_parts::fetch(what, index);
    return what;
  }
  /// Returns the number of the pull that is sent once there is a room, or 0 if none is sent within ten seconds.
  [[nodiscard]] handles::request_number asked() {
    handles::request_number request = 0;
    (void)eventually([&](const auto& held) {
      for (const auto& each : held->take_messages(far_link))
        if (const auto* pull = std::get_if<handles::pull>(&each))
          request = pull->request;
      return request != 0;
    });
    return request;
  }
  void head(handles::request_number request, std::uint64_t size_bytes) {
    EXPECT_TRUE(core_.lock()->on_message(far_link, handles::pull_head{request, size_bytes, {}}));
  }

  replica_rooms rooms_{core_, store_, 4_MiB, {}, maker_, worker_};
};

TEST_F(replicas, are_sealed_with_the_bytes_that_came) {
  const auto what = fetch(1000);
  const auto request = asked();
  head(request, 1000);
  const std::vector<std::byte> bytes(1000, std::byte{9});
  const auto first = bytes_view{bytes}.first(600);
  EXPECT_TRUE(rooms_.write(far_link, {{request, 0, 600}, crc32c(0, first)}, first));
  EXPECT_TRUE(rooms_.write(far_link, {{request, 600, 400}, crc32c(0, bytes)}, bytes_view{bytes}.subspan(600)));
  ASSERT_TRUE(eventually([&](const auto&) { return !around_.answers.empty(); }));
  const auto sealed = core_.stored(what);
  ASSERT_FALSE(sealed.empty());
  EXPECT_TRUE(std::ranges::equal(sealed.pin()->bytes(), bytes));
}

TEST_F(replicas, tell_of_bytes_that_were_damaged) {
  (void)fetch(1000);
  const auto request = asked();
  head(request, 1000);
  const std::vector<std::byte> bytes(1000, std::byte{9});
  const auto written = rooms_.write(far_link, {{request, 0, 1000}, crc32c(0, bytes) + 1}, bytes);
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code(), node_errc::protocol_violation);
}

TEST_F(replicas, take_no_bytes_out_of_order) {
  (void)fetch(1000);
  const auto request = asked();
  head(request, 1000);
  const std::vector<std::byte> bytes(400, std::byte{9});
  const auto written = rooms_.write(far_link, {{request, 600, 400}, crc32c(0, bytes)}, bytes);
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code(), node_errc::protocol_violation);
}

TEST_F(replicas, drop_bytes_that_nobody_wants_any_more) {
  (void)fetch(1000);
  const auto request = asked();
  head(request, 1000);
  core_.lock()->cancel(1);
  const std::vector<std::byte> bytes(1000, std::byte{9});
  EXPECT_TRUE(rooms_.write(far_link, {{request, 0, 1000}, crc32c(0, bytes)}, bytes));
  EXPECT_TRUE(around_.sealed.empty());
}

TEST_F(replicas, take_turns_where_half_of_the_store_is_being_filled) {
  (void)fetch(2_MiB, 1);
  ASSERT_NE(asked(), 0u);
  (void)fetch(1_MiB, 2);
  std::this_thread::sleep_for(50ms);
  {
    const auto held = core_.lock();
    EXPECT_TRUE(held->take_messages(far_link).empty());
    held->cancel(1);
  }
  EXPECT_NE(asked(), 0u) << "what is given up makes room";
}

TEST_F(replicas, fail_where_the_store_can_never_have_room) {
  (void)fetch(100_MiB);
  ASSERT_TRUE(eventually([&](const auto&) { return !around_.answers.empty(); }));
  EXPECT_EQ(around_.answers[0].error->code(), node_errc::store_full);
  EXPECT_EQ(core_.lock()->rooms().reserved_bytes(), 0u);
}

TEST_F(replicas, leave_nothing_in_the_store_when_they_are_dropped) {
  (void)fetch(2_MiB);
  ASSERT_NE(asked(), 0u);
  core_.lock()->cancel(1);
  EXPECT_TRUE(store_.create(3_MiB, {}, {}, 5s)) << "all of it is free again";
}

// -- objects that other nodes of the host are pulling

/// Records which replicas it is told to continue.
class noted_maker final : public replica_maker {
public:
  void try_again(const std::shared_ptr<replica>& which) override {
    const std::lock_guard guard{mutex_};
    again_.push_back(which->id);
  }
  [[nodiscard]] std::vector<handles::room_id> again() {
    const std::lock_guard guard{mutex_};
    return again_;
  }

private:
  std::mutex mutex_;
  std::vector<handles::room_id> again_; // Guarded by mutex_.
};

class waiting_originals : public testing::Test {
protected:
  ~waiting_originals() override {
    if (waits_)
      waits_->end();
  }

  void open(const originals::patience& with) { waits_.emplace(store_, with, maker_); }
  [[nodiscard]] std::shared_ptr<replica> wanted(handles::room_id id) {
    auto made = std::make_shared<replica>(id, 100);
    EXPECT_TRUE(waits_->has_time(*made));
    return made;
  }
  /// Starts writing the replica, as another node does.
  [[nodiscard]] store::builder begin() { return store_.create(100).value(); }

  store::object_store store_ = store::object_store::open({.name = fresh_name(), .capacity_bytes = 1_MiB}).value();
  noted_maker maker_;
  std::optional<originals> waits_;
};

TEST_F(waiting_originals, are_taken_up_when_nobody_writes_them_any_more) {
  open({});
  auto writer = std::optional{begin()};
  waits_->wait_for(wanted(1), writer->id());
  std::this_thread::sleep_for(20ms);
  EXPECT_TRUE(maker_.again().empty());
  writer.reset();
  EXPECT_TRUE(eventually([&] { return maker_.again() == std::vector<handles::room_id>{1}; }));
}

TEST_F(waiting_originals, are_taken_up_at_once_where_the_writer_has_just_ended) {
  open({});
  auto writer = std::optional{begin()};
  const auto written = writer->id();
  writer.reset();
  waits_->wait_for(wanted(1), written);
  EXPECT_TRUE(eventually([&] { return maker_.again().size() == 1; }));
}

TEST_F(waiting_originals, are_taken_up_from_a_writer_that_does_nothing_for_long) {
  open({.whole = 1h, .stall = 50ms});
  const auto writer = begin();
  const auto which = wanted(1);
  waits_->wait_for(which, writer.id());
  EXPECT_TRUE(eventually([&] { return maker_.again().size() == 1; }));
  EXPECT_FALSE(waits_->has_time(*which)) << "it is not waited for again";
}

TEST_F(waiting_originals, are_taken_up_when_their_time_is_over) {
  open({.whole = 50ms, .stall = 1h});
  const auto writer = begin();
  waits_->wait_for(wanted(1), writer.id());
  EXPECT_TRUE(eventually([&] { return maker_.again().size() == 1; }));
}

TEST_F(waiting_originals, are_left_alone_when_they_are_forgotten) {
  open({.whole = 1h, .stall = 1h});
  auto writer = std::optional{begin()};
  const auto which = wanted(1);
  waits_->wait_for(which, writer->id());
  waits_->forget(which);
  writer.reset();
  std::this_thread::sleep_for(50ms);
  EXPECT_TRUE(maker_.again().empty());
}

// -- this node's own objects

TEST_F(exchange_parts, unfinished_bytes_are_written_with_what_they_capture) {
  unfinished_bytes own{core_, store_, maker_, worker_};
  const auto inner = receive(100);
  handles::reference what;
  {
    const auto held = core_.lock();
    what = held->add_unfinished(50, {&inner, 1}).value();
    own.keep(held->turn(), what, frame::copy_of(bytes_of(50)), {});
  }
  fetch(what, 1);
  const auto place = store_.put(bytes_of(100)).value();
  core_.found(around_.wanted.at(0).first, place);
  ASSERT_EQ(around_.finished.size(), 1u);
  {
    const auto held = core_.lock();
    own.finish(held->turn(), around_.finished[0].first, around_.finished[0].second, around_.sealed[0].second);
  }
  ASSERT_TRUE(eventually([&](const auto&) { return !around_.answers.empty(); }));
  const auto made = core_.stored(what);
  ASSERT_FALSE(made.empty());
  EXPECT_EQ(made.captured(), std::vector{place.id()});
  EXPECT_EQ(made.size_bytes(), 50u);
  EXPECT_EQ(around_.forgotten, std::vector{what});
  maker_.end();
  worker_.end();
}

} // namespace
} // namespace troupe::tests
