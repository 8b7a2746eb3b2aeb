// `troupe store`, run as users run it.
#include "../store/support.hpp"
#include "running.hpp"

#include <nlohmann/json.hpp>

#include <sys/stat.h>

#include <memory>

namespace troupe::store::test {

namespace {

using tests::expect_contains;
using tests::output;
using tests::run;

class store_command_test : public store_test {
protected:
  [[nodiscard]] output ask(const std::string& arguments) const {
    return run("store --store " + settings_.name + " " + arguments);
  }
  [[nodiscard]] nlohmann::json ask_json(const std::string& arguments) const {
    const auto answer = ask("--json " + arguments);
    EXPECT_EQ(answer.status, 0) << answer.text;
    return nlohmann::json::parse(answer.text);
  }
};

TEST_F(store_command_test, lists_objects_with_what_keeps_them) {
  auto store = open();
  const auto inner = put(store, "inner");
  const auto outer = put(store, "the larger outer", std::vector{inner.id()});
  const auto view = *outer.pin();
  const auto building = store.create(1'000);
  const auto self = std::to_string(::getpid());
  const auto answer = ask("list");
  EXPECT_EQ(answer.status, 0);
  expect_contains(answer.text, "3 objects, 1,021 bytes");
  expect_contains(answer.text, "pinned by " + self);
  expect_contains(answer.text, "held by " + self + " (and 1 more)");
  expect_contains(answer.text, "being written by " + self);
  const auto objects = ask_json("list --sort size");
  ASSERT_EQ(objects.size(), 3u);
  EXPECT_EQ(objects[0]["size_bytes"], 1'000);
  EXPECT_EQ(objects[0]["state"], "writing");
  EXPECT_EQ(objects[1]["id"], to_string(outer.id()));
  EXPECT_EQ(objects[1]["captures"][0], to_string(inner.id()));
  EXPECT_EQ(objects[2]["captured_by"][0], to_string(outer.id()));
  EXPECT_EQ(objects[1]["pinned_by"][0], ::getpid());
}

TEST_F(store_command_test, groups) {
  auto store = open();
  const auto a = put(store, "a");
  const auto b = put(store, "b");
  const auto view = *b.pin();
  const auto groups = ask_json("list --group-by reason");
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0]["objects"].get<int>() + groups[1]["objects"].get<int>(), 2);
  const auto holders = ask_json("list --group-by holder");
  ASSERT_EQ(holders.size(), 1u);
  EXPECT_EQ(holders[0]["of"], std::to_string(::getpid()));
  expect_contains(ask("list --group-by state").text, "sealed");
  expect_contains(ask("list --group-by creator").text, std::to_string(::getpid()));
}

TEST_F(store_command_test, shows_where_objects_were_made) {
  ::setenv("TROUPE_RECORD_CALL_SITES", "1", 1);
  auto step = shared<std::atomic<int>>{};
  auto other = child([&] {
    auto store = open();
    auto all = std::vector<handle>{};
    for (auto number = 0; number < 3; ++number)
      all.push_back(*store.put(bytes_of("here")));
    all.push_back(*store.put(bytes_of("there")));
    *step = 1;
    return eventually([&] { return *step == 2; }) ? 0 : 1;
  });
  ::unsetenv("TROUPE_RECORD_CALL_SITES");
  ASSERT_TRUE(eventually([&] { return *step == 1; }));
  const auto groups = ask_json("list --group-by call-site");
  *step = 2;
  EXPECT_EQ(other.wait(), fine);
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0]["objects"], 3);
  expect_contains(groups[0]["of"].get<std::string>(), "store_command.test.cpp:");
}

TEST_F(store_command_test, shows_one_object) {
  auto store = open();
  const auto object = *store.put(bytes_of("payload"), bytes_of("meta"));
  ASSERT_TRUE(object.hand_over(store.self(), 7));
  const auto answer = ask("show " + to_string(object.id()));
  EXPECT_EQ(answer.status, 0);
  expect_contains(answer.text, "7 bytes, and 4 of metadata");
  expect_contains(answer.text, "in flight from " + std::to_string(::getpid()));
  EXPECT_EQ(ask_json("show " + to_string(object.id()))["in_flight"][0]["channel"], 7);
  const auto missing = ask("show 1-2-3");
  EXPECT_EQ(missing.status, 1);
  expect_contains(missing.text, "has no object 1-2-3");
  object.take_back(store.self(), 7);
}

