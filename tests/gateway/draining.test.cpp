// Goal: a gateway that ends its work answers what is under way, and then nobody waits for it.
#include <future>

#include "open_gateway.hpp"

namespace troupe::tests {
namespace {

struct draining : open_gateway {
  /// Answers requests once let_go() has been called.
  void expose_waiting_actor() {
    const auto waiting =
        home().system.spawn<caf::detached>([this, wait = let_go_.get_future().share()]() -> caf::behavior {
          return {[this, wait](std::int32_t value) {
            asked_ = true;
            wait.wait();
            return value + 1;
          }};
        });
    ASSERT_TRUE(gateway().expose("waiting", waiting));
  }
  [[nodiscard]] bool was_asked() {
    return eventually([&] { return asked_.load(); });
  }
  void let_go() { let_go_.set_value(); }
  static bool is_refused(std::uint16_t port) {
    try {
      const raw_client one(port);
      return false;
    } catch (const std::runtime_error&) {
      return true;
    }
  }
  /// Begins to drain on another thread, and waits until new clients are refused.
  [[nodiscard]] std::future<std::expected<void, node_error>> drain_meanwhile() {
    const auto port = gateway().port();
    auto drained = std::async(std::launch::async, [this] { return gateway_->drain(20s); });
    EXPECT_TRUE(eventually([&] { return is_refused(port); }));
    return drained;
  }

  std::atomic<bool> asked_{false};
  std::promise<void> let_go_;
};

TEST_F(draining, a_request_under_way_is_answered_and_idle_connections_are_closed) {
  expose_waiting_actor();
  const auto idle = client();
  const auto busy = client();
  EXPECT_TRUE(busy->send(request("POST", "/actors/waiting", R"({"type":"i32","value":6})")));
  ASSERT_TRUE(was_asked());
  auto drained = drain_meanwhile();
  EXPECT_TRUE(idle->is_closed_by_peer());
  EXPECT_TRUE(busy->is_quiet());
  let_go();
  const auto answer = busy->answer();
  EXPECT_EQ(answer.body, R"({"type":"i32","value":7})");
  EXPECT_EQ(answer.head.at("connection"), "close");
  EXPECT_TRUE(busy->is_closed_by_peer());
  EXPECT_TRUE(drained.get());
}

TEST_F(draining, a_socket_is_closed_once_its_requests_are_answered) {
  expose_waiting_actor();
  const auto idle = socket();
  const auto busy = socket("", full_token, "waiting");
  ASSERT_TRUE(idle && busy);
  EXPECT_TRUE(busy->send_text(R"({"id":1,"message":{"type":"i32","value":6}})"));
  ASSERT_TRUE(was_asked());
  auto drained = drain_meanwhile();
  const auto going_away = std::string("\x03\xe9") + "the gateway ends its work";
  const auto farewell = idle->frame();
  EXPECT_EQ(farewell.opcode, 8);
  EXPECT_EQ(farewell.payload, going_away);
  EXPECT_TRUE(busy->is_quiet());
  let_go();
  EXPECT_EQ(busy->frame().payload, R"({"id":1,"answer":{"type":"i32","value":7}})");
  EXPECT_EQ(busy->frame().payload, going_away);
  EXPECT_TRUE(busy->send_frame(8, "\x03\xe9"));
  EXPECT_TRUE(idle->send_frame(8, "\x03\xe9"));
  EXPECT_TRUE(drained.get()); // Although the clients do not close their connections: in 2 s.
}

TEST_F(draining, what_is_not_done_in_time_is_counted_and_cut) {
  expose_waiting_actor();
  const auto busy = client();
  EXPECT_TRUE(busy->send(request("POST", "/actors/waiting", R"({"type":"i32","value":6})")));
  ASSERT_TRUE(was_asked());
  const auto drained = gateway().drain(50ms);
  ASSERT_FALSE(drained);
  EXPECT_EQ(drained.error().code(), node_errc::timed_out);
  EXPECT_EQ(drained.error().message(), "gateway: 1 connection has requests under way after 50 ms");
  gateway_.reset();
  EXPECT_TRUE(busy->is_closed_by_peer());
  let_go();
}

TEST_F(draining, a_gateway_without_clients_is_drained_at_once) {
  EXPECT_TRUE(gateway().drain(0ms));
  EXPECT_TRUE(gateway().drain(0ms));
}

} // namespace
} // namespace troupe::tests
