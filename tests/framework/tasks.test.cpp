// Goal: registered functions run in the peer if its link allows it, and return results and errors. Everything else is
// refused with the reason.
#include <atomic>
#include <latch>

#include <gmock/gmock.h>

#include "two_nodes.hpp"

namespace tasks {

using namespace troupe;

std::atomic<int> runs{0};

double mean(const std::vector<double>& samples) {
  if (samples.empty())
    throw std::runtime_error("no samples");
  double sum = 0;
  for (const auto each : samples)
    sum += each;
  return sum / static_cast<double>(samples.size());
}
std::string joined(std::string left, const std::string& right, int times) {
  for (int i = 0; i < times; ++i)
    left += right;
  return left;
}
void note(int by) noexcept {
  runs += by;
}
std::expected<int, std::string> half(int of) {
  if (of % 2 != 0)
    return std::unexpected("odd: " + std::to_string(of));
  return of / 2;
}
std::expected<void, serialize_error> nothing_or_error(bool fails) {
  if (fails)
    return std::unexpected(serialize_error(serialize_errc::codec_failed, "as asked"));
  return {};
}
double first_of(const object_ref<array<double>>& samples) {
  return samples.get().value()[0];
}
tests::reading warmer(tests::reading of, double by) {
  of.celsius += by;
  return of;
}
tests::secret without_alias() {
  return {};
}
int here_only(int value) {
  return value;
}
int as_number(int value) {
  return value;
}
int as_text(const std::string& value) {
  return static_cast<int>(value.size());
}
int nested(const caf::actor& asked) {
  return asked ? 1 : 0;
}

/// Waits for other tasks of the same kind. If tasks could only run one after the other, this would never return.
std::atomic<std::latch*> meeting{nullptr};
void meet() {
  meeting.load()->arrive_and_wait();
}

struct silent : std::exception {
  [[nodiscard]] const char* what() const noexcept override { return nullptr; }
};
void speak(int size) {
  if (size < 0)
    throw silent();
  throw std::runtime_error(std::string(static_cast<std::size_t>(size), 'x'));
}

struct threshold {
  double above = 0;
  std::vector<double> operator()(const std::vector<double>& samples) const {
    std::vector<double> kept;
    for (const auto each : samples)
      if (each > above)
        kept.push_back(each);
    return kept;
  }
};
TROUPE_DESCRIBE(threshold, above)

void add_all(type_registry& types) {
  types.add_function<&mean>("mean")
      .add_function<&joined>("joined")
      .add_function<&note>("note")
      .add_function<&half>("half")
      .add_function<&nothing_or_error>("nothing_or_error")
      .add_function<&first_of>("first_of")
      .add_function<&warmer>("warmer")
      .add_function<&without_alias>("without_alias")
      .add_function<&nested>("nested")
      .add_function<&meet>("meet")
      .add_function<&speak>("speak")
      .add_function<threshold>("threshold");
}

class tasks_on_a_link : public tests::two_nodes {
protected:
  tasks_on_a_link() {
    far_types_ = [](type_registry& types) {
      add_all(types);
      types.add_function<&as_text>("same name");
    };
    near_types_ = [](type_registry& types) {
      add_all(types);
      types.add_function<&here_only>("here_only").add_function<&as_number>("same name");
    };
    far_options_.accepted_links.allow_tasks = true;
  }

  static constexpr auto timeout = std::chrono::seconds(20);

