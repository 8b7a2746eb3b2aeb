// Goal: a WebSocket is an actor whose messages a client writes and reads, within bounds that hold for both ends.
#include "open_gateway.hpp"

namespace troupe::tests {
namespace {

using sockets = open_gateway;

TEST_F(sockets, requests_are_answered_with_their_ids) {
  const auto one = socket();
  ASSERT_TRUE(one);
  EXPECT_EQ(last_upgrade_.head.at("sec-websocket-accept"), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
  EXPECT_TRUE(one->send_text(R"({"id":7,"message":[{"atom":"stir"},{"type":"test.spoon","value":{"metal":"tin"}}]})"));
  EXPECT_EQ(one->frame().payload, R"({"id":7,"answer":{"type":"str","value":"stirred by tin"}})");
  EXPECT_TRUE(one->send_text(R"({"message":{"atom":"fail"},"id":18446744073709551615})"));
  EXPECT_EQ(one->frame().payload,
            R"({"id":18446744073709551615,"error":{"code":"link_busy","text":"the kettle has not consumed 7 bytes"}})");
}

TEST_F(sockets, a_request_without_an_answer_fails_in_time_while_others_are_answered) {
  const auto one = socket();
  ASSERT_TRUE(one);
  EXPECT_TRUE(one->send_text(R"({"id":1,"timeout_ms":300,"message":{"atom":"hold"}})"));
  EXPECT_TRUE(one->send_text(R"({"id":2,"message":{"atom":"drop"}})"));
  EXPECT_NE(one->frame().payload.find(R"({"id":2,"error":{"code":"broken_promise")"), std::string::npos);
  EXPECT_EQ(one->frame().payload, R"({"id":1,"error":{"code":"timed_out","text":"no answer within 300 ms"}})");
}

TEST_F(sockets, the_client_gets_what_actors_send_to_its_handle_and_nothing_else) {
  const auto one = socket();
  const auto other = socket();
  ASSERT_TRUE(one && other);
  EXPECT_TRUE(one->send_text(R"({"message":[{"atom":"greet"},{"type":"str","value":"one"}]})"));
  EXPECT_TRUE(other->send_text(R"({"message":[{"atom":"greet"},{"type":"str","value":"other"}]})"));
  EXPECT_EQ(one->frame().payload, R"({"message":{"type":"str","value":"hello one"}})");
  EXPECT_EQ(other->frame().payload, R"({"message":{"type":"str","value":"hello other"}})");
  EXPECT_TRUE(one->is_quiet());
  EXPECT_TRUE(other->is_quiet());
}

TEST_F(sockets, mistakes_are_answered_and_the_socket_goes_on) {
  const auto one = socket();
  ASSERT_TRUE(one);
  for (const auto* const wrong : {"{", "[]", R"({"id":-1})", R"({"id":1,"more":2})", R"({"message":7})",
                                  R"({"message":{"type":"caf.exit","value":{}}})"}) {
    EXPECT_TRUE(one->send_text(wrong));
    EXPECT_NE(one->frame().payload.find("\"error\":"), std::string::npos) << wrong;
  }
  EXPECT_TRUE(one->send_text(R"({"id":1,"message":{"type":"test.spoon","value":{"metal":"tin"}}})"));
  EXPECT_NE(one->frame().payload.find("\"answer\":"), std::string::npos);
}

TEST_F(sockets, an_id_that_is_under_way_or_no_number_is_refused_with_its_name) {
  const auto one = socket();
  ASSERT_TRUE(one);
  EXPECT_TRUE(one->send_text(R"({"id":5,"message":{"atom":"hold"}})"));
  EXPECT_TRUE(one->send_text(R"({"id":5,"message":{"atom":"fail"}})"));
  EXPECT_EQ(one->frame().payload,
            R"({"id":5,"error":{"code":"malformed","text":"a request with the id 5 waits for its answer already"}})");
  EXPECT_TRUE(one->send_text(R"({"id":"7","message":{"atom":"fail"}})"));
  EXPECT_NE(one->frame().payload.find(R"(\"id\" must be a natural number)"), std::string::npos);
  EXPECT_TRUE(one->send_text(R"({"id":8,"timeout_ms":1.5,"message":{"atom":"fail"}})"));
  EXPECT_NE(one->frame().payload.find(R"(\"timeout_ms\" must be a natural number)"), std::string::npos);
}

TEST_F(sockets, long_and_short_texts_are_handled_in_their_order) {
  const auto one = socket();
  ASSERT_TRUE(one);
  const auto long_name = std::string(100'000, 'x');
  for (int i = 0; i < 5; ++i) {
    EXPECT_TRUE(one->send_text(R"({"id":1,"message":{"type":"test.spoon","value":{"metal":")" + long_name + R"("}}})"));
    EXPECT_TRUE(one->send_text(R"({"id":2,"message":{"type":"test.spoon","value":{"metal":"tin"}}})"));
    std::string answers;
    while (answers.find("tin") == std::string::npos) {
      const auto frame = one->frame();
      ASSERT_GE(frame.opcode, 0);
      answers += frame.payload;
    }
    EXPECT_TRUE(answers.starts_with(R"({"id":1,"answer":)"));
    EXPECT_GT(answers.size(), long_name.size());
  }
}

TEST_F(sockets, an_id_may_be_used_again_once_it_is_answered) {
  const auto one = socket();
  ASSERT_TRUE(one);
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(one->send_text(R"({"id":5,"message":{"atom":"fail"}})"));
    EXPECT_NE(one->frame().payload.find("link_busy"), std::string::npos);
  }
}

TEST_F(sockets, a_browser_sends_its_token_as_a_subprotocol) {
  EXPECT_TRUE(socket("Sec-WebSocket-Protocol: troupe.1, troupe.token." + full_token + "\r\n", ""));
  EXPECT_EQ(last_upgrade_.head.at("sec-websocket-protocol"), "troupe.1");
  EXPECT_FALSE(socket("Sec-WebSocket-Protocol: troupe.1, troupe.token.wrong\r\n", ""));
  EXPECT_EQ(last_upgrade_.status, 401);
  EXPECT_FALSE(socket("Sec-WebSocket-Protocol: chat\r\n"));
  EXPECT_EQ(last_upgrade_.status, 400);
}

TEST_F(sockets, a_token_may_come_in_the_first_message_and_nothing_is_done_before_it) {
  const auto one = socket("", "");
  ASSERT_TRUE(one);
  EXPECT_TRUE(one->send_text(R"({"token":")" + full_token + "\"}"));
  EXPECT_TRUE(one->send_text(R"({"id":1,"message":{"atom":"drop"}})"));
  EXPECT_NE(one->frame().payload.find("broken_promise"), std::string::npos);
  const auto other = socket("", "");
  ASSERT_TRUE(other);
  EXPECT_TRUE(other->send_text(R"({"id":1,"message":{"atom":"stir"}})"));
  EXPECT_NE(other->frame().payload.find("no_token"), std::string::npos);
  EXPECT_EQ(other->frame().opcode, 8);
  EXPECT_TRUE(other->is_closed_by_peer());
  const auto third = socket("", "");
  ASSERT_TRUE(third);
  EXPECT_TRUE(third->send_text(R"({"token":")" + small_token + "\"}"));
  EXPECT_NE(third->frame().payload.find("not_allowed"), std::string::npos);
}

TEST_F(sockets, a_socket_without_a_token_is_closed_in_time) {
  options_.header_timeout = 200ms;
  const auto one = socket("", "");
  ASSERT_TRUE(one);
  EXPECT_TRUE(one->is_closed_by_peer());
}

TEST_F(sockets, without_a_token_no_client_prolongs_its_life) {
  options_.header_timeout = 3s;
  const auto began = std::chrono::steady_clock::now();
  const auto silent = socket("", "");
  const auto wrong = socket("", "");
  ASSERT_TRUE(silent && wrong);
  EXPECT_TRUE(wrong->send_text(R"({"token":"no-0123456789abcdef0123456789abcdef"})"));
  EXPECT_NE(wrong->frame().payload.find("no_token"), std::string::npos);
  EXPECT_EQ(wrong->frame().opcode, 8); // Neither answers it.
  EXPECT_TRUE(eventually([&] { return gateway().stats().connections_open == 1; }));
  EXPECT_LT(std::chrono::steady_clock::now() - began, 2500ms);
  EXPECT_EQ(silent->frame().opcode, 8);
  EXPECT_TRUE(eventually([&] { return gateway().stats().connections_open == 0; }));
  EXPECT_LT(std::chrono::steady_clock::now() - began, 5500ms);
}

TEST_F(sockets, an_upgrade_that_fails_has_the_body_of_a_refusal) {
  const auto upgrade = [&](const std::string& head) {
    return answer_to(request("GET", "/actors/cup", "", "Connection: Upgrade\r\nUpgrade: websocket\r\n" + head));
  };
  const auto version = upgrade("Sec-WebSocket-Version: 8\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n");
  EXPECT_EQ(version.status, 426);
  EXPECT_EQ(version.head.at("sec-websocket-version"), "13");
  EXPECT_NE(version.body.find(R"({"error":{"code":)"), std::string::npos);
  for (const auto* const key : {"", "Sec-WebSocket-Key: x\r\n"}) {
    const auto refused = upgrade(std::string("Sec-WebSocket-Version: 13\r\n") + key);
    EXPECT_EQ(refused.status, 400);
    EXPECT_NE(refused.body.find(R"({"error":{"code":)"), std::string::npos);
  }
}

/// Sends its client far more than a socket's buffers take, and keeps why the socket has ended.
struct flooding {
  std::promise<caf::error> told;
  caf::behavior operator()(caf::event_based_actor* self) {
    self->set_down_handler([this](const caf::down_msg& down) { told.set_value(down.reason); });
    return {[=](const std::string&) {
      const auto to = caf::actor_cast<caf::actor>(self->current_sender());
      self->monitor(to);
      for (int i = 0; i < 4'000; ++i)
        self->send(to, std::string(4'000, 'x'));
    }};
  }
  std::future<caf::error> reason = told.get_future();
};

TEST_F(sockets, a_client_that_does_not_read_loses_its_socket_and_the_sender_is_told) {
  options_.socket_outbox_bytes = 256 * 1024;
  options_.write_timeout = 10s; // The bound ends the handle before that; the connection may take so long.
  flooding flood;
  ASSERT_TRUE(gateway().expose("cup", home().system.spawn([&](caf::event_based_actor* self) { return flood(self); })));
  const auto one = socket();
  ASSERT_TRUE(one);
  EXPECT_TRUE(one->send_text(R"({"message":{"type":"str","value":"go"}})"));
  ASSERT_EQ(flood.reason.wait_for(60s), std::future_status::ready);
  EXPECT_EQ(to_node_error(flood.reason.get()).code(), node_errc::link_busy);
  EXPECT_TRUE(eventually([&] { return gateway().stats().sockets_open == 0; }, 60s));
}

TEST_F(sockets, a_client_that_takes_no_bytes_loses_its_socket_after_a_time) {
  options_.socket_outbox_bytes = options_.unread_bytes_max = 1ULL << 30; // Only the time ends the socket.
  options_.write_timeout = 100ms;
  flooding flood;
  ASSERT_TRUE(gateway().expose("cup", home().system.spawn([&](caf::event_based_actor* self) { return flood(self); })));
  const auto one = socket();
  ASSERT_TRUE(one);
  EXPECT_TRUE(one->send_text(R"({"message":{"type":"str","value":"go"}})"));
  ASSERT_EQ(flood.reason.wait_for(60s), std::future_status::ready);
  EXPECT_TRUE(eventually([&] { return gateway().stats().sockets_open == 0; }));
}

TEST_F(sockets, a_client_that_sends_faster_than_the_actor_handles_has_to_wait) {
  options_.socket_requests_max = 8;
  std::promise<void> may_go_on;
  std::atomic<int> handled{0};
  const auto slow = home().system.spawn<caf::detached>([&, wait = may_go_on.get_future().share()]() -> caf::behavior {
    return {[&, wait](const std::string&) {
      wait.wait_for(60s);
      ++handled;
    }};
  });
  ASSERT_TRUE(gateway().expose("slow", slow));
  const auto one = client();
  EXPECT_TRUE(one->send(request("GET", "/actors/slow", "",
                                "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                                "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n")));
  ASSERT_EQ(one->answer().status, 101);
  for (int i = 0; i < 20; ++i)
    EXPECT_TRUE(one->send_text(R"({"message":{"type":"str","value":"x"}})"));
  EXPECT_TRUE(one->send_text(R"({"id":1,"message":{"type":"test.fork","value":1}})")); // Refused once it is read.
  EXPECT_FALSE(eventually([&] { return !one->is_quiet(); }, 300ms));
  may_go_on.set_value();
  EXPECT_NE(one->frame().payload.find("unknown_type"), std::string::npos);
  EXPECT_TRUE(eventually([&] { return handled == 20; }));
}

TEST_F(sockets, the_end_of_a_socket_is_told_to_actors_that_monitor_it) {
  std::promise<std::string> told;
  const auto watcher = home().system.spawn([&](caf::event_based_actor* self) -> caf::behavior {
    self->set_down_handler([&](const caf::down_msg& down) { told.set_value(troupe::text_of(down.reason)); });
    return {[=](const std::string&) { self->monitor(caf::actor_cast<caf::actor>(self->current_sender())); }};
  });
  ASSERT_TRUE(gateway().expose("cup", watcher));
  auto one = socket();
  ASSERT_TRUE(one);
  EXPECT_TRUE(one->send_text(R"({"message":{"type":"str","value":"watch me"}})"));
  EXPECT_TRUE(one->send_text("{")); // Its answer shows that the message before it is in the mailbox.
  EXPECT_NE(one->frame().payload, "");
  one.reset();
  auto reason = told.get_future();
  ASSERT_EQ(reason.wait_for(20s), std::future_status::ready);
  EXPECT_EQ(reason.get(), "the client has closed the WebSocket");
}

TEST_F(sockets, pages_of_other_sites_may_not_open_sockets) {
  options_.origins = {"https://kitchen.example"};
  EXPECT_FALSE(socket("Origin: https://evil.example\r\n"));
  EXPECT_EQ(last_upgrade_.status, 403);
  EXPECT_FALSE(socket("Origin: null\r\n"));
  EXPECT_TRUE(socket("Origin: https://kitchen.example\r\n"));
  EXPECT_TRUE(socket("Origin: http://" + host() + "\r\n"));
}

TEST_F(sockets, huge_and_broken_frames_end_the_socket) {
  const auto ends_after = [&](const std::string& bytes) {
    const auto one = socket();
    return one && one->send(bytes) && one->is_closed_by_peer();
  };
  using namespace std::string_literals;
  EXPECT_TRUE(ends_after("\x81\xff\x80\0\0\0\0\0\0\0\0\0\0\0"s)); // 2^63 bytes.
  EXPECT_TRUE(ends_after("\x81\xff\x7f\xff\xff\xff\xff\xff\xff\xff\0\0\0\0"s));
  EXPECT_TRUE(ends_after("\x81\x05hello"s));            // Not masked.
  EXPECT_TRUE(ends_after("\x83\x80\0\0\0\0"s));         // No such opcode.
  EXPECT_TRUE(ends_after("\xc1\x80\0\0\0\0"s));         // A reserved bit.
  EXPECT_TRUE(ends_after("\x80\x80\0\0\0\0"s));         // Continues nothing.
  EXPECT_TRUE(ends_after("\x89\xfe\x01\x00\0\0\0\0"s)); // A ping of 256 bytes.
  EXPECT_TRUE(ends_after("\x81\x82\0\0\0\0\xff\xfe"s)); // Not UTF-8.
  EXPECT_TRUE(ends_after("\x82\x80\0\0\0\0"s));         // Binary.
  EXPECT_EQ(post(R"({"type":"test.spoon","value":{"metal":"tin","turns":1}})").status, 200);
}

TEST_F(sockets, the_end_of_the_gateway_ends_its_sockets) {
  const auto one = socket();
  ASSERT_TRUE(one);
  EXPECT_TRUE(one->send_text(R"({"id":1,"message":{"atom":"hold"}})"));
  EXPECT_TRUE(one->send_text(R"({"message":[{"atom":"flood"},{"type":"u32","value":100},{"type":"u32","value":10}]})"));
  gateway_.reset();
  EXPECT_TRUE(one->is_closed_by_peer());
}

} // namespace
} // namespace troupe::tests
