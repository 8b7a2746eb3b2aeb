// Goal: over TLS a gateway serves what it serves without, and nobody without TLS.
#include <filesystem>
#include <memory>

#include <openssl/ssl.h>

#include "open_gateway.hpp"

#include <troupe/certificates/certificates.hpp>

namespace troupe::tests {
namespace {

namespace fs = std::filesystem;

class over_tls : public open_gateway {
protected:
  over_tls() {
    fs::create_directory(folder_);
    const auto made = certificates::make_self_signed(
        files_, {.name = "kitchen", .names = "DNS:localhost,IP:127.0.0.1", .until = std::chrono::hours(1)});
    if (!made)
      throw std::runtime_error(made.error());
    options_.certificate_file = files_.certificate.string();
    options_.key_file = files_.key.string();
  }
  ~over_tls() override { fs::remove_all(folder_); }

  /// The bytes of an answer over a TLS connection of its own; empty if there is no connection.
  std::string answer_over_tls(const std::string& text, int version_max = TLS1_3_VERSION) {
    const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context{SSL_CTX_new(TLS_client_method()), SSL_CTX_free};
    SSL_CTX_set_max_proto_version(context.get(), version_max);
    SSL_CTX_load_verify_file(context.get(), files_.certificate.c_str());
    SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
    const std::unique_ptr<BIO, decltype(&BIO_free_all)> connection{BIO_new_ssl_connect(context.get()), BIO_free_all};
    BIO_set_conn_hostname(connection.get(), host().c_str());
    if (BIO_do_connect(connection.get()) <= 0
        || BIO_write(connection.get(), text.data(), static_cast<int>(text.size())) <= 0)
      return {};
    std::string answer;
    char piece[4096];
    for (int got = 0; (got = BIO_read(connection.get(), piece, sizeof piece)) > 0;)
      answer.append(piece, static_cast<std::size_t>(got));
    SSL* ssl = nullptr;
    BIO_get_ssl(connection.get(), &ssl);
    was_closed_cleanly_ = (SSL_get_shutdown(ssl) & SSL_RECEIVED_SHUTDOWN) != 0;
    return answer;
  }

  bool was_closed_cleanly_ = false; // The last connection ended with close_notify.
  const fs::path folder_ = fs::temp_directory_path() / unique_name("gateway-tls");
  const certificates::files files_{folder_ / "certificate.pem", folder_ / "key.pem"};
};

TEST_F(over_tls, requests_are_answered) {
  EXPECT_TRUE(gateway().url().starts_with("https://127.0.0.1:"));
  const auto answer = answer_over_tls(request("POST", "/actors/cup",
                                              R"([{"atom":"stir"},{"type":"test.spoon","value":{"metal":"tin"}}])",
                                              "Connection: close\r\n"));
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 200")) << answer;
  EXPECT_TRUE(answer.ends_with(R"({"type":"str","value":"stirred by tin"})")) << answer;
}

TEST_F(over_tls, objects_and_web_sockets_are_served) {
  auto ref = home().home->put(array<std::byte>(std::vector<std::byte>(1'000'000)));
  ASSERT_TRUE(ref && gateway().expose_object("large", *ref));
  EXPECT_GT(answer_over_tls(request("GET", "/objects/large", "", "Connection: close\r\n")).size(), 1'000'000U);
  using namespace std::string_literals;
  const auto socket = answer_over_tls(request("GET", "/actors/cup", "",
                                              "Connection: Upgrade\r\nUpgrade: websocket\r\n"
                                              "Sec-WebSocket-Version: 13\r\n"
                                              "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n")
                                      + "\x88\x80\0\0\0\0"s);
  EXPECT_TRUE(socket.starts_with("HTTP/1.1 400")) << socket; // Frames must wait for the answer.
}

TEST_F(over_tls, plain_and_old_connections_are_refused) {
  const auto plain = client();
  EXPECT_TRUE(plain->send(request("GET", "/schema")));
  const auto refused = plain->answer();
  EXPECT_EQ(refused.status, 400);
  EXPECT_EQ(refused.body, R"({"error":{"code":"needs_tls","text":"this gateway speaks TLS: use https:// or wss://"}})");
  EXPECT_TRUE(plain->is_closed_by_peer());
  EXPECT_EQ(answer_over_tls(request("GET", "/schema", "", "Connection: close\r\n"), TLS1_1_VERSION), "");
}

TEST_F(over_tls, a_connection_ends_with_close_notify) {
  for (const auto& token : {full_token, small_token, std::string("wrong-0123456789abcdef0123456789abcdef")}) {
    EXPECT_FALSE(answer_over_tls(request("GET", "/schema", "", "Connection: close\r\n", token)).empty());
    EXPECT_TRUE(was_closed_cleanly_) << token;
  }
}

TEST_F(over_tls, a_handshake_that_takes_too_long_is_cut) {
  options_.header_timeout = 200ms;
  const auto silent = client();
  EXPECT_TRUE(silent->is_closed_by_peer());
}

TEST_F(over_tls, a_key_that_others_may_read_is_refused) {
  fs::permissions(files_.key, fs::perms::group_read, fs::perm_options::add);
  options_.token_file = tokens_.path();
  const auto opened = troupe::gateway::open(*home().home, options_);
  ASSERT_FALSE(opened);
  EXPECT_NE(opened.error().message().find("chmod 600"), std::string::npos);
}

} // namespace
} // namespace troupe::tests
