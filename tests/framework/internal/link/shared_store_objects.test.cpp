// If the store is busy when the peer hands over an object, the object is taken out of its flight later.
#include <troupe/framework/internal/link/shared_store_objects.hpp>

#include <chrono>

#include <asio/io_context.hpp>

#include <gtest/gtest.h>

namespace troupe::internal {
namespace {

/// A store that is busy for the first `busy_for` calls, and then has nothing.
class busy_path final : public flight_path<store::handle> {
public:
  std::expected<void, store::store_error> hand_over(const store::handle&) override { return {}; }
  void take_back(const store::handle&) override {}
  std::expected<store::handle, store::store_error> adopt(const store::object_id&) override {
    ++asked;
    return std::unexpected{asked <= busy_for ? store::store_error{store::store_errc::busy, "busy"}
                                             : store::store_error{store::store_errc::not_found, "gone"}};
  }
  std::expected<void, store::store_error> abandon() override {
    ++abandoned;
    return {};
  }
  void release(const link_held&, const store::object_id&, std::uint64_t) override {}

  int asked = 0;
  int busy_for = 0;
  int abandoned = 0;
};

class taking_over_late : public testing::Test {
protected:
  /// Runs the timers for `time` of real time.
  void pass(std::chrono::milliseconds time) {
    io_.restart();
    io_.run_for(time);
  }

  asio::io_context io_;
  link_mutex mutex_;
  busy_path path_;
  shared_store_objects stored_{mutex_, path_, io_};
  static constexpr auto pause = shared_store_objects::busy_pause;
};

TEST_F(taking_over_late, waits_for_the_pause) {
  path_.busy_for = 1;
  EXPECT_FALSE(stored_.adopt({1, 2, 3}));
  io_.poll();
  EXPECT_EQ(path_.asked, 1);
  pass(pause * 3);
  EXPECT_EQ(path_.asked, 2);
  EXPECT_TRUE(stored_.objects().is_claimed());
}

TEST_F(taking_over_late, tries_again_while_the_store_is_busy) {
  path_.busy_for = 3;
  EXPECT_FALSE(stored_.adopt({1, 2, 3}));
  pass(pause * 8);
  EXPECT_EQ(path_.asked, 4);
  EXPECT_TRUE(stored_.objects().is_claimed());
}

TEST_F(taking_over_late, takes_one_timer_for_all) {
  path_.busy_for = 2;
  EXPECT_FALSE(stored_.adopt({1, 2, 3}));
  EXPECT_FALSE(stored_.adopt({1, 3, 3}));
  pass(pause * 3);
  EXPECT_EQ(path_.asked, 4);
}

TEST_F(taking_over_late, ends_with_the_link) {
  path_.busy_for = 1;
  EXPECT_FALSE(stored_.adopt({1, 2, 3}));
  EXPECT_TRUE(stored_.abandon());
  pass(pause * 2);
  EXPECT_EQ(path_.asked, 1);
  EXPECT_EQ(path_.abandoned, 1);
}

TEST_F(taking_over_late, needs_no_timer_where_the_peer_has_lied) {
  const auto adopted = stored_.adopt({1, 2, 3});
  ASSERT_FALSE(adopted);
  EXPECT_EQ(adopted.error().code(), node_errc::protocol_violation);
  EXPECT_EQ(io_.run(), 0u);
}

TEST_F(taking_over_late, releases_count_where_a_store_is_shared) {
  EXPECT_FALSE(stored_.on_release({.index = 2, .generation = 3, .count = 1}));
  stored_.share(1);
  EXPECT_FALSE(stored_.on_release({.index = 2, .generation = 3, .count = 1})); // It was never sent.
}

} // namespace
} // namespace troupe::internal
