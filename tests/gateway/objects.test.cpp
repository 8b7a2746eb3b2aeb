// Goal: clients read and make objects of the store, and only those that they may.
#include <cstring>

#include "open_gateway.hpp"

#include <troupe/framework/gateway/internal/objects/byte_range.hpp>
#include <troupe/framework/gateway/internal/objects/object_shelf.hpp>

namespace troupe::tests {
namespace {

class objects : public open_gateway {
protected:
  [[nodiscard]] http_answer get(const std::string& id, const std::string& head = "",
                                const std::string& token = full_token) {
    return answer_to(request("GET", "/objects/" + id, "", head, token));
  }
  [[nodiscard]] std::string id_of(const http_answer& made) { return made.body.substr(7, 32); }
};

TEST_F(objects, an_array_of_bytes_is_served_as_its_bytes) {
  const std::string text = "ten bytes.";
  auto ref = home().home->put(array<std::byte>::copy_of(std::as_bytes(std::span(text))));
  ASSERT_TRUE(ref && gateway().expose_object("menu", *ref));
  const auto answer = get("menu");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body, text);
  EXPECT_EQ(answer.head.at("content-type"), "application/octet-stream");
  EXPECT_EQ(get("menu", "", small_token).body, text);
  const auto head = answer_to(request("HEAD", "/objects/menu"), false);
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.head.at("content-length"), "10");
}

TEST_F(objects, an_array_of_numbers_is_a_file_of_numpy) {
  auto ref = home().home->put(array<double>({1.5, 2, 3, 4, 5, 6}, {2, 3}));
  ASSERT_TRUE(ref && gateway().expose_object("table", *ref));
  const auto answer = get("table");
  ASSERT_EQ(answer.status, 200);
  EXPECT_EQ(answer.head.at("content-type"), "application/x-npy");
  ASSERT_EQ(answer.body.size(), 128U + 48U);
  EXPECT_EQ(answer.body.substr(0, 10), std::string("\x93NUMPY\x01\x00\x76\x00", 10));
  EXPECT_EQ(answer.body.substr(10, 59), "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }");
  EXPECT_EQ(answer.body[127], '\n');
  double last = 0;
  std::memcpy(&last, answer.body.data() + 128 + 40, sizeof last);
  EXPECT_EQ(last, 6);
  // A part that begins in the head and ends in the elements.
  const auto part = get("table", "Range: bytes=120-143\r\n");
  EXPECT_EQ(part.status, 206);
  EXPECT_EQ(part.body, answer.body.substr(120, 24));
  EXPECT_EQ(part.head.at("content-range"), "bytes 120-143/176");
}

TEST_F(objects, any_other_value_is_served_as_json) {
  auto ref = home().home->put(reading{"roof", 21.5, {1, 2}});
  ASSERT_TRUE(ref && gateway().expose_object("reading", *ref));
  EXPECT_EQ(get("reading").body, R"({"sensor":"roof","celsius":21.5,"samples":[1.0,2.0]})");
}

TEST_F(objects, a_large_array_arrives_whole) {
  std::vector<std::uint32_t> numbers(3'000'000);
  for (std::uint32_t i = 0; i < numbers.size(); ++i)
    numbers[i] = i * 2654435761U;
  auto ref = home().home->put(array<std::uint32_t>::copy_of(numbers));
  ASSERT_TRUE(ref && gateway().expose_object("large", *ref));
  const auto answer = get("large");
  ASSERT_EQ(answer.body.size(), 128 + 4 * numbers.size());
  EXPECT_EQ(std::memcmp(answer.body.data() + 128, numbers.data(), 4 * numbers.size()), 0);
}

