// Goal: a client of HTTP gets the answers and errors that a C++ caller would get.
#include <future>
#include <thread>

#include "open_gateway.hpp"

namespace troupe::tests {
namespace {

using calls = open_gateway;

TEST_F(calls, a_message_of_an_atom_and_a_struct_is_answered_by_the_actor) {
  const auto answer = post(R"([{"atom":"stir"},{"type":"test.spoon","value":{"metal":"silver"}}])");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body, R"({"type":"str","value":"stirred by silver"})");
  EXPECT_EQ(answer.head.at("content-type"), "application/json");
}

TEST_F(calls, a_message_of_one_value_is_that_value) {
  const auto answer = post(R"( {"value": {"turns" : 7, "metal":"tin"}, "type":"test.spoon"} )");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body, R"({"type":"test.spoon","value":{"metal":"tin","turns":7}})");
}

TEST_F(calls, several_requests_use_one_connection_even_if_they_are_sent_at_once) {
  const auto one = client();
  const auto text = request("POST", "/actors/cup", R"({"type":"test.spoon","value":{"metal":"tin","turns":1}})");
  ASSERT_TRUE(one->send(text + text + text));
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(one->answer().status, 200) << i;
}

TEST_F(calls, a_busy_link_is_503_with_a_time_to_try_again) {
  const auto answer = post(R"({"atom":"fail"})");
  EXPECT_EQ(answer.status, 503);
  EXPECT_EQ(answer.head.at("retry-after"), "1");
  EXPECT_EQ(answer.body, R"({"error":{"code":"link_busy","text":"the kettle has not consumed 7 bytes"}})");
}

TEST_F(calls, a_request_that_is_not_answered_in_time_is_504) {
  const auto answer = post(R"({"atom":"hold"})", "Troupe-Timeout-Ms: 50\r\n");
  EXPECT_EQ(answer.status, 504);
  EXPECT_EQ(answer.body, R"({"error":{"code":"timed_out","text":"no answer within 50 ms"}})");
}

TEST_F(calls, a_request_that_its_actor_finds_too_late_is_504_and_no_fault_of_the_actor) {
  static_cast<void>(gateway());
  for (int i = 0; i < 50; ++i) {
    const auto answer = post(R"({"type":"test.spoon","value":{"metal":"tin","turns":1}})", "Troupe-Timeout-Ms: 1\r\n");
    EXPECT_TRUE(answer.status == 200 || answer.status == 504) << answer.status << answer.body;
  }
}

TEST_F(calls, messages_that_actors_do_not_consume_are_bounded_for_each_token_on_all_its_connections) {
  options_.unconsumed_bytes_max = 100'000;
  std::promise<void> may_go_on;
  std::atomic<bool> is_stuck{false};
  const auto stuck = home().system.spawn<caf::detached>([&, wait = may_go_on.get_future().share()]() -> caf::behavior {
    return {[&, wait](const std::string&) { wait.wait(); },
            [&, wait](std::int32_t) {
              is_stuck = true;
              wait.wait();
            }};
  });
  ASSERT_TRUE(gateway().expose("stuck", stuck));
  const auto first = client();
  EXPECT_TRUE(first->send(request("POST", "/actors/stuck", R"({"type":"i32","value":1})")));
  ASSERT_TRUE(eventually([&] { return is_stuck.load(); }));
  const auto text = request("POST", "/actors/stuck", R"({"type":"str","value":")" + std::string(30'000, 'x') + R"("})",
                            "Troupe-Timeout-Ms: 1\r\n");
  http_answer answer;
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(answer_to(text).status, 504);
  answer = answer_to(text);
  EXPECT_EQ(answer.status, 503);
  EXPECT_EQ(answer.head.at("retry-after"), "1");
  EXPECT_EQ(answer.body, R"({"error":{"code":"link_busy","text":"actors have not consumed the messages of this token, )"
                         R"(which may take 100000 bytes"}})");
  EXPECT_EQ(post(R"({"type":"test.spoon","value":{"metal":"tin","turns":1}})").status, 200); // There is room for it.
  may_go_on.set_value();
  EXPECT_TRUE(eventually([&] { return answer_to(text).status != 503; }));
}

