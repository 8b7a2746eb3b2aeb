// The counted handles of one node, without threads, links or bytes.
#include <troupe/framework/internal/objects/exchange_core.hpp>

#include <variant>

#include <gtest/gtest.h>

#include <troupe/base/sizes.hpp>

#include "noting.hpp"

namespace troupe::tests {
namespace {

using namespace internal;
using namespace std::chrono_literals;

class exchange_core_test : public testing::Test {
protected:
  static constexpr handles::link_number far_link = 5;
  static constexpr handles::node_name far_node{30, 1};

  exchange_core_test() : core_(options(), store_, around_.all()) {}

  [[nodiscard]] exchange_core::options options() {
    exchange_core::options made;
    made.capacity_bytes = 1000;
    made.ledger.self = {20, 1};
    made.ledger.proxy_number = 1234;
    made.ledger.fresh_token = [this] { return ++numbers_; };
    made.ledger.clock = [this] { return now_; };
    made.ledger.grace = 10s;
    made.ledger.chunk_bytes_max = 64;
    return made;
  }

  bool bring_up(handles::link_number number = far_link, std::uint64_t object_bytes_max = UINT64_MAX) {
    return core_.link_up(number,
                         {.peer = far_node, .token = {}, .peer_name = "far", .object_bytes_max = object_bytes_max});
  }
  /// Receives a handle to an object that the peer has.
  [[nodiscard]] handles::reference receive(std::uint64_t size_bytes, std::uint32_t index = 1) {
    const handles::handle_descriptor sent{
        .name = {88, index, 1}, .mode = handles::handle_mode::mine, .size_bytes = size_bytes};
    return core_.receive(far_link, {&sent, 1}).value()[0];
  }
  void fetch(handles::reference what, handles::waiter_id who = 1, std::chrono::nanoseconds within = 5s) {
    core_.fetch(what, who, now_ + within);
  }
  /// Makes the room that was requested last, as a store with enough memory does.
  handles::room_id make_room() {
    const auto which = around_.wanted.back().first;
    EXPECT_TRUE(core_.reserve_room(which, around_.wanted.back().second));
    core_.room_made(which);
    return which;
  }
  template <class Message>
  [[nodiscard]] std::optional<Message> written() {
    for (const auto& each : core_.take_messages(far_link))
      if (const auto* found = std::get_if<Message>(&each))
        return *found;
    return std::nullopt;
  }
  /// Delivers all bytes of the object that was requested last, in one piece.
  void bring(std::uint64_t size_bytes) {
    const auto asked = written<handles::pull>();
    ASSERT_TRUE(asked);
    ASSERT_TRUE(core_.on_message(far_link, handles::pull_head{asked->request, size_bytes, {}}));
    const handles::pull_chunk chunk{asked->request, 0, size_bytes};
    const auto room = core_.room_for(far_link, chunk);
    ASSERT_TRUE(room);
    core_.room_filled(*room, size_bytes);
  }
  void pass(std::chrono::nanoseconds time) {
    now_ += time;
    core_.tick();
  }

