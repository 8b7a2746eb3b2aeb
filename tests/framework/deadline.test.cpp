// Goal: a request whose deadline has passed costs its receiver nothing but its bytes, and handlers know what is left.
#include <atomic>
#include <chrono>
#include <future>
#include <thread>

#include <troupe/framework/deadline.hpp>
#include <troupe/framework/internal/wire/message_deadline.hpp>
#include <troupe/framework/internal/wire/message_extensions.hpp>

#include "raw_peer.hpp"
#include "two_nodes.hpp"

namespace troupe::tests {
namespace {

using namespace internal;

/// An actor that waits in its first message until it is let go, and counts the numbers that it handles.
struct gated {
  std::promise<void> gate;
  std::shared_future<void> opened = gate.get_future().share();
  std::atomic<int> entered{0};
  std::atomic<int> handled{0};
  std::atomic<std::int64_t> left_ms{-1};

  caf::actor spawn(caf::actor_system& system) {
    return system.spawn<caf::detached>([this](caf::event_based_actor* self) -> caf::behavior {
      return {[this](std::string) {
                ++entered;
                opened.wait();
              },
              [this, self](int value) {
                const auto left = deadline(self);
                left_ms = left ? std::chrono::duration_cast<std::chrono::milliseconds>(*left).count() : -1;
                ++handled;
                return value;
              }};
    });
  }
};

class deadlines : public two_nodes, public testing::WithParamInterface<const char*> {
protected:
  void SetUp() override {
    if (std::string_view{GetParam()} == "inproc")
      far_options_.listen = {"inproc://" + unique_name("deadlines")};
    publish("gated", gated_.spawn(far().system));
    connect();
    there_ = find("gated");
  }
  void TearDown() override { there_ = nullptr; }