TEST_F(calls, a_time_limit_that_is_doubtful_is_refused_and_a_long_one_is_shortened) {
  const auto stir = R"([{"atom":"stir"},{"type":"test.spoon","value":{"metal":"silver"}}])";
  EXPECT_EQ(post(stir, "Troupe-Timeout-Ms: 1000\r\nTroupe-Timeout-Ms: 0\r\n").status, 400);
  EXPECT_EQ(post(stir, "Troupe-Timeout-Ms: -1\r\n").status, 400);
  EXPECT_EQ(post(stir, "Troupe-Timeout-Ms: 18446744073709551615\r\n").status, 200);
}

TEST_F(calls, a_promise_that_the_actor_drops_is_502_at_once) {
  const auto answer = post(R"({"atom":"drop"})");
  EXPECT_EQ(answer.status, 502);
  EXPECT_NE(answer.body.find("broken_promise"), std::string::npos) << answer.body;
}

TEST_F(calls, a_message_that_the_actor_does_not_take_has_the_text_of_a_caller_in_cpp) {
  const auto answer = post(R"({"type":"i32","value":1})");
  EXPECT_EQ(answer.status, 422);
  std::string text;
  caf::scoped_actor self{home().system};
  self->request(cup_, 10s, std::int32_t{1}).receive([] {}, [&](const caf::error& why) { text = troupe::text_of(why); });
  EXPECT_NE(answer.body.find(text.substr(0, 20)), std::string::npos) << answer.body << " " << text;
}

TEST_F(calls, an_actor_that_has_ended_is_an_error_at_once) {
  static_cast<void>(gateway());
  caf::anon_send_exit(cup_, caf::exit_reason::kill);
  http_answer answer;
  EXPECT_TRUE(eventually([&] {
    answer = post(R"({"atom":"stir"})", "Troupe-Timeout-Ms: 10000\r\n");
    return answer.status == 502;
  })) << answer.status
      << answer.body;
}

TEST_F(calls, types_values_and_actors_that_do_not_exist_are_refused_with_texts) {
  const auto refused = [&](const std::string& body, int status, const std::string& text) {
    const auto answer = post(body);
    EXPECT_EQ(answer.status, status) << body;
    EXPECT_NE(answer.body.find(text), std::string::npos) << answer.body;
  };
  refused(R"({"type":"test.fork","value":1})", 422, "test.fork");
  refused(R"({"type":"test.spoon","value":{"metal":7}})", 400, "metal");
  refused(R"({"type":"test.spoon"})", 400, "lacks");
  refused(R"({"type":"test.spoon","value":{},"more":1})", 400, "more");
  refused("7", 400, "expected a value");
  refused("{", 400, "json");
  refused(R"({"type":"i8","value":300})", 422, "300");
  EXPECT_EQ(answer_to(request("POST", "/actors/pot", "{}")).status, 404);
  EXPECT_EQ(answer_to(request("GET", "/actors/cup")).status, 405);
  EXPECT_EQ(answer_to(request("GET", "/nothing")).status, 404);
}

TEST_F(calls, messages_that_act_on_actors_are_refused) {
  for (const auto* const type : {"caf.exit", "caf.error", "troupe.spawn", "troupe.task"}) {
    const auto answer = post(R"({"type":")" + std::string(type) + R"(","value":{}})");
    EXPECT_EQ(answer.status, 403) << type << answer.body;
  }
  EXPECT_EQ(post(R"({"type":"test.spoon","value":{"metal":"tin","turns":1}})").status, 200); // The cup is alive.
}

