// Goal: a context goes where the guide's table says, each hop of a sampled trace is one span in one tree, and no peer
// can make a node keep or record more than the bounds.
#include <atomic>
#include <chrono>
#include <cmath>
#include <future>
#include <mutex>
#include <optional>
#include <string>

#include <troupe/framework/deadline.hpp>
#include <troupe/framework/internal/wire/message_extensions.hpp>
#include <troupe/framework/internal/wire/message_trace.hpp>
#include <troupe/framework/resolving.hpp>
#include <troupe/framework/tracing.hpp>

#include "raw_peer.hpp"
#include "span_collector.hpp"
#include "three_nodes.hpp"

namespace troupe::tests {
namespace {

using namespace internal;

/// The last message's context, as a handler saw it.
class seen_context {
public:
  void note(std::optional<trace_context> context) {
    const std::lock_guard guard{mutex_};
    context_ = std::move(context);
    ++count_;
  }
  [[nodiscard]] int count() const {
    const std::lock_guard guard{mutex_};
    return count_;
  }
  [[nodiscard]] std::optional<trace_context> last() const {
    const std::lock_guard guard{mutex_};
    return context_;
  }

private:
  mutable std::mutex mutex_;
  std::optional<trace_context> context_;
  int count_ = 0;
};

/// Notes the context of each message and answers with it.
caf::behavior witness(caf::event_based_actor* self, std::shared_ptr<seen_context> seen) {
  return {[=](int value) {
            seen->note(current_context(self));
            return value;
          },
          [=](const std::string&) { seen->note(current_context(self)); },
          [=](double) {
            seen->note(current_context(self));
            throw std::runtime_error{"no doubles"};
          }};
}

std::string context_of_task(const std::string& otherwise) {
  const auto context = current_context();
  return context ? context->traceparent() + ' ' + context->baggage() : otherwise;
}

class traces : public three_nodes, public testing::WithParamInterface<const char*> {
protected:
  void SetUp() override {
    if (std::string_view{GetParam()} == "inproc")
      far_options_.listen = {"inproc://" + unique_name("traces")};
    far_options_.accepted_links.allow_tasks = true;
    near_types_ = far_types_ = [](type_registry& types) { types.add_function<&context_of_task>("context_of_task"); };
    publish("witness", far().system.spawn(witness, seen_));
    connect({.send_baggage = true});
    there_ = find("witness");
  }
  void TearDown() override {
    there_ = nullptr;
    for (const auto& each : acting_) // CAF keeps an actor until the timeouts of its requests.
      caf::anon_send_exit(each, caf::exit_reason::user_shutdown);
  }

  /// Runs `act` in the handler of a message that came from near's caller with this context.
  void in_handler(const trace_context& context, std::function<void(caf::event_based_actor*)> act) {
    auto actor = near().system.spawn(
        [act = std::move(act)](caf::event_based_actor* self) -> caf::behavior { return {[=](int) { act(self); }}; });
    acting_.push_back(actor);
    caf::scoped_actor self{near().system};
    with_context(context, [&] { troupe::send(self.ptr(), actor, 1); })();
  }
  [[nodiscard]] std::optional<trace_context> arrived(int count = 1) {
    EXPECT_TRUE(eventually([&] { return seen_->count() >= count; })) << seen_->count();
    return seen_->last();
  }
  void expect_arrived(const trace_context& sent, int count = 1) {
    const auto context = arrived(count);
    ASSERT_TRUE(context);
    EXPECT_EQ(context->trace(), sent.trace());
    EXPECT_EQ(context->tracestate(), sent.tracestate());
  }

