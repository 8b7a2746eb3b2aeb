// Servers that are not etcd, or that lie.
#include "../../eventually.hpp"
#include "../directory_words.hpp"
#include "../watch_record.hpp"
#include "fake_gateway.hpp"

#include <troupe/framework/cluster/internal/etcd/base64.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace troupe::tests {

namespace {

using namespace std::chrono_literals;
using cluster_directories::base64_of;
using testing::HasSubstr;

constexpr std::string_view head_of_seven = R"("header":{"cluster_id":"7","revision":"10"})";

std::string answer_of(std::string_view more) {
  return '{' + std::string{head_of_seven} + std::string{more} + '}';
}

std::string entry_json(std::string_view key, std::string_view more = R"(,"create_revision":"3","mod_revision":"4")") {
  return R"({"key":")" + base64_of(key) + '"' + std::string{more} + '}';
}

/// Answers like an etcd, except requests of `path`.
fake_gateway::answer except(std::string path, std::function<fake_gateway::reply(const std::string& body)> how) {
  return [path = std::move(path), how = std::move(how)](const std::string& asked, const std::string& body) {
    // Opening asks for the directory's own key.
    const auto is_of_opening = body.find(base64_of(std::string_view{"shop/\0", 6})) != std::string::npos;
    if (asked == path && !is_of_opening)
      return how(body);
    if (asked == "maintenance/status")
      return fake_gateway::of(answer_of(R"(,"version":"3.4.23")"));
    return fake_gateway::of(answer_of(""));
  };
}

directory_options brief() {
  return {.timeout = 500ms};
}

directory_error error_of_opening(const fake_gateway& gateway) {
  const auto opened = open_directory(gateway.address(), brief());
  return opened ? directory_error{directory_errc::none, ""} : opened.error();
}

directory_error error_of_opening(const fake_gateway::reply& always) {
  const fake_gateway gateway{[&](auto&&...) { return always; }};
  return error_of_opening(gateway);
}

/// Of list(), if a range is answered with `body`.
directory_error error_of_listing(const std::string& body) {
  const fake_gateway gateway{except("kv/range", [&](auto&&) { return fake_gateway::of(body); })};
  const auto listing = must(open_directory(gateway.address(), brief()))->list("");
  return listing ? directory_error{directory_errc::none, ""} : listing.error();
}

/// Of a watch whose stream begins with `start`.
directory_errc end_of_watch(const std::string& start, const std::string& repeated = "") {
  const fake_gateway gateway{except("watch", [&](auto&&) { return fake_gateway::stream_of(start, repeated); })};
  const auto opened = must(open_directory(gateway.address(), brief()));
  const watch_record record;
  const auto watch = must(opened->watch("", 3, record.handlers()));
  return record.end_code();
}

TEST(etcd_hostile, a_server_that_is_not_etcd_is_a_mismatch) {
  EXPECT_EQ(error_of_opening(fake_gateway::of("<html>Welcome</html>")).code(), directory_errc::version_mismatch);
  EXPECT_EQ(error_of_opening(fake_gateway::of("")).code(), directory_errc::version_mismatch);
  EXPECT_EQ(error_of_opening(fake_gateway::of("{}")).code(), directory_errc::version_mismatch);
  EXPECT_EQ(error_of_opening(fake_gateway::of("[1,2]")).code(), directory_errc::version_mismatch);
  EXPECT_EQ(error_of_opening(fake_gateway::of_status("404 Not Found", "Not Found\n")).code(),
            directory_errc::version_mismatch);
  EXPECT_EQ(error_of_opening(fake_gateway::of_status("302 Found", "<a href='/login'>")).code(),
            directory_errc::version_mismatch);
  EXPECT_EQ(error_of_opening({.bytes = "SSH-2.0-OpenSSH_9.2\r\n"}).code(), directory_errc::version_mismatch);
  EXPECT_THAT(error_of_opening(fake_gateway::of("<html>Welcome</html>")).message(), HasSubstr("<html>Welcome"));
}

