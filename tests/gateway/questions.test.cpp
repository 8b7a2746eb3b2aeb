// Goal: a program asks the client of a WebSocket as it asks an actor, and no client makes it wait without an end.
#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "open_gateway.hpp"

#include <troupe/framework/gateway/internal/messages/open_questions.hpp>
#include <troupe/framework/gateway/internal/messages/socket_words.hpp>
#include <troupe/framework/outside_actor.hpp>

namespace troupe::tests {
namespace {

using answer = std::expected<caf::message, node_error>;

class questions : public open_gateway {
protected:
  /// The handle of the socket, which tells it to the program by a plain message.
  caf::actor handle_of(raw_client& one) {
    EXPECT_TRUE(one.send_text(R"({"message":{"type":"str","value":"here I am"}})"));
    auto told = told_.get_future();
    if (told.wait_for(20s) != std::future_status::ready)
      throw std::runtime_error("no handle came");
    auto handle = told.get();
    told_ = {};
    return handle;
  }
  /// A socket to an actor that tells the program who has sent it something.
  std::unique_ptr<raw_client> guest() {
    if (!program_)
      program_.emplace(home().system, [](relayed_message) {});
    EXPECT_TRUE(gateway().expose("cup", home().system.spawn([this](caf::event_based_actor* self) -> caf::behavior {
      return {
          [this, self](const std::string&) { told_.set_value(caf::actor_cast<caf::actor>(self->current_sender())); }};
    })));
    return socket();
  }
  std::future<answer> asked(const caf::actor& whom, caf::message what, std::chrono::milliseconds timeout = 20s) {
    auto told = std::make_shared<std::promise<answer>>();
    auto result = told->get_future();
    program_->ask(whom, std::move(what), timeout, [told](answer given) { told->set_value(std::move(given)); });
    return result;
  }
  std::future<answer> asked(const caf::actor& whom, const std::string& what) {
    return asked(whom, caf::make_message(what));
  }
  static answer answer_in(std::future<answer>&& future) {
    if (future.wait_for(20s) != std::future_status::ready)
      return std::unexpected{node_error{node_errc::none, "the test has waited in vain"}};
    return future.get();
  }
  static node_errc code_of(std::future<answer>&& future) {
    const auto given = answer_in(std::move(future));
    return given ? node_errc::none : given.error().code();
  }