  handles::time_point now_{1h};
  std::uint64_t numbers_ = 1000;
  store_of_names store_;
  noted_surroundings around_;
  exchange_core core_;
};

TEST_F(exchange_core_test, asks_for_the_bytes_once_there_is_a_room_for_them) {
  ASSERT_TRUE(bring_up());
  fetch(receive(100));
  ASSERT_EQ(around_.wanted.size(), 1u);
  EXPECT_EQ(around_.wanted[0].second, 100u);
  EXPECT_FALSE(written<handles::pull>());
  make_room();
  EXPECT_TRUE(around_.to_write.contains(far_link));
  EXPECT_EQ(written<handles::pull>()->name, (store::object_id{88, 1, 1}));
}

TEST_F(exchange_core_test, answers_with_what_was_sealed) {
  ASSERT_TRUE(bring_up());
  const auto what = receive(100);
  fetch(what);
  const auto room = make_room();
  bring(100);
  ASSERT_EQ(around_.sealed.size(), 1u);
  EXPECT_TRUE(around_.answers.empty());
  const auto place = store_.make(100);
  EXPECT_TRUE(core_.room_sealed(room, place));
  ASSERT_EQ(around_.answers.size(), 1u);
  EXPECT_FALSE(around_.answers[0].error);
  EXPECT_EQ(core_.place_of(what), place);
  core_.drop(what);
  EXPECT_EQ(store_.holds(place), 1u) << "the answer's reference keeps it";
  core_.drop(around_.answers[0].object);
  EXPECT_EQ(store_.holds(place), 0u);
}

/// An object of 100 bytes is being pulled, and its head has arrived.
class pulling_bytes : public exchange_core_test {
protected:
  void SetUp() override {
    ASSERT_TRUE(bring_up());
    fetch(receive(100));
    room_ = make_room();
    request_ = written<handles::pull>()->request;
    ASSERT_TRUE(core_.on_message(far_link, handles::pull_head{request_, 100, {}}));
  }

