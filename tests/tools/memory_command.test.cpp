// `troupe memory`, run as users run it, beside processes that keep objects.
#include "command_support.hpp"

#include <algorithm>
#include <set>

namespace troupe::tests {

namespace {

TEST(memory_command, shows_what_two_processes_keep_and_why) {
  auto options = options_of("hall");
  const other_process other{options};
  options.listen = {};
  options.name = "kitchen";
  program here{options};
  const auto ref = here.home.put(doubles(std::vector<double>(2'000))).value();
  const auto view = ref.get().value();
  const auto name = to_string(*internal::state_of(ref)->source->place());
  const auto mine = run("memory --directory " + folder() + " --object " + name);
  EXPECT_EQ(mine.status, 0) << mine.text;
  expect_contains(mine.text, "1 handle in " + own);
  expect_contains(mine.text, "1 pinned view in " + own);
  expect_contains(mine.text, "1 object, 16,000 bytes");
  expect_contains(mine.text, "asked: " + own + " \"kitchen\", store \"" + (*options.store)->name + '"');
  expect_contains(mine.text, "asked: " + other.pid() + " \"hall\"");
  const auto theirs = run_json("memory --directory " + folder() + " --object " + other.object());
  ASSERT_EQ(theirs["objects"].size(), 1u);
  const auto& object = theirs["objects"][0];
  EXPECT_EQ(object["size_bytes"], 8'000);
  EXPECT_EQ(object["state"], "sealed");
  ASSERT_EQ(object["holders"].size(), 1u) << object;
  EXPECT_EQ(object["holders"][0]["reason"], "handle");
  EXPECT_EQ(std::to_string(object["holders"][0]["process"].get<int>()), other.pid());
  EXPECT_EQ(object["holders"][0]["count"], 1);
}

TEST(memory_command, groups_sorts_limits_and_selects) {
  program here{options_of("kitchen")};
  const std::vector kept{here.home.put(doubles(std::vector<double>(10))).value(),
                         here.home.put(doubles(std::vector<double>(1'000))).value()};
  const auto of_this = "--process " + own;
  const auto by_size = run_json("memory --directory " + folder() + " " + of_this);
  ASSERT_EQ(by_size["objects"].size(), 2u);
  EXPECT_EQ(by_size["objects"][0]["size_bytes"], 8'000);
  const auto by_age = run_json("memory --directory " + folder() + " " + of_this + " --sort age");
  EXPECT_EQ(by_age["objects"].size(), 2u);
  const auto limited = run_json("memory --directory " + folder() + " " + of_this + " --limit 1");
  EXPECT_EQ(limited["objects"].size(), 1u);
  EXPECT_EQ(limited["objects_left_off"], 1);
  EXPECT_EQ(limited["bytes_left_off"], 80);
  const auto unlimited = run_json("memory --directory " + folder() + " " + of_this + " --limit 0");
  EXPECT_EQ(unlimited["objects"].size(), 2u);
  for (const auto* key : {"reason", "process", "store", "state", "creator", "call-site", "link"}) {
    const auto groups = run_json("memory --directory " + folder() + " " + of_this + " --group-by " + key);
    ASSERT_EQ(groups.size(), 1u) << key << groups;
    EXPECT_EQ(groups[0]["objects"], 2) << key;
    EXPECT_EQ(groups[0]["bytes"], 8'080) << key;
  }
  expect_contains(run("memory --directory " + folder() + " " + of_this + " --group-by reason").text, "handle");
}

TEST(memory_command, selects_by_store_and_by_the_name_of_a_node) {
  // Only this test uses these names, because the command asks all nodes of this user.
  const auto hall = "hall-" + own, kitchen = "kitchen-" + own;
  auto options = options_of(hall);
  const other_process other{options};
  options.listen = {};
  options.name = kitchen;
  program here{options};
  const auto ref = here.home.put(doubles(std::vector<double>(2'000))).value();
  const auto name = to_string(*internal::state_of(ref)->source->place());
  const auto names = [](const std::string& which) {
    std::set<std::string> result;
    const auto shown = run_json("memory --directory " + folder() + " " + which);
    for (const auto& each : shown["objects"])
      result.insert(each["object"].get<std::string>());
    return result;
  };
  EXPECT_EQ(names("--keeper " + kitchen), std::set<std::string>{name});
  EXPECT_EQ(names("--keeper " + hall), std::set<std::string>{other.object()});
  EXPECT_EQ(names("--store " + (*options.store)->name), (std::set<std::string>{name, other.object()}));
  EXPECT_EQ(names("--store " + (*options.store)->name + " --keeper " + hall), std::set<std::string>{other.object()});
  expect_contains(run("memory --directory " + folder() + " --keeper " + kitchen).text,
                  "1 handle in " + own + " \"" + kitchen + "\"");
}

TEST(memory_command, says_that_there_is_no_such_store_or_node) {
  program here{options_of("kitchen")};
  const auto store = run("memory --directory " + folder() + " --store another");
  EXPECT_EQ(store.status, 1);
  expect_contains(store.text, "has a store \"another\"; `troupe store stores` lists");
  const auto keeper = run("memory --directory " + folder() + " --keeper nobody-is-called-so");
  EXPECT_EQ(keeper.status, 1);
  expect_contains(keeper.text, "is called \"nobody-is-called-so\"");
  for (const auto* option : {"--store ''", "--keeper ''"})
    EXPECT_EQ(run("memory --directory " + folder() + " " + option).status, 2) << option;
}

TEST(memory_command, names_what_looks_like_a_leak) {
  program here{options_of("kitchen")};
  const auto ref = here.home.put(doubles(std::vector<double>(10))).value();
  const auto kept = here.home.put(doubles(std::vector<double>(10))).value();
  {
    allow_out_of_band_handles guard{here.home};
    ASSERT_TRUE(serialize(ref, {}, here.types, here.families));
  }
  const auto leaks = run_json("memory --directory " + folder() + " --leaks --process " + own);
  ASSERT_EQ(leaks["objects"].size(), 1u);
  EXPECT_EQ(leaks["objects"][0]["object"], to_string(*internal::state_of(ref)->source->place()));
  const auto text = run("memory --directory " + folder() + " --process " + own).text;
  expect_contains(text, "pinned out of band in " + own + " \"kitchen\", at ");
  expect_contains(text, "memory_command.test.cpp:");
  expect_contains(text, "looks like a leak: ");
}

TEST(memory_command, hints_at_leaks_are_about_what_is_shown_alone) {
  const other_process other{options_of("hall")};
  program here{options_of("kitchen")};
  const std::vector refs{here.home.put(doubles(std::vector<double>(10))).value(),
                         here.home.put(doubles(std::vector<double>(20))).value()};
  {
    allow_out_of_band_handles guard{here.home};
    for (const auto& each : refs) {
      ASSERT_TRUE(serialize(each, {}, here.types, here.families));
    }
  }
  const auto hints_of = [](const std::string& which) {
    return run_json("memory --directory " + folder() + " " + which)["leaks"];
  };
  EXPECT_EQ(hints_of("--process " + own).size(), 2u);
  EXPECT_EQ(hints_of("--process " + other.pid()).size(), 0u);
  EXPECT_EQ(hints_of("--process 1").size(), 0u);
  const auto larger = hints_of("--process " + own + " --limit 1");
  ASSERT_EQ(larger.size(), 1u);
  EXPECT_EQ(larger[0]["object"], to_string(*internal::state_of(refs[1])->source->place()));
  const auto none = run("memory --directory " + folder() + " --process 1").text;
  expect_contains(none, "no objects\n");
  EXPECT_EQ(none.find("looks like a leak"), none.npos) << none;
}

TEST(memory_command, of_a_process_that_does_not_answer_it_says_what_the_store_knows) {
  other_process other{options_of("frozen")};
  other.stop();
  const auto before = std::chrono::steady_clock::now();
  const auto answer = run("memory --directory " + folder() + " --timeout 0.3 --object " + other.object());
  EXPECT_LT(std::chrono::steady_clock::now() - before, 10s);
  EXPECT_EQ(answer.status, 0) << answer.text;
  expect_contains(answer.text, "at least one handle in " + other.pid());
  expect_contains(answer.text, "not asked: " + other.pid());
  const auto of_store =
      "memory --directory " + folder() + " --timeout 0.3 --store " + (*options_of("frozen").store)->name;
  expect_contains(run(of_store).text, "not asked: " + other.pid());
  const auto shown = run_json(of_store)["processes"];
  EXPECT_TRUE(std::ranges::any_of(shown, [&](const auto& each) {
    return std::to_string(each["process"].template get<int>()) == other.pid() && each["answered"] == false;
  })) << shown;
  expect_contains(run(of_store + " --group-by state").text, "not asked: " + other.pid());
  other.go_on();
}

TEST(memory_command, of_a_process_that_is_not_to_be_asked_too) {
  auto options = options_of("shy");
  options.local_queries = false;
  const other_process other{options};
  const auto answer = run("memory --directory " + folder() + " --object " + other.object());
  EXPECT_EQ(answer.status, 0) << answer.text;
  expect_contains(answer.text, "at least one handle in " + other.pid());
  expect_contains(answer.text, "not asked: " + other.pid() + ": no node of it can be asked");
}

TEST(memory_command, what_a_killed_process_held_is_gone) {
  const auto options = options_of("killed");
  std::string object;
  program* here = nullptr;
  {
    const other_process other{options};
    object = other.object();
    auto mine = options;
    mine.listen = {};
    here = new program{mine};
    EXPECT_EQ(run("memory --directory " + folder() + " --object " + object).status, 0);
  }
  const auto answer = run("memory --directory " + folder() + " --object " + object);
  EXPECT_EQ(answer.status, 1);
  expect_contains(answer.text, "nothing keeps an object " + object);
  delete here;
}

TEST(memory_command, asks_nodes_by_their_addresses_where_they_allow_it) {
  auto options = options_of("kitchen");
  options.accepted_links.allow_memory_summary = true;
  options.listen.edit().push_back("tcp://127.0.0.1:0");
  options.accepted_links.credentials.secret = "a secret of this very test";
  program here{options};
  const auto ref = here.home.put(doubles(std::vector<double>(1'000))).value();
  const auto name = to_string(*internal::state_of(ref)->source->place());
  EXPECT_EQ(run_json("memory --directory " + folder() + " --node " + here.home.addresses()[0])["objects"][0]["object"],
            name);
  const auto file = "/tmp/troupe-memory-secret-" + own;
  auto* const secret = std::fopen(file.c_str(), "w");
  std::fputs("a secret of this very test\n", secret);
  std::fclose(secret);
  ::chmod(file.c_str(), 0600);
  EXPECT_EQ(run_json("memory --directory " + folder() + " --node " + here.home.addresses()[1] + " --secret-file "
                     + file)["objects"][0]["object"],
            name);
  ::unlink(file.c_str());
}

TEST(memory_command, says_why_a_node_does_not_answer) {
  program here{options_of("kitchen")};
  const auto refused = run("memory --directory " + folder() + " --node " + here.home.addresses()[0]);
  EXPECT_EQ(refused.status, 1);
  expect_contains(refused.text, "allow_memory_summary");
  const auto absent = run("memory --directory " + folder() + " --node unix://@nobody-listens-here");
  EXPECT_EQ(absent.status, 1);
  expect_contains(absent.text, "not asked: unix://@nobody-listens-here: ");
  const auto nonsense = run("memory --directory " + folder() + " --node nonsense");
  EXPECT_EQ(nonsense.status, 2);
  expect_contains(
      nonsense.text,
      "known: unix:///path/of/socket, unix://@name, shm:///path/of/socket, tcp://host:port, tls://host:port");
  expect_contains(nonsense.text, "inproc://name\n");
}

TEST(memory_command, bad_arguments_end_with_2) {
  for (const auto* arguments : {"--sort colour", "--group-by mood", "--timeout 0", "--timeout never", "extra"})
    EXPECT_EQ(run("memory --directory " + folder() + " " + arguments).status, 2) << arguments;
}

TEST(memory_command, a_number_out_of_range_is_refused_with_the_range) {
  for (const auto* given : {"-3", "99999999999999999999", "1e3", "0x10", "many", "\"\""}) {
    const auto limit = run("memory --directory " + folder() + " --limit " + given);
    EXPECT_EQ(limit.status, 2) << given;
    expect_contains(limit.text, " is not a whole number of 0 to 1,000,000,000\n");
    EXPECT_EQ(run(std::string{"top --count "} + given).status, 2) << given;
  }
}

TEST(memory_command, a_word_that_is_none_of_those_possible_is_refused_with_them) {
  const auto answer = run("memory --directory " + folder() + " --group-by bogus");
  EXPECT_EQ(answer.status, 2);
  expect_contains(answer.text,
                  "--group-by: \"bogus\" is none of reason, process, store, state, creator, call-site, link\n");
  for (const auto* arguments :
       {"memory --sort 1", "memory --sort 0", "memory --group-by 2", "store list --sort 1", "store list --group-by 2",
        "top --count 1 --sort 2", "bench --data 0", "bench --pattern ring,bogus", "completion nush"}) {
    const auto refused = run(arguments);
    EXPECT_EQ(refused.status, 2) << arguments;
    expect_contains(refused.text, " is none of ");
  }
}

} // namespace

} // namespace troupe::tests