  std::promise<caf::actor> told_;
  std::optional<outside_actor> program_;
};

TEST_F(questions, reach_the_client_and_its_answers_the_actors_in_any_order) {
  const auto one = guest();
  ASSERT_TRUE(one);
  const auto handle = handle_of(*one);
  auto first = asked(handle, "milk?");
  EXPECT_EQ(one->frame().payload, R"({"request":1,"message":{"type":"str","value":"milk?"}})");
  auto second = asked(handle, caf::make_message(stir_atom::value, spoon{"tin", 2}));
  EXPECT_EQ(one->frame().payload, R"({"request":2,"message":[{"type":"caf.atom","value":"stir"},)"
                                  R"({"type":"test.spoon","value":{"metal":"tin","turns":2}}]})");
  EXPECT_TRUE(one->send_text(R"({"answer":2,"message":{"type":"test.spoon","value":{"metal":"gold"}}})"));
  EXPECT_EQ(answer_in(std::move(second))->get_as<spoon>(0).metal, "gold");
  EXPECT_TRUE(one->send_text(R"({"answer":1,"message":[{"type":"str","value":"no"},{"type":"u32","value":7}]})"));
  const auto given = answer_in(std::move(first));
  ASSERT_TRUE(given);
  EXPECT_EQ(given->get_as<std::string>(0), "no");
  EXPECT_EQ(given->get_as<std::uint32_t>(1), 7U);
  auto third = asked(handle, "sugar?");
  EXPECT_NE(one->frame().payload.find(R"({"request":3,)"), std::string::npos);
  EXPECT_TRUE(one->send_text(R"({"answer":3,"message":[]})"));
  EXPECT_TRUE(answer_in(std::move(third))->empty());
}

TEST_F(questions, that_the_client_refuses_fail_with_its_text) {
  const auto one = guest();
  ASSERT_TRUE(one);
  const auto handle = handle_of(*one);
  auto first = asked(handle, "milk?");
  EXPECT_NE(one->frame().payload, "");
  EXPECT_TRUE(one->send_text(R"({"answer":1,"error":"the cow is asleep"})"));
  const auto given = answer_in(std::move(first));
  ASSERT_FALSE(given);
  EXPECT_EQ(given.error().code(), node_errc::task_failed);
  EXPECT_EQ(given.error().message(), "the cow is asleep");
  auto second = asked(handle, "sugar?");
  EXPECT_NE(one->frame().payload, "");
  EXPECT_TRUE(one->send_text(R"({"answer":2,"error":")" + std::string(100'000, 'x') + "\"}"));
  EXPECT_LT(answer_in(std::move(second)).error().message().size(), 5'000U);
}

TEST_F(questions, are_answered_once_and_wrong_answers_leave_them_open) {
  const auto one = guest();
  ASSERT_TRUE(one);
  auto first = asked(handle_of(*one), "milk?");
  EXPECT_NE(one->frame().payload, "");
  for (const auto* const wrong :
       {R"({"answer":2,"message":{"type":"str","value":"no"}})", R"({"answer":0,"error":"no"})", R"({"answer":1})",
        R"({"answer":-1,"error":"no"})", R"({"answer":1,"error":7})", R"({"answer":1,"answer":1,"error":"no"})",
        R"({"answer":1,"error":"no","message":{"type":"str","value":"no"}})", R"({"answer":1,"id":1,"error":"no"})",
        R"({"answer":1,"timeout_ms":1,"error":"no"})", R"({"error":"no"})", R"({"id":1,"error":"no"})",
        R"({"answer":1,"message":{"type":"no.such","value":1}})", R"({"answer":1,"message":{"type":"u32","value":-1}})",
        R"({"answer":1,"message":{"type":"caf.exit","value":{}}})",
        R"({"answer":18446744073709551616,"error":"no"})"}) {
    EXPECT_TRUE(one->send_text(wrong));
    EXPECT_EQ(one->frame().payload.find(R"({"error":{"code":)"), 0U) << wrong;
  }
  EXPECT_TRUE(one->send_text(R"({"answer":1,"message":{"type":"str","value":"yes"}})"));
  EXPECT_EQ(answer_in(std::move(first))->get_as<std::string>(0), "yes");
  EXPECT_TRUE(one->send_text(R"({"answer":1,"message":{"type":"str","value":"no"}})"));
  EXPECT_NE(one->frame().payload.find("no request 1 waits for an answer"), std::string::npos);
}

TEST_F(questions, beyond_the_bound_are_refused_and_an_answer_frees_a_place) {
  options_.socket_questions_max = 2;
  const auto one = guest();
  ASSERT_TRUE(one);
  const auto handle = handle_of(*one);
  auto first = asked(handle, "1");
  auto second = asked(handle, "2");
  EXPECT_EQ(code_of(asked(handle, "3")), node_errc::link_busy);
  EXPECT_NE(one->frame().payload, "");
  EXPECT_NE(one->frame().payload, "");
  EXPECT_TRUE(one->send_text(R"({"answer":1,"error":"no"})"));
  EXPECT_EQ(code_of(std::move(first)), node_errc::task_failed);
  auto third = asked(handle, "3");
  EXPECT_EQ(one->frame().payload, R"({"request":3,"message":{"type":"str","value":"3"}})");
  EXPECT_TRUE(one->send_text(R"({"answer":3,"error":"no"})"));
  EXPECT_EQ(code_of(std::move(third)), node_errc::task_failed);
}

TEST_F(questions, end_when_their_requester_waits_no_more_and_late_answers_do_no_harm) {
  options_.socket_questions_max = 1;
  const auto one = guest();
  ASSERT_TRUE(one);
  const auto handle = handle_of(*one);
  EXPECT_EQ(code_of(asked(handle, caf::make_message(std::string("1")), 100ms)), node_errc::timed_out);
  EXPECT_NE(one->frame().payload.find(R"({"request":1,)"), std::string::npos);
  EXPECT_TRUE(one->send_text(R"({"answer":1,"message":{"type":"str","value":"late"}})"));
  auto second = asked(handle, "2"); // The place is free.
  EXPECT_NE(one->frame().payload.find(R"({"request":2,)"), std::string::npos);
  EXPECT_TRUE(one->send_text(R"({"answer":1,"error":"late"})"));
  EXPECT_TRUE(one->send_text(R"({"answer":2,"message":{"type":"str","value":"in time"}})"));
  EXPECT_EQ(answer_in(std::move(second))->get_as<std::string>(0), "in time");
  EXPECT_TRUE(one->is_quiet());
}

TEST_F(questions, of_actors_that_wait_for_ever_end_after_the_longest_timeout) {
  options_.answer_timeout = options_.answer_timeout_max = 200ms;
  const auto one = guest();
  ASSERT_TRUE(one);
  caf::scoped_actor actor{home().system};
  auto code = node_errc::none;
  actor->request(handle_of(*one), 20s, std::string("milk?"))
      .receive([](const std::string&) {}, [&](caf::error& error) { code = to_node_error(error).code(); });
  EXPECT_EQ(code, node_errc::timed_out);
}

TEST_F(questions, fail_when_the_socket_ends_and_when_the_gateway_does) {
  auto one = guest();
  ASSERT_TRUE(one);
  const auto handle = handle_of(*one);
  auto first = asked(handle, "milk?");
  EXPECT_NE(one->frame().payload, "");
  one->vanish();
  EXPECT_EQ(code_of(std::move(first)), node_errc::link_down);
  EXPECT_EQ(code_of(asked(handle, "sugar?")), node_errc::link_down);
  one = guest();
  ASSERT_TRUE(one);
  auto second = asked(handle_of(*one), "milk?");
  EXPECT_NE(one->frame().payload, "");
  gateway_.reset();
  EXPECT_EQ(code_of(std::move(second)), node_errc::link_down);
}

TEST_F(questions, without_a_form_in_json_fail_and_the_socket_goes_on) {
  const auto one = guest();
  ASSERT_TRUE(one);
  const auto handle = handle_of(*one);
  const auto given = answer_in(asked(handle, caf::make_message(secret{})));
  ASSERT_FALSE(given);
  EXPECT_EQ(given.error().code(), node_errc::unsupported);
  EXPECT_NE(given.error().message().find("secret"), std::string::npos);
  auto second = asked(handle, "milk?");
  EXPECT_EQ(one->frame().payload, R"({"request":1,"message":{"type":"str","value":"milk?"}})");
  EXPECT_TRUE(one->send_text(R"({"answer":1,"error":"no"})"));
  EXPECT_EQ(code_of(std::move(second)), node_errc::task_failed);
}

TEST_F(questions, of_an_actor_that_answers_nothing_before_are_answered_although_the_client_has_to_wait) {
  options_.socket_requests_max = 2;
  options_.idle_timeout = 60s;
  auto one = guest();
  ASSERT_TRUE(gateway().expose("cup", home().system.spawn([](caf::event_based_actor* self) -> caf::behavior {
    return {[=](std::uint32_t) {
      const auto client = caf::actor_cast<caf::actor>(self->current_sender()); // The promise takes the sender over.
      auto promise = self->make_response_promise<std::string>();
      self->request(client, caf::infinite, std::string("milk?"))
          .await([=](const std::string& said) mutable { promise.deliver(said); },
                 [=](caf::error& error) mutable { promise.deliver(error); });
      return promise;
    }};
  })));
  one = socket();
  ASSERT_TRUE(one);
  for (const auto* const id : {"1", "2", "3"})
    EXPECT_TRUE(one->send_text(std::string(R"({"id":)") + id + R"(,"message":{"type":"u32","value":1}})"));
  EXPECT_EQ(one->frame().payload, R"({"request":1,"message":{"type":"str","value":"milk?"}})");
  EXPECT_TRUE(one->send_text(R"({"answer":1,"message":{"type":"str","value":"yes"}})"));
  EXPECT_EQ(one->frame().payload.find(R"({"id":3,"error":{"code":"link_busy")"), 0U);
  EXPECT_EQ(one->frame().payload, R"({"id":1,"answer":{"type":"str","value":"yes"}})");
}

TEST_F(questions, that_nobody_reads_end_with_the_socket) {
  options_.socket_outbox_bytes = 64 * 1024;
  options_.socket_questions_max = 100'000;
  const auto one = guest();
  ASSERT_TRUE(one);
  const auto handle = handle_of(*one);
  std::vector<std::future<answer>> all;
  for (int i = 0; i < 4'000; ++i)
    all.push_back(asked(handle, std::string(4'000, 'x')));
  for (auto& each : all) {
    const auto code = code_of(std::move(each));
    EXPECT_TRUE(code == node_errc::link_busy || code == node_errc::link_down) << to_string(code);
    if (HasFailure())
      break;
  }
}

/// A request whose answer is kept.
struct kept_request {
  explicit kept_request(caf::actor_system& system) : asker_(system, [](relayed_message) {}) {
    const auto relay = make_relay(system, [this](relayed_message what) { request.emplace(std::move(what)); });
    asker_.ask(relay, caf::make_message(1), 1h, [this](answer given) { result = std::move(given); });
  }
  std::optional<relayed_message> request;
  answer result{caf::message{}};

private:
  outside_actor asker_;
};

TEST(open_questions, know_which_numbers_are_open_over_or_unknown) {
  side home{{.name = "home", .store = std::nullopt}};
  kept_request one{home.system};
  kept_request two{home.system};
  kept_request three{home.system};
  kept_request four{home.system};
  const web::open_questions::clock::time_point start{};
  web::open_questions all{2};
  EXPECT_EQ(all.state_of(1), web::question_state::unknown);
  EXPECT_EQ(all.add(*std::move(one.request), start + 2s), 1U);
  EXPECT_EQ(all.add(*std::move(two.request), start + 1s), 2U);
  EXPECT_EQ(all.add(*std::move(three.request), start + 3s), std::nullopt);
  EXPECT_EQ(three.result.error().code(), node_errc::link_busy);
  EXPECT_EQ(all.expire(start + 1s), start + 2s);
  EXPECT_EQ(two.result.error().code(), node_errc::timed_out);
  EXPECT_EQ(all.state_of(1), web::question_state::open);
  EXPECT_EQ(all.state_of(2), web::question_state::over);
  EXPECT_FALSE(all.take(2));
  EXPECT_TRUE(all.take(1));
  EXPECT_EQ(all.state_of(1), web::question_state::unknown);
  EXPECT_EQ(all.add(*std::move(four.request), start + 4s), 3U);
  EXPECT_EQ(all.count(), 1U);
  all.end({node_errc::link_down, "over"});
  all.end({node_errc::link_busy, "a second reason does not count"});
  EXPECT_EQ(four.result.error().message(), "over");
  EXPECT_EQ(all.expire(start + 9s), std::nullopt);
  kept_request five{home.system};
  EXPECT_EQ(all.add(*std::move(five.request), start + 5s), std::nullopt);
  EXPECT_EQ(five.result.error().code(), node_errc::link_down);
}

} // namespace
} // namespace troupe::tests