  gated gated_;
  caf::actor there_;
};

TEST_P(deadlines, that_have_passed_before_the_handler_begins_drop_the_request) {
  caf::scoped_actor self{near().system};
  self->send(there_, std::string{"stop here"});
  ASSERT_TRUE(eventually([&] { return gated_.entered == 1; }));
  for (int i = 0; i < 5; ++i)
    troupe::request(self.ptr(), there_, 1ms, i)
        .receive([](int) { FAIL() << "answered in time"; }, [](const caf::error&) {});
  self->request(there_, 1ms, 100).receive([](int) { FAIL() << "answered in time"; }, [](const caf::error&) {});
  ASSERT_TRUE(eventually([&] { return far().home->links().at(0).stats().messages_received >= 7; }));
  std::this_thread::sleep_for(2ms); // Past the deadlines of all that have arrived.
  gated_.gate.set_value();
  EXPECT_EQ((ask<int>(near().system, there_, 7)), 7);
  EXPECT_EQ(gated_.handled, 2) << "the plain request, and the last one";
  EXPECT_TRUE(eventually([&] { return far().home->links().at(0).stats().expired == 5; }))
      << far().home->links().at(0).stats().expired;
}

TEST_P(deadlines, tell_the_handler_what_is_left) {
  gated_.gate.set_value();
  caf::scoped_actor self{near().system};
  troupe::request(self.ptr(), there_, 10min, 1).receive([](int) {}, [](const caf::error&) { FAIL(); });
  EXPECT_GT(gated_.left_ms, 0);
  EXPECT_LE(gated_.left_ms, 600'000);
  self->request(there_, 10min, 1).receive([](int) {}, [](const caf::error&) { FAIL(); });
  EXPECT_EQ(gated_.left_ms, -1) << "a plain request has no deadline";
  EXPECT_EQ(far().home->links().at(0).stats().expired, 0u);
}

TEST_P(deadlines, are_inherited_by_requests_of_the_handler) {
  gated_.gate.set_value();
  // An actor of the near node that asks the gated one for its own requester.
  std::atomic<caf::actor*> asked{&there_};
  auto middle = near().system.spawn([&](caf::event_based_actor* me) -> caf::behavior {
    return {[me, &asked](int value) {
      auto promise = me->make_response_promise<int>();
      troupe::request(me, *asked.load(), inherit_deadline_t{20min}, value).then([promise](int answer) mutable {
        promise.deliver(answer);
      });
      return promise;
    }};
  });
  caf::scoped_actor self{near().system};
  self->request(middle, 1min, 1).receive([](int) {}, [](const caf::error&) { FAIL(); });
  self->send_exit(middle, caf::exit_reason::user_shutdown); // CAF keeps an actor until its requests' timeouts.
  EXPECT_GT(gated_.left_ms, 600'000) << "the handler's request had no deadline";
}

TEST_P(deadlines, reach_receivers_behind_an_actor_that_inherits_them) {
  gated_.gate.set_value();
  auto middle = near().system.spawn([&](caf::event_based_actor* me) -> caf::behavior {
    return {[this, me](int value) {
      auto promise = me->make_response_promise<int>();
      troupe::request(me, there_, inherit_deadline, value).then([promise](int answer) mutable {
        promise.deliver(answer);
      });
      return promise;
    }};
  });
  caf::scoped_actor self{near().system};
  troupe::request(self.ptr(), middle, 10min, 1).receive([](int) {}, [](const caf::error&) { FAIL(); });
  self->send_exit(middle, caf::exit_reason::user_shutdown);
  EXPECT_GT(gated_.left_ms, 500'000);
  EXPECT_LE(gated_.left_ms, 600'000);
}

TEST_P(deadlines, count_for_urgent_requests_and_typed_handles) {
  using echo = caf::typed_actor<caf::replies_to<int>::with<int>>;
  std::atomic<bool> has_deadline{false};
  auto there = far().system.spawn([&](echo::pointer self) -> echo::behavior_type {
    return {[&, self](int value) {
      has_deadline = deadline(self).has_value();
      return value;
    }};
  });
  far().home->publish("echo", there).value();
  const auto typed = link_->find<echo>("echo").value();
  caf::scoped_actor self{near().system};
  troupe::request<caf::message_priority::high>(self.ptr(), typed, 10min, 5)
      .receive([](int value) { EXPECT_EQ(value, 5); }, [](const caf::error&) { FAIL(); });
  EXPECT_TRUE(has_deadline);
}

TEST_P(deadlines, of_a_request_to_no_actor_change_nothing) {
  caf::scoped_actor self{near().system};
  troupe::request(self.ptr(), caf::actor{}, 1min, 1).receive([](int) { FAIL(); }, [](const caf::error&) {});
}

TEST_P(deadlines, survive_a_link_that_is_lost) {
  caf::scoped_actor self{near().system};
  link_->close();
  troupe::request(self.ptr(), there_, 1min, 1).receive([](int) { FAIL(); }, [](const caf::error&) {});
  gated_.gate.set_value();
}

INSTANTIATE_TEST_SUITE_P(over, deadlines, testing::Values("unix", "inproc"),
                         [](const auto& tested) { return std::string{tested.param}; });

/// The same without a link.
class local_deadlines : public two_nodes {};

TEST_F(local_deadlines, drop_late_requests_and_tell_the_handler_what_is_left) {
  gated one;
  auto receiver = one.spawn(near().system);
  caf::scoped_actor self{near().system};
  self->send(receiver, std::string{"stop here"});
  ASSERT_TRUE(eventually([&] { return one.entered == 1; }));
  troupe::request(self.ptr(), receiver, 1ms, 1).receive([](int) { FAIL(); }, [](const caf::error&) {});
  one.gate.set_value();
  troupe::request(self.ptr(), receiver, 10min, 2)
      .receive([](int value) { EXPECT_EQ(value, 2); }, [](const caf::error&) { FAIL(); });
  EXPECT_EQ(one.handled, 1);
  EXPECT_GT(one.left_ms, 500'000);
}

TEST_F(local_deadlines, leave_the_request_of_a_blocking_actor_alone) {
  std::atomic<int> seen{0};
  std::promise<void> gate;
  auto receiver = near().system.spawn([&, opened = gate.get_future().share()](caf::blocking_actor* self) {
    opened.wait();
    self->receive([&](int) { seen = deadline(self) == 0ns ? 1 : 2; });
  });
  caf::scoped_actor self{near().system};
  troupe::request(self.ptr(), receiver, 1ms, 1).receive([](caf::unit_t) {}, [](const caf::error&) {});
  gate.set_value();
  EXPECT_TRUE(eventually([&] { return seen == 1; }));
}

TEST_F(local_deadlines, do_not_drop_what_a_handler_has_skipped) {
  std::atomic<int> seen{0};
  auto receiver = near().system.spawn([&](caf::event_based_actor* self) -> caf::behavior {
    self->set_default_handler(caf::skip);
    return {[&, self](std::string) {
      self->become([&](int value) {
        ++seen;
        return value;
      });
    }};
  });
  caf::scoped_actor self{near().system};
  // The receiver skips it in time, and serves it late.
  troupe::request(self.ptr(), receiver, 500ms, 1).receive([](int) { FAIL(); }, [](const caf::error&) {});
  self->send(receiver, std::string{"go on"});
  EXPECT_TRUE(eventually([&] { return seen == 1; }));
}

class forwarded_deadlines : public two_nodes {};

TEST_F(forwarded_deadlines, arrive_with_what_is_left_and_late_ones_are_answered) {
  std::atomic<int> handled{0};
  std::atomic<bool> has_deadline{false};
  publish("echo", far().system.spawn([&](caf::event_based_actor* self) -> caf::behavior {
    return {[&, self](int value) {
      ++handled;
      has_deadline = deadline(self).has_value();
      return value;
    }};
  }));
  raw_peer peer{address_};
  auto mine = raw_peer::honest_hello();
  mine.features = offered_features();
  peer.open(mine);
  peer.write_admin(admin_op::find, find_query{1, "echo"});
  auto echo = peer.hear<found>(admin_op::found);
  ASSERT_TRUE(echo);
  peer.define_signature({"i32"});
  type_registry own;
  const auto four = serialize(4, {.serializers = {"typed"}}, own, far().families).value();
  std::uint64_t number = 0;
  const auto ask = [&](bytes_view extensions) {
    peer.write(raw_peer::message_packet({.flags = message_flags::request | message_flags::extended,
                                         .receiver = echo->actor,
                                         .sender = 9,
                                         .request_number = ++number,
                                         .extensions = extensions},
                                        four.header.bytes(), four.frames[0].bytes()));
    while (auto packet = peer.next_packet())
      if (packet->head.kind == packet_kind::message)
        return true;
    return false;
  };
  const auto map_of = [](std::uint64_t microseconds, std::size_t bytes = 8) {
    byte_vector value(bytes);
    std::memcpy(value.data(), &microseconds, std::min(bytes, sizeof(microseconds)));
    byte_vector map;
    append_extension(map, static_cast<std::uint64_t>(extension_key::time_left), value);
    return map;
  };
  EXPECT_TRUE(ask(map_of(0))) << "answered with an error";
  EXPECT_EQ(handled, 0);
  EXPECT_EQ(far().home->links().at(0).stats().expired, 1u);
  EXPECT_TRUE(ask(map_of(60'000'000)));
  EXPECT_EQ(handled, 1);
  EXPECT_TRUE(has_deadline);
  // Lies: centuries, a negative number, an entry of another size. They are ignored.
  for (const auto& map : {map_of(std::uint64_t{1} << 62), map_of(UINT64_MAX), map_of(5, 4), map_of(5, 9)}) {
    const auto before = handled.load();
    EXPECT_TRUE(ask(map));
    EXPECT_EQ(handled, before + 1);
    EXPECT_FALSE(has_deadline);
  }
}

} // namespace
} // namespace troupe::tests
