// Rights by role: who has a role, what it may do, and what a peer is told that may not.
#include <filesystem>
#include <fstream>

#include <troupe/framework/memory_summary.hpp>
#include <troupe/framework/node_report.hpp>

#include "certificates.hpp"
#include "raw_peer.hpp"
#include "two_nodes.hpp"

namespace troupe::tests {
namespace {

int doubled(int value) {
  return 2 * value;
}

void add_doubled(type_registry& types) {
  types.add_function<&doubled>("doubled");
}

class peers_with_roles : public two_nodes {
protected:
  void SetUp() override {
    std::filesystem::create_directory(folder_);
    far_types_ = near_types_ = add_doubled;
    far_options_.listen = {"tcp://127.0.0.1:0"};
    auto& accepted = far_options_.accepted_links;
    accepted.connect_timeout = 60s;
    accepted.credentials.secret_file = secret_of("everybody");
    accepted.allow_find = {"clock"};
    accepted.roles = {
        {.name = "worker", .secret_file = secret_of("worker"), .allow_tasks = true, .allow_find = {"shop.*"}},
        {.name = "ops",
         .secret_file = secret_of("ops"),
         .allow_exit = true,
         .allow_report = true,
         .allow_find = {"*"}}};
    near_links_.connect_timeout = 60s;
  }
  ~peers_with_roles() override { std::filesystem::remove_all(folder_); }