  const std::shared_ptr<seen_context> seen_ = std::make_shared<seen_context>();
  const trace_context sent_ =
      trace_context::parse("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "vendor=7", "tenant=42").value();
  caf::actor there_;
  std::vector<caf::actor> acting_;
};

// -- the table of the guide: where the context survives by itself

TEST_P(traces, have_no_context_where_none_was_given) {
  caf::scoped_actor self{near().system};
  self->send(there_, std::string{"1"});
  EXPECT_FALSE(arrived());
}

TEST_P(traces, reach_the_handler_of_a_remote_actor) {
  caf::scoped_actor self{near().system};
  with_context(sent_, [&] { self->send(there_, std::string{"1"}); })();
  expect_arrived(sent_);
  EXPECT_EQ(seen_->last()->baggage(), "tenant=42");
  EXPECT_EQ(seen_->last()->span(), sent_.span()) << "no node records spans";
  with_context(sent_, [&] { EXPECT_EQ((ask<int>(near().system, there_, 7)), 7); })();
  expect_arrived(sent_, 2);
  self->send(there_, std::string{"1"});
  EXPECT_FALSE(arrived(3)) << "the next message has no context";
}

TEST_P(traces, go_on_with_what_a_handler_sends) {
  in_handler(sent_, [this](auto* self) { self->send(there_, std::string{"1"}); });
  expect_arrived(sent_);
  in_handler(sent_, [this](auto* self) { troupe::request(self, there_, 1min, 2).then([](int) {}); });
  expect_arrived(sent_, 2);
}

TEST_P(traces, end_with_the_handler) {
  std::atomic<int> had{0};
  auto actor = near().system.spawn([&](caf::event_based_actor* self) -> caf::behavior {
    return {[&, self](int) { had += current_context(self) ? 1 : 0; },
            [=, this](const std::string&) { self->send(there_, std::string{"1"}); }};
  });
  caf::scoped_actor self{near().system};
  with_context(sent_, [&] { troupe::send(self.ptr(), actor, 1); })();
  self->send(actor, std::string{"without"});
  EXPECT_FALSE(arrived());
  EXPECT_EQ(had, 1);
}

TEST_P(traces, go_on_in_the_handler_of_a_remote_answer) {
  in_handler(sent_, [this](auto* self) {
    self->request(there_, 10s, 1).then([=, this](int) { self->send(there_, std::string{"then"}); });
  });
  expect_arrived(sent_, 2);
}

TEST_P(traces, go_on_in_the_handler_of_a_local_answer_only_by_with_context) {
  auto local =
      near().system.spawn([](caf::event_based_actor*) -> caf::behavior { return {[](int value) { return value; }}; });
  in_handler(sent_, [=, this](auto* self) {
    self->request(local, 10s, 1).then([=, this](int) { self->send(there_, std::string{"1"}); });
  });
  EXPECT_FALSE(arrived());
  in_handler(sent_, [=, this](auto* self) {
    self->request(local, 10s, 1).then(with_context(self, [=, this](int value) {
      self->send(there_, std::to_string(value));
    }));
  });
  expect_arrived(sent_, 2);
}

TEST_P(traces, go_on_with_a_promise_only_by_with_context) {
  // The promise's own answer needs none: its requester has the context.
  struct state {
    caf::typed_response_promise<int> promise;
    std::function<void()> later;
  };
  auto middle = far().system.spawn([seen = seen_](caf::event_based_actor* self) -> caf::behavior {
    auto kept = std::make_shared<state>();
    return {[=](int) {
              kept->promise = self->make_response_promise<int>();
              kept->later = with_context(self, [=] { seen->note(current_context(self)); });
              return kept->promise;
            },
            [=](const std::string&) {
              kept->later();
              kept->promise.deliver(5);
              *kept = {}; // The promise keeps the actor alive.
            }};
  });
  far().home->publish("middle", middle).value();
  const auto remote = find("middle");
  in_handler(sent_, [=, this](auto* self) {
    self->request(remote, 10s, 1).then([=, this](int) { self->send(there_, std::string{"1"}); });
    self->send(remote, std::string{"deliver"});
  });
  expect_arrived(sent_, 2);
}

TEST_P(traces, go_on_with_delegated_requests) {
  // near asks far, whose actor delegates to third.
  const auto seen_beyond = std::make_shared<seen_context>();
  third().home->publish("last", third().system.spawn(witness, seen_beyond)).value();
  beyond_.emplace(far().home->connect(third_address_).value());
  const auto last = beyond_->find("last").value();
  const auto has_deadline = std::make_shared<std::atomic<bool>>(false);
  far()
      .home
      ->publish("delegating", far().system.spawn([has_deadline, last](caf::event_based_actor* self) -> caf::behavior {
        return {[=](int value) { return self->delegate(last, value); },
                [=](const std::string& text) {
                  auto local = self->spawn([=](caf::event_based_actor* other) -> caf::behavior {
                    return {[=](const std::string& got) {
                      *has_deadline = deadline(other).has_value();
                      return got + (current_context(other) ? ", in context" : "");
                    }};
                  });
                  return self->delegate(local, text);
                }};
      }))
      .value();
  const auto delegating = find("delegating");
  with_context(sent_, [&] { EXPECT_EQ((ask<int>(near().system, delegating, 3)), 3); })();
  ASSERT_TRUE(seen_beyond->last());
  EXPECT_EQ(seen_beyond->last()->trace(), sent_.trace());
  caf::scoped_actor self{near().system};
  with_context(sent_, [&] {
    troupe::request(self.ptr(), delegating, 1min, std::string{"local"})
        .receive([](const std::string& text) { EXPECT_EQ(text, "local, in context"); },
                 [](const caf::error&) { FAIL(); });
  })();
  EXPECT_TRUE(*has_deadline);
}

TEST_P(traces, go_on_with_forwarded_messages) {
  const auto seen_beyond = std::make_shared<seen_context>();
  third();
  beyond_.emplace(far().home->connect(third_address_).value());
  const auto last = find_beyond("last", third().system.spawn(witness, seen_beyond));
  with_context(sent_, [&] { EXPECT_EQ((ask<int>(near().system, last, 3)), 3); })();
  ASSERT_TRUE(seen_beyond->last());
  EXPECT_EQ(seen_beyond->last()->trace(), sent_.trace());
  EXPECT_EQ(seen_beyond->last()->tracestate(), "vendor=7");
  EXPECT_EQ(seen_beyond->last()->baggage(), "") << "far's link to third does not send baggage";
}

TEST_P(traces, reach_tasks) {
  with_context(sent_, [&] {
    EXPECT_EQ(link_->submit(fn_ref<&context_of_task>, std::string{"tenant"}).get(10s).value(),
              sent_.traceparent() + " tenant=42");
  })();
  EXPECT_EQ(link_->submit(fn_ref<&context_of_task>, std::string{"none"}).get(10s).value(), "none");
}

TEST_P(traces, go_on_when_an_object_was_fetched) {
  const auto ref = near().home->put(reading{"roof", 4, {1, 2}}).value();
  in_handler(sent_, [=, this](auto* self) {
    near().home->fetch(self, ref, 10s).then([=, this](const reading&) { self->send(there_, std::string{"1"}); });
  });
  expect_arrived(sent_);
}

TEST_P(traces, survive_the_wait_for_an_argument) {
  const auto seen = std::make_shared<seen_context>();
  publish("resolving", far().system.spawn([=](caf::event_based_actor* self) -> caf::behavior {
    return resolving{self, [=](const reading&) { seen->note(current_context(self)); }};
  }));
  const auto there = find("resolving");
  const auto ref = near().home->put(reading{"roof", 4, {1, 2}}).value();
  caf::scoped_actor self{near().system};
  with_context(sent_, [&] { self->send(there, ref); })();
  ASSERT_TRUE(eventually([&] { return seen->count() == 1; }));
  ASSERT_TRUE(seen->last());
  EXPECT_EQ(seen->last()->trace(), sent_.trace());
}

TEST_P(traces, reach_local_actors_by_send_and_request_of_troupe) {
  const auto seen = std::make_shared<seen_context>();
  auto local = near().system.spawn(witness, seen);
  in_handler(sent_, [=](auto* self) { troupe::send(self, local, std::string{"1"}); });
  ASSERT_TRUE(eventually([&] { return seen->count() == 1; }));
  EXPECT_EQ(seen->last(), sent_);
  in_handler(sent_, [=](auto* self) { troupe::request(self, local, 1min, 1).then([](int) {}); });
  ASSERT_TRUE(eventually([&] { return seen->count() == 2; }));
  EXPECT_EQ(seen->last(), sent_);
  in_handler(sent_, [=](auto* self) { self->send(local, std::string{"1"}); });
  ASSERT_TRUE(eventually([&] { return seen->count() == 3; }));
  EXPECT_FALSE(seen->last()) << "CAF's own send";
}

TEST_P(traces, do_not_reach_timers_without_with_context) {
  in_handler(sent_, [this](auto* self) { self->delayed_send(there_, 1ms, std::string{"1"}); });
  EXPECT_FALSE(arrived());
}

TEST_P(traces, survive_a_message_that_was_skipped) {
  auto actor = near().system.spawn([this](caf::event_based_actor* self) -> caf::behavior {
    self->set_default_handler(caf::skip);
    return {[=, this](const std::string&) {
      self->send(there_, std::string{"1"}); // Without a context, although the message before it had one.
      self->become([=, this](int) { self->send(there_, std::string{"2"}); });
    }};
  });
  caf::scoped_actor self{near().system};
  with_context(sent_, [&] { troupe::send(self.ptr(), actor, 1); })();
  self->send(actor, std::string{"go on"});
  expect_arrived(sent_, 2);
}

TEST_P(traces, go_on_with_requests_to_composed_actors) {
  const auto composed = there_ * there_;
  with_context(sent_, [&] { EXPECT_EQ((ask<int>(near().system, composed, 3)), 3); })();
  caf::scoped_actor self{near().system};
  with_context(sent_, [&] {
    troupe::request(self.ptr(), composed, 1min, 4)
        .receive([](int value) { EXPECT_EQ(value, 4); }, [](const caf::error&) { FAIL(); });
  })();
}

TEST_P(traces, come_back_after_a_nested_receive) {
  std::promise<bool> had;
  auto actor = near().system.spawn([&, this](caf::blocking_actor* self) {
    self->receive([&, this](int) {
      self->request(there_, 10s, 1).receive([](int) {}, [](const caf::error&) {});
      had.set_value(current_context(self).has_value());
      self->send(there_, std::string{"after"});
    });
  });
  caf::scoped_actor self{near().system};
  with_context(sent_, [&] { troupe::send(self.ptr(), actor, 1); })();
  EXPECT_TRUE(had.get_future().get());
  expect_arrived(sent_, 2);
}

TEST_P(traces, come_back_after_a_nested_receive_that_skips_another_traced_message) {
  std::promise<void> both_are_here;
  auto actor = near().system.spawn([&, this](caf::blocking_actor* self) {
    both_are_here.get_future().wait();
    const auto handle_one = [&, this] {
      self->receive([&, this](int) {
        self->receive([](double) {}, caf::after(1ms) >> [] {}); // Looks at the other one.
        self->send(there_, std::string{"after"});
      });
    };
    handle_one();
    handle_one();
  });
  caf::scoped_actor self{near().system};
  with_context(sent_, [&] {
    troupe::send(self.ptr(), actor, 1);
    troupe::send(self.ptr(), actor, 2);
  })();
  both_are_here.set_value();
  expect_arrived(sent_, 1);
  expect_arrived(sent_, 2);
}

TEST_P(traces, are_not_lost_by_actors_that_skip_and_change_threads) {
  // Messages are skipped on one thread, handled on another, and their memory is used again.
  struct skipping {
    static caf::behavior open(caf::event_based_actor* self, caf::actor there) {
      self->set_default_handler(caf::skip);
      return {[=](int) {
        self->send(there, std::string{"opened"});
        self->become(closing(self, there));
      }};
    }
    static caf::behavior closing(caf::event_based_actor* self, caf::actor there) {
      return {[=](double) {
        self->send(there, std::string{"closed"});
        self->become(open(self, there));
      }};
    }
  };
  constexpr int rounds = 300;
  constexpr int actors = 6;
  const auto without = std::make_shared<std::atomic<int>>(0);
  const auto counted = std::make_shared<std::atomic<int>>(0);
  publish("counting", far().system.spawn([=](caf::event_based_actor* self) -> caf::behavior {
    return {[=](const std::string&) {
      *without += current_context(self) ? 0 : 1;
      ++*counted;
    }};
  }));
  const auto counting = find("counting");
  caf::scoped_actor self{near().system};
  for (int i = 0; i < actors; ++i)
    acting_.push_back(near().system.spawn(skipping::open, counting));
  with_context(sent_, [&] {
    for (int round = 0; round < rounds; ++round)
      for (const auto& each : acting_) {
        troupe::send(self.ptr(), each, 1.0); // Skipped at first.
        troupe::send(self.ptr(), each, 1);
      }
  })();
  EXPECT_TRUE(eventually([&] { return *counted == 2 * rounds * actors; })) << *counted;
  EXPECT_EQ(*without, 0);
}

INSTANTIATE_TEST_SUITE_P(over, traces, testing::Values("unix", "inproc"),
                         [](const auto& tested) { return std::string{tested.param}; });

// -- spans

class spans : public three_nodes {
protected:
  void SetUp() override {
    far().home->record_spans(far_spans_, 0).value();
    near().home->record_spans(near_spans_, 0).value();
    publish("witness", far().system.spawn(witness, seen_));
    connect();
    there_ = find("witness");
  }
  void TearDown() override { there_ = nullptr; }

