// The users, tokens and certificates that an etcd accepts.
#include "../../eventually.hpp"
#include "../../framework/certificates.hpp"
#include "../directory_words.hpp"
#include "../etcd_server.hpp"
#include "../watch_record.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace troupe::tests {

namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

/// An etcd whose user "ann" may use all below shop/, and "ben" nothing.
class etcd_users : public testing::Test {
protected:
  void SetUp() override {
    for (const auto& [path, body] : std::initializer_list<std::pair<const char*, const char*>>{
             {"auth/user/add", R"({"name":"root","password":"root"})"},
             {"auth/role/add", R"({"name":"root"})"},
             {"auth/user/grant", R"({"user":"root","role":"root"})"},
             {"auth/user/add", R"({"name":"ann","password":"an\u00e4 \"\\"})"},
             {"auth/user/add", R"({"name":"ben","password":"ben"})"},
             {"auth/role/add", R"({"name":"shop"})"},
             {"auth/role/grant", // From shop/ up to shop0.
              R"({"name":"shop","perm":{"permType":"READWRITE","key":"c2hvcC8=","range_end":"c2hvcDA="}})"},
             {"auth/user/grant", R"({"user":"ann","role":"shop"})"},
             {"auth/enable", "{}"}})
      server_.post(0, path, body);
  }

  [[nodiscard]] static directory_options ann() { return {.user = "ann", .password = "an\u00e4 \"\\"}; }

  [[nodiscard]] std::string token_of(const std::string& user, const std::string& password) {
    const auto body = nlohmann::json{{"name", user}, {"password", password}}.dump();
    return nlohmann::json::parse(server_.post(0, "auth/authenticate", body)).at("token");
  }

  /// Waits until tokens that are not used meanwhile have expired.
  void let_tokens_expire() {
    // Each use makes a token younger. Therefore each of these is used once, and later than the one before.
    std::vector<std::string> tokens;
    for (int each = 0; each < 20; ++each)
      tokens.push_back(token_of("ann", ann().password));
    auto next = tokens.begin();
    EXPECT_TRUE(eventually([&] {
      std::this_thread::sleep_for(250ms);
      return next == tokens.end() || !server_.try_post(0, "kv/range", R"({"key":"c2hvcC8="})", *next++).has_value();
    }));
  }

  // The lowest costs and times that etcd accepts.
  etcd_server server_{{.words = {"--bcrypt-cost", "4", "--auth-token-ttl", "1"}}};
};

TEST_F(etcd_users, a_user_with_the_right_password_may_do_everything_below_the_prefix) {
  const auto opened = must(open_directory(server_.address("shop"), ann()));
  const watch_record record;
  const auto watch = must(opened->watch("", must(opened->list("")).revision + 1, record.handlers()));
  const auto lease = must(opened->grant(60s));
  put(*opened, "a", "1", lease.id);
  EXPECT_TRUE(record.has_changes(1));
  EXPECT_TRUE(opened->keep_alive(lease.id).has_value());
  EXPECT_TRUE(opened->identity().has_value());
  EXPECT_EQ(opened->shown_address().find("ann"), std::string::npos);
}

TEST_F(etcd_users, others_are_refused_without_showing_the_password) {
  for (const auto& options : {directory_options{}, directory_options{.user = "ann", .password = "wrong-one"},
                              directory_options{.user = "nobody", .password = "wrong-one"},
                              directory_options{.user = "ben", .password = "ben"}}) {
    const auto opened = open_directory(server_.address("shop"), options);
    ASSERT_EQ(code_of(opened), directory_errc::refused);
    EXPECT_EQ(opened.error().message().find("wrong-one"), std::string::npos);
  }
  const auto elsewhere = open_directory(server_.address("other"), ann());
  ASSERT_EQ(code_of(elsewhere), directory_errc::refused);
  EXPECT_THAT(elsewhere.error().message(), HasSubstr("grant the user"));
}

TEST_F(etcd_users, expired_tokens_are_renewed_for_calls_and_watches) {
  const auto opened = must(open_directory(server_.address("shop"), ann()));
  const watch_record early;
  const auto early_watch = must(opened->watch("", must(opened->list("")).revision + 1, early.handlers()));
  put(*opened, "a", "1");
  ASSERT_TRUE(early.has_changes(1));
  let_tokens_expire();
  const watch_record late; // The first to need the new token.
  const auto late_watch = must(opened->watch("", 1, late.handlers()));
  EXPECT_TRUE(late.has_changes(1));
  let_tokens_expire();
  put(*opened, "b", "2"); // Not sent twice, but refused the first time.
  EXPECT_TRUE(early.has_changes(2));
  EXPECT_TRUE(late.has_changes(2));
  let_tokens_expire();
  EXPECT_EQ(keys_below(*opened, ""), (std::vector<std::string>{"a", "b"}));
}

TEST_F(etcd_users, a_password_that_was_changed_is_refused_and_ends_watches) {
  const auto opened = must(open_directory(server_.address("shop"), ann()));
  server_.post(0, "auth/user/changepw", R"({"name":"ann","password":"new"})", token_of("root", "root"));
  EXPECT_TRUE(eventually([&] { return code_of(opened->list("")) == directory_errc::refused; }));
  const watch_record record;
  const auto watch = must(opened->watch("", 1, record.handlers()));
  EXPECT_EQ(record.end_code(), directory_errc::refused);
}

