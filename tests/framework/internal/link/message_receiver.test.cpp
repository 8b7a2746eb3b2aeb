// Incoming messages without a link: packets go in, and mailboxes receive messages.
#include <troupe/framework/internal/link/message_receiver.hpp>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/scoped_actor.hpp>

#include <gtest/gtest.h>

#include <troupe/framework/internal/flow/behind_handles.hpp>
#include <troupe/serializers/serialize.hpp>
#include <troupe/serializers/type_registry.hpp>

#include "lone_link.hpp"
#include "no_letters.hpp"

namespace troupe::internal {
namespace {

class no_mentions final : public mention_finder {
public:
  std::expected<caf::strong_actor_ptr, node_error> find_actor(const actor_mention&) override { return nullptr; }
  std::expected<std::vector<object_source_ptr>, node_error>
  receive_objects(const std::vector<object_mention>& described) override {
    return std::vector<object_source_ptr>(described.size());
  }
  std::expected<frame, node_error> receive_frame(const frame_descriptor&) override {
    return std::unexpected{node_error{node_errc::object_lost, "lost"}};
  }
};

class one_receiver final : public ends_finder {
public:
  std::expected<message_ends, node_error> find_ends(const message_head& head, taken_question&) override {
    if (head.receiver != 3)
      return std::unexpected{node_error{node_errc::protocol_violation, "nobody"}};
    ++mentions;
    return message_ends{.receiver = receiver, .is_unasked = is_unasked};
  }
  void count_mentions(std::uint64_t, std::uint64_t more) override { mentions += more; }
  bool serves_all_links(const caf::strong_actor_ptr&) const override { return false; }

  caf::strong_actor_ptr receiver;
  bool is_unasked = false;
  std::uint64_t mentions = 0; // Messages with a sender.
};

class way_in : public testing::Test {
protected:
  way_in() {
    accepted_.accept({"typed"});
    decoder_.open({.limits = limits{}, .types = &types_});
    replies_.count_consumed([] {}, nullptr);
    ends_.receiver = caf::actor_cast<caf::strong_actor_ptr>(actor_);
    define({"str"});
    define({"str", "i32"});
    byte_vector body;
    append_header(body, {1, text_.header.bytes()});
    EXPECT_TRUE(known_.add_header(body));
    open({});
  }

  struct features {
    bool takes_extensions = false;
  };
  void open(features agreed) {
    receiver_.open({.account = account_, .values = values_, .takes_extensions = agreed.takes_extensions});
  }
  void define(std::vector<std::string> aliases) {
    byte_vector body;
    append_signature(body, {.number = known_.signatures(), .aliases = std::move(aliases)});
    EXPECT_TRUE(known_.add_signature(body));
  }
  static void append(byte_vector& out, const payload& what, std::uint64_t number) {
    element_descriptor element{.header_number = number};
    if (number == 0)
      element.header = what.header.bytes();
    element.frames.push_back({.size_bytes = what.frames[0].size_bytes()});
    append_element(out, element);
    out.insert(out.end(), what.frames[0].bytes().begin(), what.frames[0].bytes().end());
  }
  /// A message with one text, by a header with a number.
  byte_vector plain(const message_head& head) const {
    byte_vector body;
    append_message_head(body, head);
    append(body, text_, 1);
    return body;
  }
  /// A message with a text and a number, which contain their headers.
  byte_vector two(message_head head) const {
    head.signature = 1;
    byte_vector body;
    append_message_head(body, head);
    append(body, text_, 0);
    append(body, number_, 0);
    return body;
  }
  std::string failure(std::uint8_t flags, const byte_vector& body) {
    const auto handled = receiver_.on_message(flags, body);
    EXPECT_TRUE(incoming_.is_empty());
    return handled ? "" : handled.error().message();
  }
  bool has_mail() { return actor_->has_next_message(); }

