// Admission over TLS: peers with a valid certificate or the secret are admitted. A relay with a certificate of its own
// is not.
#include <poll.h>

#include <openssl/ssl.h>

#include "certificates.hpp"
#include "raw_peer.hpp"
#include "relay.hpp"
#include "two_nodes.hpp"

namespace troupe::tests {
namespace {

class tls : public relayed_nodes {
protected:
  void SetUp() override {
    authority_ = made_.authority("authority");
    far_options_.listen = {"tls://127.0.0.1:0"};
    far_options_.accepted_links.credentials.secret = test_secret;
    serve(made_.issue(authority_, "server", "DNS:localhost,IP:127.0.0.1"));
    near_links_.connect_timeout = far_options_.accepted_links.connect_timeout = 60s;
    near_links_.credentials = {.secret = test_secret, .tls = {.authority_file = authority_.certificate}};
  }

  void serve(const certificate_files& with) {
    far_options_.accepted_links.credentials.tls.certificate_file = with.certificate;
    far_options_.accepted_links.credentials.tls.key_file = with.key;
  }

  void ask_for_certificates() {
    auto& credentials = far_options_.accepted_links.credentials;
    credentials.secret.clear();
    credentials.tls.require_client_certificate = true;
    credentials.tls.authority_file = authority_.certificate;
    near_links_.credentials.secret.clear();
  }

  void show(const certificate_files& mine) {
    near_links_.credentials.tls.certificate_file = mine.certificate;
    near_links_.credentials.tls.key_file = mine.key;
  }

  /// Returns the text with which the link is refused, or "connected".
  std::string refusal() {
    far();
    auto connected = near().home->connect(address_, near_links_);
    if (connected)
      return "connected";
    EXPECT_EQ(connected.error().code(), node_errc::refused) << connected.error().message();
    return connected.error().message();
  }

