// Goal: the entries of a trace have their bytes, and a forwarder changes exactly those that it may.
#include <troupe/framework/internal/wire/message_trace.hpp>

#include <chrono>

#include <gtest/gtest.h>

#include <troupe/framework/internal/wire/message_extensions.hpp>

#include "bytes.hpp"

namespace troupe::internal {
namespace {

using namespace std::chrono_literals;
using clock = std::chrono::system_clock;

trace_context a_context() {
  return trace_context::parse("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "a=1", "b=2").value();
}

TEST(a_trace_on_the_wire, has_its_golden_bytes) {
  byte_vector map;
  append_trace(map, a_context(), true, clock::time_point{1ms});
  EXPECT_TRUE(is_extension_map(map));
  EXPECT_EQ(
      tests::to_hex(map),
      "03 37 30 30 2d 30 61 66 37 36 35 31 39 31 36 63 64 34 33 64 64 38 34 34 38 65 62 32 31 31 63 38 30 33 31 39 63 "
      "2d 62 37 61 64 36 62 37 31 36 39 32 30 33 33 33 31 2d 30 31 04 03 61 3d 31 05 03 62 3d 32 06 08 e8 03 00 00 "
      "00 00 00 00");
  const auto [context, sent_at] = read_trace(map);
  EXPECT_EQ(context, a_context());
  EXPECT_EQ(sent_at, clock::time_point{1ms});
}

TEST(a_trace_on_the_wire, leaves_out_what_is_empty_or_not_allowed) {
  byte_vector map;
  append_trace(map, a_context(), false, std::nullopt);
  EXPECT_FALSE(find_extension(map, 5));
  EXPECT_FALSE(find_extension(map, 6));
  EXPECT_TRUE(has_trace(map));
  EXPECT_FALSE(has_trace({}));
}

class a_forwarded_trace : public testing::Test {
protected:
  a_forwarded_trace() {
    append_extension(map_, 2, byte_vector(8));
    append_trace(map_, a_context(), true, clock::time_point{1ms});
    append_extension(map_, 99, byte_vector(3, std::byte{7}));
  }
  byte_vector map_;
};

TEST_F(a_forwarded_trace, stays_as_it_is_if_the_forwarder_records_nothing) {
  EXPECT_EQ(map_for_next_link(map_, {.takes_traces = true, .with_baggage = true}), map_);
}

TEST_F(a_forwarded_trace, gets_the_forwarders_span) {
  const span_id own{std::byte{1}};
  const auto next = map_for_next_link(
      map_, {.takes_traces = true, .with_baggage = false, .span = own, .sent_at = clock::time_point{2ms}});
  EXPECT_TRUE(is_extension_map(next));
  const auto [context, sent_at] = read_trace(next);
  EXPECT_EQ(context->span(), own);
  EXPECT_EQ(context->trace(), a_context().trace());
  EXPECT_EQ(context->tracestate(), "a=1");
  EXPECT_EQ(context->baggage(), "");
  EXPECT_EQ(sent_at, clock::time_point{2ms});
  EXPECT_TRUE(find_extension(next, 2));
  EXPECT_EQ(find_extension(next, 99)->size(), 3u);
}

TEST_F(a_forwarded_trace, is_removed_for_a_peer_that_does_not_take_it) {
  const auto next = map_for_next_link(map_, {});
  EXPECT_FALSE(has_trace(next));
  EXPECT_TRUE(find_extension(next, 2));
  EXPECT_TRUE(find_extension(next, 99));
}

TEST_F(a_forwarded_trace, goes_without_its_map_if_the_rest_is_too_long_for_the_peer) {
  append_extension(map_, 100, byte_vector(extension_bytes_without_traces_max));
  EXPECT_TRUE(map_for_next_link(map_, {}).empty());
  EXPECT_EQ(map_for_next_link(map_, {.takes_traces = true, .with_baggage = true}), map_);
}

TEST_F(a_forwarded_trace, that_is_invalid_goes_on_as_it_is) {
  byte_vector map;
  append_extension(map, 3, byte_vector(5, std::byte{'x'}));
  EXPECT_EQ(map_for_next_link(map, {.takes_traces = true, .with_baggage = true, .span = span_id{std::byte{1}}}), map);
}

} // namespace
} // namespace troupe::internal