TEST(etcd_hostile, an_older_version_is_a_mismatch) {
  for (const auto* version : {"3.3.25", "2.3.8", "3", "", "three", "3.", "-3.4"}) {
    const fake_gateway gateway{
        [&](auto&&...) { return fake_gateway::of(answer_of(R"(,"version":")" + std::string{version} + '"')); }};
    EXPECT_EQ(error_of_opening(gateway).code(), directory_errc::version_mismatch) << version;
  }
  for (const auto* version : {"3.4.0", "3.5.21", "3.10.1", "4.0.0"}) {
    const fake_gateway gateway{
        [&](auto&&...) { return fake_gateway::of(answer_of(R"(,"version":")" + std::string{version} + '"')); }};
    EXPECT_EQ(error_of_opening(gateway).code(), directory_errc::none) << version;
  }
}

TEST(etcd_hostile, a_server_that_says_nothing_is_unavailable_in_time) {
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(error_of_opening({.bytes = "", .is_held_open = true}).code(), directory_errc::unavailable);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 2s);
  EXPECT_EQ(error_of_opening({.bytes = ""}).code(), directory_errc::unavailable); // It closes at once.
}

TEST(etcd_hostile, an_answer_that_never_ends_is_unavailable_in_time) {
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(error_of_opening(fake_gateway::stream_of("{\"header\":")).code(), directory_errc::unavailable);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 2s);
}

TEST(etcd_hostile, a_huge_answer_is_refused) {
  const fake_gateway gateway{
      except("kv/range", [](auto&&) { return fake_gateway::stream_of("{\"kvs\":\"", std::string(1 << 20, 'x')); })};
  const auto opened = must(open_directory(gateway.address(), {.timeout = 20s}));
  EXPECT_EQ(code_of(opened->list("")), directory_errc::version_mismatch);
}

TEST(etcd_hostile, an_answer_with_impossible_values_is_refused) {
  for (const auto& body : {
           answer_of(R"(,"kvs":7)"),
           answer_of(R"(,"kvs":[7])"),
           answer_of(R"(,"kvs":[{"key":7}])"),
           answer_of(R"(,"kvs":[{"key":"c2hvcC9h=","create_revision":"3","mod_revision":"4"}])"),
           answer_of(R"(,"kvs":[{"key":"c2hv*C9h","create_revision":"3","mod_revision":"4"}])"),
           answer_of(R"(,"kvs":[)" + entry_json("shop/a", "") + ']'),
           answer_of(R"(,"kvs":[)" + entry_json("shop/a", R"(,"create_revision":"-3","mod_revision":"4")") + ']'),
           answer_of(R"(,"kvs":[)" + entry_json("shop/a", R"(,"create_revision":"5","mod_revision":"4")") + ']'),
           answer_of(R"(,"kvs":[)" + entry_json("shop/a", R"(,"create_revision":"1e3","mod_revision":"4")") + ']'),
           answer_of(R"(,"kvs":[)"
                     + entry_json("shop/a", R"(,"create_revision":"3","mod_revision":"99999999999999999999")") + ']'),
           answer_of(R"(,"kvs":[)" + entry_json("other/a") + ']'),
           answer_of(R"(,"kvs":[)" + entry_json("shop/b") + ',' + entry_json("shop/a") + ']'),
           answer_of(R"(,"more":"yes")"),
           answer_of(R"(,"more":true)"),
           std::string{R"({"header":{"cluster_id":"0","revision":"10"}})"},
           std::string{R"({"header":[]})"},
           std::string(100'000, '['),
           "{\"header\":" + std::string(100'000, '{'),
           answer_of(",\"kvs\":" + std::string(40, '[') + std::string(40, ']')),
           answer_of(",\"kvs\":[" + std::string(5'000'000, ',') + ']'),
       })
    EXPECT_EQ(error_of_listing(body).code(), directory_errc::version_mismatch) << body.substr(0, 200);
  EXPECT_EQ(error_of_listing(answer_of(R"(,"kvs":[)" + entry_json("shop/a") + ']')).code(), directory_errc::none);
}

TEST(etcd_hostile, a_listing_whose_pages_repeat_is_refused) {
  EXPECT_EQ(error_of_listing(answer_of(R"(,"more":true,"kvs":[)" + entry_json("shop/a") + ']')).code(),
            directory_errc::version_mismatch);
}

TEST(etcd_hostile, a_listing_begins_anew_if_its_revision_is_compacted_between_two_pages) {
  std::atomic<int> asked{0};
  const fake_gateway gateway{except("kv/range", [&](const std::string& body) {
    switch (++asked) {
    case 1:
    case 3:
      EXPECT_THAT(body, HasSubstr(R"("revision":"0")"));
      return fake_gateway::of(answer_of(R"(,"more":true,"kvs":[)" + entry_json("shop/a") + ']'));
    case 2:
      return fake_gateway::of_status("400 Bad Request",
                                     R"({"error":"etcdserver: mvcc: required revision has been compacted","code":11})");
    default:
      EXPECT_THAT(body, HasSubstr(R"("revision":"10")"));
      return fake_gateway::of(answer_of(R"(,"kvs":[)" + entry_json("shop/b") + ']'));
    }
  })};
  const auto opened = must(open_directory(gateway.address(), brief()));
  EXPECT_EQ(keys_below(*opened, ""), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(asked, 4);
}

TEST(etcd_hostile, a_listing_whose_revision_is_always_compacted_is_unavailable_in_time) {
  std::atomic<int> asked{0};
  const fake_gateway gateway{except("kv/range", [&](auto&&) {
    return asked++ % 2 == 0 ? fake_gateway::of(answer_of(R"(,"more":true,"kvs":[)" + entry_json("shop/a") + ']'))
                            : fake_gateway::of_status(
                                "400 Bad Request",
                                R"({"error":"etcdserver: mvcc: required revision has been compacted","code":11})");
  })};
  const auto opened = must(open_directory(gateway.address(), brief()));
  EXPECT_EQ(code_of(opened->list("")), directory_errc::unavailable);
}

TEST(etcd_hostile, a_watch_at_rest_asks_for_nothing) {
  const auto created = "{\"result\":" + answer_of(R"(,"created":true)") + "}\n";
  const fake_gateway gateway{except("watch", [&](auto&&) { return fake_gateway::stream_of(created); })};
  const auto opened = must(open_directory(gateway.address(), brief()));
  const watch_record record;
  const auto watch = must(opened->watch("", 3, record.handlers()));
  ASSERT_TRUE(eventually([&] { return gateway.requests("watch") == 1; }));
  const auto before = gateway.requests();
  std::this_thread::sleep_for(3 * brief().timeout);
  EXPECT_EQ(gateway.requests(), before);
}

TEST(etcd_hostile, an_answer_of_another_cluster_is_refused) {
  EXPECT_EQ(error_of_listing(R"({"header":{"cluster_id":"8","revision":"11"}})").code(),
            directory_errc::another_cluster);
}

TEST(etcd_hostile, an_answer_from_before_the_last_one_is_refused) {
  EXPECT_EQ(error_of_listing(R"({"header":{"cluster_id":"7","revision":"9"}})").code(),
            directory_errc::another_cluster);
}

TEST(etcd_hostile, a_lease_that_was_not_asked_for_is_refused) {
  const fake_gateway gateway{except("lease/keepalive", [](auto&&) {
    return fake_gateway::of("{\"result\":" + answer_of(R"(,"ID":"5","TTL":"9")") + '}');
  })};
  const auto opened = must(open_directory(gateway.address(), brief()));
  EXPECT_EQ(code_of(opened->keep_alive(6)), directory_errc::version_mismatch);
  EXPECT_EQ(must(opened->keep_alive(5)), 9s);
}

TEST(etcd_hostile, a_watch_of_lies_ends) {
  const auto created = "{\"result\":" + answer_of(R"(,"created":true)") + "}\n";
  const auto event = [&](const std::string& kv) {
    return created + "{\"result\":" + answer_of(",\"events\":[{\"kv\":" + kv + "}]") + "}\n";
  };
  EXPECT_EQ(end_of_watch("<html>\n"), directory_errc::version_mismatch);
  EXPECT_EQ(end_of_watch("{}\n"), directory_errc::version_mismatch);
  EXPECT_EQ(end_of_watch(created + "{\"result\":7}\n"), directory_errc::version_mismatch);
  EXPECT_EQ(end_of_watch(event(entry_json("other/a"))), directory_errc::version_mismatch);
  EXPECT_EQ(end_of_watch(event(entry_json("shop/a", R"(,"create_revision":"1","mod_revision":"2")"))),
            directory_errc::version_mismatch); // Before the first revision.
  EXPECT_EQ(end_of_watch(created + std::string(1'000, '{') + '\n'), directory_errc::version_mismatch);
  EXPECT_EQ(end_of_watch(created + R"({"result":{"header":{"cluster_id":"8","revision":"10"}}})" + '\n'),
            directory_errc::another_cluster);
}

TEST(etcd_hostile, a_message_of_a_watch_without_an_end_is_refused) {
  EXPECT_EQ(end_of_watch("{\"result\":\"", std::string(1 << 20, 'x')), directory_errc::version_mismatch);
}

TEST(etcd_hostile, a_revision_without_an_end_is_refused) {
  const auto value = base64_of(std::string(1 << 20, 'v'));
  const auto event = R"({"kv":{"key":"c2hvcC9h","create_revision":"9","mod_revision":"9","value":")" + value + "\"}}";
  EXPECT_EQ(end_of_watch("", "{\"result\":" + answer_of(R"(,"fragment":true,"events":[)" + event + ']') + "}\n"),
            directory_errc::version_mismatch);
}

TEST(etcd_hostile, a_watch_delivers_a_revision_only_when_all_its_fragments_are_there) {
  std::string stream = "{\"result\":" + answer_of(R"(,"created":true)") + "}\n";
  const auto message = [&](const std::string& more, const std::string& events) {
    stream += "{\"result\":" + answer_of(more + ",\"events\":[" + events + ']') + "}\n";
  };
  const auto event = [](const char* key, int revision) {
    const auto number = std::to_string(revision);
    return "{\"kv\":" + entry_json(key, R"(,"create_revision":")" + number + R"(","mod_revision":")" + number + '"')
           + '}';
  };
  message(R"(,"fragment":true)", event("shop/a", 4) + ',' + event("shop/b", 5));
  message(R"(,"fragment":true)", event("shop/c", 5));
  message("", event("shop/d", 5) + ',' + event("shop/e", 6));
  const fake_gateway gateway{except("watch", [&](auto&&) { return fake_gateway::stream_of(stream); })};
  const auto opened = must(open_directory(gateway.address(), brief()));
  const watch_record record;
  const auto watch = must(opened->watch("", 3, record.handlers()));
  ASSERT_TRUE(record.has_changes(5));
  const auto seen = record.contents_so_far();
  ASSERT_EQ(seen.deliveries.size(), 2U);
  EXPECT_EQ(seen.deliveries[0].revision, 4U);
  EXPECT_EQ(seen.deliveries[1].revision, 6U);
}

TEST(etcd_hostile, a_watch_whose_stream_ends_goes_on_after_the_last_revision) {
  std::atomic<int> streams{0};
  const auto created = "{\"result\":" + answer_of(R"(,"created":true)") + "}\n";
  const auto change = [](const std::string& revision) {
    return "{\"result\":"
           + answer_of(",\"events\":[{\"kv\":"
                       + entry_json("shop/a", R"(,"create_revision":"4","mod_revision":")" + revision + '"') + "}]")
           + "}\n";
  };
  const fake_gateway gateway{except("watch", [&](const std::string& body) {
    const auto is_first = streams++ == 0;
    EXPECT_THAT(body, HasSubstr(is_first ? R"("start_revision":"3")" : R"("start_revision":"5")"));
    auto reply = fake_gateway::stream_of(created + change(is_first ? "4" : "9"));
    reply.is_held_open = !is_first;
    return reply;
  })};
  const auto opened = must(open_directory(gateway.address(), brief()));
  const watch_record record;
  const auto watch = must(opened->watch("", 3, record.handlers()));
  ASSERT_TRUE(record.has_changes(2));
  EXPECT_EQ(streams, 2);
}

TEST(etcd_hostile, a_commit_is_sent_once_if_it_may_have_been_applied) {
  const fake_gateway gateway{except("kv/txn", [](auto&&) { return fake_gateway::reply{}; })};
  const auto opened = must(open_directory(gateway.address(), brief()));
  EXPECT_EQ(code_of(opened->commit({}, directory_writes{putting("a", "1")})), directory_errc::unavailable);
  EXPECT_EQ(gateway.requests("kv/txn"), 1);
}

TEST(etcd_hostile, a_commit_that_was_not_applied_is_sent_again) {
  std::atomic<int> asked{0};
  const fake_gateway gateway{except("kv/txn", [&](auto&&) {
    if (asked++ < 2)
      return fake_gateway::of_status(
          "503 Service Unavailable",
          R"({"error":"etcdserver: no leader","message":"etcdserver: no leader","code":14})");
    return fake_gateway::of(answer_of(R"(,"succeeded":true)"));
  })};
  const auto opened = must(open_directory(gateway.address(), brief()));
  EXPECT_TRUE(commit_if(*opened, {}, {putting("a", "1")}).is_applied);
}

TEST(etcd_hostile, texts_of_a_server_are_shown_on_one_line) {
  const auto error = error_of_opening(
      fake_gateway::of_status("500 Internal Server Error", R"({"error":"one\ntwo\u001b[31m","code":13})"));
  EXPECT_EQ(error.code(), directory_errc::unavailable);
  EXPECT_THAT(error.message(), testing::Not(HasSubstr("\n")));
  EXPECT_THAT(error.message(), testing::Not(HasSubstr("\x1b")));
}

} // namespace

} // namespace troupe::tests
