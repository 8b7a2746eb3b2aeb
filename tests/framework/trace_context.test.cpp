// Goal: contexts are read and written as W3C Trace Context and W3C Baggage say. Invalid texts are refused or dropped.
#include <troupe/framework/trace_context.hpp>

#include <set>
#include <string>

#include <gtest/gtest.h>

namespace troupe {
namespace {

constexpr std::string_view good = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

TEST(a_trace_context, is_written_as_it_was_read) {
  const auto context = trace_context::parse(good, "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE", "a=1,b=2;private").value();
  EXPECT_EQ(context.traceparent(), good);
  EXPECT_TRUE(context.is_sampled());
  EXPECT_TRUE(context.has_span());
  EXPECT_EQ(context.trace()[0], std::byte{0x0a});
  EXPECT_EQ(context.span()[7], std::byte{0x31});
  EXPECT_EQ(context.tracestate(), "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE");
  EXPECT_EQ(context.baggage(), "a=1,b=2;private");
}

TEST(a_trace_context, reads_only_the_flag_that_it_knows) {
  EXPECT_FALSE(trace_context::parse("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00")->is_sampled());
  EXPECT_EQ(trace_context::parse("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-ff")->traceparent(), good);
}

TEST(a_trace_context, reads_the_beginning_of_later_versions) {
  EXPECT_EQ(
      trace_context::parse("cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-what-comes-later")->traceparent(),
      good);
  EXPECT_TRUE(trace_context::parse("cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"));
  EXPECT_FALSE(trace_context::parse("cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01.later"));
}

TEST(a_trace_context, refuses_what_the_standard_forbids) {
  for (const auto bad : {"", "00", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0",
                         "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-",
                         "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0g",
                         "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
                         "0-0af7651916cd43dd8448eb211c80319c0-b7ad6b7169203331-01",
                         "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
                         "00_0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
                         "00-00000000000000000000000000000000-b7ad6b7169203331-01",
                         "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01"})
    EXPECT_FALSE(trace_context::parse(bad)) << bad;
}

TEST(a_trace_context, survives_every_change_of_one_byte) {
  for (std::size_t at = 0; at < good.size(); ++at)
    for (int byte = 0; byte < 256; ++byte) {
      std::string changed{good};
      changed[at] = static_cast<char>(byte);
      const auto context = trace_context::parse(changed);
      if (context && changed.starts_with("00")) {
        EXPECT_EQ(context->traceparent().substr(0, 52), changed.substr(0, 52));
      }
    }
}

TEST(a_trace_context, drops_lists_that_are_invalid_or_too_long) {
  const auto state = [](std::string_view text) { return trace_context::parse(good, text)->tracestate(); };
  const auto luggage = [](std::string_view text) { return trace_context::parse(good, {}, text)->baggage(); };
  for (const auto bad : {"novalue", "=1", "a b=1", "a=1,b", "a=\x01", "a=\xc3\xa4"}) {
    EXPECT_EQ(state(bad), "") << bad;
    EXPECT_EQ(luggage(bad), "") << bad;
  }
  EXPECT_EQ(state("a=1, ,b=2"), "a=1, ,b=2") << "empty members are allowed";
  EXPECT_EQ(state("a=" + std::string(510, 'x')).size(), 512u);
  EXPECT_EQ(state("a=" + std::string(511, 'x')), "");
  EXPECT_EQ(luggage("a=" + std::string(8190, 'x')).size(), 8192u);
  EXPECT_EQ(luggage("a=" + std::string(8191, 'x')), "");
  std::string many = "k=1";
  for (int i = 1; i < 32; ++i)
    many += ",k=1";
  EXPECT_EQ(state(many), many);
  EXPECT_EQ(state(many + ",k=1"), "") << "33 members";
}

TEST(a_trace_context, begins_with_ids_of_its_own) {
  std::set<trace_id> seen;
  for (int i = 0; i < 1'000; ++i) {
    const auto context = trace_context::begin();
    EXPECT_TRUE(context.is_sampled());
    EXPECT_FALSE(context.has_span());
    EXPECT_TRUE(seen.insert(context.trace()).second);
  }
  EXPECT_FALSE(trace_context::begin(false).is_sampled());
  const auto context = trace_context::begin();
  EXPECT_NE(context.traceparent(), context.traceparent()) << "the parent's id is random each time";
  EXPECT_TRUE(trace_context::parse(context.traceparent()));
}

TEST(a_trace_context, takes_only_valid_baggage) {
  auto context = trace_context::begin();
  EXPECT_TRUE(context.set_baggage("tenant=42"));
  EXPECT_FALSE(context.set_baggage("tenant"));
  EXPECT_EQ(context.baggage(), "tenant=42");
  EXPECT_TRUE(context.set_baggage(""));
  EXPECT_EQ(context.baggage(), "");
}

} // namespace
} // namespace troupe