  handles::room_id room_ = 0;
  handles::request_number request_ = 0;
};

TEST_F(pulling_bytes, takes_them_in_order_only) {
  EXPECT_EQ(core_.room_for(far_link, {request_, 0, 60}), room_);
  core_.room_filled(room_, 60);
  EXPECT_EQ(core_.room_for(far_link, {request_, 60, 40}), room_);
  EXPECT_FALSE(core_.room_for(far_link, {request_, 10, 10})) << "the link has to end";
}

TEST_F(pulling_bytes, takes_no_more_of_them_than_the_object_has) {
  EXPECT_FALSE(core_.room_for(far_link, {request_, 0, 101})) << "the link has to end";
}

TEST_F(pulling_bytes, does_not_count_those_of_which_the_last_caller_has_gone_since) {
  ASSERT_EQ(core_.room_for(far_link, {request_, 0, 100}), room_);
  core_.cancel(1); // While the bytes are being copied.
  core_.room_filled(room_, 100);
  EXPECT_TRUE(around_.sealed.empty());
  EXPECT_EQ(core_.room_for(far_link, {request_, 0, 100}), 0u) << "they come late";
  EXPECT_FALSE(core_.ending(far_link));
}

TEST_F(exchange_core_test, ends_a_link_whose_peer_breaks_the_protocol) {
  ASSERT_TRUE(bring_up());
  const auto done = core_.on_message(far_link, handles::release{{store_of_names::number, 1, 1}, 1});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code(), node_errc::protocol_violation);
  EXPECT_TRUE(around_.to_write.contains(far_link));
  EXPECT_TRUE(core_.ending(far_link));
}

TEST_F(exchange_core_test, refuses_at_once_what_is_larger_than_its_link_brings) {
  ASSERT_TRUE(bring_up(far_link, 99));
  fetch(receive(100));
  EXPECT_TRUE(around_.wanted.empty());
  ASSERT_EQ(around_.answers.size(), 1u);
  EXPECT_EQ(around_.answers[0].error->code(), node_errc::store_full);
  EXPECT_NE(around_.answers[0].error->message().find("bytes, the link takes at most 99 (receive_limits.object_bytes)"),
            std::string::npos);
}

TEST_F(exchange_core_test, says_that_a_room_was_left_to_another_process) {
  ASSERT_TRUE(bring_up());
  fetch(receive(100));
  const auto room = around_.wanted[0].first;
  core_.leave_room(room, 4711);
  pass(5s);
  ASSERT_EQ(around_.answers.size(), 1u);
  EXPECT_NE(around_.answers[0].error->message().find("process 4711 of this host fetches them"), std::string::npos);
  EXPECT_EQ(around_.dropped, std::vector{room});
}

TEST_F(exchange_core_test, takes_what_another_process_has_made) {
  ASSERT_TRUE(bring_up());
  const auto what = receive(100);
  fetch(what);
  const auto room = around_.wanted[0].first;
  core_.leave_room(room, 4711);
  const auto place = store_.make(100);
  EXPECT_TRUE(core_.room_found(room, place));
  EXPECT_EQ(core_.place_of(what), place);
  EXPECT_FALSE(core_.room_found(room, place)) << "nobody wants it any more";
}

TEST_F(exchange_core_test, gives_the_stores_reason_for_a_room_that_was_not_made) {
  ASSERT_TRUE(bring_up());
  fetch(receive(100));
  const auto room = around_.wanted[0].first;
  ASSERT_TRUE(core_.reserve_room(room, 100));
  core_.room_failed(room, handles::handle_errc::full, {node_errc::disk_full, "no space left"});
  ASSERT_EQ(around_.answers.size(), 1u);
  EXPECT_EQ(around_.answers[0].error->code(), node_errc::disk_full);
  EXPECT_FALSE(core_.wants(room));
  EXPECT_EQ(core_.rooms().reserved_bytes(), 0u);
}

TEST_F(exchange_core_test, answers_who_cancels_and_drops_the_room) {
  ASSERT_TRUE(bring_up());
  fetch(receive(100));
  core_.cancel(1);
  ASSERT_EQ(around_.answers.size(), 1u);
  EXPECT_EQ(around_.answers[0].why.code, handles::handle_errc::cancelled);
  EXPECT_EQ(around_.dropped.size(), 1u);
  core_.cancel(1);
  EXPECT_EQ(around_.answers.size(), 1u);
}

TEST_F(exchange_core_test, says_why_the_link_ended_with_which_an_object_was_lost) {
  ASSERT_TRUE(bring_up());
  const auto what = receive(100);
  EXPECT_TRUE(core_.link_down(far_link, "the link to far is down"));
  EXPECT_FALSE(core_.link_down(far_link, "again"));
  EXPECT_FALSE(core_.why_lost(what, 100));
  pass(10s);
  ASSERT_TRUE(core_.why_lost(what, 100));
  EXPECT_NE(core_.why_lost(what, 100)->message().find("the link to far is down"), std::string::npos);
}

TEST_F(exchange_core_test, serves_a_head_and_then_bytes) {
  ASSERT_TRUE(bring_up());
  const auto place = store_.make(100);
  const auto what = core_.add(place);
  const auto sent = core_.count_out(far_link, {&what, 1});
  ASSERT_TRUE(sent.at(0));
  ASSERT_TRUE(core_.on_message(far_link, handles::pull{1, sent[0]->name}));
  EXPECT_TRUE(around_.to_write.contains(far_link));
  EXPECT_TRUE(core_.take_messages(far_link).empty()) << "nothing is said before the link can take more";
  auto next = core_.next_chunk(far_link);
  ASSERT_TRUE(next);
  EXPECT_EQ(next->what.size_bytes, 64u);
  EXPECT_EQ(written<handles::pull_head>()->size_bytes, 100u);
  next = core_.next_chunk(far_link);
  ASSERT_TRUE(next);
  EXPECT_EQ(next->what.offset, 64u);
  EXPECT_EQ(next->what.size_bytes, 36u);
  EXPECT_EQ(next->place, place);
  EXPECT_FALSE(core_.next_chunk(far_link));
  EXPECT_TRUE(core_.take_messages(far_link).empty());
}

TEST_F(exchange_core_test, serves_an_empty_object_with_its_head) {
  ASSERT_TRUE(bring_up());
  const auto what = core_.add(store_.make(0));
  const auto sent = core_.count_out(far_link, {&what, 1});
  ASSERT_TRUE(core_.on_message(far_link, handles::pull{1, sent.at(0)->name}));
  const auto next = core_.next_chunk(far_link);
  ASSERT_TRUE(next);
  EXPECT_EQ(next->what.size_bytes, 0u);
  EXPECT_EQ(written<handles::pull_head>()->size_bytes, 0u);
  EXPECT_FALSE(core_.next_chunk(far_link));
}

TEST_F(exchange_core_test, tells_the_peer_what_cannot_be_served) {
  ASSERT_TRUE(bring_up());
  const auto what = core_.add(store_.make(100));
  const auto sent = core_.count_out(far_link, {&what, 1});
  ASSERT_TRUE(core_.on_message(far_link, handles::pull{1, sent.at(0)->name}));
  ASSERT_TRUE(core_.next_chunk(far_link));
  (void)core_.take_messages(far_link);
  core_.cannot_serve(far_link, 1, handles::handle_errc::full, true);
  const auto refused = written<handles::refused>();
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->reason, handles::handle_errc::full);
  EXPECT_TRUE(refused->is_disk_full);
  EXPECT_FALSE(core_.next_chunk(far_link));
}

