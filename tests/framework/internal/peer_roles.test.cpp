// Which role a peer has, and what it may do.
#include <troupe/framework/internal/trust/peer_roles.hpp>

#include <gtest/gtest.h>

namespace troupe::internal {
namespace {

const tls_options with_authority{.authority_file = "ca.pem"};

std::string why_not(const std::vector<peer_role>& roles, const tls_options& with = with_authority) {
  const auto good = check_roles(roles, with);
  return good ? "good" : good.error().message();
}

/// The name of the role that such a peer has.
std::string name_of_role(const proven_peer& who, const std::vector<peer_role>& roles) {
  const auto found = role_of(who, roles);
  if (!found)
    return "refused";
  return *found == nullptr ? "none" : (*found)->name;
}

class roles_of_peers : public testing::Test {
protected:
  const std::vector<peer_role> roles_{
      {.name = "ops", .secret_file = "ops.secret", .certificate_names = {"OU=operations"}},
      {.name = "worker", .secret_file = "worker.secret"},
      {.name = "web", .certificate_names = {"*.web.shop", "spiffe://shop/web/*"}},
      {.name = "here", .same_user = true},
  };
};

TEST_F(roles_of_peers, are_those_of_which_a_peer_meets_all_conditions) {
  EXPECT_EQ(name_of_role({.role_of_secret = "worker"}, roles_), "worker");
  EXPECT_EQ(name_of_role({.role_of_secret = "ops", .certificate_names = {"OU=operations"}}, roles_), "ops");
  EXPECT_EQ(name_of_role({.certificate_names = {"DNS:a.web.shop"}}, roles_), "web");
  EXPECT_EQ(name_of_role({.is_same_user = true}, roles_), "here");
  EXPECT_EQ(name_of_role({}, roles_), "none");
}

TEST_F(roles_of_peers, are_not_given_for_half_of_the_conditions) {
  EXPECT_EQ(name_of_role({.role_of_secret = "ops"}, roles_), "refused");
  EXPECT_EQ(name_of_role({.certificate_names = {"OU=operations"}}, roles_), "none");
}

// Goal: a secret that was given to workers gives nothing else, whatever their certificates say.
TEST_F(roles_of_peers, follow_the_secret_that_was_proven_before_all_else) {
  EXPECT_EQ(
      name_of_role({.is_same_user = true, .role_of_secret = "worker", .certificate_names = {"DNS:a.web.shop"}}, roles_),
      "worker");
  EXPECT_EQ(name_of_role({.is_same_user = true, .role_of_secret = "ops"}, roles_), "refused");
}

TEST_F(roles_of_peers, are_taken_in_the_order_of_the_list) {
  EXPECT_EQ(name_of_role({.is_same_user = true, .certificate_names = {"DNS:a.web.shop"}}, roles_), "web");
}

TEST(a_certificate_name, is_that_of_its_kind_alone) {
  EXPECT_TRUE(is_certificate_name("DNS:one.shop", "one.shop"));
  EXPECT_TRUE(is_certificate_name("DNS:One.Shop", "one.sHop"));
  EXPECT_FALSE(is_certificate_name("CN=one.shop", "one.shop"));
  EXPECT_FALSE(is_certificate_name("URI:one.shop", "one.shop"));
  EXPECT_TRUE(is_certificate_name("CN=one", "CN=one"));
  EXPECT_FALSE(is_certificate_name("OU=one", "CN=one"));
  EXPECT_FALSE(is_certificate_name("DNS:CN=one", "CN=one"));
  EXPECT_FALSE(is_certificate_name("CN=One", "CN=one"));
}

TEST(a_certificate_name, may_stand_for_one_label_or_for_the_rest_of_an_uri) {
  EXPECT_TRUE(is_certificate_name("DNS:a.workers.shop", "*.workers.shop"));
  EXPECT_FALSE(is_certificate_name("DNS:a.b.workers.shop", "*.workers.shop"));
  EXPECT_FALSE(is_certificate_name("DNS:workers.shop", "*.workers.shop"));
  EXPECT_FALSE(is_certificate_name("DNS:.workers.shop", "*.workers.shop"));
  EXPECT_FALSE(is_certificate_name("DNS:a.workers.shop.evil", "*.workers.shop"));
  EXPECT_FALSE(is_certificate_name("DNS:a.otherworkers.shop", "*.workers.shop"));
  EXPECT_TRUE(is_certificate_name("URI:spiffe://shop/workers/7", "spiffe://shop/workers/*"));
  EXPECT_FALSE(is_certificate_name("URI:spiffe://shop/ops/7", "spiffe://shop/workers/*"));
  EXPECT_TRUE(is_certificate_name("URI:spiffe://shop/ops", "spiffe://shop/ops"));
  EXPECT_FALSE(is_certificate_name("URI:spiffe://shop/ops/7", "spiffe://shop/ops"));
}

TEST(the_rights_of_a_role, are_those_that_it_sets_and_otherwise_those_of_the_link) {
  const link_options options{.allow_tasks = true, .allow_report = true, .allow_find = {"clock"}};
  const peer_role role{.name = "worker", .same_user = true, .allow_spawn = true, .allow_report = false};
  EXPECT_EQ(rights_of(options, nullptr), (peer_rights{.tasks = true, .report = true, .find = {"clock"}}));
  EXPECT_EQ(rights_of(options, &role), (peer_rights{.spawn = true, .tasks = true, .find = {"clock"}}));
  auto finder = role;
  finder.allow_find = {"shop.*"};
  EXPECT_EQ(rights_of(options, &finder).find, (std::vector<std::string>{"shop.*"}));
}

TEST(a_name_that_may_be_found, is_listed_or_has_a_listed_beginning) {
  EXPECT_TRUE(may_find({.find = {"*"}}, "anything"));
  EXPECT_FALSE(may_find({.find = {}}, "anything"));
  const peer_rights some{.find = {"clock", "shop.*"}};
  EXPECT_TRUE(may_find(some, "clock"));
  EXPECT_TRUE(may_find(some, "shop.cart"));
  EXPECT_FALSE(may_find(some, "clocks"));
  EXPECT_FALSE(may_find(some, "shop"));
  EXPECT_FALSE(may_find(some, "a shop.cart"));
}

TEST(roles, that_nobody_could_have_are_errors) {
  EXPECT_EQ(why_not({{.name = "a", .same_user = true}, {.name = "b", .secret_file = "x"}}), "good");
  const auto has = [](const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos ? std::string{"yes"} : text;
  };
  EXPECT_EQ(has(why_not({{.name = "", .same_user = true}}), "must have a name"), "yes");
  EXPECT_EQ(has(why_not({{.name = "two words", .same_user = true}}), "must have a name"), "yes");
  EXPECT_EQ(has(why_not({{.name = std::string(65, 'a'), .same_user = true}}), "must have a name"), "yes");
  EXPECT_EQ(has(why_not({{.name = "a"}}), "no condition"), "yes");
  EXPECT_EQ(has(why_not({{.name = "a", .same_user = true}, {.name = "a", .secret_file = "x"}}), "twice"), "yes");
  EXPECT_EQ(has(why_not({{.name = "a", .certificate_names = {"x"}}}, {}), "authority_file"), "yes");
  for (const auto* wrong : {"", "*", "a*", "a.*", "*.*.shop", "*.", "CN=", "spiffe://*/x"})
    EXPECT_EQ(has(why_not({{.name = "a", .certificate_names = {wrong}}}), "certificate name"), "yes") << wrong;
  std::vector<peer_role> many;
  for (int i = 0; i < 17; ++i)
    many.push_back({.name = "role" + std::to_string(i), .same_user = true});
  EXPECT_EQ(has(why_not(many), "17 roles, limit 16"), "yes");
}

TEST(a_missing_right, is_said_with_the_role_and_the_option) {
  EXPECT_EQ(lacks_right("", "allow_tasks", " for this link"), " for this link");
  EXPECT_EQ(lacks_right("worker", "allow_tasks", " for this link"),
            " for the role \"worker\", which this end has there; its "
            "accepted_links.roles must give allow_tasks to this role");
}

} // namespace
} // namespace troupe::internal