TEST_F(calls, references_to_objects_are_refused_in_both_directions) {
  auto kept = home().home->put(array<double>({1, 2, 3}));
  ASSERT_TRUE(kept);
  const auto porter = home().system.spawn([ref = *kept]() -> caf::behavior {
    return {[ref](stir_atom) { return ref; }, [](const object_ref<array<double>>& cargo) { return cargo.empty(); }};
  });
  ASSERT_TRUE(gateway().expose("porter", porter));
  const auto answer = answer_to(request("POST", "/actors/porter", R"({"atom":"stir"})"));
  EXPECT_EQ(answer.status, 502);
  EXPECT_NE(answer.body.find("a reference to an object cannot travel here"), std::string::npos) << answer.body;
  for (const auto* const cargo : {"{}", R"({"object":"menu"})", R"({"mention":0})"}) {
    const auto refused =
        answer_to(request("POST", "/actors/porter", R"({"type":"test.ref_array","value":)" + std::string(cargo) + "}"));
    EXPECT_EQ(refused.status, 422) << cargo << refused.body;
  }
}

TEST_F(calls, a_typed_actor_takes_only_its_own_messages) {
  const auto typed = home().system.spawn(
      []() -> typed_cup::behavior_type { return {[](stir_atom, const spoon& with) { return with.metal; }}; });
  ASSERT_TRUE(gateway().expose("typed", typed));
  const auto stir = R"([{"atom":"stir"},{"type":"test.spoon","value":{"metal":"tin"}}])";
  EXPECT_EQ(answer_to(request("POST", "/actors/typed", stir)).body, R"({"type":"str","value":"tin"})");
  const auto refused = answer_to(request("POST", "/actors/typed", R"({"type":"i32","value":1})"));
  EXPECT_EQ(refused.status, 422);
  EXPECT_NE(refused.body.find("does not take (i32); it takes ('stir', test.spoon)"), std::string::npos) << refused.body;
}

TEST_F(calls, an_actor_behind_a_link_is_called_like_one_of_this_process) {
  side far{{.name = "far", .listen = {"unix://@" + unique_name("gateway-far")}, .store = std::nullopt},
           [](type_registry& types) { types.add<spoon>("test.spoon"); }};
  ASSERT_TRUE(far.home->publish("cup", far.system.spawn(cup)));
  auto link = home().home->connect(far.home->addresses().front());
  ASSERT_TRUE(link);
  auto found = link->find("cup");
  ASSERT_TRUE(found);
  ASSERT_TRUE(gateway().expose("far", *found));
  const auto stir = R"([{"atom":"stir"},{"type":"test.spoon","value":{"metal":"tin"}}])";
  EXPECT_EQ(answer_to(request("POST", "/actors/far", stir)).body, R"({"type":"str","value":"stirred by tin"})");
  EXPECT_EQ(answer_to(request("POST", "/actors/far", R"({"atom":"drop"})")).status, 502);
}

TEST_F(calls, only_actors_of_the_token_are_reached) {
  EXPECT_EQ(post(R"({"atom":"stir"})", "", small_token).status, 403);
  EXPECT_EQ(answer_to(request("POST", "/actors/kettle", "{}", "", small_token)).status, 404);
}

TEST_F(calls, a_withdrawn_actor_is_gone) {
  EXPECT_TRUE(gateway().withdraw("cup"));
  EXPECT_FALSE(gateway().withdraw("cup"));
  EXPECT_EQ(post(R"({"atom":"stir"})").status, 404);
}

TEST_F(calls, many_connections_are_served_at_the_same_time_by_several_threads) {
  options_.threads = 3;
  static_cast<void>(gateway());
  std::atomic<int> right{0};
  std::vector<std::jthread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      const auto one = client();
      for (int j = 0; j < 50; ++j) {
        const auto metal = std::to_string(j);
        static_cast<void>(one->send(request(
            "POST", "/actors/cup", R"([{"atom":"stir"},{"type":"test.spoon","value":{"metal":")" + metal + R"("}}])")));
        right += one->answer().body == R"({"type":"str","value":"stirred by )" + metal + R"("})";
      }
    });
  threads.clear();
  EXPECT_EQ(right, 400);
}

} // namespace
} // namespace troupe::tests
