// `troupe tape`, with tapes of real links.
#include "command_support.hpp"

#include <caf/all.hpp>

#include <filesystem>
#include <fstream>
#include <future>
#include <iterator>
#include <sstream>

namespace troupe::tests {

namespace {

/// A link on a tape: three requests and their answers.
class tape_command : public ::testing::Test {
protected:
  tape_command() {
    std::filesystem::create_directory(home_);
    program to{options_of("hall")};
    auto adder =
        to.system.spawn([](caf::event_based_actor*) -> caf::behavior { return {[](int x) { return x + 1; }}; });
    EXPECT_TRUE(to.home.publish("adder", adder));
    auto dialing = options_of("kitchen");
    dialing.listen = {};
    program from{dialing};
    link_options options{.serializers = {"msgpack"}};
    options.recording.file = file_;
    auto link = from.home.connect(to.home.addresses()[0], options).value();
    const auto there = link.find("adder").value();
    caf::scoped_actor self{from.system};
    for (int i = 0; i < 3; ++i)
      self->request(there, 10s, i).receive([](int) {}, [](const caf::error&) { FAIL(); });
  }
  ~tape_command() override { std::filesystem::remove_all(home_); }

  /// The objects on the lines of the output.
  static std::vector<nlohmann::json> lines_of(const std::string& arguments) {
    const auto answer = run_line("{ " TROUPE_PROGRAM " tape " + arguments + " 2>/dev/null; }");
    EXPECT_EQ(answer.status, 0) << answer.text;
    std::vector<nlohmann::json> lines;
    std::istringstream in{answer.text};
    for (std::string line; std::getline(in, line);)
      lines.push_back(nlohmann::json::parse(line));
    return lines;
  }

  static std::vector<nlohmann::json> messages_in(const std::vector<nlohmann::json>& lines) {
    std::vector<nlohmann::json> messages;
    for (const auto& each : lines)
      if (each["event"] == "message")
        messages.push_back(each);
    return messages;
  }

