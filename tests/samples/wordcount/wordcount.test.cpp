// The whole program as real processes: its results are compared with coreutils, with every mix of families and with
// killed processes.
#include "program.hpp"
#include "scratch_folder.hpp"

#include <troupe/processes/listing.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace wordcount::tests {
namespace {

using testing::ContainsRegex;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using troupe::processes::arguments_of;
using troupe::processes::environment_of;
using argument_list = std::vector<std::string>;

/// Returns text of about this size: words with a skewed distribution, punctuation, and sometimes an arbitrary byte.
std::string some_text(std::mt19937& random, std::size_t size_bytes) {
  std::string text;
  while (text.size() < size_bytes) {
    const auto word = random() % (1u << random() % 16);
    text += "word_" + std::to_string(word) + std::string(word % 9, 'Z') + " ,.;\n\t-("[random() % 8];
    if (random() % 50 == 0)
      text += static_cast<char>(random());
  }
  return text;
}

/// A tree with all sorts of files that folders may hold, and the counts that coreutils find there.
class counting : public testing::Test {
protected:
  void SetUp() override {
    std::mt19937 random{2024};
    for (int i = 0; i < 60; ++i)
      tree_.write("text/" + std::to_string(i % 5) + "/" + std::to_string(i), some_text(random, random() % 20'000));
    tree_.write("large", some_text(random, 1'500'000));
    tree_.write("no_newline_at_the_end", "glued");
    tree_.write("no_newline_either", "glued");
    tree_.write("empty", "");
    tree_.write("name with blanks\nand a line's end", "odd names are read too");
    std::string binary(100'000, '\0');
    for (auto& byte : binary)
      byte = static_cast<char>(random());
    tree_.write("binary", binary);
    std::filesystem::create_symlink("large", tree_.path() / "link");
    std::filesystem::create_symlink("nowhere", tree_.path() / "dangling");
    std::filesystem::create_directory_symlink("text", tree_.path() / "linked_folder");
    ASSERT_EQ(::mkfifo((tree_.path() / "pipe").c_str(), 0600), 0);
  }

  /// Returns the output that the program should write, made without the program: each file's bytes, with a newline
  /// after each file.
  std::string counts_by_coreutils() const {
    const auto result = files_.path() / "expected";
    const auto command = "find '" + tree_.path().string()
                         + "' -type f -exec sh -c 'for file do cat \"$file\"; echo; done' sh {} + | "
                           "LC_ALL=C tr -c 'A-Za-z0-9_' '\\n' | LC_ALL=C sort | LC_ALL=C uniq -c | "
                           "sed -n 's/^ *\\([0-9][0-9]*\\) \\(..*\\)$/\\1\\t\\2/p' | LC_ALL=C sort -k1,1nr -k2 >'"
                         + result.string() + "'";
    if (std::system(command.c_str()) != 0)
      throw std::runtime_error("failed: " + command);
    return read_file(result);
  }

  /// Returns the arguments of a job over the tree in many small blocks, which writes its words to output_file().
  argument_list job(const argument_list& more, int workers = 2, std::size_t block_bytes = 65'536) const {
    argument_list all{"--workers", std::to_string(workers), "--block-bytes", std::to_string(block_bytes),
                      "--output",  output_file().string()};
    all.insert(all.end(), more.begin(), more.end());
    all.push_back(tree_.path().string());
    return all;
  }

  /// Runs the program to its end, and checks that nothing of it is left.
  run_result run(const argument_list& given) {
    program ran{files_.path(), given};
    auto result = ran.wait();
    EXPECT_THAT(ran.workers(), IsEmpty());
    EXPECT_THAT(ran.store_files(), IsEmpty());
    return result;
  }

  void expect_right_counts(const run_result& result) {
    EXPECT_EQ(result.how, exited_with(0)) << result.errors;
    // Not EXPECT_EQ, which would print both texts.
    EXPECT_TRUE(read_file(output_file()) == counts_by_coreutils()) << "the counts differ";
    EXPECT_THAT(result.output, HasSubstr(", 0 objects left\n"));
  }

  std::filesystem::path output_file() const { return files_.path() / "counts.tsv"; }

  scratch_folder tree_;
  scratch_folder files_; // The program's output and the like.
};

TEST_F(counting, agrees_with_coreutils) {
  const auto result = run(job({"--top", "3"}));
  expect_right_counts(result);
  EXPECT_THAT(result.errors, IsEmpty());
  // Computes the sums in another way.
  std::uint64_t words = 0;
  std::uint64_t distinct = 0;
  std::istringstream lines{read_file(output_file())};
  for (std::string count, word; lines >> count >> word; ++distinct)
    words += std::stoull(count);
  std::string shown = result.output;
  std::erase(shown, ',');
  EXPECT_THAT(shown, HasSubstr("words:    " + std::to_string(words) + " " + std::to_string(distinct) + " distinct\n"));
  EXPECT_THAT(shown, HasSubstr("files:    66 (0 unreadable 0 vanished 0 changed while read)\n"));
}

TEST_F(counting, a_9_MiB_word_is_one_word) {
  tree_.write("m/long", "short " + std::string(9 << 20, 'L') + " short");
  const auto result = run(job({}, 2, 4 << 20));
  expect_right_counts(result);
  EXPECT_THAT(read_file(output_file()), HasSubstr("\n1\t" + std::string(9 << 20, 'L') + "\n"));
}

TEST_F(counting, a_folder_larger_than_the_store_is_counted) {
  expect_right_counts(run(job({"--store-bytes", "600000"})));
}

TEST_F(counting, a_word_larger_than_the_store_is_an_error_that_says_so) {
  tree_.write("m/long", std::string(2 << 20, 'L'));
  const auto result = run(job({"--store-bytes", "1000000"}));
  EXPECT_EQ(result.how, exited_with(1));
  EXPECT_THAT(result.errors, HasSubstr("cannot go on reading: object of "));
}

TEST_F(counting, an_empty_folder_has_no_words) {
  std::filesystem::create_directory(tree_.path() / "nothing");
  auto given = job({});
  given.back() = (tree_.path() / "nothing").string();
  const auto result = run(given);
  EXPECT_EQ(result.how, exited_with(0));
  EXPECT_THAT(result.output, HasSubstr("words:    0, 0 distinct\n"));
  EXPECT_EQ(read_file(output_file()), "");
}

TEST_F(counting, more_workers_than_blocks_do_no_harm) {
  expect_right_counts(run(job({}, 8, 1 << 20)));
}

// -- families --

struct family_mix {
  std::string name;
  argument_list given;
  std::vector<std::string> shown; // As regular expressions, in the rows of the links.

  friend void PrintTo(const family_mix& mix, std::ostream* to) { *to << mix.name; }
};

class family_mixes : public counting, public testing::WithParamInterface<family_mix> {};

TEST_P(family_mixes, give_the_same_counts) {
  const auto result = run(job(GetParam().given, 3));
  expect_right_counts(result);
  for (const auto& row : GetParam().shown)
    EXPECT_THAT(result.output, ContainsRegex(row));
}

INSTANTIATE_TEST_SUITE_P(
    each, family_mixes,
    testing::Values(
        family_mix{
            "typed", {"--families", "typed"}, {"worker-1 +unix +typed / typed ", "worker-3 +unix +typed / typed "}},
        family_mix{"msgpack", {"--families", "msgpack"}, {"worker-1 +unix +msgpack / msgpack "}},
        family_mix{"both", {"--families", "typed,msgpack"}, {"worker-1 +unix +typed,msgpack / typed,msgpack "}},
        family_mix{"reversed", {"--families", "msgpack,typed"}, {"worker-1 +unix +msgpack,typed / msgpack,typed "}},
        family_mix{"cereal",
                   {"--families", "cereal"},
                   {"worker-1 +unix +cereal / cereal ", "worker-3 +unix +cereal / cereal "}},
        family_mix{"cereal_first",
                   {"--families", "cereal,typed"},
                   {"worker-1 +unix +cereal,typed / cereal,typed ", "worker-3 +unix +cereal,typed / cereal,typed "}},
        family_mix{"one_has_cereal",
                   {"--worker-families", "2=cereal"},
                   {"worker-1 +unix +typed,msgpack / typed,msgpack ", "worker-2 +unix +cereal / cereal "}},
        family_mix{"one_differs",
                   {"--worker-families", "2=msgpack"},
                   {"worker-1 +unix +typed,msgpack / typed,msgpack ", "worker-2 +unix +msgpack / msgpack "}},
        family_mix{"all_differ",
                   {"--families", "typed", "--worker-families", "2=msgpack", "--worker-families", "3=msgpack,typed"},
                   {"worker-1 +unix +typed / typed ", "worker-2 +unix +msgpack / msgpack ",
                    "worker-3 +unix +typed,msgpack / msgpack,typed "}},
        family_mix{"one_of_each",
                   {"--worker-families", "1=cereal", "--worker-families", "2=typed", "--worker-families", "3=msgpack"},
                   {"worker-1 +unix +cereal / cereal ", "worker-2 +unix +typed / typed ",
                    "worker-3 +unix +msgpack / msgpack "}}),
    [](const auto& mix) { return mix.param.name; });

// -- over TCP --

/// Returns a link's row in the report, split into its columns.
std::vector<std::string> columns_of(const run_result& result, const std::string& worker) {
  std::istringstream lines{result.output};
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(worker + " "))
      continue;
    std::vector<std::string> columns;
    for (std::size_t at = 0; at != std::string::npos; at = line.find_first_not_of(' ', at)) {
      const auto end = line.find("  ", at);
      columns.push_back(line.substr(at, end - at));
      at = end;
    }
    return columns;
  }
  return {};
}

/// Returns the first size in a column such as "146.2 kB / 80.2 kB".
double bytes_of(const std::string& column) {
  std::istringstream text{column};
  double size = 0;
  std::string unit;
  text >> size >> unit;
  return size * (unit == "MB" ? 1e6 : unit == "kB" ? 1e3 : 1);
}

class counting_over : public counting, public testing::WithParamInterface<std::string> {
protected:
  /// Returns the arguments of a job over the transport under test.
  argument_list job(argument_list more, int workers = 2, std::size_t block_bytes = 65'536) const {
    more.insert(more.begin(), {"--transport", GetParam()});
    return counting::job(more, workers, block_bytes);
  }
};

INSTANTIATE_TEST_SUITE_P(each, counting_over, testing::Values("unix", "tcp"),
                         [](const auto& over) { return over.param; });

// Goal: the text is read in place, whatever the transport of the links.
TEST_P(counting_over, no_text_goes_through_a_socket) {
  const auto result = run(job({"--families", "typed", "--worker-families", "2=cereal"}));
  expect_right_counts(result);
  std::string shown = result.output;
  std::erase(shown, ',');
  ASSERT_THAT(shown, ContainsRegex("bytes: +[0-9]+ in "));
  const auto text_bytes = std::stod(shown.substr(shown.find("bytes:") + 6));
  double bytes_by_handle = 0;
  double bytes_by_socket = 0;
  for (const auto& [worker, families] :
       {std::pair{"worker-1", "typed / typed"}, std::pair{"worker-2", "cereal / cereal"}}) {
    const auto columns = columns_of(result, worker);
    ASSERT_GE(columns.size(), 7u) << result.output;
    EXPECT_EQ(columns[1], GetParam());
    EXPECT_EQ(columns[2], families);
    bytes_by_socket += bytes_of(columns[4]);
    bytes_by_handle += bytes_of(columns[5]);
  }
  EXPECT_NEAR(bytes_by_handle, text_bytes, 0.1e6); // As exact as the report shows it.
  EXPECT_LT(bytes_by_socket, text_bytes / 20);
}

TEST_P(counting_over, a_worker_killed_in_the_middle_changes_no_count) {
  const auto result = run(job({"--fault", "2=4:kill"}, 3));
  expect_right_counts(result);
  EXPECT_THAT(result.errors, ContainsRegex("worker 2 is lost: [^\n]*; [12] of its blocks go to others"));
  EXPECT_THAT(result.output, ContainsRegex("worker-2 +" + GetParam() + " [^\n]* lost: "));
  EXPECT_THAT(result.output, Not(ContainsRegex("worker-[13] [^\n]* lost")));
}

TEST_P(counting_over, a_worker_that_dies_before_it_registers_is_not_waited_for) {
  const auto result = run(job({"--fault", "2=0:kill"}));
  expect_right_counts(result);
  EXPECT_THAT(result.errors, HasSubstr("worker 2 is lost: killed by signal 9 (Killed); 0 of its blocks go to others"));
}

// Goal: if the coordinator is killed at any moment, nothing is left behind.
// Method: the test kills it a little later each time, from before its store is made until after the job is done.
TEST_P(counting_over, a_coordinator_killed_at_any_moment_leaves_nothing) {
  for (int milliseconds = 0; milliseconds < 120; milliseconds += 3) {
    program killed{files_.path(), job({}, 3)};
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
    killed.signal(SIGKILL);
    static_cast<void>(killed.wait());
    ASSERT_TRUE(eventually([&] { return killed.workers().empty() && killed.store_files().empty(); }))
        << "after " << milliseconds << " ms: " << testing::PrintToString(killed.workers()) << ' '
        << testing::PrintToString(killed.store_files()) << '\n'
        << killed.errors();
  }
}

// Goal: the secret by which the processes of a run recognize each other over TCP is only in their memory.
// Method: all arguments of a worker are known beforehand, and its environment is the coordinator's. No file is made in
// the home folder, where the cookie would be.
TEST_F(counting, over_tcp_no_secret_is_seen) {
  program running{files_.path(), job({"--transport", "tcp", "--fault", "1=1:stop"})};
  ASSERT_TRUE(eventually([&] {
    const auto workers = running.workers();
    return workers.size() == 2 && std::ranges::any_of(workers, is_stopped);
  })) << running.errors();
  const auto store = testing::MatchesRegex("wordcount-" + std::to_string(running.process()) + "-[0-9a-f]+");
  for (const auto worker : running.workers()) {
    if (is_stopped(worker))
      EXPECT_THAT(arguments_of(worker), ElementsAre("wordcount", "--as-worker", "1", "--workers", "1", "--store", store,
                                                    "--families", "typed,msgpack", "--fault", "1=1:stop"));
    else
      EXPECT_THAT(arguments_of(worker), ElementsAre("wordcount", "--as-worker", "2", "--workers", "2", "--store", store,
                                                    "--families", "typed,msgpack"));
    EXPECT_TRUE(environment_of(worker) == environment_of(running.process()));
  }
  running.signal(SIGTERM);
  EXPECT_EQ(running.wait().how, exited_with(128 + SIGTERM));
  std::vector<std::string> at_home;
  for (const auto& entry : std::filesystem::directory_iterator{files_.path()})
    at_home.push_back(entry.path().filename().string());
  EXPECT_THAT(at_home, testing::UnorderedElementsAre("stdout", "stderr"));
}

TEST_F(counting, a_transport_that_is_not_there_starts_nothing) {
  const auto result = run({"--transport", "pipe", tree_.path().string()});
  EXPECT_EQ(result.how, exited_with(2));
  EXPECT_THAT(result.errors, HasSubstr("there is no transport 'pipe'; known are unix, tcp"));
}

// -- lost workers --

TEST_F(counting, all_workers_but_one_killed_change_no_count) {
  expect_right_counts(run(job({"--fault", "1=1:kill", "--fault", "3=2:kill", "--fault", "4=7:kill"}, 4)));
}

TEST_F(counting, a_worker_that_answers_with_an_error_is_given_up) {
  const auto result = run(job({"--fault", "1=3:fail"}));
  expect_right_counts(result);
  EXPECT_THAT(result.output, ContainsRegex("worker-1 [^\n]* lost: [^\n]*a fault that was asked for"));
}

TEST_F(counting, an_error_reaches_the_coordinator_by_cereal_too) {
  const auto result = run(job({"--families", "cereal", "--fault", "1=3:fail"}));
  expect_right_counts(result);
  EXPECT_THAT(result.output, ContainsRegex("worker-1 [^\n]* lost: [^\n]*a fault that was asked for"));
}

TEST_F(counting, a_worker_that_does_not_register_is_given_up) {
  const auto result = run(job({"--fault", "1=0:stop", "--start-seconds", "1"}));
  expect_right_counts(result);
  EXPECT_THAT(result.errors, HasSubstr("worker 1 is lost: it did not register within 1 seconds"));
}

TEST_F(counting, no_worker_left_is_an_error) {
  const auto result = run(job({"--fault", "1=2:kill", "--fault", "2=5:kill"}));
  EXPECT_EQ(result.how, exited_with(1));
  EXPECT_THAT(result.errors, HasSubstr("wordcount: no worker is left (worker 1: "));
  EXPECT_THAT(result.output, IsEmpty());
}

// -- the coordinator's end --

/// A job that cannot end, because worker 1 is stopped at that moment and keeps its blocks.
class endless_job : public counting {
protected:
  /// Starts the job and waits until worker 1 is stopped.
  void start(const std::string& moment) {
    running_.emplace(files_.path(), job({"--fault", "1=" + moment + ":stop"}, 3));
    ASSERT_TRUE(eventually([this] {
      for (const auto worker : running_->workers())
        if (is_stopped(worker))
          stopped_ = worker;
      return stopped_ != 0 && running_->workers().size() == 3;
    })) << running_->errors();
  }

