// The texts of etcd's gateway: base64, requests and answers.
#include "../directory_words.hpp"

#include <troupe/framework/cluster/internal/etcd/base64.hpp>
#include <troupe/framework/cluster/internal/etcd/etcd_answers.hpp>
#include <troupe/framework/cluster/internal/etcd/etcd_requests.hpp>
#include <troupe/framework/cluster/internal/etcd/line_buffer.hpp>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace troupe::tests {

namespace {

using namespace cluster_directories;

TEST(base64, it_has_the_values_of_rfc_4648) {
  for (const auto& [bytes, text] :
       std::initializer_list<std::pair<std::string, std::string>>{{"", ""},
                                                                  {"f", "Zg=="},
                                                                  {"fo", "Zm8="},
                                                                  {"foo", "Zm9v"},
                                                                  {"foob", "Zm9vYg=="},
                                                                  {"fooba", "Zm9vYmE="},
                                                                  {"foobar", "Zm9vYmFy"},
                                                                  {std::string("\0\xff\xfe", 3), "AP/+"}}) {
    EXPECT_EQ(base64_of(bytes), text);
    EXPECT_EQ(bytes_of_base64(text), bytes);
  }
}

TEST(base64, other_texts_are_refused) {
  for (const auto* text :
       {"Z", "Zg", "Zg=", "Zg==Zg==", "Z===", "====", "Zh==", "Zm9=", "Zm9v\n", "Zm-_", "Zm 9", "=Zm9"})
    EXPECT_EQ(bytes_of_base64(text), std::nullopt) << text;
}

TEST(gateway_requests, the_end_of_a_prefix_is_the_first_key_after_all_that_begin_with_it) {
  EXPECT_EQ(end_of_prefix("shop/"), "shop0");
  EXPECT_EQ(end_of_prefix("a\xff\xff"), "b");
  EXPECT_EQ(end_of_prefix("\xff"), std::string(1, '\0'));
  EXPECT_EQ(end_of_prefix(""), std::string(1, '\0'));
}

TEST(gateway_requests, they_are_json_whatever_the_bytes) {
  std::string bytes;
  for (int each = 0; each < 256; ++each)
    bytes.push_back(static_cast<char>(each));
  for (const auto& request :
       {range_request(bytes, bytes, 1, 2),
        txn_request(bytes, directory_conditions{is_absent(bytes)},
                    directory_writes{putting(bytes, bytes, 5), removing("a")}),
        watch_request(bytes, 7), authenticate_request(bytes, bytes), grant_request(1, std::chrono::seconds{9})})
    EXPECT_TRUE(nlohmann::json::accept(request.body)) << request.body;
}

TEST(gateway_requests, only_a_commit_that_writes_is_not_repeatable) {
  EXPECT_FALSE(txn_request("p/", {}, directory_writes{removing("a")}).is_repeatable);
  EXPECT_TRUE(txn_request("p/", directory_conditions{is_absent("a")}, {}).is_repeatable);
  EXPECT_TRUE(grant_request(1, std::chrono::seconds{9}).is_repeatable);
}

TEST(gateway_answers, numbers_may_be_texts_or_numbers_and_are_0_if_left_out) {
  const auto range = read_range(R"({"header":{"cluster_id":"18446744073709551615","revision":12},"kvs":[
      {"key":"cC9h","create_revision":"9223372036854775807","mod_revision":"9223372036854775807"},
      {"key":"cC9i","create_revision":1,"mod_revision":2,"value":"YQ==","lease":3,"version":null}]})",
                                "p/");
  ASSERT_TRUE(range.has_value()) << range.error();
  EXPECT_EQ(range->head.cluster_id, UINT64_MAX);
  EXPECT_EQ(range->head.revision, 12U);
  EXPECT_EQ(range->entries[0], (directory_entry{"a", "", INT64_MAX, INT64_MAX, 0}));
  EXPECT_EQ(range->entries[1], (directory_entry{"b", "a", 1, 2, 3}));
}

TEST(gateway_answers, a_failure_has_two_forms) {
  const auto plain = read_refusal(R"({"error":"etcdserver: no leader","message":"etcdserver: no leader","code":14})");
  const auto of_stream = read_refusal(R"({"error":{"grpc_code":14,"message":"etcdserver: no leader"}})");
  ASSERT_TRUE(plain.has_value() && of_stream.has_value());
  EXPECT_EQ(plain->code, 14);
  EXPECT_EQ(of_stream->code, 14);
  EXPECT_EQ(of_stream->text, plain->text);
  EXPECT_FALSE(read_refusal("{}").has_value());
  EXPECT_FALSE(read_refusal(R"({"error":7})").has_value());
}

TEST(line_buffer, it_gives_each_line_once_however_the_bytes_are_divided) {
  const std::string bytes = "one\n\nthree\nrest";
  for (std::size_t part = 1; part <= bytes.size(); ++part) {
    line_buffer lines{100};
    std::vector<std::string> seen;
    for (std::size_t at = 0; at < bytes.size(); at += part) {
      lines.add(std::string_view{bytes}.substr(at, part));
      while (const auto line = lines.take_line())
        seen.push_back(*line);
    }
    EXPECT_EQ(seen, (std::vector<std::string>{"one", "", "three"}));
    EXPECT_EQ(lines.take_rest(), "rest");
  }
}

TEST(line_buffer, it_knows_when_a_line_is_too_long) {
  line_buffer lines{3};
  lines.add("abc");
  EXPECT_FALSE(lines.is_too_long());
  lines.add("d");
  EXPECT_TRUE(lines.is_too_long());
}

} // namespace

} // namespace troupe::tests