  const std::filesystem::path home_ = std::filesystem::path{folder()} / "tapes";
  const std::string file_ = (home_ / "day.tape").string();
};

TEST_F(tape_command, shows_a_line_for_each_message) {
  const auto shown = run("tape show " + file_);
  EXPECT_EQ(shown.status, 0);
  expect_contains(shown.text, "file 0 of a recording by \"kitchen\", since ");
  expect_contains(shown.text, "link 1 begins: \"kitchen\" has \"hall\" at unix://");
  expect_contains(shown.text, " link 1 sent     request ");
  expect_contains(shown.text, " to \"adder\": [i32] by msgpack, ");
  expect_contains(shown.text, " link 1 received answer ");
  expect_contains(shown.text, "link 1 ends: ");
}

TEST_F(tape_command, stops_after_the_limit) {
  EXPECT_EQ(messages_in(lines_of("show --json --limit 2 " + file_)).size(), 2u);
  EXPECT_EQ(messages_in(lines_of("show --json " + file_)).size(), 6u);
}

TEST_F(tape_command, finds_the_messages_that_meet_all_conditions) {
  EXPECT_EQ(messages_in(lines_of("grep --json --actor adder " + file_)).size(), 6u);
  EXPECT_EQ(messages_in(lines_of("grep --json --type 'i*' --link 1 " + file_)).size(), 6u);
  EXPECT_EQ(messages_in(lines_of("grep --json --type str " + file_)).size(), 0u);
  EXPECT_EQ(messages_in(lines_of("grep --json --link 2 " + file_)).size(), 0u);
  EXPECT_EQ(messages_in(lines_of("grep --json --since 1000 " + file_)).size(), 0u);
  EXPECT_EQ(messages_in(lines_of("grep --json --until 1000 " + file_)).size(), 6u);
  const auto refused = run("tape grep " + file_);
  EXPECT_EQ(refused.status, 2);
  expect_contains(refused.text, "needs a condition");
}

TEST_F(tape_command, exports_values_and_answers_with_their_requests) {
  const auto messages = messages_in(lines_of("export --json " + file_));
  ASSERT_EQ(messages.size(), 6u);
  EXPECT_EQ(messages[4]["kind"], "request");
  EXPECT_EQ(messages[4]["direction"], "sent");
  EXPECT_EQ(messages[4]["to"]["name"], "adder");
  EXPECT_EQ(messages[4]["elements"][0]["type"], "i32");
  EXPECT_EQ(messages[4]["elements"][0]["value"], 2);
  EXPECT_EQ(messages[5]["kind"], "answer");
  EXPECT_EQ(messages[5]["answers"], messages[4]["number"]);
  EXPECT_EQ(messages[5]["request"], messages[4]["request"]);
  EXPECT_EQ(messages[5]["elements"][0]["value"], 3);
}

TEST_F(tape_command, shows_what_other_families_would_have_cost) {
  const auto shown = run("tape cost --families msgpack,json,cereal " + file_);
  EXPECT_EQ(shown.status, 0);
  expect_contains(shown.text, "link 1, sent by the recorder, type i32: 3 of 3 payloads measured, recorded by msgpack");
  expect_contains(shown.text, "not measured: cereal: needs the program");
  expect_contains(shown.text, "# For \"kitchen\", which sent to \"hall\" over link 1 (unix");
  const auto documented = run("tape cost --json --compressions none " + file_);
  EXPECT_EQ(documented.status, 0);
  const auto document = nlohmann::json::parse(documented.text);
  ASSERT_EQ(document["rows"].size(), 2u);
  EXPECT_EQ(document["rows"][0]["type"], "i32");
  EXPECT_EQ(document["rows"][0]["figures"].size(), 3u);
  EXPECT_EQ(document["rows"][0]["figures"][1]["family"], "msgpack");
  EXPECT_EQ(document["rows"][0]["figures"][1]["payloads"], 3);
  EXPECT_EQ(run("tape cost --compressions gzip " + file_).status, 2);
  EXPECT_EQ(run("tape cost " + (home_ / "none").string()).status, 2);
}

TEST_F(tape_command, replays_to_a_node_and_tells_which_answers_differ) {
  program to{options_of("test")};
  const auto publish = [&](int added) {
    return to.home.publish("adder", to.system.spawn([added](caf::event_based_actor*) -> caf::behavior {
      return {[added](int x) { return x + added; }};
    }));
  };
  const auto replay = "replay " + file_ + " --expect-answers --to " + to.home.addresses()[0];
  const auto missing = run(replay + " --timeout 0.01 --speed max");
  EXPECT_EQ(missing.status, 1);
  expect_contains(missing.text, "not sent: 3 messages: the actor \"adder\" was not found");
  ASSERT_TRUE(publish(1));
  const auto same = run(replay);
  EXPECT_EQ(same.status, 0);
  expect_contains(same.text, "3 messages sent, 3 of 3 requests answered, 0 different");
  expect_contains(same.text, "3 as recorded, 0 different, 0 not answered in time, 0 not compared");
  to.home.unpublish("adder");
  ASSERT_TRUE(publish(2));
  const auto different = run(replay + " --speed max --families typed --actor adder");
  EXPECT_EQ(different.status, 1);
  expect_contains(different.text, "message 1 to \"adder\": the value: 2 instead of 1");
  const auto documented = run(replay + " --json --side recorder");
  EXPECT_EQ(nlohmann::json::parse(documented.text)["different"], 3);
  EXPECT_EQ(run(replay + " --speed fast").status, 2);
  EXPECT_EQ(run("replay " + file_ + " --to unix://@troupe-no-such-node --timeout 0.1").status, 2);
}

TEST_F(tape_command, records_a_node_that_allows_it) {
  auto options = options_of("watched");
  options.accepted_links.allow_recording = true;
  program watched{options};
  ASSERT_TRUE(watched.home.publish("adder", watched.system.spawn([](caf::event_based_actor*) -> caf::behavior {
    return {[](int x) { return x + 1; }};
  })));
  const auto address = watched.home.addresses()[0];
  const auto recorded = (home_ / "recorded.tape").string();
  auto running =
      std::async(std::launch::async, [&] { return run("record " + address + " --seconds 3 -o " + recorded); });
  {
    auto dialing = options_of("dialing");
    dialing.listen = {};
    program from{dialing};
    auto link = from.home.connect(address).value();
    const auto there = link.find("adder").value();
    caf::scoped_actor self{from.system};
    while (running.wait_for(std::chrono::milliseconds{10}) != std::future_status::ready)
      self->request(there, 10s, 1).receive([](int) {}, [](const caf::error&) { FAIL(); });
  }
  const auto answer = running.get();
  EXPECT_EQ(answer.status, 0) << answer.text;
  const auto shown = run("tape show " + recorded);
  expect_contains(shown.text, "a recording by \"watched\"");
  expect_contains(shown.text, "to \"adder\": [i32] by typed");
  EXPECT_EQ(run("record " + address).status, 2);
  EXPECT_EQ(run("record " + address + " -o " + recorded).status, 2) << "it exists already";
}

TEST_F(tape_command, is_refused_without_the_right_to_record) {
  program silent{options_of("silent")};
  const auto refused = run("record " + silent.home.addresses()[0] + " -o " + (home_ / "none.tape").string());
  EXPECT_EQ(refused.status, 2);
  expect_contains(refused.text, "allow_recording");
}

TEST_F(tape_command, says_what_is_damaged_and_reads_the_rest) {
  std::string content;
  {
    std::ifstream in{file_, std::ios::binary};
    content.assign(std::istreambuf_iterator<char>{in}, {});
  }
  content[content.size() / 2] = static_cast<char>(content[content.size() / 2] ^ 1);
  const auto damaged = (home_ / "damaged.tape").string();
  std::ofstream{damaged, std::ios::binary} << content;
  const auto shown = run("tape show " + damaged);
  EXPECT_EQ(shown.status, 1);
  expect_contains(shown.text, "damaged, bytes ");
}

TEST_F(tape_command, refuses_what_is_no_tape_with_the_place) {
  const auto missing = run("tape show " + (home_ / "none").string());
  EXPECT_EQ(missing.status, 2);
  expect_contains(missing.text, "cannot be opened: No such file");
  const auto other = (home_ / "other").string();
  std::ofstream{other} << std::string(100, 'x');
  const auto refused = run("tape show " + other);
  EXPECT_EQ(refused.status, 2);
  expect_contains(refused.text, "at byte 0: it does not begin like a tape");
}

} // namespace

} // namespace troupe::tests