TEST_F(store_command_test, sums_up_and_verifies) {
  auto store = open();
  const auto object = put(store, "x");
  expect_contains(ask("summary").text, "1 object, 64 of 1,048,576 bytes in use");
  const auto totals = ask_json("summary");
  EXPECT_EQ(totals["objects"], 1);
  EXPECT_EQ(totals["capacity_bytes"], 1 << 20);
  EXPECT_EQ(ask("verify").text, "store \"" + settings_.name + "\" is whole\n");
}

TEST_F(store_command_test, looks_into_what_dead_processes_left_and_removes_it) {
  auto step = shared<std::atomic<int>>{};
  auto victim = child([&] {
    auto store = open();
    const auto object = put(store, "left");
    *step = 1;
    ::pause();
    return 0;
  });
  ASSERT_TRUE(eventually([&] { return *step == 1; }));
  const auto pid = victim.pid();
  victim.kill_and_wait();
  expect_contains(run("store stores").text, "left by dead processes");
  expect_contains(ask("list").text, "1 object, 4 bytes");
  expect_contains(ask("list").text, "held by " + std::to_string(pid) + " (dead)");
  expect_contains(ask("summary").text, "no process has it open");
  EXPECT_EQ(ask("verify").status, 1);
  EXPECT_EQ(ask("clean").text, "store \"" + settings_.name + "\" is removed\n");
  const auto again = ask("clean");
  EXPECT_EQ(again.status, 0);
  expect_contains(again.text, "nothing to clean: no process has store");
  EXPECT_EQ(files(), std::vector<std::string>{});
}

TEST_F(store_command_test, what_cannot_be_cleaned_is_named) {
  std::string control;
  {
    const auto store = open();
    control = file_ending_in(".control").string();
  }
  ASSERT_TRUE(std::filesystem::create_directory(control));
  const auto refused = ask("clean");
  EXPECT_EQ(refused.status, 1);
  EXPECT_EQ(refused.text, "troupe: " + control + " is a directory, but the store needs a file there; remove it\n");
  std::filesystem::remove(control);
  ASSERT_EQ(::mkfifo(control.c_str(), 0600), 0);
  EXPECT_EQ(ask("clean").text, "store \"" + settings_.name + "\" is removed\n");
  EXPECT_EQ(files(), std::vector<std::string>{});
}

TEST_F(store_command_test, a_store_in_use_is_cleaned_of_the_dead_only) {
  auto store = open();
  const auto object = put(store, "kept");
  expect_contains(run("store stores").text, "in use by process " + std::to_string(::getpid()));
  expect_contains(ask("clean").text, "is in use");
  EXPECT_EQ(read(object), "kept");
}

TEST_F(store_command_test, cleans_all_stores_of_a_directory) {
  settings_.directory = settings_.directory / ("troupe-clean-" + settings_.name);
  std::filesystem::create_directory(settings_.directory);
  const auto clean = "store clean --all --directory " + settings_.directory.string();
  EXPECT_EQ(run(clean).text, "no stores\n");
  auto step = shared<std::atomic<int>>{};
  auto victim = child([&] {
    auto store = open();
    const auto object = put(store, "left");
    *step = 1;
    ::pause();
    return 0;
  });
  ASSERT_TRUE(eventually([&] { return *step == 1; }));
  expect_contains(run(clean).text, "store \"" + settings_.name + "\" is in use");
  victim.kill_and_wait();
  const auto answer = run(clean);
  EXPECT_EQ(answer.status, 0);
  expect_contains(answer.text, "store \"" + settings_.name + "\" is removed, ");
  EXPECT_TRUE(std::filesystem::is_empty(settings_.directory));
  std::filesystem::remove(settings_.directory);
  settings_.directory = "/dev/shm"; // The fixture looks for leftover files here.
}

TEST_F(store_command_test, bad_arguments_are_told_apart_from_missing_stores) {
  EXPECT_EQ(run("").status, 2);
  EXPECT_EQ(run("store").status, 2);
  EXPECT_EQ(run("store list --sort colour").status, 2);
  EXPECT_EQ(run("store show").status, 2);
  EXPECT_EQ(run("store --help").status, 0);
  const auto missing = ask("list");
  EXPECT_EQ(missing.status, 1);
  EXPECT_EQ(missing.text, "troupe: no process has store \"" + settings_.name + "\" open\n");
}

} // namespace

} // namespace troupe::store::test