TEST_F(objects, what_a_client_has_is_not_sent_again) {
  auto ref = home().home->put(array<std::byte>(std::vector<std::byte>(10)));
  ASSERT_TRUE(ref && gateway().expose_object("menu", *ref));
  const auto tag = get("menu").head.at("etag");
  EXPECT_EQ(get("menu", "If-None-Match: " + tag + "\r\n").status, 304);
  EXPECT_EQ(get("menu", "Range: bytes=5-\r\nIf-Range: " + tag + "\r\n").status, 206);
  ASSERT_TRUE(gateway().expose_object("menu", *ref)); // Another object, for all that clients know.
  EXPECT_EQ(get("menu", "If-None-Match: " + tag + "\r\n").status, 200);
  EXPECT_EQ(get("menu", "Range: bytes=5-\r\nIf-Range: " + tag + "\r\n").status, 200);
  const auto beyond = get("menu", "Range: bytes=10-\r\n");
  EXPECT_EQ(beyond.status, 416);
  EXPECT_NE(beyond.body.find(R"({"error":{"code":)"), std::string::npos);
}

TEST_F(objects, a_client_makes_reads_and_deletes_its_own) {
  const auto one = client();
  EXPECT_TRUE(one->send(request("PUT", "/objects", "some bytes")));
  const auto made = one->answer();
  ASSERT_EQ(made.status, 201) << made.body;
  const auto id = id_of(made);
  EXPECT_EQ(made.head.at("location"), "/objects/" + id);
  EXPECT_EQ(get(id).body, "some bytes");
  EXPECT_EQ(get(id, "", small_token).status, 404); // Another token's.
  EXPECT_EQ(answer_to(request("DELETE", "/objects/" + id, "", "", small_token)).status, 404);
  EXPECT_EQ(gateway().stats().client_object_bytes, 10U);
  EXPECT_TRUE(one->send(request("DELETE", "/objects/" + id)));
  EXPECT_EQ(one->answer().status, 204);
  EXPECT_EQ(get(id).status, 404);
  EXPECT_EQ(gateway().stats().client_object_bytes, 0U);
}

