// Goal: the classes that decide who may do what, each alone.
#include <gtest/gtest.h>

#include "open_gateway.hpp"

#include <troupe/framework/gateway/internal/access/doorkeeper.hpp>
#include <troupe/framework/gateway/internal/access/site_check.hpp>
#include <troupe/framework/gateway/internal/server/request_head.hpp>
#include <troupe/framework/gateway/internal/words/names.hpp>
#include <troupe/framework/gateway/internal/words/routes.hpp>

namespace troupe::tests {
namespace {

using namespace web;
using std::filesystem::perms;

const std::string some_token = "0123456789abcdef0123456789abcdef";

std::string error_of_tokens(const std::string& text) {
  const auto parsed = token_book::parse(text, "tokens");
  return parsed ? "" : parsed.error().message();
}

TEST(a_token_book, finds_each_token_with_its_rights_and_no_other) {
  const auto book = token_book::parse("# x\n\n one " + some_token + " call:cup schema\r\ntwo\t" + some_token
                                          + "2 call:* read:a read:b put:2KiB\n",
                                      "tokens");
  ASSERT_TRUE(book) << book.error().message();
  EXPECT_EQ(book->size(), 2U);
  const auto one = book->find(some_token);
  ASSERT_TRUE(one);
  EXPECT_EQ(one->name, "one");
  EXPECT_TRUE(one->calls.covers("cup") && !one->calls.covers("pot") && one->schema && one->reads.is_empty());
  EXPECT_EQ(one->put_bytes, 0U);
  const auto two = book->find(some_token + "2");
  ASSERT_TRUE(two);
  EXPECT_TRUE(two->calls.covers("pot") && two->reads.covers("a") && !two->reads.covers("c") && !two->schema);
  EXPECT_EQ(two->put_bytes, 2048U);
  for (const auto& wrong :
       {std::string(), some_token.substr(1), some_token + "3", some_token + "22", std::string(1'000'000, 'x')})
    EXPECT_FALSE(book->find(wrong));
}

TEST(a_token_book, names_the_line_that_is_wrong_and_no_token) {
  EXPECT_NE(error_of_tokens("one " + some_token + "\n").find("line 1: expected"), std::string::npos);
  EXPECT_NE(error_of_tokens("\none short schema\n").find("line 2: a token has 32 to 256"), std::string::npos);
  EXPECT_NE(error_of_tokens("one " + some_token + " schema fly").find("\"fly\" is no right"), std::string::npos);
  EXPECT_NE(error_of_tokens("one " + some_token + " put:x").find("\"put:x\""), std::string::npos);
  EXPECT_NE(error_of_tokens("one " + some_token + " schema\none " + some_token + "2 schema").find("line 2"),
            std::string::npos);
  const auto twice = error_of_tokens("one " + some_token + " schema\ntwo " + some_token + " schema");
  EXPECT_NE(twice.find("line 2"), std::string::npos);
  EXPECT_EQ(twice.find(some_token), std::string::npos);
  EXPECT_NE(error_of_tokens(""), "");
}

TEST(a_token_book, refuses_rights_that_no_name_can_have) {
  for (const std::string right : {"call:*x", "call:a/b", "read:a%20b", "read:**", "call:", "call:..", "read:\xc3\xa4"})
    EXPECT_NE(error_of_tokens("\none " + some_token + " " + right).find("line 2: \"" + right + "\" is no right"),
              std::string::npos)
        << right;
}

TEST(a_token_book, refuses_files_that_others_may_read) {
  const auto text = "one " + some_token + " schema\n";
  EXPECT_TRUE(token_book::read(token_file(text).path()));
  for (const auto mode : {perms::group_read, perms::others_read, perms::group_write, perms::others_exec}) {
    const token_file file{text, perms::owner_read | mode};
    const auto read = token_book::read(file.path());
    ASSERT_FALSE(read);
    EXPECT_NE(read.error().message().find("chmod 600"), std::string::npos);
  }
  EXPECT_FALSE(token_book::read("/nonexistent"));
  EXPECT_FALSE(token_book::read("/dev/null"));
  EXPECT_FALSE(token_book::read("/"));
}

TEST(a_guess_limit, counts_each_address_and_forgets_the_oldest) {
  guess_limit limit{3, 2};
  const guess_limit::clock::time_point now{std::chrono::hours(1)};
  for (int i = 0; i < 3; ++i)
    EXPECT_TRUE(limit.note("a", now));
  EXPECT_FALSE(limit.note("a", now));
  EXPECT_TRUE(limit.note("b", now));
  EXPECT_FALSE(limit.note("a", now + std::chrono::seconds(19)));
  EXPECT_TRUE(limit.note("a", now + std::chrono::seconds(21)));
  EXPECT_TRUE(limit.note("c", now + std::chrono::seconds(21)));
  EXPECT_EQ(limit.addresses(), 2U);
}

TEST(a_site_check, knows_its_own_names) {
  const site_check loopback{"127.0.0.1", 8080, false, {"kitchen.example", "Other.example:99"}, {}};
  for (const auto* const own :
       {"127.0.0.1:8080", "localhost:8080", "LOCALHOST:8080", "[::1]:8080", "kitchen.example:8080", "other.example:99"})
    EXPECT_TRUE(loopback.is_own_host(own)) << own;
  for (const auto* const other : {"", "127.0.0.1", "127.0.0.1:80", "evil.example:8080", "kitchen.example",
                                  "localhost.:8080", "user@localhost:8080", " localhost:8080"})
    EXPECT_FALSE(loopback.is_own_host(other)) << other;
  const site_check usual{"10.0.0.1", 443, true, {"kitchen.example"}, {}};
  EXPECT_TRUE(usual.is_own_host("kitchen.example") && usual.is_own_host("10.0.0.1:443"));
  EXPECT_FALSE(usual.is_own_host("localhost"));
  const site_check behind_a_proxy{"127.0.0.1", 8080, false, {"shop.example:80"}, {}};
  EXPECT_TRUE(behind_a_proxy.is_own_host("shop.example") && behind_a_proxy.is_own_host("shop.example:80"));
  EXPECT_FALSE(behind_a_proxy.is_own_host("shop.example:8080"));
}

TEST(a_site_check, lets_only_named_pages_and_its_own_use_it) {
  const site_check sites{"127.0.0.1", 8080, false, {}, {"https://a.example"}};
  EXPECT_TRUE(sites.may_use("https://a.example", "localhost:8080"));
  EXPECT_TRUE(sites.may_use("http://localhost:8080", "localhost:8080"));
  for (const auto* const other : {"https://localhost:8080", "http://localhost:8081", "null", "https://a.example.evil",
                                  "http://a.example", "https://a.example/"})
    EXPECT_FALSE(sites.may_use(other, "localhost:8080")) << other;
}

TEST(a_route, names_the_action_or_why_there_is_none) {
  const auto action_of = [](std::string_view method, std::string_view target, bool is_upgrade = false) {
    const auto found = find_route(method, target, is_upgrade);
    return found ? static_cast<int>(found->what) : -static_cast<int>(found.error().status);
  };
  EXPECT_EQ(action_of("POST", "/actors/cup"), static_cast<int>(action::call_actor));
  EXPECT_EQ(action_of("GET", "/actors/cup", true), static_cast<int>(action::open_socket));
  EXPECT_EQ(action_of("GET", "/actors/cup"), -405);
  EXPECT_EQ(action_of("PUT", "/objects"), static_cast<int>(action::make_object));
  EXPECT_EQ(action_of("HEAD", "/objects/x.y-z_1"), static_cast<int>(action::read_object));
  EXPECT_EQ(action_of("DELETE", "/objects/x"), static_cast<int>(action::delete_object));
  EXPECT_EQ(action_of("GET", "/schema"), static_cast<int>(action::show_schema));
  EXPECT_EQ(action_of("OPTIONS", "/schema"), static_cast<int>(action::ask_leave));
  EXPECT_EQ(action_of("TRACE", "/schema"), -405);
  for (const auto* const unknown : {"/", "/actors/", "/actors/..", "/actors/a/b", "/actors/a%62", "//actors/a",
                                    "/objects/", "/view/a/b", "/schema/"})
    EXPECT_EQ(action_of("GET", unknown), -404) << unknown;
  for (const auto* const encoded : {"/actors/c%75p", "/objects/%6d"})
    EXPECT_NE(find_route("GET", encoded, false).error().text.find("never encoded"), std::string::npos);
  for (const auto* const bad : {"", "schema", "*", "http://x/schema", "/schema?token=x"})
    EXPECT_EQ(action_of("GET", bad), -400) << bad;
  EXPECT_EQ(action_of("POST", "/actors/" + std::string(201, 'a')), -404);
}

TEST(the_head_of_a_request, is_bounded_as_a_whole) {
  using std::literals::operator""s;
  EXPECT_EQ(state_of_head("", 100), head_state::unfinished);
  EXPECT_EQ(state_of_head("GET / HTTP/1.1\r\nA: b\r\n", 100), head_state::unfinished);
  EXPECT_EQ(state_of_head("GET / HTTP/1.1\r\nA: b\r\n\r\n\1\n", 100), head_state::complete);
  EXPECT_EQ(state_of_head("GET / HTTP/1.1\nA: b\r\n", 100), head_state::malformed);
  EXPECT_EQ(state_of_head("GET /\0"s, 100), head_state::malformed);
  EXPECT_EQ(state_of_head("GET / HTTP/1.1\r\nA: b\r\n c\r\n", 100), head_state::folded);
  EXPECT_EQ(state_of_head("GET / HTTP/1.1\r\nA: b\r\n\tc: d\r\n\r\n", 100), head_state::folded);
  EXPECT_EQ(state_of_head("GET / HTTP/1.1\r\nA: b\r\n\r\n c", 100), head_state::complete);
  EXPECT_EQ(state_of_head(std::string(100, 'x'), 100), head_state::too_long);
  EXPECT_EQ(state_of_head(std::string(99, 'x') + "\r\n\r\n", 100), head_state::too_long);
  EXPECT_EQ(state_of_head(std::string(96, 'x') + "\r\n\r\n", 100), head_state::complete);
}

TEST(a_token, is_found_where_clients_put_it) {
  EXPECT_EQ(bearer_token("Bearer abc"), "abc");
  EXPECT_EQ(bearer_token("bearer  abc"), "abc");
  EXPECT_EQ(bearer_token("Basic abc"), "");
  EXPECT_EQ(bearer_token("Bearer "), "");
  EXPECT_EQ(token_of_protocols("troupe.1, troupe.token.abc"), "abc");
  EXPECT_EQ(token_of_protocols(" ,,troupe.1"), "");
  EXPECT_TRUE(offers_protocol("a,troupe.1 ,b"));
  EXPECT_FALSE(offers_protocol("troupe.10"));
}

class opening_a_gateway : public open_gateway {
protected:
  std::string error_with(const gateway_options& options) {
    auto opened = troupe::gateway::open(*home().home, options);
    return opened ? "" : opened.error().message();
  }
};

TEST_F(opening_a_gateway, needs_tokens_and_usable_options) {
  EXPECT_NE(error_with({}).find("token file"), std::string::npos);
  EXPECT_NE(error_with({.address = "kitchen:80", .token_file = tokens_.path()}).find("\"kitchen:80\" is no address"),
            std::string::npos);
  EXPECT_NE(error_with({.token_file = tokens_.path(), .threads = 0}).find("threads must not be 0"), std::string::npos);
  EXPECT_NE(error_with({.token_file = tokens_.path(), .key_file = "x"}).find("belong together"), std::string::npos);
  EXPECT_NE(error_with({.address = host(), .token_file = tokens_.path()}).find("cannot listen"), std::string::npos);
  EXPECT_FALSE(gateway().expose("a/b", cup_));
  EXPECT_FALSE(gateway().expose("none", caf::actor{}));
  EXPECT_FALSE(gateway().expose_object("none", object_ref<array<double>>{}));
}

TEST_F(opening_a_gateway, tokens_can_be_read_again) {
  EXPECT_EQ(post(R"({"atom":"drop"})").status, 502);
  tokens_.write("other other-0123456789abcdef0123456789abcdef schema\n");
  ASSERT_TRUE(gateway().reload_tokens());
  EXPECT_EQ(post(R"({"atom":"drop"})").status, 401);
  tokens_.write("broken\n");
  EXPECT_FALSE(gateway().reload_tokens());
  EXPECT_EQ(answer_to(request("GET", "/schema", "", "", "other-0123456789abcdef0123456789abcdef")).status, 200);
}

} // namespace
} // namespace troupe::tests