  void expect_nothing_left() {
    EXPECT_TRUE(eventually([this] { return running_->workers().empty(); }));
    EXPECT_TRUE(eventually([this] { return running_->store_files().empty(); }));
    EXPECT_FALSE(std::filesystem::exists(output_file()));
  }

  std::optional<program> running_;
  pid_t stopped_ = 0;
};

TEST_F(endless_job, the_workers_of_a_killed_coordinator_end_by_themselves) {
  start("3");
  running_->signal(SIGKILL);
  EXPECT_EQ(running_->wait().how, killed_by(SIGKILL));
  EXPECT_TRUE(eventually([this] { return running_->workers() == std::vector{stopped_}; }));
  ::kill(stopped_, SIGCONT); // In the middle of a block; it notices afterwards.
  expect_nothing_left();
}

TEST_F(endless_job, the_workers_of_a_coordinator_killed_while_they_start_end_by_themselves) {
  start("0");
  running_->signal(SIGKILL);
  EXPECT_EQ(running_->wait().how, killed_by(SIGKILL));
  EXPECT_TRUE(eventually([this] { return running_->workers() == std::vector{stopped_}; }));
  ::kill(stopped_, SIGCONT); // It has not even dialed.
  expect_nothing_left();
}

TEST_F(endless_job, an_interrupt_ends_it_in_good_order) {
  start("2");
  running_->signal(SIGINT);
  const auto result = running_->wait();
  EXPECT_EQ(result.how, exited_with(128 + SIGINT));
  EXPECT_THAT(result.errors, HasSubstr("ended by signal 2 (Interrupt)"));
  EXPECT_THAT(running_->workers(), IsEmpty());
  EXPECT_THAT(running_->store_files(), IsEmpty());
}

TEST_F(endless_job, a_quit_signal_to_all_of_them_leaves_nothing) {
  start("2");
  for (const auto worker : running_->workers())
    ::kill(worker, SIGQUIT);
  running_->signal(SIGQUIT);
  EXPECT_EQ(running_->wait().how, exited_with(128 + SIGQUIT));
  EXPECT_THAT(running_->workers(), IsEmpty());
  EXPECT_THAT(running_->store_files(), IsEmpty());
}

TEST_F(endless_job, a_termination_ends_it_in_good_order) {
  start("1"); // Worker 1 stays stopped, so the job cannot end before the signal.
  running_->signal(SIGTERM);
  EXPECT_EQ(running_->wait().how, exited_with(128 + SIGTERM));
  EXPECT_THAT(running_->workers(), IsEmpty());
  EXPECT_THAT(running_->store_files(), IsEmpty());
}

// -- output --

TEST_F(counting, an_output_file_that_cannot_be_written_is_an_error) {
  const auto result = run({"--workers", "1", "--output", "/nowhere/counts.tsv", tree_.path().string()});
  EXPECT_EQ(result.how, exited_with(1));
  EXPECT_THAT(result.errors, HasSubstr("cannot write /nowhere/counts.tsv: No such file or directory"));
}

TEST_F(counting, a_full_disk_is_an_error) {
  const auto result = run({"--workers", "1", "--output", "/dev/full", tree_.path().string()});
  EXPECT_EQ(result.how, exited_with(1));
  EXPECT_THAT(result.errors, HasSubstr("cannot write /dev/full: No space left on device"));
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/full"));
}

TEST_F(counting, an_output_file_replaces_an_older_one_and_leaves_nothing_beside_it) {
  files_.write("folder/counts.tsv", "old");
  const auto folder = files_.path() / "folder";
  EXPECT_EQ(run({"--workers", "1", "--output", (folder / "counts.tsv").string(), tree_.path().string()}).how,
            exited_with(0));
  EXPECT_TRUE(read_file(folder / "counts.tsv") == counts_by_coreutils());
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator{folder}, {}), 1);
}

