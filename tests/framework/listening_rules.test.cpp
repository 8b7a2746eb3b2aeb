// Addresses at which a node refuses to listen or to dial because anyone could connect, and the advice in its error.
#include <filesystem>

#include <fcntl.h>
#include <sys/stat.h>

#include <troupe/framework/internal/words/log.hpp>

#include "certificates.hpp"
#include "raw_peer.hpp"
#include "two_nodes.hpp"

namespace troupe::tests {
namespace {

class listening : public two_nodes {
protected:
  /// Returns the reason why a node does not listen at `address`, or "listens".
  std::string at(const std::string& address, const struct credentials& with = {}) {
    far_options_.listen = {address};
    far_options_.accepted_links.credentials = with;
    far_.reset();
    try {
      far();
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "listens";
  }

  /// Returns the reason why a node does not dial `address`, or "connected".
  std::string dialing(const std::string& address, const struct credentials& with = {}) {
    link_options options;
    options.credentials = with;
    auto connected = near().home->connect(address, options);
    return connected ? "connected" : connected.error().message();
  }

  certificate_folder made_;
};

TEST_F(listening, on_addresses_that_others_reach_needs_a_secret) {
  for (const auto* address : {"tcp://0.0.0.0:0", "tcp://[::]:0"}) {
    auto text = at(address);
    expect_contains(text, "can be reached from other hosts");
    expect_contains(text, "set credentials.secret or credentials.secret_file");
  }
}

TEST_F(listening, with_a_secret_works_and_warns) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(at("tcp://0.0.0.0:0", {.secret = test_secret}), "listens");
  auto told = testing::internal::GetCapturedStderr();
  if (log_threshold() >= log_level::warning)
    expect_contains(told, "trusted network only");
  EXPECT_EQ(address_.find(":0", 10), std::string::npos) << address_; // The system chose a port.
  connect({.credentials = {.secret = test_secret}});
}

TEST_F(listening, on_loopback_does_not_warn) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(at("tcp://127.0.0.1:0", {.secret = test_secret}), "listens");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST_F(listening, never_shows_the_secret) {
  testing::internal::CaptureStderr();
  auto text = at("tcp://0.0.0.0:0", {.secret = "shortsecret"});
  expect_contains(text, "has 11 bytes, minimum 16");
  text += at("tcp://0.0.0.0:0", {.secret = test_secret, .secret_file = "/nowhere"});
  expect_contains(text, "both set");
  at("tcp://0.0.0.0:0", {.secret = test_secret});
  text += testing::internal::GetCapturedStderr();
  EXPECT_EQ(text.find("shortsecret"), std::string::npos);
  EXPECT_EQ(text.find(test_secret), std::string::npos);
}

TEST_F(listening, with_tls_needs_a_certificate) {
  expect_contains(at("tls://127.0.0.1:0", {.secret = test_secret}),
                  "set credentials.tls.certificate_file and key_file");
}

TEST_F(listening, with_tls_needs_to_know_who_may_come_in) {
  auto authority = made_.authority("authority");
  auto mine = made_.issue(authority, "server", "IP:127.0.0.1");
  tls_options tls{.certificate_file = mine.certificate, .key_file = mine.key};
  expect_contains(at("tls://127.0.0.1:0", {.tls = tls}), "would accept any peer");
  EXPECT_EQ(at("tls://127.0.0.1:0", {.secret = test_secret, .tls = tls}), "listens");
  tls.require_client_certificate = true;
  expect_contains(at("tls://127.0.0.1:0", {.tls = tls}), "no authority is given: set credentials.tls.authority_file");
  tls.authority_file = authority.certificate;
  EXPECT_EQ(at("tls://127.0.0.1:0", {.tls = tls}), "listens");
}

TEST_F(listening, with_unusable_files_names_the_option_and_the_file) {
  auto authority = made_.authority("authority");
  auto mine = made_.issue(authority, "server", "IP:127.0.0.1");
  auto other = made_.issue(authority, "other", "IP:127.0.0.1");
  auto with = [&](tls_options tls) { return at("tls://127.0.0.1:0", {.secret = test_secret, .tls = std::move(tls)}); };
  expect_contains(with({.certificate_file = "/nowhere", .key_file = mine.key}),
                  "certificate_file \"/nowhere\" cannot be");
  expect_contains(with({.certificate_file = mine.certificate, .key_file = "/nowhere"}),
                  "key_file \"/nowhere\" cannot be");
  expect_contains(with({.certificate_file = mine.key, .key_file = mine.key}), "holds no usable certificate");
  expect_contains(with({.certificate_file = mine.certificate, .key_file = other.key}), other.key);
  expect_contains(with({.certificate_file = mine.certificate, .key_file = mine.key, .authority_file = mine.key}),
                  "authority_file");
}

TEST_F(listening, where_somebody_listens_already_says_so) {
  ASSERT_EQ(at("tcp://127.0.0.1:0", {.secret = test_secret}), "listens");
  node_options second{.name = "second", .listen = {address_}, .store = std::nullopt};
  second.accepted_links.credentials.secret = test_secret;
  try {
    side{second};
    ADD_FAILURE() << "both listen";
  } catch (const std::runtime_error& error) {
    expect_contains(error.what(), "the address is already in use");
  }
}

TEST_F(listening, leaves_no_descriptor_to_programs_that_are_started) {
  for (const auto& address : {"unix://@" + unique_name("troupe-test"), std::string{"tcp://127.0.0.1:0"}}) {
    ASSERT_EQ(at(address, {.secret = test_secret}), "listens");
    connect({.credentials = {.secret = test_secret}});
    for (const auto& each : std::filesystem::directory_iterator{"/proc/self/fd"}) {
      const auto number = std::stoi(each.path().filename());
      struct stat status {};
      if (::fstat(number, &status) == 0 && S_ISSOCK(status.st_mode)) {
        EXPECT_NE(::fcntl(number, F_GETFD) & FD_CLOEXEC, 0) << address << ": " << number;
      }
    }
  }
}

TEST_F(listening, needs_room_for_peers) {
  far_options_.unproven_peers_max = 0;
  expect_contains(at("tcp://127.0.0.1:0", {.secret = test_secret}), "unproven_peers_max is 0");
}

TEST_F(listening, dialing_another_host_needs_a_secret_too) {
  expect_contains(dialing("tcp://0.0.0.0:9"), "is not on this host: set credentials.secret");
  expect_contains(dialing("tcp://127.0.0.1:9", {.secret = "short"}), "has 5 bytes");
  expect_contains(dialing("tcp://nowhere"), "needs a port");
}

TEST_F(listening, dialing_where_nobody_listens_says_so) {
  auto address = raw_listener{}.address();
  expect_contains(dialing(address, {.secret = test_secret}), "cannot connect to " + address);
}

} // namespace
} // namespace troupe::tests