  static void append_packet(byte_vector& out, std::uint8_t flags, const byte_vector& body) {
    append_packet_head(out, {static_cast<std::uint32_t>(body.size()), packet_kind::message, flags});
    out.insert(out.end(), body.begin(), body.end());
  }
  /// Returns `count` plain packets with other bytes behind them.
  byte_vector plain_packets(int count) const {
    byte_vector bytes;
    for (int i = 0; i < count; ++i)
      append_packet(bytes, 0, plain(head_));
    bytes.resize(bytes.size() + 64, std::byte{0xee});
    return bytes;
  }
  /// Receives two messages, after which a third similar one is expected.
  void begin_run() {
    ASSERT_EQ(failure(0, plain(head_)), "");
    ASSERT_EQ(failure(0, plain(head_)), "");
    take_mail();
  }
  std::size_t take_mail() {
    std::size_t count = 0;
    for (; has_mail(); ++count)
      actor_->next_message();
    return count;
  }

  static constexpr message_head head_{.receiver = 3};
  static constexpr message_head answer_{.flags = message_flags::response, .receiver = 3, .request_number = 12};

  const type_registry types_;
  const family_set families_;
  const payload text_ = *serialize(std::string{"tea"}, {.serializers = {"typed"}}, types_, families_);
  const payload number_ = *serialize(std::int32_t{5}, {.serializers = {"typed"}}, types_, families_);
  acceptance accepted_{types_, families_, limits{}, false, 1024};
  received_dictionary known_{accepted_, nullptr};
  // Messages left in the mailbox need all of these.
  caf::actor_system_config config_;
  caf::actor_system system_{config_};
  caf::scoped_actor actor_{system_};
  no_mentions finder_;
  frame_claims claims_{{.frame_bytes_max = 1000, .total_bytes_max = 1000}, finder_};
  incoming_message incoming_{limits{}, claims_, finder_};
  link_mutex mutex_;
  heard_admin_output admin_{mutex_};
  value_decoder decoder_{"near", accepted_, known_, nullptr, admin_};
  one_receiver ends_;
  limited_log warnings_;
  std::atomic<std::uint64_t> undelivered_{0}, undecodable_{0}, received_{0}, forwarded_{0};
  expired_counter expired_ = std::make_shared<std::atomic<std::uint64_t>>(0);
  route_finder routes_{ends_, warnings_};
  delivery deliveries_{ends_, system_, false, {undelivered_, undecodable_, expired_}, warnings_};
  std::shared_ptr<pending_objects> pending_ = std::make_shared<pending_objects>();
  reply_room replies_;
  pending_requests asked_{replies_};
  passed_traffic passed_{types_, nullptr};
  receive_account account_{{.windows = {.window = 2000, .actor_window = 1000}}, [] {}, nullptr};
  life_cycle life_;
  agreement agreement_;
  const link_common common_{mutex_, life_, agreement_, admin_, warnings_};
  no_letters closed_box_;
  const dead_letter_writer letters_{common_, 1, closed_box_};
  const link_traces traces_{common_, std::make_shared<span_recorder>(), types_, 1, false};
  std::shared_ptr<value_list> values_ = std::make_shared<value_list>();
  const std::shared_ptr<answer_memory> answers_ =
      std::make_shared<answer_memory>(types_, answer_memory::bounds{.bytes = 1 << 20, .age = std::chrono::minutes(1)});
  message_receiver receiver_{{.accepted = accepted_,
                              .known = known_,
                              .incoming = incoming_,
                              .decoder = decoder_,
                              .routes = routes_,
                              .deliveries = deliveries_,
                              .pending = *pending_,
                              .mutex = mutex_,
                              .asked = asked_,
                              .replies = replies_,
                              .passed_counts = passed_,
                              .received = received_,
                              .forwarded = forwarded_,
                              .letters = letters_,
                              .traces = traces_,
                              .answers = answers_}};
};

TEST_F(way_in, a_plain_message_costs_its_packet_until_it_is_consumed) {
  const auto body = plain(head_);
  ASSERT_EQ(failure(0, body), "");
  EXPECT_EQ(account_.unconsumed_bytes(), body.size() + message_cost_bytes);
  actor_->receive([](const std::string& text) { EXPECT_EQ(text, "tea"); });
  EXPECT_EQ(account_.unconsumed_bytes(), 0u);
  EXPECT_EQ(received_, 1u);
}

TEST_F(way_in, a_message_of_several_elements_is_one_message) {
  ASSERT_EQ(failure(0, two(head_)), "");
  actor_->receive([](const std::string& text, std::int32_t number) {
    EXPECT_EQ(text, "tea");
    EXPECT_EQ(number, 5);
  });
  EXPECT_EQ(account_.unconsumed_bytes(), 0u);
}

TEST_F(way_in, several_plain_elements_are_read_as_others_are) {
  byte_vector number_header;
  append_header(number_header, {2, number_.header.bytes()});
  ASSERT_TRUE(known_.add_header(number_header));
  byte_vector body;
  append_message_head(body, {.receiver = 3, .signature = 1});
  append(body, text_, 1);
  append(body, number_, 2);
  ASSERT_EQ(failure(0, body), "");
  EXPECT_EQ(account_.unconsumed_bytes(), body.size() + message_cost_bytes);
  actor_->receive([](const std::string& text, std::int32_t number) {
    EXPECT_EQ(text, "tea");
    EXPECT_EQ(number, 5);
  });
  for (std::size_t size = 0; size < body.size(); ++size)
    EXPECT_NE(failure(0, {body.begin(), body.begin() + static_cast<std::ptrdiff_t>(size)}), "") << size;
  EXPECT_FALSE(has_mail());
}

// Goal: cached facts of the last message head are not used for a different head.
TEST_F(way_in, a_message_that_begins_as_the_one_before_is_read_by_itself) {
  ASSERT_EQ(failure(0, plain(head_)), "");
  ASSERT_EQ(failure(0, plain(head_)), "");
  ASSERT_EQ(failure(message_flags::urgent, plain(head_)), "");
  EXPECT_NE(failure(message_flags::request, plain(head_)), ""); // Same bytes, but a request needs its number.
  EXPECT_EQ(failure(0, plain({.receiver = 4})), "nobody");
  ASSERT_EQ(failure(0, two(head_)), "");
  ASSERT_EQ(failure(0, plain(head_)), "");
  int urgent = 0, of_two = 0, all = 0;
  while (has_mail()) {
    auto next = actor_->next_message();
    urgent += next->mid.is_urgent_message() ? 1 : 0;
    of_two += next->content().size() == 2 ? 1 : 0;
    ++all;
  }
  EXPECT_EQ(urgent, 1);
  EXPECT_EQ(of_two, 1);
  EXPECT_EQ(all, 5);
}

TEST_F(way_in, a_run_takes_the_messages_like_the_one_before_and_leaves_the_next_other_one) {
  begin_run();
  const auto three = plain_packets(3);
  const auto packet_bytes = packet_head_bytes + plain(head_).size();
  const auto taken = receiver_.on_run(three, 64);
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->packets, 3);
  EXPECT_EQ(taken->size_bytes, 3 * packet_bytes);
  EXPECT_EQ(account_.unconsumed_bytes(), 3 * (plain(head_).size() + message_cost_bytes));
  EXPECT_EQ(received_, 5u);
  actor_->receive([](const std::string& text) { EXPECT_EQ(text, "tea"); });
  EXPECT_EQ(take_mail(), 2u);
  EXPECT_EQ(account_.unconsumed_bytes(), 0u);