  [[nodiscard]] static std::optional<span> await(const span_collector& from, std::string_view name) {
    EXPECT_TRUE(eventually([&] { return from.named(name).has_value(); })) << name;
    return from.named(name);
  }

  const std::shared_ptr<span_collector> near_spans_ = std::make_shared<span_collector>();
  const std::shared_ptr<span_collector> far_spans_ = std::make_shared<span_collector>();
  const std::shared_ptr<seen_context> seen_ = std::make_shared<seen_context>();
  caf::actor there_;
};

TEST_F(spans, of_a_request_form_a_tree) {
  const auto context = trace_context::begin();
  with_context(context, [&] { EXPECT_EQ((ask<int>(near().system, there_, 7)), 7); })();
  const auto client = await(*near_spans_, "request i32");
  const auto server = await(*far_spans_, "serve i32");
  ASSERT_TRUE(client && server);
  EXPECT_EQ(client->trace, context.trace());
  EXPECT_EQ(server->trace, context.trace());
  EXPECT_EQ(client->parent, span_id{}) << "the first span of the trace";
  EXPECT_EQ(server->parent, client->id);
  EXPECT_EQ(client->kind, span_kind::client);
  EXPECT_EQ(server->kind, span_kind::server);
  EXPECT_EQ(client->peer, far().home->name());
  EXPECT_EQ(server->peer, near().home->name());
  EXPECT_EQ(server->family, "typed");
  EXPECT_EQ(server->actor, there_.id());
  EXPECT_EQ(server->link, far().home->links().at(0).number());
  EXPECT_GT(server->bytes, 0u);
  EXPECT_EQ(server->error, "");
  EXPECT_LE(server->start, server->end);
  EXPECT_LE(client->start, client->end);
  ASSERT_TRUE(server->wire_time && server->queue_time && server->decode_time && server->handler_time);
  EXPECT_LE(*server->queue_time + *server->decode_time + *server->handler_time, server->end - server->start + 1ms);
  EXPECT_EQ(seen_->last()->span(), server->id) << "the handler's context has the span of its own hop";
}

TEST_F(spans, of_a_message_begin_with_a_producer) {
  caf::scoped_actor self{near().system};
  with_context(trace_context::begin(), [&] { self->send(there_, std::string{"7"}); })();
  const auto producer = await(*near_spans_, "send str");
  const auto consumer = await(*far_spans_, "receive str");
  ASSERT_TRUE(producer && consumer);
  EXPECT_EQ(producer->kind, span_kind::producer);
  EXPECT_EQ(producer->parent, span_id{});
  EXPECT_EQ(consumer->kind, span_kind::consumer);
  EXPECT_EQ(consumer->parent, producer->id);
}

TEST_F(spans, of_what_a_handler_sends_are_children_of_its_span) {
  third().home->record_spans(far_spans_, 0).value();
  third().home->publish("last", third().system.spawn(witness, seen_)).value();
  beyond_.emplace(far().home->connect(third_address_).value());
  const auto last = beyond_->find("last").value();
  publish("middle", far().system.spawn([last](caf::event_based_actor* self) -> caf::behavior {
    return {[=](int value) { self->send(last, std::to_string(value)); }};
  }));
  const auto middle = find("middle");
  caf::scoped_actor self{near().system};
  with_context(trace_context::begin(), [&] { self->send(middle, 7); })();
  const auto first = await(*far_spans_, "receive i32");
  const auto second = await(*far_spans_, "receive str");
  ASSERT_TRUE(first && second);
  EXPECT_EQ(second->trace, first->trace);
  EXPECT_EQ(second->parent, first->id);
}

TEST_F(spans, of_a_forwarder_stand_between_those_of_both_ends) {
  third().home->record_spans(far_spans_, 0).value();
  beyond_.emplace(far().home->connect(third_address_).value());
  const auto last = find_beyond("last", third().system.spawn(witness, seen_));
  caf::scoped_actor self{near().system};
  with_context(trace_context::begin(), [&] { self->send(last, std::string{"7"}); })();
  const auto sent = await(*near_spans_, "send str");
  const auto forwarded = await(*far_spans_, "forward");
  const auto received = await(*far_spans_, "receive str");
  ASSERT_TRUE(sent && forwarded && received);
  EXPECT_EQ(forwarded->parent, sent->id);
  EXPECT_EQ(received->parent, forwarded->id);
  EXPECT_EQ(received->trace, sent->trace);
}

TEST_F(spans, are_recorded_only_for_sampled_traces) {
  with_context(trace_context::begin(false), [&] { EXPECT_EQ((ask<int>(near().system, there_, 7)), 7); })();
  EXPECT_TRUE(seen_->last());
  EXPECT_EQ((ask<int>(near().system, there_, 8)), 8);
  EXPECT_FALSE(seen_->last()) << "the sample is 0";
  with_context(trace_context::begin(), [&] { EXPECT_EQ((ask<int>(near().system, there_, 9)), 9); })();
  EXPECT_TRUE(await(*far_spans_, "serve i32")) << "the only one";
  EXPECT_TRUE(await(*near_spans_, "request i32"));
}

TEST_F(spans, begin_with_every_message_if_all_are_sampled) {
  near().home->record_spans(near_spans_, 1).value();
  for (int i = 0; i < 20; ++i)
    EXPECT_EQ((ask<int>(near().system, there_, i)), i);
  EXPECT_TRUE(eventually([&] { return far_spans_->all().size() == 20 && near_spans_->all().size() == 20; }));
  EXPECT_NE(near_spans_->all()[0].trace, near_spans_->all()[1].trace);
}

TEST_F(spans, begin_with_the_sampled_share_of_messages) {
  near().home->record_spans(near_spans_, 0.1).value();
  caf::scoped_actor self{near().system};
  constexpr int messages = 4'000;
  for (int i = 0; i < messages; ++i)
    self->send(there_, std::to_string(i));
  EXPECT_TRUE(eventually([&] { return seen_->count() == messages; }));
  // 400 are expected, with a standard deviation of 19.
  EXPECT_GT(near_spans_->all().size(), 200u);
  EXPECT_LT(near_spans_->all().size(), 600u);
}

TEST_F(spans, tell_of_failures) {
  with_context(trace_context::begin(), [&] {
    caf::scoped_actor self{near().system};
    self->request(there_, 10s, 1.5).receive([](double) { FAIL(); }, [](const caf::error&) {});
  })();
  EXPECT_TRUE(await(*far_spans_, "serve f64"));
  // A type that near has not registered is not sent.
  with_context(trace_context::begin(), [&] {
    caf::scoped_actor self{near().system};
    self->request(there_, 10s, secret{1}).receive([](int) { FAIL(); }, [](const caf::error&) {});
  })();
  ASSERT_TRUE(eventually([&] { return near_spans_->all().size() == 2; }));
  const auto failed = near_spans_->all().back();
  EXPECT_NE(failed.error, "");
  EXPECT_EQ(failed.kind, span_kind::client);
}

TEST_F(spans, of_requests_end_with_their_link) {
  std::atomic<bool> arrived{false};
  const auto keeping = publish("silent", far().system.spawn([&](caf::event_based_actor* self) -> caf::behavior {
    auto kept = std::make_shared<std::vector<caf::response_promise>>();
    return {[&, self, kept](int) {
      kept->push_back(self->make_response_promise());
      arrived = true;
    }};
  }));
  const auto silent = find("silent");
  caf::scoped_actor self{near().system};
  auto asking = near().system.spawn([=](caf::event_based_actor* me) -> caf::behavior {
    return {[=](int) { me->request(silent, 10s, 1).then([](int) {}, [](const caf::error&) {}); }};
  });
  with_context(trace_context::begin(), [&] { troupe::send(self.ptr(), asking, 1); })();
  ASSERT_TRUE(eventually([&] { return arrived.load(); }));
  link_->close();
  const auto client = await(*near_spans_, "request i32");
  ASSERT_TRUE(client);
  EXPECT_NE(client->error, "");
  self->send_exit(asking, caf::exit_reason::user_shutdown);
  caf::anon_send_exit(keeping, caf::exit_reason::user_shutdown); // Its promises keep it alive.
}

TEST_F(spans, of_delegated_requests_have_no_errors) {
  const auto seen_beyond = std::make_shared<seen_context>();
  third().home->record_spans(far_spans_, 0).value();
  third().home->publish("last", third().system.spawn(witness, seen_beyond)).value();
  beyond_.emplace(far().home->connect(third_address_).value());
  const auto last = beyond_->find("last").value();
  publish("delegating", far().system.spawn([last](caf::event_based_actor* self) -> caf::behavior {
    return {[=](int value) { return self->delegate(last, value); }};
  }));
  const auto delegating = find("delegating");
  with_context(trace_context::begin(), [&] { EXPECT_EQ((ask<int>(near().system, delegating, 3)), 3); })();
  ASSERT_TRUE(eventually([&] { return far_spans_->all().size() == 3 && near_spans_->all().size() == 1; }));
  for (const auto& each : far_spans_->all())
    EXPECT_EQ(each.error, "") << each.name;
  EXPECT_EQ(near_spans_->all()[0].error, "");
}

TEST_F(spans, of_an_answer_that_is_an_error_say_so) {
  publish("refusing", far().system.spawn([](caf::event_based_actor*) -> caf::behavior {
    return {[](int) -> caf::result<int> { return caf::make_error(caf::sec::invalid_argument); }};
  }));
  const auto refusing = find("refusing");
  with_context(trace_context::begin(), [&] {
    caf::scoped_actor self{near().system};
    self->request(refusing, 10s, 1).receive([](int) { FAIL(); }, [](const caf::error&) {});
  })();
  const auto client = await(*near_spans_, "request i32");
  ASSERT_TRUE(client);
  EXPECT_NE(client->error, "");
}

TEST_F(spans, stop_when_the_sink_takes_no_more) {
  struct closed final : span_sink {
    std::atomic<int> offered{0};
    bool take(span) noexcept override {
      ++offered;
      return false;
    }
  };
  const auto sink = std::make_shared<closed>();
  near().home->record_spans(sink, 1).value();
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ((ask<int>(near().system, there_, i)), i);
  EXPECT_EQ(sink->offered, 1);
}

TEST_F(spans, are_refused_with_an_impossible_sample) {
  for (const auto sample : {-0.1, 1.1, std::nan("")})
    EXPECT_EQ(near().home->record_spans(near_spans_, sample).error().code(), node_errc::bad_option);
}

// -- what a peer may send

class hostile_traces : public spans {
protected:
  void open_peer() {
    peer_.emplace(address_);
    auto mine = raw_peer::honest_hello();
    mine.features = offered_features();
    peer_->open(mine);
    peer_->write_admin(admin_op::find, find_query{1, "witness"});
    const auto found = peer_->hear<internal::found>(admin_op::found);
    ASSERT_TRUE(found);
    witness_ = found->actor;
    peer_->define_signature({"i32"});
  }
  void write(bytes_view map) {
    type_registry own;
    const auto four = serialize(4, {.serializers = {"typed"}}, own, far().families).value();
    peer_->write(raw_peer::message_packet(
        {.flags = message_flags::extended, .receiver = witness_, .sender = 9, .extensions = map}, four.header.bytes(),
        four.frames[0].bytes()));
  }
  static void add(byte_vector& map, extension_key key, std::string_view text) {
    append_extension(map, static_cast<std::uint64_t>(key), std::as_bytes(std::span{text}));
  }
  [[nodiscard]] std::optional<trace_context> after(std::string_view traceparent, std::string_view tracestate = {},
                                                   std::string_view baggage = {}, std::string_view sent_at = {}) {
    byte_vector map;
    add(map, extension_key::traceparent, traceparent);
    if (!tracestate.empty())
      add(map, extension_key::tracestate, tracestate);
    if (!baggage.empty())
      add(map, extension_key::baggage, baggage);
    if (!sent_at.empty())
      add(map, extension_key::sent_at, sent_at);
    const auto before = seen_->count();
    write(map);
    EXPECT_TRUE(eventually([&] { return seen_->count() == before + 1; }));
    return seen_->last();
  }