  /// The file with the secret of these peers.
  std::string secret_of(const std::string& whom) {
    const auto path = folder_ / whom;
    std::ofstream{path} << "the secret of " << whom << '\n';
    std::filesystem::permissions(path, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    return path;
  }

  link& connect_as(const std::string& whom) {
    near_links_.credentials.secret_file = secret_of(whom);
    return connect(near_links_);
  }

  /// The role that the far end has for its only peer.
  std::string role_there() {
    const auto links = far().home->links();
    return links.size() == 1 ? links.front().peer_role() : std::to_string(links.size()) + " links";
  }
  std::string outcome_of_task() {
    const auto result = link_->submit(fn_ref<&doubled>, 4).get(60s);
    return result ? std::to_string(*result) : result.error().message();
  }
  std::string outcome_of_report() {
    const auto report = link_->report(60s, {});
    return report ? "reported" : report.error().message();
  }
  std::string outcome_of_find(const std::string& name) {
    const auto found = link_->find(name, 60s);
    return found ? "found" : found.error().message();
  }
  void publish_something() {
    for (const auto* name : {"clock", "shop.cart", "vault"})
      publish(name, far().system.spawn([]() -> caf::behavior { return {[](int value) { return value; }}; }));
  }

  const std::filesystem::path folder_ = testing::TempDir() + unique_name("troupe-roles");
  link_options near_links_;
};

TEST_F(peers_with_roles, have_the_role_of_the_secret_that_they_prove) {
  connect_as("worker");
  EXPECT_EQ(role_there(), "worker");
  EXPECT_EQ(link_->peer_role(), ""); // The dialer has chosen its peer, and gives no roles.
}

TEST_F(peers_with_roles, have_none_by_the_common_secret) {
  connect_as("everybody");
  EXPECT_EQ(role_there(), "");
}

TEST_F(peers_with_roles, are_refused_with_a_secret_that_is_not_theirs) {
  far();
  near_links_.credentials.secret_file = secret_of("nobody");
  const auto connected = near().home->connect(address_, near_links_);
  ASSERT_FALSE(connected);
  EXPECT_EQ(connected.error().code(), node_errc::refused);
}

TEST_F(peers_with_roles, may_do_what_their_role_may) {
  connect_as("worker");
  EXPECT_EQ(outcome_of_task(), "8");
  EXPECT_EQ(outcome_of_report(),
            "far cannot be inspected for the role \"worker\", which this end has there; its accepted_links.roles must "
            "give allow_memory_summary, allow_report, allow_recording or allow_orders to this role");
  connect_as("ops");
  EXPECT_EQ(outcome_of_report(), "reported");
  EXPECT_EQ(outcome_of_task(), "far runs no tasks for the role \"ops\", which this end has there; its "
                               "accepted_links.roles must give allow_tasks to this role");
  EXPECT_NE(link_->memory_summary().error().message().find("must give allow_memory_summary to this role"),
            std::string::npos);
}

TEST_F(peers_with_roles, may_without_a_role_do_what_the_link_allows) {
  connect_as("everybody");
  EXPECT_EQ(outcome_of_task(), "far runs no tasks for this link; its end of the link must have allow_tasks");
  far_.reset();
  near_.reset();
  far_options_.accepted_links.allow_tasks = true;
  connect_as("everybody");
  EXPECT_EQ(outcome_of_task(), "8");
  connect_as("ops"); // A right that the role does not set is that of the link.
  EXPECT_EQ(outcome_of_task(), "8");
}

TEST_F(peers_with_roles, may_be_denied_what_other_peers_may) {
  far_options_.accepted_links.allow_tasks = true;
  far_options_.accepted_links.roles[1].allow_tasks = false;
  connect_as("ops");
  expect_contains(outcome_of_task(), "runs no tasks for the role \"ops\"");
}

TEST_F(peers_with_roles, find_only_the_names_of_their_role) {
  publish_something();
  connect_as("worker");
  EXPECT_EQ(outcome_of_find("shop.cart"), "found");
  const auto refused = outcome_of_find("vault");
  expect_contains(refused, "far does not let this end find \"vault\"");
  expect_contains(refused, "must give allow_find for this name to the role \"worker\"");
  EXPECT_EQ(link_->find("vault", 60s).error().code(), node_errc::not_allowed);
  EXPECT_EQ(link_->find("nothing", 60s).error().code(), node_errc::not_allowed); // At once, and no other answer.
  EXPECT_TRUE(link_->ping(60s));
  connect_as("everybody");
  EXPECT_EQ(outcome_of_find("clock"), "found");
  expect_contains(outcome_of_find("shop.cart"), "its end of the link must have allow_find for this name");
  connect_as("ops");
  EXPECT_EQ(outcome_of_find("vault"), "found");
}

TEST_F(peers_with_roles, end_actors_only_by_their_role) {
  publish_something();
  connect_as("worker");
  auto cart = find("shop.cart");
  testing::internal::CaptureStderr();
  caf::anon_send_exit(cart, caf::exit_reason::kill);
  EXPECT_TRUE(eventually([&] { return link_->stats().refused_by_policy == 1; }));
  expect_contains(testing::internal::GetCapturedStderr(), "far rejects exit messages for the role \"worker\"");
  EXPECT_EQ(ask<int>(near().system, cart, 3), 3);
  connect_as("ops");
  cart = find("shop.cart");
  caf::scoped_actor watcher{near().system};
  watcher->monitor(cart);
  caf::anon_send_exit(cart, caf::exit_reason::kill);
  watcher->receive([](const caf::down_msg& what) { EXPECT_EQ(what.reason, caf::exit_reason::kill); },
                   caf::after(60s) >> [] { ADD_FAILURE() << "it still runs"; });
}

// Goal: a peer that ignores what its role may is treated like any peer that breaks the protocol.
TEST_F(peers_with_roles, cannot_take_the_rights_of_another_role) {
  far();
  raw_peer worker{address_, "the secret of worker"};
  worker.prove_itself();
  worker.say(admin_op::hello, raw_peer::honest_hello());
  const auto told = worker.hear<hello>(admin_op::hello);
  ASSERT_TRUE(told);
  EXPECT_EQ(told->role, "worker");
  EXPECT_NE(told->tasks, 0u);
  EXPECT_EQ(told->spawner, 0u);
  EXPECT_EQ(told->inspector, 0u);
  EXPECT_FALSE(told->exits);
}

TEST_F(peers_with_roles, are_shown_with_their_role_in_reports) {
  connect_as("ops");
  const auto report = link_->report(60s, {});
  ASSERT_TRUE(report) << report.error().message();
  ASSERT_EQ(report->links.size(), 1u);
  EXPECT_EQ(report->links[0].role, "ops");
}

TEST_F(peers_with_roles, are_not_found_by_the_options_of_links_that_a_node_dials) {
  far();
  near_links_.roles = {{.name = "worker", .same_user = true}};
  near_links_.credentials.secret_file = secret_of("everybody");
  const auto connected = near().home->connect(address_, near_links_);
  ASSERT_FALSE(connected);
  EXPECT_EQ(connected.error().code(), node_errc::bad_option);
  expect_contains(connected.error().message(), "set them in accepted_links");
}

TEST_F(peers_with_roles, may_be_all_peers_that_are_admitted) {
  far_options_.accepted_links.credentials = {};
  connect_as("worker");
  EXPECT_EQ(role_there(), "worker");
  link_.reset();
  near_links_.credentials.secret_file = secret_of("everybody");
  EXPECT_FALSE(near().home->connect(address_, near_links_));
}

TEST_F(peers_with_roles, get_another_role_when_the_files_change) {
  connect_as("worker");
  EXPECT_EQ(role_there(), "worker");
  near_.reset();
  ASSERT_TRUE(eventually([&] { return far().home->links().empty(); }));
  std::ofstream{folder_ / "worker"} << "another secret of workers\n";
  std::ofstream{folder_ / "ops"} << "the secret of worker\n";
  near_links_.credentials = {.secret = "the secret of worker"};
  connect(near_links_);
  EXPECT_EQ(role_there(), "ops");
}

TEST_F(peers_with_roles, of_the_same_user_are_known_by_their_socket) {
  far_options_.listen = {"unix://@" + unique_name("troupe-roles")};
  far_options_.accepted_links.credentials = {};
  far_options_.accepted_links.roles = {{.name = "here", .same_user = true, .allow_tasks = true}};
  connect();
  EXPECT_EQ(role_there(), "here");
  EXPECT_EQ(outcome_of_task(), "8");
}

TEST_F(peers_with_roles, of_another_user_are_not_known_by_their_socket) {
  far_options_.accepted_links.roles.push_back({.name = "here", .same_user = true, .allow_report = true});
  connect_as("everybody");
  EXPECT_EQ(role_there(), "");
}

// -- certificates

class peers_with_certificates : public peers_with_roles {
protected:
  void SetUp() override {
    peers_with_roles::SetUp();
    authority_ = made_.authority("authority");
    const auto server = made_.issue(authority_, "server", "IP:127.0.0.1");
    far_options_.listen = {"tls://127.0.0.1:0"};
    auto& accepted = far_options_.accepted_links;
    accepted.credentials.tls = {
        .certificate_file = server.certificate, .key_file = server.key, .authority_file = authority_.certificate};
    accepted.roles = {
        {.name = "worker", .certificate_names = {"*.workers.shop"}, .allow_tasks = true},
        {.name = "ops", .certificate_names = {"CN=admin", "spiffe://shop/ops/*"}, .allow_report = true},
    };
    near_links_.credentials.tls.authority_file = authority_.certificate;
  }

