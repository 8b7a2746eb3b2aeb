// A secret changes while nodes run: no request fails, and the old secret is worth nothing in the end.
#include <atomic>
#include <deque>
#include <filesystem>
#include <fstream>
#include <thread>

#include "certificates.hpp"
#include "raw_peer.hpp"
#include "two_nodes.hpp"

namespace troupe::tests {
namespace {

const std::string old_secret = "the old secret of all nodes";
const std::string new_secret = "the new secret of all nodes";

/// A folder with secret files, as each host has one.
class secret_folder {
public:
  secret_folder() { std::filesystem::create_directory(folder_); }
  ~secret_folder() { std::filesystem::remove_all(folder_); }
  secret_folder(const secret_folder&) = delete;
  secret_folder& operator=(const secret_folder&) = delete;

  /// Puts a file with these lines in the place of that name, as the guide says: written beside it and moved there.
  std::string write(const std::string& name, const std::vector<std::string>& lines) {
    const auto path = folder_ / name;
    const auto beside = folder_ / (name + ".new");
    {
      std::ofstream file{beside};
      for (const auto& each : lines)
        file << each << '\n';
    }
    std::filesystem::permissions(beside, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    std::filesystem::rename(beside, path);
    return path;
  }

private:
  const std::filesystem::path folder_ = testing::TempDir() + unique_name("troupe-secrets");
};

/// One of several nodes, each of which listens and dials with the secrets of its own file.
class host {
public:
  host(secret_folder& files, const std::string& name, const std::vector<std::string>& lines)
      : name_(name), file_(files.write(name, lines)) {
    node_options options{.name = name, .listen = {"tcp://127.0.0.1:0"}, .store = std::nullopt};
    options.accepted_links.credentials.secret_file = file_;
    side_ = std::make_unique<side>(std::move(options));
    const auto echo = side_->system.spawn([]() -> caf::behavior { return {[](int value) { return value; }}; });
    EXPECT_TRUE(side_->home->publish("echo", echo));
  }

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::string address() const { return side_->home->addresses().front(); }
  [[nodiscard]] link_options terms() const { return {.credentials = {.secret_file = file_}, .connect_timeout = 60s}; }
  [[nodiscard]] side& home() { return *side_; }

  /// Returns "well" if a new link to the other host answers a request, and otherwise the reason.
  std::string asks(host& other) {
    auto link = side_->home->connect(other.address(), terms());
    return link ? asks_over(*link) : link.error().message();
  }
  std::string asks_over(link& over) {
    const auto echo = over.find("echo", 60s);
    if (!echo)
      return echo.error().message();
    const auto answer = ask<int>(side_->system, *echo, 7);
    return answer == 7 ? "well" : text_of(answer);
  }

private:
  std::string name_;
  std::string file_;
  std::unique_ptr<side> side_;
};

class hosts_with_a_secret : public testing::Test {
protected:
  hosts_with_a_secret() {
    for (const auto* name : {"one", "two", "three"})
      hosts_.emplace_back(files_, name, std::vector{old_secret});
  }

  /// Puts these lines into the file of one host after the other. After each, every host reaches every other.
  void everywhere(const std::vector<std::string>& lines) {
    for (auto& changed : hosts_) {
      files_.write(changed.name(), lines);
      for (auto& from : hosts_)
        for (auto& to : hosts_)
          if (&from != &to) {
            EXPECT_EQ(from.asks(to), "well") << from.name() << " to " << to.name();
          }
    }
  }

  /// Returns whether a peer with that secret alone is admitted.
  bool admits(host& whom, const std::string& secret) {
    link_options with{.connect_timeout = 60s};
    with.credentials.secret = secret;
    const auto connected = stranger_.home->connect(whom.address(), with);
    EXPECT_TRUE(connected || connected.error().code() == node_errc::refused) << connected.error().message();
    return connected.has_value();
  }

  secret_folder files_;
  std::deque<host> hosts_;
  side stranger_{{.name = "stranger", .store = std::nullopt}};
};

// Goal: the three steps of "How do I change the secret?" in framework/guides/security.md interrupt nothing.
// Method: one thread sends requests over a link that stays open, and another one over a new link each time.
TEST_F(hosts_with_a_secret, change_it_in_three_steps_without_a_request_that_fails) {
  std::atomic<bool> is_over{false};
  std::atomic<int> asked{0};
  auto kept = hosts_[0].home().home->connect(hosts_[1].address(), hosts_[0].terms());
  ASSERT_TRUE(kept) << kept.error().message();
  const auto stream = [&](const std::function<std::string()>& request) {
    while (!is_over) {
      EXPECT_EQ(request(), "well");
      ++asked;
    }
  };
  {
    std::jthread over_one_link{[&] { stream([&] { return hosts_[0].asks_over(*kept); }); }};
    std::jthread over_new_links{[&] { stream([&] { return hosts_[1].asks(hosts_[2]); }); }};
    everywhere({old_secret, new_secret}); // 1. Every node accepts the new secret.
    EXPECT_TRUE(admits(hosts_[0], new_secret));
    everywhere({new_secret, old_secret}); // 2. Every node dials with the new secret.
    EXPECT_TRUE(admits(hosts_[0], old_secret));
    everywhere({new_secret}); // 3. No node accepts the old secret.
    is_over = true;
  }
  EXPECT_GT(asked, 2);
  for (auto& each : hosts_) {
    EXPECT_FALSE(admits(each, old_secret));
    EXPECT_TRUE(admits(each, new_secret));
  }
  EXPECT_TRUE(kept->is_open());
}

/// The far end has `far_lines` in its file, and the near end `near_lines`.
class two_secret_files : public two_nodes {
protected:
  void SetUp() override {
    far_options_.listen = {"tcp://127.0.0.1:0"};
    far_options_.accepted_links.connect_timeout = 60s;
  }

