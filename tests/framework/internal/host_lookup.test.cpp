// Goal: the endpoints of an address are found, and only an owner that still waits gets the result.
#include <troupe/framework/internal/net/host_lookup.hpp>

#include <chrono>
#include <memory>
#include <optional>

#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <gtest/gtest.h>

namespace troupe::internal {
namespace {

using namespace std::chrono_literals;

class a_lookup : public testing::Test {
protected:
  void begin(std::string_view address) {
    lookup_.emplace(io_, parse_address(address).value(), [this](found_endpoints found) {
      found_.emplace(std::move(found));
      lookup_.reset(); // Like its owner.
      io_.stop();
    });
  }
  /// Runs until the result arrives, for 30 s at most.
  void finish() {
    const auto stay = asio::make_work_guard(io_);
    io_.run_for(30s);
  }

  asio::io_context io_;
  std::optional<host_lookup> lookup_;
  std::optional<found_endpoints> found_;
};

TEST_F(a_lookup, of_a_unix_socket_or_numbers_needs_no_thread) {
  for (const auto* text : {"unix:///tmp/x", "unix://@x", "tcp://127.0.0.1:4321", "tls://[::1]:4321"}) {
    std::optional<found_endpoints> found;
    look_up(parse_address(text).value(), [&](found_endpoints what) { found.emplace(std::move(what)); });
    ASSERT_TRUE(found && *found) << text;
    EXPECT_EQ((*found)->size(), 1u) << text;
  }
}

TEST_F(a_lookup, is_told_on_the_io_thread_only) {
  begin("unix://@x");
  EXPECT_FALSE(found_) << "told too early";
  finish();
  ASSERT_TRUE(found_ && *found_);
  EXPECT_TRUE(is_of_this_host((*found_)->front()));
}

TEST_F(a_lookup, of_a_name_tells_its_end_by_itself) {
  begin("tcp://localhost:4321");
  finish();
  ASSERT_TRUE(found_ && *found_);
  EXPECT_EQ(port_of((*found_)->front()), 4321);
}

TEST_F(a_lookup, that_finds_nothing_says_so) {
  begin("tcp://no-such-host.invalid:1");
  finish();
  ASSERT_TRUE(found_ && !*found_);
  EXPECT_EQ(found_->error().code(), node_errc::bad_address);
}

TEST_F(a_lookup, that_is_dropped_tells_nothing) {
  begin("unix://@x");
  lookup_.reset();
  io_.run();
  EXPECT_FALSE(found_);
}

TEST(a_lookup_of_a_name, may_outlive_who_wanted_it) {
  for (int i = 0; i < 20; ++i) {
    asio::io_context io;
    host_lookup dropped{io, parse_address("tcp://localhost:1").value(), [](const found_endpoints&) { FAIL(); }};
  }
}

TEST(resolving_an_address, waits_no_longer_than_it_may) {
  const auto found = resolve(parse_address("tcp://no-such-host.invalid:1").value(), 0ms);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code(), node_errc::timed_out);
  EXPECT_EQ(found.error().message(), "the host of tcp://no-such-host.invalid:1 was not found within 0 ms");
}

} // namespace
} // namespace troupe::internal