TEST_F(exchange_core_test, holds_what_was_sent_until_the_peer_releases_it) {
  ASSERT_TRUE(bring_up());
  const auto place = store_.make(100);
  const auto what = core_.add(place);
  store_.drop(place);
  const auto sent = core_.count_out(far_link, {&what, 1});
  core_.drop(what);
  EXPECT_EQ(store_.holds(place), 1u);
  ASSERT_TRUE(core_.on_message(far_link, handles::release{sent.at(0)->name, 1}));
  EXPECT_EQ(store_.holds(place), 0u);
}

TEST_F(exchange_core_test, counts_nothing_on_a_link_that_has_ended) {
  ASSERT_TRUE(bring_up());
  const auto what = core_.add(store_.make(100));
  EXPECT_TRUE(core_.link_down(far_link, "gone"));
  EXPECT_FALSE(core_.count_out(far_link, {&what, 1}).at(0));
  EXPECT_EQ(core_.tables().exports, 0u);
}

TEST_F(exchange_core_test, finishes_an_object_of_its_own_when_what_it_captures_has_come) {
  ASSERT_TRUE(bring_up());
  const auto inner = receive(100);
  const auto own = core_.add_unfinished(50, {&inner, 1});
  ASSERT_TRUE(own);
  EXPECT_TRUE(core_.is_unfinished(*own));
  core_.fetch(*own, 2, now_ + 5s);
  const auto room = make_room();
  bring(100);
  const auto place = store_.make(100);
  EXPECT_TRUE(core_.room_sealed(room, place));
  ASSERT_EQ(around_.finished.size(), 1u);
  EXPECT_EQ(around_.finished[0].second, *own);
  EXPECT_EQ(around_.sealed.back().second, std::vector{place});
  EXPECT_TRUE(core_.room_sealed(around_.finished[0].first, store_.make(50, {place})));
  EXPECT_EQ(around_.forgotten, std::vector{*own});
  ASSERT_EQ(around_.answers.size(), 1u);
  EXPECT_FALSE(around_.answers[0].error);
}

TEST_F(exchange_core_test, keeps_half_of_the_store_in_unfinished_objects_at_most) {
  ASSERT_TRUE(bring_up());
  const auto inner = receive(100);
  ASSERT_TRUE(core_.add_unfinished(400, {&inner, 1}));
  const auto more = core_.add_unfinished(101, {&inner, 1});
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().code(), node_errc::store_full);
  EXPECT_TRUE(core_.add_unfinished(100, {&inner, 1}));
}

TEST_F(exchange_core_test, takes_more_unfinished_objects_when_others_are_finished_or_dropped) {
  ASSERT_TRUE(bring_up());
  const auto inner = receive(100);
  const auto own = core_.add_unfinished(500, {&inner, 1});
  ASSERT_TRUE(own);
  ASSERT_FALSE(core_.add_unfinished(1, {&inner, 1}));
  core_.fetch(*own, 2, now_ + 5s);
  const auto room = make_room();
  bring(100);
  const auto place = store_.make(100);
  EXPECT_TRUE(core_.room_sealed(room, place));
  ASSERT_EQ(around_.finished.size(), 1u);
  EXPECT_TRUE(core_.room_sealed(around_.finished[0].first, store_.make(500, {place})));
  EXPECT_FALSE(core_.is_unfinished(*own));
  const auto another = receive(10, 2);
  const auto next = core_.add_unfinished(500, {&another, 1});
  ASSERT_TRUE(next) << "the first is in the store";
  core_.drop(*next);
  EXPECT_TRUE(core_.add_unfinished(500, {&another, 1}));
}