  std::expected<link, node_error> dial(const std::vector<std::string>& near_lines,
                                       const std::vector<std::string>& far_lines) {
    far_options_.accepted_links.credentials.secret_file = files_.write("far", far_lines);
    far();
    near_links_.credentials.secret_file = files_.write("near", near_lines);
    near_links_.connect_timeout = 60s;
    return near().home->connect(address_, near_links_);
  }

  secret_folder files_;
  link_options near_links_;
};

TEST_F(two_secret_files, meet_with_every_secret_that_both_have) {
  const std::vector<std::vector<std::string>> with_old{
      {old_secret}, {old_secret, new_secret}, {new_secret, old_secret}};
  for (const auto& near_lines : with_old)
    for (const auto& far_lines : with_old) {
      const auto connected = dial(near_lines, far_lines);
      EXPECT_TRUE(connected) << near_lines.size() << far_lines.size() << ' ' << connected.error().message();
    }
}

TEST_F(two_secret_files, do_not_meet_without_a_common_secret_and_try_each_once) {
  const auto before = [&] { return far().home->stats().peers_refused; };
  auto connected = dial({old_secret}, {new_secret});
  ASSERT_FALSE(connected);
  EXPECT_EQ(connected.error().code(), node_errc::refused);
  EXPECT_EQ(before(), 1u);
  connected = dial({old_secret, "the oldest secret of all"}, {new_secret});
  ASSERT_FALSE(connected);
  expect_contains(connected.error().message(), "do not have the same shared secret");
  EXPECT_EQ(before(), 3u);
}

TEST_F(two_secret_files, are_asked_over_one_connection_if_the_first_secret_is_known) {
  ASSERT_TRUE(dial({new_secret, old_secret}, {old_secret, new_secret}));
  EXPECT_EQ(far().home->stats().peers_refused, 0u);
  ASSERT_TRUE(dial({new_secret, old_secret}, {old_secret}));
  EXPECT_EQ(far().home->stats().peers_refused, 1u);
}

// Goal: a refusal for another reason than the secret is not tried twice.
TEST_F(two_secret_files, are_not_dialed_again_if_the_node_is_refused_for_another_reason) {
  near_links_.peer_identity = std::string(64, 'a');
  const auto connected = dial({old_secret, new_secret}, {old_secret, new_secret});
  ASSERT_FALSE(connected);
  EXPECT_EQ(connected.error().code(), node_errc::another_peer);
  EXPECT_EQ(far().home->stats().links_opened, 0u);
}

TEST_F(two_secret_files, let_a_link_that_is_kept_connected_follow_a_change) {
  far_options_.accepted_links.credentials.secret_file = files_.write("far", {old_secret});
  far();
  near_links_.credentials.secret_file = files_.write("near", {old_secret});
  std::atomic<int> opened{0};
  auto kept = near().home->keep_connected(address_, {.link = near_links_,
                                                     .policy = {.first_pause = 10ms, .longest_pause = 10ms},
                                                     .events = {.callback = [&](const link_event& event) {
                                                       opened += event.what == link_event::kind::connected ? 1 : 0;
                                                     }}});
  ASSERT_TRUE(kept) << kept.error().message();
  ASSERT_TRUE(eventually([&] { return opened == 1; }));
  files_.write("far", {new_secret});
  files_.write("near", {new_secret, old_secret});
  for (auto& each : far().home->links())
    each.close();
  EXPECT_TRUE(eventually([&] { return opened == 2; }));
}

TEST_F(two_secret_files, are_bound_to_the_session_of_tls_like_one_secret) {
  certificate_folder made;
  const auto authority = made.authority("authority");
  const auto server = made.issue(authority, "server", "IP:127.0.0.1");
  far_options_.listen = {"tls://127.0.0.1:0"};
  far_options_.accepted_links.credentials.tls = {.certificate_file = server.certificate, .key_file = server.key};
  near_links_.credentials.tls.authority_file = authority.certificate;
  EXPECT_TRUE(dial({new_secret, old_secret}, {old_secret}));
  EXPECT_TRUE(dial({old_secret}, {new_secret, old_secret}));
  EXPECT_FALSE(dial({old_secret}, {new_secret}));
}

// Goal: the acceptor proves the secret that the dialer has proven, and nothing tells which others it has.
TEST_F(two_secret_files, answer_with_the_secret_that_was_proven) {
  far_options_.accepted_links.credentials.secret_file = files_.write("far", {new_secret, old_secret});
  far();
  for (const auto& secret : {old_secret, new_secret}) {
    raw_peer peer{address_, secret};
    peer.open(); // Checks the acceptor's proofs by this secret.
  }
}

} // namespace
} // namespace troupe::tests