  const auto some = receiver_.on_run(three, 2);
  ASSERT_TRUE(some);
  EXPECT_EQ(some->packets, 2) << "no more than it may";
  EXPECT_EQ(some->size_bytes, 2 * packet_bytes);
  byte_vector another;
  append_packet(another, message_flags::urgent, plain(head_));
  another.resize(another.size() + 64);
  EXPECT_EQ(receiver_.on_run(another, 64)->packets, 0);
}

TEST_F(way_in, a_run_begins_with_the_third_message_of_a_head) {
  ASSERT_EQ(failure(0, plain(head_)), "");
  EXPECT_EQ(receiver_.on_run(plain_packets(1), 64)->packets, 0);
  ASSERT_EQ(failure(0, plain(head_)), "");
  EXPECT_EQ(receiver_.on_run(plain_packets(1), 64)->packets, 1);
  ASSERT_EQ(failure(0, two(head_)), "");
  EXPECT_EQ(receiver_.on_run(plain_packets(1), 64)->packets, 0) << "another head came in between";
}

TEST_F(way_in, each_message_of_a_run_counts_as_a_mention_of_its_sender) {
  constexpr message_head sent{.receiver = 3, .sender = 9};
  byte_vector bytes;
  for (int i = 0; i < 3; ++i)
    append_packet(bytes, 0, plain(sent));
  bytes.resize(bytes.size() + 64);
  ASSERT_EQ(failure(0, plain(sent)), "");
  ASSERT_EQ(failure(0, plain(sent)), "");
  ASSERT_EQ(receiver_.on_run(bytes, 64)->packets, 3);
  routes_.forget();
  EXPECT_EQ(ends_.mentions, 5u);
  take_mail();
  EXPECT_FALSE(account_.take_due().empty()) << "credit for more";
  ASSERT_EQ(receiver_.on_run(bytes, 64)->packets, 3) << "the route is looked up again";
  routes_.forget();
  EXPECT_EQ(ends_.mentions, 8u);
}

TEST_F(way_in, a_run_of_a_peer_without_credit_ends_the_link) {
  begin_run();
  const auto taken = receiver_.on_run(plain_packets(100), 100);
  ASSERT_FALSE(taken);
  EXPECT_TRUE(taken.error().message().starts_with("the peer exceeded its credit for actor 3"))
      << taken.error().message();
}

TEST_F(way_in, a_message_of_a_run_that_cannot_be_decoded_is_counted_and_the_next_one_delivered) {
  begin_run();
  auto bytes = plain_packets(3);
  const auto packet_bytes = packet_head_bytes + plain(head_).size();
  bytes[2 * packet_bytes - text_.frames[0].size_bytes()] ^= std::byte{0xff}; // The first byte of the second value.
  ASSERT_EQ(receiver_.on_run(bytes, 64)->packets, 3);
  EXPECT_EQ(undecodable_, 1u);
  EXPECT_EQ(take_mail(), 2u);
  EXPECT_EQ(account_.unconsumed_bytes(), 0u);
}

TEST_F(way_in, a_run_by_a_family_that_is_accepted_no_more_is_left_to_who_says_why) {
  begin_run();
  accepted_.accept({"msgpack"});
  known_.review();
  EXPECT_EQ(receiver_.on_run(plain_packets(1), 64)->packets, 0);
  EXPECT_EQ(failure(0, plain(head_)), "data serialized with typed but this link only accepts [msgpack]");
}

TEST_F(way_in, requests_and_answers_make_no_run) {
  constexpr message_head request{.flags = message_flags::request, .receiver = 3, .request_number = 12};
  byte_vector bytes;
  append_packet(bytes, message_flags::request, plain(request));
  bytes.resize(bytes.size() + 64);
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(failure(message_flags::request, plain(request)), "");
    EXPECT_EQ(receiver_.on_run(bytes, 64)->packets, 0);
  }
}

