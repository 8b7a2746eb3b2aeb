// Goal: the checker finds each kind of broken promise in a history that has it, and none in a good one.
#include "history_check.hpp"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

namespace troupe::tests {
namespace {

using kind = history_event::kind;
using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

history_event::clock::time_point at(std::chrono::milliseconds time) {
  return history_event::clock::time_point{} + 1h + time;
}

history_event owns(std::chrono::milliseconds when, std::uint64_t fence) {
  return {.what = kind::owns, .begun = at(when), .at = at(when), .name = "clock", .fence = fence};
}

history_event acts(std::chrono::milliseconds when, std::uint64_t fence, std::uint64_t number, bool is_sure = true) {
  return {.what = kind::acted,
          .begun = at(when),
          .at = at(when),
          .name = "clock",
          .fence = fence,
          .number = number,
          .is_sure = is_sure};
}

history_event accepts(std::chrono::milliseconds when, std::uint64_t fence, std::uint64_t number) {
  auto event = acts(when, fence, number);
  event.what = kind::accepted;
  event.by = "a.1";
  return event;
}

history_event request(kind what, std::chrono::milliseconds when, std::uint64_t number, std::string text = {}) {
  return {.what = what, .begun = at(when), .at = at(when), .name = "clock", .number = number, .text = std::move(text)};
}

/// Two owners, one after the other, and a receiver that also asks.
std::vector<history> good_histories() {
  return {{"a.1", {owns(0ms, 5), acts(1ms, 5, 1), acts(40ms, 5, 2, false)}},
          {"b.1", {owns(20ms, 9), acts(21ms, 9, 1), acts(30ms, 9, 2)}},
          {"r.1",
           {accepts(2ms, 5, 1), request(kind::asked, 3ms, 1), request(kind::asked, 4ms, 2),
            request(kind::answered, 10ms, 1, "5"), accepts(22ms, 9, 1), accepts(31ms, 9, 2),
            request(kind::failed, 50ms, 2, "child_lost: b.1")}}};
}

TEST(a_history, is_read_as_it_was_written) {
  const history_event event{.what = kind::accepted,
                            .begun = at(5ms),
                            .at = at(7ms),
                            .name = "clock",
                            .fence = 12,
                            .number = 3,
                            .is_sure = true,
                            .by = "a.1",
                            .text = "two words"};
  EXPECT_EQ(event_in(to_line(event)), event);
  EXPECT_EQ(event_in(to_line(owns(1ms, 7))), owns(1ms, 7));
  EXPECT_FALSE(event_in("accepted 1 2"));
  EXPECT_FALSE(event_in("dreamed" + to_line(event).substr(8)));
}

TEST(a_history, ends_before_a_line_that_was_not_finished) {
  const auto file = std::filesystem::path{testing::TempDir()} / ("history-" + std::to_string(::getpid()));
  {
    const history_writer writer{file};
    writer.write({.what = kind::owns, .name = "clock", .fence = 1});
  }
  std::ofstream{file, std::ios::app} << "acted 1 2 clo";
  history_reader reader{file};
  EXPECT_EQ(reader.read().events.size(), 1U);
  EXPECT_EQ(reader.read().events.size(), 1U);
  std::ofstream{file, std::ios::app} << "\n";
  EXPECT_THROW((void)reader.read(), std::runtime_error);
  std::filesystem::remove(file);
}

TEST(the_checker, finds_nothing_in_a_good_history) {
  EXPECT_THAT(broken_promises(good_histories(),
                              {.healed = at(2ms), .recovery = 10ms, .answering = std::set<std::string>{"clock"}}),
              IsEmpty());
}

TEST(the_checker, finds_an_act_that_was_accepted_after_one_with_a_higher_number) {
  auto all = good_histories();
  all[2].events.push_back(accepts(41ms, 5, 2));
  EXPECT_THAT(broken_promises(all), ElementsAre(HasSubstr("number 5 after one with 9")));
}

TEST(the_checker, takes_each_name_for_itself) {
  auto all = good_histories();
  for (auto event : {owns(0ms, 3), acts(32ms, 3, 1)}) {
    event.name = "till";
    all[0].events.push_back(event);
  }
  auto accepted = accepts(33ms, 3, 1);
  accepted.name = "till";
  all[2].events.push_back(accepted);
  for (auto event : {request(kind::asked, 60ms, 1), request(kind::answered, 61ms, 1, "3")}) {
    event.name = "till";
    all[2].events.push_back(event);
  }
  EXPECT_THAT(broken_promises(all), IsEmpty());
}

TEST(the_checker, finds_a_number_that_two_processes_have) {
  auto all = good_histories();
  all.push_back({"c.1", {owns(20ms, 9)}});
  EXPECT_THAT(broken_promises(all), ElementsAre(HasSubstr("c.1 became the owner of clock with the number 9, as b.1")));
}

TEST(the_checker, finds_a_number_that_one_process_has_twice) {
  auto all = good_histories();
  all[1].events.push_back(owns(35ms, 9));
  EXPECT_THAT(broken_promises(all), ElementsAre(HasSubstr("as b.1 did before")));
}

TEST(the_checker, finds_an_act_with_the_number_of_another_process_or_of_nobody) {
  auto all = good_histories();
  all[0].events.push_back(acts(45ms, 9, 3, false));
  all[0].events.push_back(acts(46ms, 7, 1, false));
  EXPECT_THAT(broken_promises(all), ElementsAre(HasSubstr("but b.1 was that"), HasSubstr("but nobody was that")));
}

TEST(the_checker, finds_an_owner_that_is_sure_after_the_next_one_has_begun) {
  auto all = good_histories();
  all[0].events.push_back(acts(45ms, 5, 3));
  EXPECT_THAT(broken_promises(all), ElementsAre(HasSubstr("25 ms after a later owner")));
}

TEST(the_checker, finds_it_also_if_the_next_owner_but_one_began_first) {
  const std::vector<history> all{
      {"a.1", {owns(0ms, 5), acts(15ms, 5, 1)}}, {"b.1", {owns(20ms, 9)}}, {"c.1", {owns(10ms, 11)}}};
  EXPECT_THAT(broken_promises(all), ElementsAre(HasSubstr("5 ms after a later owner")));
}

TEST(the_checker, permits_an_owner_that_was_stopped_between_the_question_and_the_act) {
  auto all = good_histories();
  auto late = acts(45ms, 5, 3);
  late.begun = at(19ms);
  all[0].events.push_back(late);
  EXPECT_THAT(broken_promises(all), IsEmpty());
}

TEST(the_checker, finds_an_accepted_act_that_nobody_did) {
  auto all = good_histories();
  all[2].events.push_back(accepts(33ms, 9, 7));
  EXPECT_THAT(broken_promises(all), ElementsAre(HasSubstr("which nobody did")));
}

TEST(the_checker, finds_an_act_that_was_accepted_twice) {
  auto all = good_histories();
  all[2].events.push_back(accepts(33ms, 9, 2));
  EXPECT_THAT(broken_promises(all), ElementsAre(HasSubstr("again")));
}

TEST(the_checker, finds_a_request_without_an_answer_unless_its_process_was_disturbed) {
  auto all = good_histories();
  all[2].events.push_back(request(kind::asked, 60ms, 3));
  EXPECT_THAT(broken_promises(all), ElementsAre(HasSubstr("3 of r.1 to clock was not answered")));
  EXPECT_THAT(broken_promises(all, {.disturbed = std::set<std::string>{"r.1"}}), IsEmpty());
}

TEST(the_checker, finds_a_request_that_was_answered_twice_or_never_made) {
  auto all = good_histories();
  all[2].events.push_back(request(kind::answered, 60ms, 2, "9"));
  all[2].events.push_back(request(kind::answered, 61ms, 8, "9"));
  EXPECT_THAT(broken_promises(all), ElementsAre(HasSubstr("answered twice"), HasSubstr("answered, not made")));
}

TEST(the_checker, finds_a_late_answer) {
  EXPECT_THAT(broken_promises(good_histories(), {.answer_within = 20ms}), ElementsAre(HasSubstr("after 46 ms")));
}

TEST(the_checker, finds_an_error_without_a_name) {
  auto all = good_histories();
  all[2].events.back().text = "unexpected response";
  EXPECT_THAT(broken_promises(all), ElementsAre(HasSubstr("unexpected response")));
}

TEST(the_checker, finds_a_name_that_does_not_answer_in_time_after_the_faults) {
  const auto all = good_histories();
  EXPECT_THAT(broken_promises(all, {.healed = at(2ms), .recovery = 7ms, .answering = std::set<std::string>{"clock"}}),
              ElementsAre(HasSubstr("8 ms after the faults")));
  EXPECT_THAT(broken_promises(all, {.healed = at(11ms), .answering = std::set<std::string>{"clock"}}),
              ElementsAre(HasSubstr("has not answered since")));
}

} // namespace
} // namespace troupe::tests