  certificate_folder made_;
  certificate_files authority_;
  link_options near_links_;
};

/// Runs over a relay that stands for a slow or broken network.
class tls_through_a_relay : public tls {
protected:
  void SetUp() override {
    tls::SetUp();
    near_links_.block_timeout = 0ms;
    near_links_.heartbeat_interval = 100ms;
    near_links_.heartbeat_timeout = 600ms;
  }
};

TEST_F(tls_through_a_relay, a_peer_that_falls_silent_is_given_up_though_the_kernel_takes_what_it_is_asked) {
  auto sink = connect_through_relay(near_links_);
  between_->fall_silent();
  caf::scoped_actor self{near().system};
  std::string reason;
  self->request(sink, caf::infinite, 1).receive([] {}, [&](caf::error& error) { reason = troupe::text_of(error); });
  expect_contains(reason, "the peer has been silent for ");
  EXPECT_TRUE(eventually([&] { return !link_->is_open(); }));
}

TEST_F(tls_through_a_relay, a_peer_that_only_reads_slowly_is_not) {
  expect_to_stay_though_reading_is_slow(connect_through_relay(near_links_));
}

TEST_F(tls, with_a_secret_lets_in_who_knows_it) {
  EXPECT_EQ(refusal(), "connected");
}

TEST_F(tls, with_a_secret_refuses_who_does_not) {
  near_links_.credentials.secret = "another secret of 16 bytes";
  expect_contains(refusal(), "do not have the same shared secret");
  near_links_.credentials.secret.clear();
  expect_contains(refusal(), "the listening end requires a shared secret and the dialing end has none");
}

TEST_F(tls, by_certificate_lets_in_who_has_one) {
  ask_for_certificates();
  show(made_.issue(authority_, "client", "DNS:client"));
  EXPECT_EQ(refusal(), "connected");
}

TEST_F(tls, by_certificate_refuses_who_has_none) {
  ask_for_certificates();
  expect_contains(refusal(), "certificate required");
}

TEST_F(tls, by_certificate_refuses_one_of_another_authority) {
  ask_for_certificates();
  show(made_.issue(made_.authority("others"), "client", "DNS:client"));
  expect_contains(refusal(), "unknown ca");
}

TEST_F(tls, by_certificate_refuses_one_that_has_expired) {
  ask_for_certificates();
  show(made_.issue(authority_, "client", "DNS:client", -1h));
  expect_contains(refusal(), "certificate expired");
}

TEST_F(tls, may_ask_for_both) {
  ask_for_certificates();
  far_options_.accepted_links.credentials.secret = test_secret;
  show(made_.issue(authority_, "client", "DNS:client"));
  expect_contains(refusal(), "the dialing end has none");
  near_links_.credentials.secret = test_secret;
  EXPECT_EQ(refusal(), "connected");
}

TEST_F(tls, refuses_a_server_of_another_authority) {
  serve(made_.issue(made_.authority("others"), "server", "IP:127.0.0.1"));
  expect_contains(refusal(), "the peer's certificate is not accepted: unable to get local issuer certificate");
}

TEST_F(tls, refuses_a_server_when_no_authority_is_named_and_the_system_knows_none_of_it) {
  near_links_.credentials.tls.authority_file.clear();
  expect_contains(refusal(), "the peer's certificate is not accepted: unable to get local issuer certificate");
}

TEST_F(tls, refuses_a_server_of_another_name) {
  serve(made_.issue(authority_, "server", "DNS:elsewhere,IP:127.0.0.2"));
  expect_contains(refusal(), "the peer's certificate is not accepted: IP address mismatch");
  near_links_.credentials.tls.server_name = "nowhere";
  expect_contains(refusal(), "the peer's certificate is not accepted: hostname mismatch");
  near_links_.credentials.tls.server_name = "elsewhere";
  EXPECT_EQ(refusal(), "connected");
}

TEST_F(tls, refuses_a_server_whose_certificate_has_expired) {
  serve(made_.issue(authority_, "server", "IP:127.0.0.1", -1h));
  expect_contains(refusal(), "the peer's certificate is not accepted: certificate has expired");
}

TEST_F(tls, turns_other_protocols_away) {
  far();
  raw_peer plain{address_, test_secret};
  plain.greet();
  plain.everything(); // An alert, then the end.
  raw_peer web{address_};
  web.write(bytes_of("GET / HTTP/1.1\r\n\r\n"));
  web.everything();
  EXPECT_EQ(refusal(), "connected");
}

TEST_F(tls, a_server_that_speaks_none_is_refused) {
  raw_listener plain;
  std::jthread acceptor{[&] {
    raw_peer peer{plain.accept(), link_side::acceptor, test_secret};
    peer.write(bytes_of("TROUPE and something else"));
    peer.everything();
  }};
  auto connected = near().home->connect(plain.address("tls"), near_links_);
  ASSERT_FALSE(connected);
  EXPECT_EQ(connected.error().code(), node_errc::refused);
  expect_contains(connected.error().message(), "TLS: ");
}

/// Terminates TLS on both sides with a certificate that the dialer accepts, and relays the plain text.
class tls_relay {
public:
  tls_relay(const certificate_files& mine, std::string target) {
    thread_ = std::jthread{[this, mine, target = std::move(target)] {
      std::unique_ptr<SSL_CTX, void (*)(SSL_CTX*)> serving{SSL_CTX_new(TLS_server_method()), SSL_CTX_free};
      std::unique_ptr<SSL_CTX, void (*)(SSL_CTX*)> dialing{SSL_CTX_new(TLS_client_method()), SSL_CTX_free};
      SSL_CTX_use_certificate_chain_file(serving.get(), mine.certificate.c_str());
      SSL_CTX_use_PrivateKey_file(serving.get(), mine.key.c_str(), SSL_FILETYPE_PEM);
      int sockets[2] = {listener_.accept(), connect_to(target)};
      std::unique_ptr<SSL, void (*)(SSL*)> ends[2] = {{SSL_new(serving.get()), SSL_free},
                                                      {SSL_new(dialing.get()), SSL_free}};
      for (int i : {0, 1})
        SSL_set_fd(ends[i].get(), sockets[i]);
      if (SSL_accept(ends[0].get()) == 1 && SSL_connect(ends[1].get()) == 1)
        relay(ends[0].get(), ends[1].get(), sockets);
      for (int i : {0, 1})
        ::close(sockets[i]);
    }};
  }

  [[nodiscard]] std::string address() const { return listener_.address("tls"); }
  [[nodiscard]] std::size_t relayed() {
    thread_.join();
    return relayed_;
  }

private:
  void relay(SSL* one, SSL* other, const int* sockets) {
    SSL* ends[2] = {one, other};
    for (;;) {
      pollfd ready[2] = {{sockets[0], POLLIN, 0}, {sockets[1], POLLIN, 0}};
      if (::poll(ready, 2, 10'000) <= 0)
        return;
      for (int i : {0, 1}) {
        if (ready[i].revents == 0)
          continue;
        char bytes[16384];
        auto count = SSL_read(ends[i], bytes, sizeof(bytes));
        if (count <= 0 || SSL_write(ends[1 - i], bytes, count) <= 0)
          return;
        relayed_ += static_cast<std::size_t>(count);
      }
    }
  }

  raw_listener listener_;
  std::size_t relayed_ = 0;
  std::jthread thread_;
};

TEST_F(tls, binds_the_secret_to_the_session_so_that_nobody_can_pass_proofs_on) {
  far();
  tls_relay middle{made_.issue(authority_, "middle", "IP:127.0.0.1"), address_};
  auto connected = near().home->connect(middle.address(), near_links_);
  ASSERT_FALSE(connected);
  EXPECT_EQ(connected.error().code(), node_errc::refused);
  expect_contains(connected.error().message(), "do not have the same shared secret");
  EXPECT_GT(middle.relayed(), 200u); // The greetings and a proof got through.
}

} // namespace
} // namespace troupe::tests