TEST_F(way_in, a_packet_that_is_cut_short_ends_the_link_and_leaves_nothing) {
  const auto whole = two(head_);
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_NE(failure(0, {whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)}), "") << size;
  EXPECT_EQ(account_.unconsumed_bytes(), 0u);
  EXPECT_EQ(received_, 0u);
  EXPECT_FALSE(has_mail());
}

TEST_F(way_in, nothing_may_follow_the_last_element) {
  for (auto body : {plain(head_), two(head_)}) {
    body.push_back(std::byte{0});
    EXPECT_EQ(failure(0, body), "message of " + std::to_string(body.size()) + " bytes has 1 too many");
  }
}

TEST_F(way_in, signatures_and_actors_that_are_not_known_end_the_link) {
  EXPECT_NE(failure(0, plain({.receiver = 3, .signature = 7})), "");
  EXPECT_EQ(failure(0, plain({.receiver = 4})), "nobody");
}

TEST_F(way_in, flags_have_to_be_known_and_agreed_on) {
  EXPECT_NE(failure(32, plain(head_)), "");
  const auto extended = plain({.flags = message_flags::extended, .receiver = 3});
  EXPECT_EQ(failure(message_flags::extended, extended),
            "a message has an extension map, and the two ends have not agreed on the feature \"extensions\"");
  EXPECT_FALSE(has_mail());
}