  /// The role of a peer with such a certificate, or the reason why it is refused.
  std::string role_with(const std::string& name, const std::string& names, const std::string& secret = "everybody") {
    show(made_.issue(authority_, name, names));
    return role_now(secret);
  }
  void show(const certificate_files& mine) {
    near_links_.credentials.tls.certificate_file = mine.certificate;
    near_links_.credentials.tls.key_file = mine.key;
  }
  std::string role_now(const std::string& secret = "everybody") {
    link_.reset();
    near_.reset();
    far_.reset();
    near_links_.credentials.secret_file = secret.empty() ? "" : secret_of(secret);
    far();
    auto connected = near().home->connect(address_, near_links_);
    if (!connected)
      return connected.error().message();
    link_.emplace(*std::move(connected));
    return role_there();
  }

  certificate_folder made_;
  certificate_files authority_;
};

TEST_F(peers_with_certificates, have_the_role_of_a_name_in_it) {
  EXPECT_EQ(role_with("one", "DNS:one.workers.shop"), "worker");
  EXPECT_EQ(outcome_of_task(), "8");
  EXPECT_EQ(role_with("two", "DNS:two.shop,DNS:two.workers.shop"), "worker");
  EXPECT_EQ(role_with("admin", "DNS:elsewhere"), "ops");
  EXPECT_EQ(outcome_of_report(), "reported");
  EXPECT_EQ(role_with("three", "URI:spiffe://shop/ops/3"), "ops");
}

TEST_F(peers_with_certificates, have_none_by_other_names_or_without_one) {
  EXPECT_EQ(role_with("one.workers.shop", "DNS:workers.shop"), ""); // Its common name is no DNS name.
  EXPECT_EQ(role_with("four", "DNS:admin,URI:spiffe://shop/web/4"), "");
  near_links_.credentials.tls.certificate_file.clear();
  near_links_.credentials.tls.key_file.clear();
  EXPECT_EQ(role_now(), "");
}

TEST_F(peers_with_certificates, are_refused_if_nobody_vouches_for_it) {
  show(made_.issue(made_.authority("others"), "five", "DNS:five.workers.shop"));
  expect_contains(role_now(), "unknown ca");
}

TEST_F(peers_with_certificates, may_need_a_secret_as_well) {
  far_options_.accepted_links.roles[0].secret_file = secret_of("worker");
  EXPECT_EQ(role_with("six", "DNS:six.workers.shop", "worker"), "worker");
  EXPECT_EQ(role_with("seven", "DNS:seven.workers.shop"), "");
  expect_contains(role_with("eight", "DNS:eight.shop", "worker"),
                  "has proven the secret of the role \"worker\", but does not meet the other conditions of this role");
}

TEST_F(peers_with_certificates, need_no_secret_if_certificates_are_required) {
  far_options_.accepted_links.credentials.secret_file.clear();
  far_options_.accepted_links.credentials.tls.require_client_certificate = true;
  EXPECT_EQ(role_with("nine", "DNS:nine.workers.shop", ""), "worker");
}

} // namespace
} // namespace troupe::tests
