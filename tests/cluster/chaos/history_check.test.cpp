// Goal: the checker finds each kind of broken promise in a history that has it, and none in a good one.
#include "history_check.hpp"

#include <algorithm>
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

history_event of_entity(kind what, std::chrono::milliseconds when, std::uint64_t fence, std::uint64_t number,
                        std::string text = {}, std::string by = "r.1") {
  return {.what = what,
          .begun = at(when),
          .at = at(when),
          .name = "ledger:k1",
          .fence = fence,
          .number = number,
          .by = std::move(by),
          .text = std::move(text)};
}

/// An entity that is passivated and made again, and moves, and a process that asks it and keeps its states.
std::vector<history> good_entities() {
  const auto made = [](auto when, auto fence, auto number) {
    return of_entity(kind::made, when, fence, number, {}, "ledger/3");
  };
  return {
      {"a.1",
       {made(1ms, 5, 0), of_entity(kind::handled, 2ms, 5, 1, "1"), made(5ms, 5, 1),
        of_entity(kind::handled, 6ms, 5, 2, "2")}},
      {"b.1", {made(10ms, 9, 2), of_entity(kind::handled, 11ms, 9, 4, "3")}},
      {"r.1",
       {of_entity(kind::asked, 1ms, 0, 1), of_entity(kind::asked, 1ms, 0, 2), of_entity(kind::answered, 2ms, 0, 1),
        of_entity(kind::saved, 3ms, 5, 1), of_entity(kind::saved, 7ms, 5, 2), of_entity(kind::answered, 8ms, 0, 2),
        of_entity(kind::asked, 9ms, 0, 4), of_entity(kind::answered, 12ms, 0, 4), of_entity(kind::saved, 12ms, 9, 3)}}};
}

TEST(the_checker, finds_nothing_in_a_good_history_of_entities) {
  EXPECT_THAT(broken_promises(good_entities(), {.is_orderly = true}), IsEmpty());
}

TEST(the_checker, finds_a_request_that_was_handled_twice) {
  auto all = good_entities();
  all[1].events.push_back(of_entity(kind::handled, 13ms, 9, 1, "4"));
  EXPECT_THAT(broken_promises(all),
              ElementsAre(HasSubstr("the request 1 of r.1 twice"), HasSubstr("the request 1 of r.1 after 4")));
}

TEST(the_checker, finds_two_actors_of_one_entity) {
  auto all = good_entities();
  all[0].events.push_back(of_entity(kind::handled, 7ms, 5, 3, "2"));
  EXPECT_THAT(broken_promises(all), ElementsAre(HasSubstr("number 2, and it was the one number 3")));
}

TEST(the_checker, finds_a_request_that_was_handled_after_a_later_one_unless_it_failed) {
  auto all = good_entities();
  all[1].events.push_back(of_entity(kind::handled, 13ms, 9, 3, "4"));
  all[2].events.push_back(of_entity(kind::asked, 8ms, 0, 3));
  all[2].events.push_back(of_entity(kind::answered, 14ms, 0, 3));
  EXPECT_THAT(broken_promises(all), ElementsAre(HasSubstr("ledger:k1 handled the request 3 of r.1 after 4")));
  EXPECT_THAT(broken_promises(all, {.keeps_order = false}), IsEmpty());
  all[2].events.back().what = kind::failed;
  all[2].events.back().text = "child_lost";
  EXPECT_THAT(broken_promises(all), IsEmpty());
}

TEST(the_checker, takes_a_process_that_was_stopped_for_the_first_one) {
  auto all = good_entities();
  all[0].events.push_back(of_entity(kind::handled, 13ms, 5, 3, "3"));
  EXPECT_THAT(broken_promises(all), IsEmpty());
}

TEST(the_checker, finds_an_answer_to_a_request_that_was_not_handled) {
  auto all = good_entities();
  all[1].events.pop_back();
  EXPECT_THAT(broken_promises(all), ElementsAre(HasSubstr("4 of r.1 to ledger:k1 was answered, and not handled")));
}

TEST(the_checker, finds_a_saved_state_that_was_lost) {
  auto all = good_entities();
  all[1].events[0].number = 1;
  all[1].events[1].text = "2";
  all[2].events.back().number = 2;
  EXPECT_THAT(broken_promises(all), ElementsAre(HasSubstr("with 1 requests, and 2 had been saved")));
}

TEST(the_checker, permits_a_state_that_was_saved_after_the_next_owner_had_loaded) {
  auto all = good_entities();
  for (auto& event : all[2].events)
    if (event.what == kind::saved && event.number == 2)
      event.begun = event.at = at(11ms);
  std::ranges::stable_sort(all[2].events, {}, &history_event::at);
  all[1].events[0].number = 1;
  all[1].events[1].text = "2";
  all[2].events.back().number = 1;
  EXPECT_THAT(broken_promises(all), IsEmpty());
}

TEST(the_checker, finds_a_state_that_went_back) {
  auto all = good_entities();
  all[2].events.push_back(of_entity(kind::saved, 13ms, 9, 2));
  EXPECT_THAT(broken_promises(all), ElementsAre(HasSubstr("was saved with 2 requests after 3")));
}

TEST(the_checker, finds_what_must_not_happen_if_members_only_leave_in_order) {
  auto all = good_entities();
  all[1].events[1].text = "2";
  all[1].events[0].number = 1;
  std::erase_if(all[2].events, [](const auto& each) { return each.what == kind::saved; });
  all[2].events.push_back(of_entity(kind::asked, 13ms, 0, 5));
  all[2].events.push_back(of_entity(kind::failed, 14ms, 0, 5, "child_lost: a.1"));
  EXPECT_THAT(broken_promises(all), IsEmpty());
  EXPECT_THAT(broken_promises(all, {.is_orderly = true}),
              ElementsAre(HasSubstr("5 of r.1 to ledger:k1 failed, although"),
                          HasSubstr("began ledger:k1 with the number 9 with 1 requests, and 2 had been handled")));
}

} // namespace
} // namespace troupe::tests