TEST_F(way_in, a_peer_without_credit_is_refused) {
  std::string refused;
  for (int i = 0; i < 100 && refused.empty(); ++i)
    refused = failure(0, plain(head_));
  EXPECT_TRUE(refused.starts_with("the peer exceeded its credit for actor 3")) << refused;
}

TEST_F(way_in, an_answer_counts_with_the_answers_and_not_in_the_window) {
  asked_.add({3, 12}, 0, {});
  const auto body = plain(answer_);
  ASSERT_EQ(failure(message_flags::response, body), "");
  EXPECT_EQ(account_.unconsumed_bytes(), 0u);
  EXPECT_EQ(asked_.size(), 0u);
  EXPECT_TRUE(has_mail());
  replies_.settle();
  EXPECT_EQ(replies_.bytes(), body.size()) << "until it is consumed";
}

TEST_F(way_in, what_an_answer_that_ends_the_link_was_to_answer_stays_pending) {
  asked_.add({3, 12}, 0, {});
  accepted_.accept({"msgpack"});
  known_.review();
  EXPECT_NE(failure(message_flags::response, plain(answer_)), "");
  EXPECT_EQ(asked_.size(), 1u) << "so that the asker is told of the link's end";
}

TEST_F(way_in, an_answer_to_nothing_that_was_asked_is_counted) {
  ASSERT_EQ(failure(message_flags::response, plain(answer_)), "");
  EXPECT_EQ(undelivered_, 1u);
  EXPECT_FALSE(has_mail());
}

TEST_F(way_in, a_request_that_nobody_asks_any_more_is_read_and_dropped) {
  ends_.is_unasked = true;
  ASSERT_EQ(failure(0, two(head_)), "");
  EXPECT_EQ(undelivered_, 1u);
  EXPECT_EQ(account_.unconsumed_bytes(), 0u);
  EXPECT_FALSE(has_mail());
}

TEST_F(way_in, a_family_that_is_accepted_no_more_ends_the_link) {
  accepted_.accept({"msgpack"});
  known_.review();
  EXPECT_EQ(failure(0, plain(head_)), "data serialized with typed but this link only accepts [msgpack]");
  EXPECT_EQ(failure(0, two(head_)), "data serialized with typed but this link only accepts [msgpack]");
  EXPECT_EQ(account_.unconsumed_bytes(), 0u);
}

TEST_F(way_in, a_value_goes_beside_its_packet) {
  byte_vector body;
  append_message_head(body, head_);
  append_varint(body, 100);
  EXPECT_FALSE(receiver_.on_value(0, body)) << "no value came";
  std::any value{caf::make_message(std::string{"tea"})};
  values_->push(value);
  ASSERT_TRUE(receiver_.on_value(0, body));
  EXPECT_EQ(account_.unconsumed_bytes(), body.size() + 100 + message_cost_bytes);
  actor_->receive([](const std::string& text) { EXPECT_EQ(text, "tea"); });
  EXPECT_EQ(account_.unconsumed_bytes(), 0u);
}

} // namespace
} // namespace troupe::internal