  static constexpr std::string_view good = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  std::optional<raw_peer> peer_;
  std::uint64_t witness_ = 0;
};

TEST_F(hostile_traces, that_are_invalid_are_dropped_and_the_message_arrives) {
  open_peer();
  EXPECT_TRUE(after(good));
  for (const auto bad :
       {std::string_view{"00"}, std::string_view{"ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"},
        std::string_view{"00-00000000000000000000000000000000-b7ad6b7169203331-01"},
        std::string_view{"00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01"},
        std::string_view{"00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01"},
        std::string_view{"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more"}})
    EXPECT_FALSE(after(bad, "vendor=7")) << bad;
  EXPECT_EQ(after(good, std::string(513, 'a'))->tracestate(), "");
  EXPECT_EQ(after(good, "a=b\n")->tracestate(), "");
  EXPECT_EQ(after(good, {}, "x=" + std::string(8'191, 'a'))->baggage(), "");
  EXPECT_EQ(after(good, {}, "x=" + std::string(8'190, 'a'))->baggage().size(), 8'192u);
  EXPECT_TRUE(link_->is_open());
}

TEST_F(hostile_traces, with_impossible_times_are_recorded_without_them) {
  open_peer();
  const auto time = [](std::uint64_t number) {
    return std::string{reinterpret_cast<const char*>(&number), sizeof(number)};
  };
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto future =
      static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(now + 1h).count());
  for (const auto& sent : {time(0), time(UINT64_MAX), time(std::uint64_t{1} << 62), time(future), std::string{"abc"}}) {
    const auto before = far_spans_->all().size();
    EXPECT_TRUE(after(good, {}, {}, sent));
    ASSERT_TRUE(eventually([&] { return far_spans_->all().size() == before + 1; }));
    const auto made = far_spans_->all().back();
    EXPECT_FALSE(made.wire_time);
    EXPECT_LE(std::chrono::system_clock::now() - made.start, 1min);
  }
}

TEST_F(hostile_traces, in_maps_beyond_the_bound_end_the_link) {
  open_peer();
  byte_vector map;
  add(map, extension_key::traceparent, good);
  add(map, static_cast<extension_key>(77), std::string(16'384, 'x'));
  write(map);
  const auto bye = peer_->hear<goodbye>(admin_op::goodbye);
  ASSERT_TRUE(bye);
  EXPECT_EQ(seen_->count(), 0);
}

TEST_F(spans, go_only_to_peers_with_the_feature) {
  publish("returning", far().system.spawn([](caf::event_based_actor* self) -> caf::behavior {
    return {[=](int value) { self->send(caf::actor_cast<caf::actor>(self->current_sender()), value); }};
  }));
  far().home->record_spans(far_spans_, 1).value();
  for (const auto has_feature : {false, true}) {
    raw_peer peer{address_};
    auto mine = raw_peer::honest_hello();
    for (const auto& each : offered_features())
      if (has_feature || each.name != "traces")
        mine.features.push_back(each);
    peer.open(mine);
    peer.write_admin(admin_op::find, find_query{1, "returning"});
    const auto found = peer.hear<internal::found>(admin_op::found);
    ASSERT_TRUE(found);
    peer.define_signature({"i32"});
    type_registry own;
    const auto four = serialize(4, {.serializers = {"typed"}}, own, far().families).value();
    peer.write(
        raw_peer::message_packet({.receiver = found->actor, .sender = 9}, four.header.bytes(), four.frames[0].bytes()));
    std::optional<std::uint8_t> flags;
    while (!flags) {
      const auto packet = peer.next_packet();
      ASSERT_TRUE(packet);
      if (packet->head.kind == packet_kind::message)
        flags = packet->head.detail;
    }
    EXPECT_EQ((*flags & message_flags::extended) != 0, has_feature);
  }
}

} // namespace
} // namespace troupe::tests