TEST_F(exchange_core_test, says_how_large_an_object_is_that_did_not_come_and_how_long_it_was_waited_for) {
  ASSERT_TRUE(bring_up());
  fetch(receive(1234), 1, 5s);
  pass(2s);
  EXPECT_TRUE(around_.answers.empty());
  pass(3s);
  ASSERT_EQ(around_.answers.size(), 1u);
  EXPECT_NE(around_.answers[0].error->message().find("the object's 1,234 bytes did not arrive within 5,000 ms"),
            std::string::npos)
      << around_.answers[0].error->message();
}

TEST_F(exchange_core_test, says_when_it_is_to_be_woken) {
  ASSERT_TRUE(bring_up());
  fetch(receive(100), 1, 5s);
  ASSERT_FALSE(around_.wakes.empty());
  EXPECT_LE(around_.wakes.back(), now_ + 5s);
  for (std::size_t seen = 0; seen < around_.wakes.size() && around_.answers.empty(); ++seen) {
    now_ = around_.wakes.back();
    core_.tick();
  }
  ASSERT_EQ(around_.answers.size(), 1u);
  EXPECT_EQ(around_.answers[0].error->code(), node_errc::fetch_timed_out);
}

TEST_F(exchange_core_test, gives_nobody_what_another_node_of_that_name_had) {
  const std::vector<std::byte> first(4, std::byte{1});
  const std::vector<std::byte> second(4, std::byte{2});
  ASSERT_TRUE(core_.link_up(1, {.peer = far_node, .token = first, .peer_name = "far"}));
  const auto place = store_.make(100);
  const auto what = core_.add(place);
  const auto sent = core_.count_out(1, {&what, 1});
  EXPECT_TRUE(core_.link_down(1, "gone"));
  ASSERT_TRUE(core_.link_up(2, {.peer = far_node, .token = second, .peer_name = "far"}));
  ASSERT_TRUE(core_.on_message(2, handles::reclaim{1, sent.at(0)->name, 1}));
  const auto answer = core_.take_messages(2);
  ASSERT_EQ(answer.size(), 1u);
  EXPECT_TRUE(std::holds_alternative<handles::refused>(answer[0]));
  ASSERT_TRUE(core_.link_up(3, {.peer = far_node, .token = first, .peer_name = "far"}));
  ASSERT_TRUE(core_.on_message(3, handles::reclaim{1, sent.at(0)->name, 1}));
  EXPECT_TRUE(std::holds_alternative<handles::reclaimed>(core_.take_messages(3).at(0)));
}

TEST_F(exchange_core_test, wants_nothing_after_its_end) {
  ASSERT_TRUE(bring_up());
  const auto what = receive(100);
  fetch(what);
  const auto room = around_.wanted[0].first;
  core_.end();
  EXPECT_FALSE(core_.wants(room));
  EXPECT_FALSE(core_.room_sealed(room, store_.make(100)));
  EXPECT_FALSE(bring_up(far_link + 1));
  EXPECT_EQ(core_.why_lost(what, 100)->code(), node_errc::link_down);
  EXPECT_FALSE(core_.add_unfinished(1, {&what, 1}));
  core_.drop(what);
  EXPECT_TRUE(around_.answers.empty()) << "those that are left are answered by whoever keeps them";
}

TEST_F(exchange_core_test, refuses_a_second_link_of_one_number) {
  ASSERT_TRUE(bring_up());
  EXPECT_FALSE(bring_up());
  EXPECT_TRUE(core_.is_up(far_link));
}

} // namespace
} // namespace troupe::tests