  /// Returns the task's error, or the code `none`.
  template <class Task>
  node_error failure(Task&& task) {
    auto result = std::forward<Task>(task).get(timeout);
    return result ? node_error(node_errc::none, "") : result.error();
  }
};

TEST_F(tasks_on_a_link, run_there_and_answer) {
  auto& there = connect();
  EXPECT_EQ(there.submit(fn_ref<&mean>, std::vector{1.0, 2.0, 6.0}).get(timeout), 3.0);
  EXPECT_EQ(there.submit(fn_ref<&joined>, "a", "bc", 2).get(timeout), "abcbc") << "converted as in a call";
  EXPECT_EQ(there.submit(fn_ref<&half>, 8).get(timeout), 4);
  EXPECT_EQ(there.submit(threshold{2.5}, std::vector{1.0, 3.0, 2.0, 4.0}).get(timeout), (std::vector{3.0, 4.0}));
  EXPECT_EQ(there.submit(fn_ref<&warmer>, tests::reading{"roof", 1.5, {1}}, 2).get(timeout),
            (tests::reading{"roof", 3.5, {1}}));
  runs = 0;
  EXPECT_TRUE(there.submit(fn_ref<&note>, 3).get(timeout).has_value());
  EXPECT_EQ(runs, 3);
  EXPECT_TRUE(there.submit(fn_ref<&nothing_or_error>, false).get(timeout).has_value());
}

TEST_F(tasks_on_a_link, are_ordinary_requests_of_actors) {
  auto& there = connect();
  std::promise<double> answer;
  std::promise<caf::error> failed;
  auto asker = near().system.spawn([&](caf::event_based_actor* self) {
    there.submit(fn_ref<&mean>, std::vector{1.0, 2.0}).request(self, timeout).then([&](double mean) {
      answer.set_value(mean);
    });
    there.submit(fn_ref<&mean>, std::vector<double>())
        .request(self, timeout)
        .then([](double) { ADD_FAILURE(); }, [&](caf::error& error) { failed.set_value(error); });
  });
  EXPECT_EQ(answer.get_future().get(), 1.5);
  EXPECT_EQ(text_of(failed.get_future().get()), "'mean' failed: no samples");
}

TEST_F(tasks_on_a_link, take_objects_as_handles) {
  auto& there = connect();
  auto samples = near().home->put(array<double>(std::vector<double>(100'000, 7.5)));
  ASSERT_TRUE(samples.has_value()) << samples.error().message();
  EXPECT_EQ(there.submit(fn_ref<&first_of>, *samples).get(timeout), 7.5);
}

TEST_F(tasks_on_a_link, take_actors) {
  auto& there = connect();
  caf::scoped_actor self(near().system);
  EXPECT_EQ(there.submit(fn_ref<&nested>, caf::actor_cast<caf::actor>(self)).get(timeout), 1);
}

TEST_F(tasks_on_a_link, run_side_by_side) {
  auto& there = connect();
  std::latch both(2);
  meeting = &both;
  std::promise<void> done[2];
  auto asker = near().system.spawn([&](caf::event_based_actor* self) {
    for (auto& each : done)
      there.submit(fn_ref<&meet>).request(self, timeout).then([&each] { each.set_value(); });
  });
  for (auto& each : done)
    EXPECT_EQ(each.get_future().wait_for(timeout), std::future_status::ready);
}

TEST_F(tasks_on_a_link, do_not_wait_for_others_that_take_long) {
  auto& there = connect();
  EXPECT_EQ(there.submit(fn_ref<&joined>, "a", "", 0).get(timeout), "a");
  EXPECT_EQ(there.submit(fn_ref<&joined>, std::string(), std::string(20'000'000, 'x'), 1).get(timeout)->size(),
            20'000'000U)
      << "an answer that is larger than all windows";
  std::latch both(2);
  meeting = &both;
  std::promise<void> done;
  near().system.spawn([&](caf::event_based_actor* self) {
    there.submit(fn_ref<&meet>).request(self, timeout).then([&] { done.set_value(); });
  });
  EXPECT_EQ(there.submit(fn_ref<&half>, 8).get(timeout), 4);
  both.count_down();
  EXPECT_EQ(done.get_future().wait_for(timeout), std::future_status::ready);
}

TEST_F(tasks_on_a_link, fail_with_as_much_text_as_errors_hold) {
  auto& there = connect({.message_bytes = 1_MiB});
  const auto failed = failure(there.submit(fn_ref<&speak>, 10'000'000));
  EXPECT_EQ(failed.code(), node_errc::task_failed);
  EXPECT_LT(failed.message().size(), 10'000U);
  EXPECT_EQ(failure(there.submit(fn_ref<&speak>, -1)).message(), "'speak' failed: an exception without a text");
}

TEST_F(tasks_on_a_link, fail_with_what_the_function_says) {
  auto& there = connect();
  const auto thrown = failure(there.submit(fn_ref<&mean>, std::vector<double>()));
  EXPECT_EQ(thrown.code(), node_errc::task_failed);
  EXPECT_EQ(thrown.message(), "'mean' failed: no samples");
  EXPECT_EQ(failure(there.submit(fn_ref<&half>, 7)).message(), "'half' failed: odd: 7");
  EXPECT_EQ(failure(there.submit(fn_ref<&nothing_or_error>, true)).message(), "'nothing_or_error' failed: as asked");
  EXPECT_EQ(there.submit(fn_ref<&half>, 8).get(timeout), 4) << "the link lives";
}

TEST_F(tasks_on_a_link, are_refused_where_the_link_does_not_allow_them) {
  far_options_.accepted_links.allow_tasks = false;
  auto& there = connect();
  const auto refused = failure(there.submit(fn_ref<&mean>, std::vector{1.0}));
  EXPECT_EQ(refused.code(), node_errc::not_allowed);
  EXPECT_NE(refused.message().find("allow_tasks"), std::string::npos) << refused.message();
  EXPECT_EQ(failure(there.submit(threshold{}, std::vector{1.0})).code(), node_errc::not_allowed);
  EXPECT_TRUE(there.is_open());
}

TEST_F(tasks_on_a_link, go_only_where_they_are_allowed) {
  auto& there = connect();
  ASSERT_EQ(far().home->links().size(), 1U);
  const auto back = far().home->links()[0].submit(fn_ref<&mean>, std::vector{1.0}).get(timeout);
  ASSERT_FALSE(back.has_value());
  EXPECT_EQ(back.error().code(), node_errc::not_allowed);
  EXPECT_EQ(there.submit(fn_ref<&mean>, std::vector{1.0}).get(timeout), 1.0);
}

TEST_F(tasks_on_a_link, that_nobody_registered_are_refused_with_the_reason) {
  auto& there = connect();
  const auto here = failure(there.submit(fn_ref<&as_text>, "x"));
  EXPECT_EQ(here.code(), node_errc::not_found);
  EXPECT_NE(here.message().find("types.add_function"), std::string::npos) << here.message();
  const auto elsewhere = failure(there.submit(fn_ref<&here_only>, 1));
  EXPECT_EQ(elsewhere.code(), node_errc::not_found);
  EXPECT_EQ(elsewhere.message(), "no function 'here_only' is registered here; add it with types.add_function");
  const auto nameless = failure(there.submit([](int value) { return value; }, 1));
  EXPECT_EQ(nameless.code(), node_errc::unserializable) << nameless.message();
  int captured = 5;
  const auto lambda = failure(there.submit([captured](int value) { return value + captured; }, 1));
  EXPECT_EQ(lambda.code(), node_errc::unserializable);
  EXPECT_NE(lambda.message().find("a lambda's captures have no names"), std::string::npos) << lambda.message();
}

TEST_F(tasks_on_a_link, with_other_parameters_or_results_there_are_refused) {
  auto& there = connect();
  const auto parameters = failure(there.submit(fn_ref<&as_number>, 1));
  EXPECT_EQ(parameters.code(), node_errc::interface_mismatch);
  EXPECT_NE(parameters.message().find("'same name' has the parameters ("), std::string::npos) << parameters.message();
  const auto result = failure(there.submit(fn_ref<&without_alias>));
  EXPECT_EQ(result.code(), node_errc::unserializable) << result.message();
  EXPECT_NE(result.message().find("has no alias"), std::string::npos) << result.message();
}

TEST_F(tasks_on_a_link, end_with_the_link) {
  auto& there = connect();
  there.close();
  ASSERT_TRUE(tests::eventually([&] { return !there.is_open(); }));
  EXPECT_EQ(failure(there.submit(fn_ref<&mean>, std::vector{1.0})).code(), node_errc::link_down);
}

TEST_F(tasks_on_a_link, run_within_a_process_too) {
  far_options_.listen = {"inproc://" + tests::unique_name("tasks")};
  auto& there = connect();
  EXPECT_EQ(there.submit(fn_ref<&mean>, std::vector{1.0, 2.0, 6.0}).get(timeout), 3.0);
  EXPECT_EQ(failure(there.submit(fn_ref<&as_number>, 1)).code(), node_errc::interface_mismatch);
  auto samples = near().home->put(array<double>(std::vector<double>(10, 7.5)));
  ASSERT_TRUE(samples.has_value()) << samples.error().message();
  EXPECT_EQ(there.submit(fn_ref<&first_of>, *samples).get(timeout), 7.5);
}

TEST(functions, that_clash_are_refused) {
  type_registry types;
  types.add_function<&mean>("mean").add_function<&mean>("mean");
  EXPECT_THAT([&] { types.add_function<&half>("mean"); },
              testing::ThrowsMessage<registration_error>(
                  "two functions are registered as 'mean'; give each a name of its own"));
  EXPECT_THAT([&] { types.add_function<&mean>("average"); },
              testing::ThrowsMessage<registration_error>("one function is registered as 'mean' and again as 'average'; "
                                                         "register it under one name"));
}

} // namespace tasks
