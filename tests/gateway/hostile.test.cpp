// Goal: whatever a client sends is refused within bounds, and others are served meanwhile.
#include <fcntl.h>
#include <sys/resource.h>

#include "../framework/log_lines.hpp"
#include "open_gateway.hpp"

namespace troupe::tests {
namespace {

/// While it lives, this process can open no file.
class used_descriptors {
public:
  used_descriptors() {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    auto few = before_;
    few.rlim_cur = std::min<::rlim_t>(256, before_.rlim_cur);
    ::setrlimit(RLIMIT_NOFILE, &few);
    for (int made = 0; (made = ::open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0;)
      kept_.push_back(made);
  }
  used_descriptors(const used_descriptors&) = delete;
  used_descriptors& operator=(const used_descriptors&) = delete;
  ~used_descriptors() {
    for (const auto each : kept_)
      ::close(each);
    ::setrlimit(RLIMIT_NOFILE, &before_);
  }
  void give_back_one() {
    ::close(kept_.back());
    kept_.pop_back();
  }

private:
  ::rlimit before_{};
  std::vector<int> kept_;
};

class hostile_clients : public open_gateway {
protected:
  [[nodiscard]] bool others_are_served() {
    return post(R"({"type":"test.spoon","value":{"metal":"tin","turns":1}})").status == 200;
  }
  /// The status of the answer to these bytes, after which the connection must end.
  int last_status(const std::string& bytes) {
    const auto one = client();
    static_cast<void>(one->send(bytes));
    const auto status = one->answer().status;
    EXPECT_TRUE(one->is_closed_by_peer()) << bytes.substr(0, 200);
    return status;
  }
  [[nodiscard]] std::string post_head(const std::string& more) {
    return "POST /actors/cup HTTP/1.1\r\nHost: " + host() + "\r\nAuthorization: Bearer " + full_token
           + "\r\nContent-Type: application/json\r\n" + more;
  }
};

TEST_F(hostile_clients, a_request_needs_a_token_that_is_known) {
  const auto without = post(R"({"atom":"stir"})", "", "");
  EXPECT_EQ(without.status, 401);
  EXPECT_EQ(without.head.at("www-authenticate"), "Bearer");
  EXPECT_EQ(post(R"({"atom":"stir"})", "", full_token + "x").status, 401);
  EXPECT_EQ(post(R"({"atom":"stir"})", "", full_token.substr(0, 32)).status, 401);
  EXPECT_EQ(answer_to(request("GET", "/schema", "", "", "")).status, 401);
  EXPECT_EQ(answer_to(request("GET", "/objects/x", "", "", "")).status, 401);
  EXPECT_EQ(gateway().stats().wrong_tokens, 5U);
}

TEST_F(hostile_clients, guesses_are_limited_and_right_tokens_are_not) {
  options_.guesses_per_minute = 5;
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(post("{}", "", "guess-0123456789abcdef0123456789abcd" + std::to_string(i)).status, 401);
  EXPECT_EQ(post("{}", "", "guess-0123456789abcdef0123456789abcdef").status, 429);
  EXPECT_TRUE(others_are_served());
}

TEST_F(hostile_clients, a_token_in_a_url_is_refused) {
  EXPECT_EQ(answer_to(request("POST", "/actors/cup?token=" + full_token, "{}", "", "")).status, 400);
}

TEST_F(hostile_clients, a_host_of_another_name_is_refused) {
  const auto status_for = [&](const std::string& name) {
    return answer_to("GET /schema HTTP/1.1\r\nHost: " + name + "\r\nAuthorization: Bearer " + full_token + "\r\n\r\n")
        .status;
  };
  const auto port = std::to_string(gateway().port());
  EXPECT_EQ(status_for("127.0.0.1:" + port), 200);
  EXPECT_EQ(status_for("localhost:" + port), 200);
  EXPECT_EQ(status_for("evil.example:" + port), 421);
  EXPECT_EQ(status_for("evil.example"), 421);
  EXPECT_EQ(status_for("127.0.0.1"), 421);
  EXPECT_EQ(status_for("127.0.0.1:" + port + ".evil.example"), 421);
  EXPECT_EQ(status_for(""), 400);
}

TEST_F(hostile_clients, pages_get_leave_only_if_the_program_names_them) {
  options_.origins = {"https://kitchen.example"};
  const auto ask = [&](const std::string& origin) {
    return answer_to(
        request("OPTIONS", "/actors/cup", "", "Origin: " + origin + "\r\nAccess-Control-Request-Method: POST\r\n", ""));
  };
  const auto named = ask("https://kitchen.example");
  EXPECT_EQ(named.status, 204);
  EXPECT_EQ(named.head.at("access-control-allow-origin"), "https://kitchen.example");
  const auto other = ask("https://evil.example");
  EXPECT_EQ(other.status, 403);
  EXPECT_FALSE(other.head.contains("access-control-allow-origin"));
  EXPECT_EQ(ask("http://" + host()).status, 403); // Needs no leave, and gets none.
  EXPECT_EQ(post(R"({"atom":"stir"})", "Origin: https://evil.example\r\n").status, 403);
}

TEST_F(hostile_clients, requests_that_two_readers_may_frame_differently_are_refused_and_end_the_connection) {
  const std::string smuggled =
      "GET /schema HTTP/1.1\r\nHost: " + host() + "\r\nAuthorization: Bearer " + full_token + "\r\n\r\n";
  for (const auto* const framing :
       {"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
        "Content-Length: 5\r\nContent-Length: 6\r\n", "Content-Length: 5\r\nContent-Length: 5\r\n",
        "Content-Length: 5, 5\r\n", "Content-Length: -1\r\n", "Content-Length: 0x5\r\n", "Content-Length: +5\r\n",
        "Content-Length: 99999999999999999999999\r\n", "Transfer-Encoding: xchunked\r\n",
        "Transfer-Encoding: chunked, identity\r\n", "Transfer-Encoding: identity\r\n",
        "Transfer-Encoding : chunked\r\n", "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
        "Host: other\r\n"}) {
    const auto status = last_status(post_head(framing) + "\r\n0\r\n\r\n" + smuggled);
    EXPECT_GE(status, 400) << framing;
    EXPECT_LT(status, 500) << framing;
  }
  EXPECT_GE(last_status("POST /actors/cup HTTP/1.1\nHost: " + host() + "\n\n" + smuggled), 400);
  EXPECT_GE(last_status("POST http://evil.example/actors/cup HTTP/1.1\r\nHost: " + host()
                        + "\r\nContent-Length: 1\r\n\r\n" + smuggled),
            400);
  EXPECT_GE(last_status("GET /schema HTTP/3.0\r\n\r\n"), 400);
  EXPECT_GE(last_status(std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11)), 400); // TLS.
  EXPECT_TRUE(others_are_served());
}

TEST_F(hostile_clients, folded_lines_are_refused_wherever_they_stand) {
  const std::string body = R"({"atom":"drop"})";
  const auto length = "Content-Length: " + std::to_string(body.size()) + "\r\n";
  EXPECT_EQ(answer_to(post_head(length) + "\r\n" + body).status, 502);
  for (const std::string blank : {" ", "\t"}) {
    EXPECT_EQ(last_status(post_head("A: b\r\n" + blank + "c\r\n" + length) + "\r\n" + body), 400);
    EXPECT_EQ(last_status(post_head("A:\r\n" + blank + "\r\n" + length) + "\r\n" + body), 400);
    EXPECT_EQ(last_status(post_head(length) + blank + "x: y\r\n\r\n" + body), 400);
    EXPECT_EQ(
        last_status(post_head("Content-Length:\r\n" + blank + std::to_string(body.size()) + "\r\n") + "\r\n" + body),
        400);
    EXPECT_EQ(last_status(post_head("Transfer-Encoding:\r\n" + blank + "chunked\r\n") + "\r\n0\r\n\r\n"), 400);
    EXPECT_EQ(last_status("POST /actors/cup HTTP/1.1\r\n" + blank + "Host: x\r\nHost: " + host() + "\r\n\r\n"), 400);
  }
}

TEST_F(hostile_clients, a_chunked_body_is_read_to_its_end) {
  const auto one = client();
  EXPECT_TRUE(
      one->send(post_head("Transfer-Encoding: chunked\r\n") + "\r\n7\r\n{\"atom\"\r\n8\r\n:\"drop\"}\r\n0\r\n\r\n"));
  EXPECT_EQ(one->answer().status, 502);
  EXPECT_TRUE(one->send(request("GET", "/schema")));
  EXPECT_EQ(one->answer().status, 200);
}

TEST_F(hostile_clients, slow_heads_and_bodies_lose_their_connections) {
  options_.header_timeout = 300ms;
  options_.body_timeout = 300ms;
  const auto silent = client();
  const auto slow_head = client();
  EXPECT_TRUE(slow_head->send("POST /actors/cup HTTP/1.1\r\nHost: "));
  const auto slow_body = client();
  EXPECT_TRUE(slow_body->send(post_head("Content-Length: 100\r\n") + "\r\n{"));
  EXPECT_TRUE(silent->is_closed_by_peer());
  EXPECT_TRUE(slow_head->is_closed_by_peer());
  EXPECT_TRUE(slow_body->is_closed_by_peer());
}

TEST_F(hostile_clients, a_client_that_sends_its_head_byte_by_byte_gets_no_more_time) {
  options_.header_timeout = 500ms;
  const auto one = client();
  const auto began = std::chrono::steady_clock::now();
  EXPECT_TRUE(eventually([&] { return !one->send("X") || !one->is_quiet(); }, 10s));
  EXPECT_LT(std::chrono::steady_clock::now() - began, 8s);
}

TEST_F(hostile_clients, huge_heads_and_bodies_are_refused_before_they_are_read) {
  EXPECT_EQ(last_status(post_head("X: " + std::string(20'000, 'x') + "\r\n\r\n")), 431);
  std::string many;
  for (int i = 0; i < 3000; ++i)
    many += "a: b\r\n";
  EXPECT_EQ(last_status(post_head(many + "\r\n")), 431);
  EXPECT_EQ(last_status(post_head("Content-Length: 2000000\r\n\r\n")), 413);
  EXPECT_EQ(last_status(post_head("Content-Length: 9000000000000000000\r\n\r\n")), 413);
  std::string chunks = post_head("Transfer-Encoding: chunked\r\n\r\n");
  for (int i = 0; i < 40; ++i)
    chunks += "10000\r\n" + std::string(65536, ' ') + "\r\n";
  const auto one = client();
  static_cast<void>(one->send(chunks));
  EXPECT_TRUE(one->is_closed_by_peer());
  EXPECT_TRUE(others_are_served());
}

TEST_F(hostile_clients, extensions_and_trailers_of_chunks_are_bounded_together) {
  const std::string body = R"({"atom":"drop"})";
  const auto size = "f";
  ASSERT_EQ(body.size(), 15U);
  const auto chunked = post_head("Transfer-Encoding: chunked\r\n") + "\r\n";
  const auto kept = client();
  EXPECT_TRUE(kept->send(chunked + size + ";a=b\r\n" + body + "\r\n0;c\r\nX: y\r\nZ: z\r\n\r\n"));
  EXPECT_EQ(kept->answer().status, 502);
  EXPECT_TRUE(kept->send(chunked + size + "\r\n" + body + "\r\n0\r\n\r\n"));
  EXPECT_EQ(kept->answer().status, 502);
  const std::string long_extension = ";a=" + std::string(10'000, 'x') + "\r\n";
  std::string many;
  for (int i = 0; i < 10; ++i)
    many += "1" + long_extension + " \r\n";
  EXPECT_EQ(last_status(chunked + many + size + "\r\n" + body + "\r\n0\r\n\r\n"), 431);
  std::string zeros;
  for (int i = 0; i < 10; ++i)
    zeros += std::string(10'000, '0') + "1\r\n \r\n";
  EXPECT_EQ(last_status(chunked + zeros + size + "\r\n" + body + "\r\n0\r\n\r\n"), 431);
  std::string trailers;
  for (int i = 0; i < 10; ++i)
    trailers += "X: " + std::string(10'000, 'x') + "\r\n";
  EXPECT_EQ(last_status(chunked + size + "\r\n" + body + "\r\n0\r\n" + trailers + "\r\n"), 431);
  for (const auto* const folded : {"X: y\r\n z\r\n\r\n", " X: y\r\n\r\n", "X:\r\n\ty\r\nZ: z\r\n\r\n"})
    EXPECT_EQ(last_status(chunked + size + "\r\n" + body + "\r\n0\r\n" + folded), 400) << folded;
  EXPECT_TRUE(others_are_served());
}

TEST_F(hostile_clients, a_client_without_a_token_loses_its_connection_after_some_refusals) {
  for (const auto* const token : {"", "guess-0123456789abcdef0123456789abcdef"}) {
    const auto one = client();
    int refused = 0;
    while (refused < 100 && one->send(request("GET", "/nothing", "", "", token)) && one->answer().status == 404)
      ++refused;
    EXPECT_EQ(refused, 16) << token;
  }
  const auto known = client();
  for (int i = 0; i < 40; ++i) { // A token that is known begins the count anew.
    const bool is_known = i % 10 == 9;
    EXPECT_TRUE(known->send(is_known ? request("GET", "/schema") : request("GET", "/nothing")));
    EXPECT_EQ(known->answer().status, is_known ? 200 : 404) << i;
  }
}

TEST_F(hostile_clients, what_a_client_has_sent_is_repeated_in_short) {
  const std::string much(15'000, 'x');
  const auto bytes_of = [&](const std::string& text) {
    const auto answer = answer_to(text);
    EXPECT_GE(answer.status, 400);
    EXPECT_NE(answer.body.find("..."), std::string::npos) << answer.body.substr(0, 300);
    return answer.body.size();
  };
  EXPECT_LT(bytes_of("GET /schema HTTP/1.1\r\nHost: " + much + "\r\n\r\n"), 500U);
  EXPECT_LT(bytes_of(request("GET", "/schema", "", "Origin: https://" + much + "\r\n")), 500U);
  EXPECT_LT(bytes_of(request("POST", "/actors/cup", R"({"type":")" + much + R"(","value":1})")), 500U);
  EXPECT_LT(bytes_of(request("POST", "/actors/cup", R"({")" + much + R"(":1})")), 500U);
}

TEST_F(hostile_clients, deep_and_malformed_json_is_refused) {
  const auto status_of = [&](const std::string& value) {
    return post(R"({"type":"record","value":)" + value + "}").status;
  };
  EXPECT_EQ(status_of("1"), 422); // The cup takes no records.
  EXPECT_EQ(status_of(std::string(100, '[') + std::string(100, ']')), 413);
  EXPECT_EQ(status_of(std::string(100'000, '[') + std::string(100'000, ']')), 413);
  EXPECT_EQ(post(std::string(500'000, '[')).status, 400);
  for (const auto* const text : {"\"\xff\xfe\"", "\"\xed\xa0\x80\"", "\"\\ud800\"", "01", "1.", "nul",
                                 "{\"a\":1,\"a\":2}", "\"\x01\"", "[1,]", "1e999", "\xef\xbb\xbf"})
    EXPECT_EQ(status_of(text), 400) << text;
  EXPECT_EQ(post(std::string("\0", 1)).status, 400);
  EXPECT_EQ(post(R"({"type":"test.spoon","type":"i32","value":1})").status, 400);
  EXPECT_EQ(post("[" + std::string(2000, ' ') + "]").status, 422); // A message without values.
  std::string values = "[";
  for (int i = 0; i < 100; ++i)
    values += R"({"type":"i32","value":1},)";
  values.back() = ']';
  EXPECT_EQ(post(values).status, 400);
  EXPECT_TRUE(others_are_served());
}

TEST_F(hostile_clients, text_of_another_type_or_compressed_is_refused) {
  const std::string body = R"({"atom":"stir"})";
  const auto with = [&](const std::string& lines) {
    return answer_to("POST /actors/cup HTTP/1.1\r\nHost: " + host() + "\r\nAuthorization: Bearer " + full_token + "\r\n"
                     + lines + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body)
        .status;
  };
  EXPECT_EQ(with(""), 415);
  EXPECT_EQ(with("Content-Type: text/plain\r\n"), 415);
  EXPECT_EQ(with("Content-Type: application/json\r\nContent-Encoding: gzip\r\n"), 415);
  EXPECT_EQ(with("Content-Type: application/json; charset=utf-8\r\n"), 422);
}

TEST_F(hostile_clients, a_thousand_idle_connections_keep_nobody_out) {
  options_.connections_max = 100;
  options_.connections_per_address_max = 100'000;
  std::vector<std::unique_ptr<raw_client>> idle;
  for (int i = 0; i < 1000; ++i) {
    idle.push_back(client());
    if (i % 100 == 0) {
      EXPECT_TRUE(others_are_served()) << i;
    }
  }
  EXPECT_TRUE(others_are_served());
  EXPECT_TRUE(eventually([&] { return gateway().stats().connections_open <= 100; }));
  EXPECT_TRUE(idle.front()->is_closed_by_peer());
  EXPECT_GE(gateway().stats().connections_shed, 900U);
}

TEST_F(hostile_clients, idle_connections_keep_nobody_out_if_the_process_has_no_descriptor_left) {
  log_lines lines{log_level::warning};
  std::vector<std::unique_ptr<raw_client>> idle;
  for (int i = 0; i < 8; ++i)
    idle.push_back(client());
  EXPECT_TRUE(eventually([&] { return gateway().stats().connections_open == 8; }));
  for (int i = 0; i < 3; ++i) {
    used_descriptors all;
    all.give_back_one(); // For the client itself.
    EXPECT_TRUE(others_are_served()) << i;
  }
  EXPECT_TRUE(idle.front()->is_closed_by_peer());
  EXPECT_TRUE(idle.back()->is_quiet());
  EXPECT_EQ(lines.with("can open no more files"), 1U);
}

TEST_F(hostile_clients, a_process_that_may_open_too_few_files_is_warned) {
  log_lines lines{log_level::warning};
  options_.connections_max = 4'000'000'000;
  static_cast<void>(gateway());
  EXPECT_EQ(lines.with("too few for 4000000000 connections"), 1U);
}

TEST_F(hostile_clients, sockets_without_a_token_keep_nobody_out) {
  options_.connections_max = 5;
  std::vector<std::unique_ptr<raw_client>> waiting;
  for (int i = 0; i < 20; ++i) {
    waiting.push_back(socket("", ""));
    EXPECT_TRUE(others_are_served()) << i;
  }
  ASSERT_TRUE(waiting.front());
  EXPECT_TRUE(waiting.front()->is_closed_by_peer());
}

TEST_F(hostile_clients, one_address_has_a_limited_number_of_connections) {
  options_.connections_per_address_max = 10;
  std::vector<std::unique_ptr<raw_client>> idle;
  for (int i = 0; i < 10; ++i)
    idle.push_back(client());
  EXPECT_TRUE(eventually([&] { return gateway().stats().connections_open == 10; }));
  EXPECT_TRUE(client()->is_closed_by_peer());
  idle.clear();
  EXPECT_TRUE(eventually([&] { return others_are_served(); }));
}

TEST_F(hostile_clients, a_vanished_socket_with_requests_under_way_frees_its_place) {
  std::string texts;
  for (int i = 0; i < 20; ++i)
    texts += frame_of(R"({"id":1,"message":[{"atom":"stir"},{"type":"test.spoon","value":{"metal":"tin"}}]})");
  for (int i = 0; i < 200; ++i) {
    const auto one = socket();
    ASSERT_TRUE(one) << i << " sockets have vanished";
    EXPECT_TRUE(one->send(texts));
    one->vanish();
  }
  EXPECT_TRUE(eventually([&] { return gateway().stats().connections_open == 0; }, 10s));
  EXPECT_EQ(gateway().stats().sockets_open, 0U);
}

// While so much is under way, the gateway does not read.
TEST_F(hostile_clients, a_socket_that_vanishes_while_it_is_not_read_frees_its_place) {
  options_.socket_requests_max = 4;
  const auto hold = frame_of(R"({"id":1,"message":{"atom":"hold"}})");
  for (const bool says_nothing : {true, false}) {
    auto one = socket();
    ASSERT_TRUE(one);
    for (int i = 0; i < 8; ++i)
      EXPECT_TRUE(one->send(hold));
    EXPECT_TRUE(eventually([&] { return gateway().stats().sockets_open == 1; }));
    if (says_nothing)
      one->vanish();
    one.reset();
    EXPECT_TRUE(eventually([&] { return gateway().stats().connections_open == 0; }, 10s)) << says_nothing;
  }
}

TEST_F(hostile_clients, a_client_that_leaves_before_the_answer_frees_its_place) {
  for (const bool says_nothing : {true, false}) {
    auto one = client();
    EXPECT_TRUE(one->send(request("POST", "/actors/cup", R"({"atom":"hold"})")));
    EXPECT_TRUE(eventually([&] { return gateway().stats().connections_open == 1; }));
    if (says_nothing)
      one->vanish();
    one.reset();
    EXPECT_TRUE(eventually([&] { return gateway().stats().connections_open == 0; }, 10s)) << says_nothing;
  }
}

TEST_F(hostile_clients, a_token_beyond_its_rate_has_to_wait) {
  options_.requests_per_second = 1;
  options_.requests_burst = 3;
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(post(R"({"type":"test.spoon","value":{"metal":"tin","turns":1}})").status, 200);
  const auto refused = post(R"({"type":"test.spoon","value":{"metal":"tin","turns":1}})");
  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(refused.head.at("retry-after"), "1");
  EXPECT_EQ(post("{}", "", small_token).status, 403); // Another token has a rate of its own.
}

TEST_F(hostile_clients, the_links_of_the_node_are_unharmed) {
  side far{{.name = "far", .listen = {"unix://@" + unique_name("gateway-far")}, .store = std::nullopt}};
  ASSERT_TRUE(far.home->publish("echo", far.system.spawn([]() -> caf::behavior { return {[](int n) { return n; }}; })));
  auto link = home().home->connect(far.home->addresses().front());
  ASSERT_TRUE(link);
  auto echo = link->find("echo");
  ASSERT_TRUE(echo);
  caf::scoped_actor self{home().system};
  for (int i = 0; i < 20; ++i) {
    const auto one = client();
    static_cast<void>(one->send(post_head("Content-Length: 1000000\r\n\r\n") + std::string(1000, '[')));
    int got = -1;
    self->request(*echo, 10s, i).receive([&](int n) { got = n; }, [](const caf::error&) {});
    EXPECT_EQ(got, i);
  }
}

} // namespace
} // namespace troupe::tests
