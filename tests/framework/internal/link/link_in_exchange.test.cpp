// Messages between the exchanges of two nodes cross a link only while both exchanges know the link.
#include <troupe/framework/internal/link/link_in_exchange.hpp>

#include <troupe/framework/internal/wire/handle_wire.hpp>

#include "noted_exchange.hpp"

namespace troupe::internal {
namespace {

TEST(exchange_membership, ends_with_its_scope) {
  const auto exchange = std::make_shared<noted_exchange>();
  {
    const auto membership = exchange_membership::join(exchange, nullptr, 5, {2, 20}, {}, std::nullopt);
    EXPECT_TRUE(membership);
    EXPECT_TRUE(exchange->downs.empty());
  }
  EXPECT_EQ(exchange->downs, std::vector<std::string>{"5: the link has ended"});
}

TEST(exchange_membership, ends_once_with_the_reason_that_is_given) {
  const auto exchange = std::make_shared<noted_exchange>();
  {
    auto membership = exchange_membership::join(exchange, nullptr, 5, {2, 20}, {}, std::nullopt);
    auto moved = std::move(membership);
    moved.leave("lost");
    moved.leave("again");
  }
  EXPECT_EQ(exchange->downs, std::vector<std::string>{"5: lost"});
}

TEST(exchange_membership, that_was_refused_is_none) {
  const auto exchange = std::make_shared<noted_exchange>();
  exchange->refuses = true;
  { EXPECT_FALSE(exchange_membership::join(exchange, nullptr, 5, {2, 20}, {}, std::nullopt)); }
  EXPECT_TRUE(exchange->downs.empty());
}

using joining = lone_exchange_link;

TEST_F(joining, says_which_link_leads_where) {
  EXPECT_TRUE(join());
  EXPECT_EQ(noted_->up_as, number);
  EXPECT_EQ(noted_->up_to, (handles::node_name{2, 20}));
  EXPECT_FALSE(noted_->up_shared);
  EXPECT_EQ(noted_->up->peer_name(), "far");
  EXPECT_EQ(noted_->up->object_bytes_max(), 1000u);
}

TEST_F(joining, keeps_the_link_while_the_exchange_uses_it) {
  EXPECT_TRUE(join());
  EXPECT_EQ(owner_.use_count(), 2);
  noted_->up.reset();
  EXPECT_EQ(owner_.use_count(), 1);
}

TEST_F(joining, names_the_channels_of_a_shared_store) {
  auto agreed = terms_.now();
  agreed.shares_store = true;
  agree(agreed);
  EXPECT_TRUE(join());
  ASSERT_TRUE(noted_->up_shared);
  EXPECT_EQ(noted_->up_shared->send, terms_.now().send_channel());
  EXPECT_EQ(noted_->up_shared->receive, terms_.now().receive_channel());
}

TEST_F(joining, fails_where_the_number_is_anothers) {
  noted_->refuses = true;
  const auto joined = in_exchange_.join(owner_, *to_);
  ASSERT_FALSE(joined);
  EXPECT_EQ(joined.error().code(), node_errc::protocol_violation);
  in_exchange_.leave("down");
  EXPECT_TRUE(noted_->downs.empty());
}

class counting_no_handles : public lone_exchange_link {
protected:
  counting_no_handles() {
    auto agreed = terms_.now();
    agreed.counts_handles = false;
    agree(agreed);
    join_and_open();
  }
};

TEST_F(counting_no_handles, a_link_is_unknown_to_the_exchange) {
  EXPECT_EQ(noted_->up, nullptr);
  in_exchange_.leave("down");
  EXPECT_TRUE(noted_->downs.empty());
}

TEST_F(counting_no_handles, messages_about_them_break_the_protocol) {
  const auto packet = encode_handle_message(handles::cancel{3});
  EXPECT_FALSE(in_exchange_.on_message(packet.op, packet.body));
  EXPECT_FALSE(in_exchange_.on_chunk({}));
  EXPECT_TRUE(noted_->heard.empty());
}

TEST_F(counting_no_handles, none_is_received_and_nothing_is_appended) {
  noted_->pieces = {"piece"};
  const auto received = in_exchange_.receive({{object_mention::kind::counted, {}}});
  ASSERT_TRUE(received);
  EXPECT_EQ(*received, std::vector<object_source_ptr>{nullptr});
  outbox out;
  const auto held = mutex_.lock();
  EXPECT_FALSE(in_exchange_.append_piece(held, out));
}

class in_the_exchange : public lone_exchange_link {
protected:
  in_the_exchange() { join_and_open(); }
};

TEST_F(in_the_exchange, what_it_says_is_written_in_order) {
  noted_->says = {handles::cancel{3}, handles::pull{4, {1, 2, 3}}};
  in_exchange_.write_handles();
  const auto packets = written();
  ASSERT_EQ(packets.size(), 2u);
  const auto first = encode_handle_message(handles::cancel{3});
  EXPECT_EQ(packets[0].head.detail, static_cast<std::uint8_t>(first.op));
  EXPECT_EQ(packets[0].body, first.body);
  EXPECT_EQ(packets[1].body, encode_handle_message(handles::pull{4, {1, 2, 3}}).body);
}

TEST_F(in_the_exchange, nothing_is_taken_from_it_once_the_link_is_closed) {
  enter(link_state::closed);
  noted_->says = {handles::cancel{3}};
  in_exchange_.write_handles();
  EXPECT_TRUE(written().empty());
  EXPECT_EQ(noted_->says.size(), 1u);
}

TEST_F(in_the_exchange, what_it_says_goes_ahead_of_objects_that_are_counted) {
  noted_->says = {handles::cancel{3}};
  outbox out;
  const auto held = mutex_.lock();
  const std::vector objects{some_reference(), some_reference()};
  EXPECT_EQ(in_exchange_.count_out(held, objects, out).size(), 2u);
  ASSERT_EQ(packets_in(out).size(), 1u);
  EXPECT_EQ(packets_in(out)[0].body, encode_handle_message(handles::cancel{3}).body);
}

TEST_F(in_the_exchange, pieces_are_appended_one_by_one_and_counted) {
  noted_->pieces = {"four", "thirteen more"};
  outbox out;
  const auto held = mutex_.lock();
  EXPECT_TRUE(in_exchange_.append_piece(held, out));
  EXPECT_TRUE(in_exchange_.append_piece(held, out));
  EXPECT_FALSE(in_exchange_.append_piece(held, out));
  EXPECT_EQ(sent_, 17u);
  const auto packets = packets_in(out);
  ASSERT_EQ(packets.size(), 2u);
  EXPECT_EQ(packets[0].head.kind, packet_kind::object_chunk);
  EXPECT_EQ(troupe::tests::text_of(packets[0].body), "four");
}

TEST_F(in_the_exchange, messages_of_the_peer_reach_it) {
  const auto packet = encode_handle_message(handles::cancel{3});
  EXPECT_TRUE(in_exchange_.on_message(packet.op, packet.body));
  ASSERT_EQ(noted_->heard.size(), 1u);
  EXPECT_EQ(std::get<handles::cancel>(noted_->heard[0]).request, 3u);
}

TEST_F(in_the_exchange, messages_that_cannot_be_read_do_not) {
  const auto packet = encode_handle_message(handles::cancel{3});
  EXPECT_FALSE(in_exchange_.on_message(packet.op, {}));
  EXPECT_TRUE(noted_->heard.empty());
}

TEST_F(in_the_exchange, bytes_of_the_peer_reach_it_and_are_counted) {
  byte_vector body;
  append_object_chunk_head(body, {.what = {.request = 3, .offset = 100, .size_bytes = 5}, .checksum = 7});
  const auto bytes = troupe::tests::bytes_of("piece");
  body.insert(body.end(), bytes.begin(), bytes.end());
  EXPECT_TRUE(in_exchange_.on_chunk(body));
  EXPECT_EQ(noted_->chunks, (std::vector<std::pair<std::uint64_t, std::string>>{{100, "piece"}}));
  EXPECT_EQ(received_, 5u);
  EXPECT_FALSE(in_exchange_.on_chunk({}));
}

TEST_F(in_the_exchange, nothing_more_is_heard_once_it_has_left) {
  in_exchange_.leave("the peer is gone");
  EXPECT_EQ(noted_->downs, std::vector<std::string>{"5: the peer is gone"});
  const auto packet = encode_handle_message(handles::cancel{3});
  EXPECT_FALSE(in_exchange_.on_message(packet.op, packet.body));
}

} // namespace
} // namespace troupe::internal