TEST_F(objects, a_large_object_arrives_whole_and_is_invited_if_the_client_asks) {
  std::string bytes(900'000, 'x');
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<char>(i * 31);
  const auto one = client();
  EXPECT_TRUE(one->send(request("PUT", "/objects", "", "Expect: 100-continue\r\nContent-Length: 900000\r\n")));
  EXPECT_EQ(one->answer().status, 100);
  EXPECT_TRUE(one->send(bytes));
  const auto made = one->answer();
  ASSERT_EQ(made.status, 201);
  EXPECT_EQ(get(id_of(made)).body, bytes);
}

TEST_F(objects, the_quota_of_a_token_bounds_what_it_makes_together) {
  options_.objects_per_token_max = 3;
  const std::string half(600'000, 'x');
  EXPECT_EQ(answer_to(request("PUT", "/objects", half)).status, 201);
  EXPECT_EQ(answer_to(request("PUT", "/objects", half)).status, 413);
  EXPECT_EQ(answer_to(request("PUT", "/objects", "x")).status, 201);
  EXPECT_EQ(answer_to(request("PUT", "/objects", "x")).status, 201);
  EXPECT_EQ(answer_to(request("PUT", "/objects", "x")).status, 429);
  EXPECT_EQ(answer_to(request("PUT", "/objects", "x", "", small_token)).status, 403);
  EXPECT_EQ(answer_to(request("PUT", "/objects", "", "Transfer-Encoding: chunked\r\n")).status, 411);
}

TEST_F(objects, an_unfinished_upload_leaves_nothing) {
  static_cast<void>(gateway());
  {
    const auto one = client();
    EXPECT_TRUE(one->send(request("PUT", "/objects", "", "Content-Length: 900000\r\n") + "begin"));
    EXPECT_TRUE(eventually([&] { return gateway().stats().client_object_bytes == 900'000; }));
  }
  EXPECT_TRUE(eventually([&] { return gateway().stats().client_object_bytes == 0; }));
}

TEST_F(objects, objects_of_clients_expire) {
  options_.object_lifetime = 1s;
  const auto id = id_of(answer_to(request("PUT", "/objects", "x")));
  EXPECT_TRUE(eventually([&] { return get(id).status == 404 && gateway().stats().client_object_bytes == 0; }));
}

TEST_F(objects, a_withdrawn_object_is_gone_and_others_cannot_delete_it) {
  auto ref = home().home->put(array<std::byte>(std::vector<std::byte>(10)));
  ASSERT_TRUE(ref && gateway().expose_object("menu", *ref));
  EXPECT_EQ(answer_to(request("DELETE", "/objects/menu")).status, 403);
  EXPECT_TRUE(gateway().withdraw_object("menu"));
  EXPECT_EQ(get("menu").status, 404);
}

TEST(byte_ranges, are_read_as_rfc_9110_says) {
  using web::range_kind;
  const auto check = [](std::string_view header, range_kind kind, std::uint64_t first = 0, std::uint64_t size = 0) {
    const auto read = web::read_range(header, 100);
    EXPECT_EQ(read.kind, kind) << header;
    if (kind == range_kind::part) {
      EXPECT_EQ(read.bytes.first, first) << header;
      EXPECT_EQ(read.bytes.size_bytes, size) << header;
    }
  };
  check("bytes=0-0", range_kind::part, 0, 1);
  check("bytes=10-", range_kind::part, 10, 90);
  check("bytes=10-1000", range_kind::part, 10, 90);
  check("bytes=-10", range_kind::part, 90, 10);
  check("bytes=-1000", range_kind::part, 0, 100);
  check("bytes=100-", range_kind::unsatisfiable);
  check("bytes=-0", range_kind::unsatisfiable);
  for (const auto* const whole : {"", "bytes=", "bytes=-", "bytes=5-4", "bytes=a-b", "bytes=0-1,3-4", "lines=1-2",
                                  "bytes=99999999999999999999-", "bytes= 1-2", "bytes=1-2x"})
    check(whole, range_kind::whole);
}

/// A shelf, and a token that may make objects of 100 bytes together.
struct quotas : testing::Test {
  quotas() {
    by.name = "one";
    by.put_bytes = 100;
  }

  web::object_shelf shelf{{.objects_per_token_max = 10, .lifetime = 60s}};
  web::token_rights by;
  const web::object_shelf::clock::time_point now = web::object_shelf::clock::now();
};

TEST_F(quotas, an_object_counts_against_the_quota_while_it_is_read) {
  auto room = shelf.reserve(by, 100, now);
  ASSERT_TRUE(room);
  const auto id = shelf.put(by, *std::move(room), {}, now);
  auto reading = shelf.find(by, id, now);
  ASSERT_TRUE(reading);
  EXPECT_TRUE(shelf.remove(by, id, now));
  EXPECT_FALSE(shelf.reserve(by, 1, now));
  reading = {};
  EXPECT_TRUE(shelf.reserve(by, 1, now));
}

TEST_F(quotas, an_expired_object_makes_room_at_once) {
  static_cast<void>(shelf.put(by, *shelf.reserve(by, 100, now), {}, now));
  EXPECT_FALSE(shelf.reserve(by, 100, now + 59s));
  EXPECT_TRUE(shelf.reserve(by, 100, now + 60s));
}

TEST_F(objects, an_upload_that_stops_is_given_up_after_the_time_for_what_has_come) {
  options_.body_timeout = 100ms;
  const auto one = client();
  EXPECT_TRUE(one->send("PUT /objects HTTP/1.1\r\nHost: " + host() + "\r\nAuthorization: Bearer " + full_token
                        + "\r\nContent-Length: 1048576\r\n\r\n123"));
  EXPECT_TRUE(eventually([&] { return gateway().stats().client_object_bytes == 1_MiB; }));
  EXPECT_TRUE(one->is_closed_by_peer()); // The whole would have 32 s.
  EXPECT_TRUE(eventually([&] { return gateway().stats().client_object_bytes == 0; }));
}

} // namespace
} // namespace troupe::tests
