// Goal: a collector gets each span once, in OTLP's form, and a bad collector costs the node nothing but the bounds.
#include <gmock/gmock.h>

#include <troupe/framework/otlp/trace_exporter.hpp>
#include <troupe/framework/tracing.hpp>

#include "fake_collector.hpp"
#include "log_lines.hpp"
#include "three_nodes.hpp"

namespace troupe::tests {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class exported_traces : public three_nodes {
protected:
  void SetUp() override {
    ::setenv("no_proxy", "127.0.0.1", 1); // A proxy of the environment is not used.
    publish("echo", far().system.spawn([](caf::event_based_actor*) -> caf::behavior {
      return {[](int value) { return value; }, [](const std::string&) {}};
    }));
    connect();
    there_ = find("echo");
  }
  void TearDown() override { there_ = nullptr; }

  trace_exporter open(trace_export_options options = {}) {
    options.endpoint = collector_.url();
    options.sample = 0;
    return trace_exporter::open(*near().home, std::move(options)).value();
  }
  /// Sends a message that makes near record one span.
  void make_span() {
    caf::scoped_actor self{near().system};
    with_context(trace_context::begin(), [&] { self->send(there_, std::string{"tea"}); })();
  }

  fake_collector collector_;
  caf::actor there_;
};

std::optional<std::string> attribute(const json& span, std::string_view key) {
  for (const auto& each : span.at("attributes"))
    if (each.at("key") == key) {
      const auto& value = each.at("value");
      return value.contains("intValue") ? value.at("intValue").get<std::string>()
                                        : value.at("stringValue").get<std::string>();
    }
  return std::nullopt;
}

std::map<std::string, json> by_name(const std::vector<json>& spans) {
  std::map<std::string, json> result;
  for (const auto& each : spans)
    result.emplace(each.at("name").get<std::string>(), each);
  return result;
}

TEST_F(exported_traces, arrive_as_one_tree_from_three_nodes) {
  third();
  beyond_.emplace(far().home->connect(third_address_).value());
  third()
      .home
      ->publish("last", third().system.spawn([](caf::event_based_actor*) -> caf::behavior {
        return {[](int value) { return value + 1; }};
      }))
      .value();
  const auto last = beyond_->find("last").value();
  const auto asking = publish("middle", far().system.spawn([last](caf::event_based_actor* self) -> caf::behavior {
    return {[=](int value) {
      auto promise = self->make_response_promise<int>();
      self->request(last, 10s, value).then([promise](int answer) mutable { promise.deliver(answer); });
      return promise;
    }};
  }));
  const auto middle = find("middle");
  trace_export_options to{.endpoint = collector_.url(), .sample = 0};
  auto from_near = trace_exporter::open(*near().home, to).value();
  auto from_far = trace_exporter::open(*far().home, to).value();
  auto from_third = trace_exporter::open(*third().home, to).value();
  const auto context =
      trace_context::parse("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "vendor=7").value();
  with_context(context, [&] { EXPECT_EQ((ask<int>(near().system, middle, 3)), 4); })();
  ASSERT_TRUE(eventually([&] {
    from_near.flush(1s);
    from_far.flush(1s);
    from_third.flush(1s);
    return collector_.spans().size() == 4;
  }));
  caf::anon_send_exit(asking, caf::exit_reason::user_shutdown); // CAF keeps it until the timeout of its request.
  std::map<std::string, json> by_parent;
  for (const auto& each : collector_.spans()) {
    EXPECT_EQ(each.at("traceId"), "0af7651916cd43dd8448eb211c80319c");
    EXPECT_EQ(each.at("traceState"), "vendor=7");
    EXPECT_EQ(each.at("spanId").get<std::string>().size(), 16u);
    EXPECT_TRUE(each.at("startTimeUnixNano").is_string());
    EXPECT_LE(std::stoull(each.at("startTimeUnixNano").get<std::string>()),
              std::stoull(each.at("endTimeUnixNano").get<std::string>()));
    EXPECT_TRUE(by_parent.emplace(each.at("parentSpanId").get<std::string>(), each).second);
  }
  // near's request, far's service of it, far's request, third's service of it.
  std::string parent = "b7ad6b7169203331";
  for (const auto& [name, kind] : std::vector<std::pair<std::string, int>>{
           {"request i32", 3}, {"serve i32", 2}, {"request i32", 3}, {"serve i32", 2}}) {
    ASSERT_TRUE(by_parent.contains(parent)) << parent;
    const auto& one = by_parent.at(parent);
    EXPECT_EQ(one.at("name"), name);
    EXPECT_EQ(one.at("kind"), kind);
    parent = one.at("spanId").get<std::string>();
  }
  const auto served = by_name(collector_.spans()).at("serve i32");
  EXPECT_EQ(attribute(served, "troupe.family"), "typed");
  for (const auto key : {"troupe.wire_ns", "troupe.queue_ns", "troupe.decode_ns", "troupe.handler_ns", "troupe.actor",
                         "messaging.message.body.size", "troupe.link"})
    EXPECT_TRUE(attribute(served, key)) << key;
}

TEST_F(exported_traces, name_the_service_and_carry_the_header_fields) {
  auto exporter = open({.service = "tea \xff room", .headers = {{"Authorization", "Bearer 7"}}});
  make_span();
  ASSERT_TRUE(exporter.flush(10s));
  ASSERT_EQ(collector_.requests().size(), 1u);
  const auto got = collector_.requests()[0];
  EXPECT_THAT(got.head, HasSubstr("POST /v1/traces HTTP/1.1\r\n"));
  EXPECT_THAT(got.head, HasSubstr("Content-Type: application/json\r\n"));
  EXPECT_THAT(got.head, HasSubstr("Authorization: Bearer 7\r\n"));
  const auto body = json::parse(got.body);
  const auto& resource = body.at("resourceSpans")[0].at("resource");
  EXPECT_EQ(attribute(resource, "service.name"), "tea \xef\xbf\xbd room") << "valid UTF-8, whatever the name is";
  EXPECT_FALSE(collector_.spans()[0].contains("parentSpanId")) << "the first span of its trace";
}

TEST_F(exported_traces, go_together_in_one_request) {
  auto exporter = open({.interval = 1h});
  for (int i = 0; i < 20; ++i)
    make_span();
  EXPECT_EQ(collector_.requests().size(), 0u);
  ASSERT_TRUE(exporter.flush(10s));
  EXPECT_EQ(collector_.requests().size(), 1u);
  EXPECT_EQ(collector_.spans().size(), 20u);
  EXPECT_EQ(exporter.stats().exported, 20u);
}

TEST_F(exported_traces, are_sent_at_once_when_a_batch_is_full) {
  auto exporter = open({.batch_max = 5, .interval = 1h});
  for (int i = 0; i < 12; ++i)
    make_span();
  EXPECT_TRUE(eventually([&] { return collector_.spans().size() == 10 && exporter.stats().waiting == 2; }));
}

TEST_F(exported_traces, wait_as_long_as_the_collector_says) {
  collector_.answer_with({{.status = "429 Too Many Requests", .fields = "Retry-After: 1\r\n"}});
  auto exporter = open({.interval = 1ms});
  make_span();
  ASSERT_TRUE(eventually([&] { return collector_.spans().size() == 1; }));
  const auto got = collector_.requests();
  ASSERT_EQ(got.size(), 2u);
  EXPECT_GE(got[1].at - got[0].at, 1s);
  EXPECT_EQ(got[0].body, got[1].body);
  ASSERT_TRUE(eventually([&] { return exporter.stats().exported == 1; }));
  EXPECT_EQ(exporter.stats().dropped, 0u);
  EXPECT_EQ(exporter.stats().failed_requests, 1u);
}

TEST_F(exported_traces, wait_until_the_date_that_the_collector_says) {
  collector_.answer_with(
      {{.status = "503 Service Unavailable", .fields = "Retry-After: Fri, 31 Dec 1999 23:59:59 GMT\r\n"},
       {.status = "502 Bad Gateway"},
       {.status = "504 Gateway Timeout"}});
  auto exporter = open({.interval = 1ms});
  make_span();
  ASSERT_TRUE(eventually([&] { return exporter.stats().exported == 1; })) << "that date has passed";
  EXPECT_EQ(collector_.requests().size(), 4u);
}

TEST_F(exported_traces, are_given_up_if_the_collector_asks_for_too_long_a_pause) {
  collector_.answer_with({{.status = "503 Service Unavailable", .fields = "Retry-After: 1\r\n"}});
  auto exporter = open({.interval = 1ms, .retry_timeout = 500ms});
  make_span();
  ASSERT_TRUE(eventually([&] { return exporter.stats().dropped == 1; }));
  make_span();
  ASSERT_TRUE(eventually([&] { return exporter.stats().exported == 1; }));
  const auto got = collector_.requests();
  ASSERT_EQ(got.size(), 2u);
  EXPECT_GE(got[1].at - got[0].at, 1s) << "the pause holds for the next batch";
}

TEST_F(exported_traces, are_given_up_if_the_collector_refuses_them) {
  for (const auto status : {"400 Bad Request", "401 Unauthorized", "500 Internal Server Error", "302 Found"}) {
    collector_.answer_with({{.status = status, .fields = "Location: " + collector_.url() + "\r\n"}});
    auto exporter = open({.interval = 1ms});
    make_span();
    EXPECT_TRUE(eventually([&] { return exporter.stats().dropped == 1; })) << status;
    EXPECT_THAT(exporter.stats().last_error, HasSubstr(std::string{status}.substr(0, 3)));
    EXPECT_EQ(exporter.stats().requests, 1u);
  }
  EXPECT_EQ(collector_.requests().size(), 4u);
}

TEST_F(exported_traces, that_the_collector_rejects_are_counted) {
  collector_.answer_with({{.body = R"({"partialSuccess":{"rejectedSpans":"1","errorMessage":"too old"}})"},
                          {.body = R"({"partialSuccess":{"rejectedSpans":1e99}})"},
                          {.body = std::string(1 << 20, 'x')}});
  auto exporter = open({.interval = 1ms});
  for (int i = 1; i <= 3; ++i) {
    make_span();
    ASSERT_TRUE(eventually([&] { return exporter.stats().requests == static_cast<std::uint64_t>(i); }));
  }
  EXPECT_EQ(exporter.stats().rejected, 1u);
  EXPECT_EQ(exporter.stats().exported, 2u);
  EXPECT_EQ(exporter.stats().failed_requests, 0u);
}

TEST_F(exported_traces, without_a_collector_take_no_more_than_the_queue) {
  log_lines lines{log_level::warning};
  auto exporter = trace_exporter::open(*near().home, {.endpoint = "http://user:password@127.0.0.1:1/",
                                                      .sample = 0,
                                                      .queue_max = 10,
                                                      .batch_max = 4,
                                                      .interval = 1ms,
                                                      .close_timeout = 50ms})
                      .value();
  for (int i = 0; i < 100; ++i)
    make_span();
  EXPECT_TRUE(eventually([&] { return exporter.stats().failed_requests > 1; }));
  const auto stats = exporter.stats();
  EXPECT_LE(stats.waiting, 10u);
  EXPECT_EQ(stats.dropped + stats.waiting, 100u);
  EXPECT_THAT(stats.last_error, HasSubstr("connect"));
  EXPECT_FALSE(exporter.flush(1ms));
  EXPECT_EQ(lines.with("127.0.0.1:1/"), 1u) << "one line for all failures";
  EXPECT_EQ(lines.with("password"), 0u);
}

TEST_F(exported_traces, do_not_hold_up_the_end_if_the_collector_is_silent) {
  collector_.answer_with({{.is_silent = true}, {.is_silent = true}});
  auto ends = std::chrono::steady_clock::time_point{};
  {
    auto exporter = open({.interval = 1ms, .request_timeout = 1h, .close_timeout = 100ms});
    make_span();
    ASSERT_TRUE(eventually([&] { return collector_.requests().size() == 1; }));
    ends = std::chrono::steady_clock::now() + 100ms;
  }
  EXPECT_LT(std::chrono::steady_clock::now() - ends, 10s) << "an answer would take an hour";
  make_span(); // The node has no exporter any more.
  EXPECT_EQ(collector_.requests().size(), 1u);
}

TEST_F(exported_traces, that_wait_at_the_end_are_sent) {
  {
    auto exporter = open({.interval = 1h, .close_timeout = 10s});
    make_span();
  }
  EXPECT_EQ(collector_.spans().size(), 1u);
}

TEST_F(exported_traces, outlive_the_node) {
  auto exporter = open({.interval = 1h});
  make_span();
  there_ = nullptr;
  link_.reset();
  near_.reset();
  EXPECT_TRUE(exporter.flush(10s));
  EXPECT_EQ(collector_.spans().size(), 1u);
}

TEST_F(exported_traces, are_refused_with_impossible_options) {
  const auto refused = [&](trace_export_options options) {
    const auto opened = trace_exporter::open(*near().home, std::move(options));
    return opened ? node_errc::none : opened.error().code();
  };
  for (const auto url : {"", "tea", "ftp://127.0.0.1/", "file:///etc/passwd", "http://127.0.0.1:x/", "http://a\nb/"})
    EXPECT_EQ(refused({.endpoint = url}), node_errc::bad_option) << url;
  EXPECT_EQ(refused({.sample = 2}), node_errc::bad_option);
  EXPECT_EQ(refused({.headers = {{"A", "b\r\nC: d"}}}), node_errc::bad_option);
  EXPECT_EQ(refused({.headers = {{"", "b"}}}), node_errc::bad_option);
  EXPECT_EQ(refused({.queue_max = 1, .batch_max = 2}), node_errc::bad_option);
  EXPECT_EQ(refused({.batch_max = 0}), node_errc::bad_option);
  EXPECT_EQ(refused({.interval = 0ms}), node_errc::bad_option);
  EXPECT_EQ(refused({.request_timeout = -1ms}), node_errc::bad_option);
  EXPECT_EQ(refused({.retry_timeout = -1ms}), node_errc::bad_option);
  EXPECT_EQ(refused({.close_timeout = std::chrono::milliseconds::max()}), node_errc::bad_option);
}

} // namespace
} // namespace troupe::tests