TEST_F(etcd_users, a_member_that_has_restarted_knows_no_tokens_and_gives_new_ones) {
  const auto opened = must(open_directory(server_.address("shop"), ann()));
  const watch_record record;
  const auto watch = must(opened->watch("", must(opened->list("")).revision + 1, record.handlers()));
  server_.kill(0);
  server_.start(0);
  EXPECT_TRUE(eventually([&] { return opened->commit({}, directory_writes{putting("a", "1")}).has_value(); }));
  EXPECT_TRUE(record.has_changes(1));
}

TEST(etcd_without_users, a_user_that_is_not_needed_does_no_harm) {
  etcd_server server;
  const auto opened = must(open_directory(server.address("shop"), {.user = "ann", .password = "any"}));
  put(*opened, "a", "1");
  EXPECT_EQ(keys_below(*opened, ""), std::vector<std::string>{"a"});
}

/// An etcd whose clients need a certificate.
class etcd_tls : public testing::Test {
protected:
  [[nodiscard]] etcd_server_options server_options() {
    // etcd's gateway shows the server's certificate to the server itself, as a client.
    const auto server = folder_.issue(authority_, "server", "IP:127.0.0.1,DNS:localhost");
    return {.certificate_file = server.certificate,
            .key_file = server.key,
            .client_ca_file = authority_.certificate,
            .client = options_of(folder_.issue(authority_, "test", "DNS:test"))};
  }

  [[nodiscard]] directory_options options_of(const certificate_files& files) const {
    return {.ca_file = authority_.certificate, .certificate_file = files.certificate, .key_file = files.key};
  }

  certificate_folder folder_;
  certificate_files authority_ = folder_.authority("authority");
  etcd_server server_{server_options()};
};

TEST_F(etcd_tls, a_client_with_a_certificate_may_do_everything) {
  const auto opened =
      must(open_directory(server_.address("shop"), options_of(folder_.issue(authority_, "node", "DNS:node"))));
  const watch_record record;
  const auto watch = must(opened->watch("", must(opened->list("")).revision + 1, record.handlers()));
  put(*opened, "a", "1");
  EXPECT_TRUE(record.has_changes(1));
}

TEST_F(etcd_tls, a_forked_child_cannot_use_the_directory_and_leaves_it_to_its_parent) {
  auto opened =
      must(open_directory(server_.address("shop"), options_of(folder_.issue(authority_, "node", "DNS:node"))));
  const watch_record record;
  auto watch = must(opened->watch("", must(opened->list("")).revision + 1, record.handlers()));
  put(*opened, "a", "1");
  ASSERT_TRUE(record.has_changes(1));
  auto child = processes::process::fork([&] {
    auto is_good = code_of(opened->list("")) == directory_errc::closed;
    is_good = is_good && code_of(opened->grant(1s)) == directory_errc::closed;
    is_good = is_good && code_of(opened->watch("", 1, {})) == directory_errc::closed;
    watch.reset();
    opened.reset();
    return is_good ? 0 : 1;
  });
  ASSERT_TRUE(child.has_value());
  EXPECT_EQ(child->wait(), processes::exited_with(0));
  put(*opened, "b", "2");
  EXPECT_TRUE(record.has_changes(2));
}

TEST_F(etcd_tls, a_client_without_a_trusted_certificate_is_refused) {
  const auto stranger = folder_.issue(folder_.authority("other"), "node", "DNS:node");
  auto options = options_of(stranger);
  EXPECT_EQ(code_of(open_directory(server_.address("shop"), options)), directory_errc::refused);
  options.certificate_file = options.key_file = "";
  EXPECT_EQ(code_of(open_directory(server_.address("shop"), options)), directory_errc::refused);
}

TEST_F(etcd_tls, a_server_whose_certificate_is_not_trusted_is_refused) {
  auto options = options_of(folder_.issue(authority_, "node", "DNS:node"));
  options.ca_file = folder_.authority("other").certificate;
  const auto opened = open_directory(server_.address("shop"), options);
  ASSERT_EQ(code_of(opened), directory_errc::refused);
  EXPECT_THAT(opened.error().message(), HasSubstr("ca_file"));
}

// etcd then closes the connection, which may have other reasons.
TEST_F(etcd_tls, the_error_of_a_client_without_tls_speaks_of_tls) {
  const auto opened = open_directory(server_.address("shop"), {.timeout = 300ms});
  ASSERT_EQ(code_of(opened), directory_errc::unavailable);
  EXPECT_THAT(opened.error().message(), HasSubstr("speaks TLS only"));
}

TEST_F(etcd_tls, files_that_cannot_be_read_are_named) {
  const auto opened = open_directory(server_.address("shop"), {.ca_file = "/nowhere/ca.pem"});
  ASSERT_EQ(code_of(opened), directory_errc::bad_address);
  EXPECT_THAT(opened.error().message(), HasSubstr("/nowhere/ca.pem"));
  EXPECT_EQ(code_of(open_directory(server_.address("shop"), {.key_file = authority_.key})),
            directory_errc::bad_address);
}

TEST(etcd_without_tls, the_error_of_a_client_with_tls_speaks_of_tls) {
  certificate_folder folder;
  etcd_server server;
  const auto opened =
      open_directory(server.address("shop"), {.timeout = 300ms, .ca_file = folder.authority("any").certificate});
  ASSERT_EQ(code_of(opened), directory_errc::unavailable);
  EXPECT_THAT(opened.error().message(), HasSubstr("may not speak TLS"));
}

} // namespace

} // namespace troupe::tests