// Goal: a stop signal ends the program even while its output waits.
// Method: a named pipe without a reader. The job is done once its workers and its store are gone.
TEST_F(counting, a_signal_ends_it_while_the_output_waits_for_a_reader) {
  const auto pipe = (files_.path() / "unread").string();
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  program waiting{files_.path(), {"--workers", "1", "--output", pipe, tree_.path().string()}};
  ASSERT_TRUE(eventually([&] { return !waiting.store_files().empty(); }));
  ASSERT_TRUE(eventually([&] { return waiting.store_files().empty() && waiting.workers().empty(); }));
  waiting.signal(SIGTERM);
  EXPECT_EQ(waiting.wait().how, exited_with(128 + SIGTERM));
}

TEST_F(counting, a_signal_leaves_no_part_of_the_output) {
  files_.write("folder/old", "");
  for (int round = 0; round < 10; ++round) {
    program writing{files_.path(),
                    {"--workers", "1", "--output", (files_.path() / "folder/counts").string(), "/usr/include/linux"}};
    static_cast<void>(eventually([&] { return !writing.store_files().empty(); }));
    ASSERT_TRUE(eventually([&] { return writing.store_files().empty(); }));
    writing.signal(SIGINT);
    static_cast<void>(writing.wait()); // It has ended before the signal, or by it.
    for (const auto& entry : std::filesystem::directory_iterator{files_.path() / "folder"})
      EXPECT_THAT(entry.path().filename().string(), testing::AnyOf("old", "counts"));
  }
}

TEST_F(counting, bad_arguments_start_nothing) {
  const auto result = run({"--families", "xml", tree_.path().string()});
  EXPECT_EQ(result.how, exited_with(2));
  EXPECT_THAT(result.errors, HasSubstr("there is no family 'xml'"));
}

TEST_F(counting, a_folder_that_is_not_there_is_an_error) {
  const auto result = run({"/no/such/folder"});
  EXPECT_EQ(result.how, exited_with(1));
  EXPECT_THAT(result.errors, HasSubstr("cannot open the folder /no/such/folder: No such file or directory"));
}

} // namespace
} // namespace wordcount::tests
