// Worker processes: real ones, good and bad (worker_peer.cpp).
#include "log_lines.hpp"
#include "two_nodes.hpp"

#include <csignal>
#include <filesystem>
#include <future>
#include <numeric>
#include <random>

#include <sys/resource.h>

#include <gmock/gmock.h>

#include <troupe/framework/internal/workers/memory_group.hpp>
#include <troupe/framework/worker_process.hpp>
#include <troupe/processes/listing.hpp>
#include <troupe/processes/process.hpp>

namespace troupe::tests {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr auto peer_program = TROUPE_WORKER_PEER;

/// What workers have written.
class written_lines {
public:
  std::function<void(std::string_view, bool)> receiver() {
    return [this](std::string_view line, bool is_error) {
      std::lock_guard guard{mutex_};
      (is_error ? errors_ : lines_).emplace_back(line);
    };
  }
  [[nodiscard]] std::vector<std::string> lines() const {
    std::lock_guard guard{mutex_};
    return lines_;
  }
  [[nodiscard]] std::vector<std::string> errors() const {
    std::lock_guard guard{mutex_};
    return errors_;
  }

private:
  mutable std::mutex mutex_;
  std::vector<std::string> lines_, errors_; // Guarded by mutex_.
};

class workers : public ::testing::Test {
protected:
  worker_options with(const std::string& mode) {
    return {.program = peer_program,
            .arguments = {mode},
            .name = mode,
            .environment = {{"TROUPE_TEST_RUN", run_}},
            .output = written.receiver()};
  }
  std::expected<worker_process, node_error> start(const worker_options& options) {
    return worker_process::start(*home.home, options);
  }
  worker_process started(const worker_options& options) {
    auto made = start(options);
    if (!made)
      throw std::runtime_error(made.error().message());
    return *std::move(made);
  }
  template <class Answer, class... Words>
  Answer ask(const worker_process& worker, const Words&... words) {
    auto link = worker.link();
    auto actor = link->find("greeter", 10s);
    caf::scoped_actor self{home.system};
    Answer answer{};
    self->request(*actor, 10s, words...)
        .receive([&](const Answer& value) { answer = value; },
                 [](const caf::error& error) { ADD_FAILURE() << troupe::text_of(error); });
    return answer;
  }
  void order(const worker_process& worker, const std::string& words) {
    caf::anon_send(*worker.link()->find("greeter", 10s), words);
  }
  /// Starts another process that starts workers, and waits until it has said that they run. Fails with a text.
  std::expected<processes::process, std::string> parent_of_workers(std::vector<std::string> words) {
    words.insert(words.begin(), peer_program);
    auto made = processes::process::start({.program = peer_program,
                                           .words = std::move(words),
                                           .output = processes::lines{},
                                           .environment = {{"TROUPE_TEST_RUN", run_}}});
    if (made && !made->channel().read_line(20s))
      return std::unexpected{std::string{"the parent of workers has said nothing"}};
    return made;
  }
  /// The processes of this test's workers, and their children.
  [[nodiscard]] std::vector<pid_t> left() const { return processes::with_variable("TROUPE_TEST_RUN=" + run_); }

  const std::string run_ = unique_name("run");
  written_lines written;
  side home{{.name = "home", .store = store::options{.name = unique_name("workers"), .capacity_bytes = 64_MiB}}};
};

// -- a good worker

TEST_F(workers, spawn_and_publish_actors_for_the_process_that_starts_them) {
  const auto worker = started(with("serve"));
  ASSERT_TRUE(worker.link());
  EXPECT_EQ(worker.link()->peer_name(), "serve");
  EXPECT_EQ(ask<int>(worker, 7), 49);
  EXPECT_EQ(ask<std::string>(worker, std::string{"pid"}), std::to_string(worker.pid()));
  auto spawned = worker.link()->spawn("squarer").get(10s);
  ASSERT_TRUE(spawned) << spawned.error().message();
  EXPECT_FALSE(worker.ending());
}

TEST_F(workers, share_the_store) {
  const auto worker = started(with("serve"));
  EXPECT_TRUE(worker.link()->shares_store());
  EXPECT_EQ(ask<double>(worker, std::vector<double>(100'000, 0.5)), 50'000.0);
  EXPECT_GT(worker.link()->stats().handle_bytes_sent, 0u);
}

TEST_F(workers, have_no_store_if_their_parent_has_none) {
  side plain{{.name = "plain", .store = std::nullopt}};
  const auto worker = worker_process::start(*plain.home, with("serve"));
  ASSERT_TRUE(worker) << worker.error().message();
  EXPECT_FALSE(worker->link()->shares_store());
}

TEST_F(workers, inherit_their_streams_and_one_socket_only) {
  const auto first = started(with("serve"));
  const auto second = started(with("descriptors"));
  ASSERT_TRUE(eventually([&] { return !written.lines().empty(); }));
  auto words = written.lines().front();
  EXPECT_EQ(std::ranges::count(words, ' '), 4) << words;
  EXPECT_THAT(words, HasSubstr("/dev/null"));
  EXPECT_THAT(words, HasSubstr("socket"));
}

TEST_F(workers, keep_their_socket_and_their_role_from_the_programs_they_start) {
  const auto worker = started(with("serve"));
  EXPECT_THAT(ask<std::string>(worker, std::string{"ls -l /proc/self/fd"}), ::testing::Not(HasSubstr("socket:")));
  EXPECT_EQ(ask<std::string>(worker, std::string{"env | grep TROUPE_WORKER"}), "");
}

TEST_F(workers, end_with_status_zero_when_stopped) {
  auto worker = started(with("serve"));
  worker.stop();
  const auto how = worker.wait(10s);
  ASSERT_TRUE(how);
  EXPECT_EQ(how->how, worker_ending::kind::exited);
  EXPECT_EQ(how->cause, "exit status 0");
  EXPECT_FALSE(worker.link());
}

TEST_F(workers, are_waited_for_without_a_limit) {
  const auto worker = started(with("brief"));
  EXPECT_TRUE(worker.wait(std::chrono::milliseconds::max()));
}

TEST_F(workers, end_with_the_status_of_their_own_function) {
  const auto worker = started(with("brief"));
  const auto how = worker.wait(10s);
  ASSERT_TRUE(how);
  EXPECT_EQ(how->value, 6);
}

TEST_F(workers, are_gone_when_the_destructor_returns) {
  { const auto worker = started(with("serve")); }
  EXPECT_TRUE(left().empty());
}

TEST_F(workers, end_when_the_node_ends) {
  std::optional<side> other{std::in_place, node_options{.name = "other", .store = std::nullopt}};
  const auto worker = worker_process::start(*other->home, with("serve"));
  ASSERT_TRUE(worker) << worker.error().message();
  other.reset();
  const auto how = worker->wait(10s);
  ASSERT_TRUE(how);
  EXPECT_EQ(how->cause, "exit status 0");
}

// -- events

TEST_F(workers, tell_that_they_have_connected_and_ended_once_and_in_order) {
  std::mutex mutex;
  std::vector<worker_event> events;
  auto worker = worker_process::launch(*home.home, with("serve"), [&](const worker_event& event) {
    std::lock_guard guard{mutex};
    events.push_back(event);
  });
  const auto count = [&] {
    std::lock_guard guard{mutex};
    return events.size();
  };
  ASSERT_TRUE(eventually([&] { return count() == 1; }));
  order(*worker, "exit 9");
  ASSERT_TRUE(worker->wait(10s));
  ASSERT_TRUE(eventually([&] { return count() == 2; }));
  std::lock_guard guard{mutex};
  EXPECT_EQ(events[0].what, worker_event::kind::connected);
  EXPECT_TRUE(events[0].link);
  EXPECT_EQ(events[1].what, worker_event::kind::ended);
  EXPECT_EQ(events[1].name, "serve");
  EXPECT_EQ(events[1].ending.cause, "exit status 9");
  EXPECT_EQ(events[1].reason.code(), node_errc::link_down);
}

TEST_F(workers, tell_an_actor) {
  std::promise<std::string> told;
  const auto listener = home.system.spawn([&told](caf::event_based_actor* self) -> caf::behavior {
    return {[&told, self](const worker_event& event) {
      told.set_value(event.ending.cause);
      self->quit();
    }};
  });
  const auto worker = worker_process::launch(*home.home, with("exit"), {}, listener);
  EXPECT_EQ(told.get_future().get(), "exit status 3");
}

TEST_F(workers, may_be_destroyed_in_their_own_event) {
  std::optional<worker_process> worker;
  std::promise<void> ready, destroyed;
  auto made = worker_process::launch(*home.home, with("serve"), [&](const worker_event&) {
    ready.get_future().wait();
    EXPECT_EQ(worker_process::start(*home.home, with("serve")).error().code(), node_errc::unsupported);
    worker.reset();
    destroyed.set_value();
  });
  ASSERT_TRUE(made);
  worker = *std::move(made);
  ready.set_value();
  destroyed.get_future().wait();
  EXPECT_TRUE(eventually([this] { return left().empty(); }));
}

TEST_F(workers, go_on_if_a_function_throws) {
  const log_lines log{log_level::error};
  auto options = with("flood");
  options.output = [](std::string_view, bool) { throw std::runtime_error("oh"); };
  auto worker = worker_process::launch(*home.home, options, {});
  const auto how = worker->wait(60s);
  ASSERT_TRUE(how);
  EXPECT_EQ(how->value, 4);
  EXPECT_GT(log.with("has thrown: oh"), 0u);
}

// -- bad programs

TEST_F(workers, need_a_program_that_is_there) {
  auto options = with("serve");
  options.program = "/nowhere/at-all";
  const auto failed = start(options);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code(), node_errc::spawn_failed);
  EXPECT_EQ(failed.error().message(), "worker serve: cannot start /nowhere/at-all: No such file or directory");
}

TEST_F(workers, that_end_at_once_say_how_and_their_last_words) {
  const auto failed = start(with("exit"));
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code(), node_errc::spawn_failed);
  EXPECT_EQ(failed.error().message(),
            "worker exit has ended before it connected: exit status 3; its last error line: the "
            "disk is on fire");
}

TEST_F(workers, whose_setup_throws_say_so) {
  const auto failed = start(with("throw"));
  ASSERT_FALSE(failed);
  EXPECT_THAT(failed.error().message(), HasSubstr("exit status 1; its last error line: "));
  EXPECT_THAT(failed.error().message(), HasSubstr("no coffee"));
}

TEST_F(workers, cannot_have_a_negative_end_timeout) {
  const auto failed = start(with("negative"));
  ASSERT_FALSE(failed);
  EXPECT_THAT(failed.error().message(), HasSubstr("worker_setup::end_timeout of -1 ms is negative"));
}

TEST_F(workers, that_never_connect_are_killed) {
  auto options = with("sleep");
  options.start_timeout = 200ms;
  const auto failed = start(options);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code(), node_errc::timed_out);
  EXPECT_EQ(failed.error().message(), "worker sleep did not connect within 200 ms (start_timeout)");
  EXPECT_TRUE(left().empty());
}

TEST_F(workers, that_speak_something_else_are_killed) {
  const auto failed = start(with("babble"));
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code(), node_errc::protocol_violation) << failed.error().message();
  EXPECT_THAT(failed.error().message(), StartsWith("connecting to worker babble: "));
  EXPECT_TRUE(left().empty());
}

TEST_F(workers, that_close_their_socket_and_live_on_are_killed) {
  const auto failed = start(with("close"));
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code(), node_errc::link_down) << failed.error().message();
  EXPECT_TRUE(left().empty());
}

TEST_F(workers, that_lose_their_link_and_live_on_are_killed_after_stop_timeout) {
  auto options = with("stubborn");
  options.stop_timeout = 200ms;
  const auto worker = started(options);
  const auto how = worker.wait(10s);
  ASSERT_TRUE(how);
  EXPECT_EQ(how->cause, "SIGKILL by this process, because it still ran 200 ms after its link had ended (stop_timeout)");
}

TEST_F(workers, that_do_not_end_when_stopped_are_killed_after_stop_timeout) {
  auto options = with("patient");
  options.stop_timeout = 200ms;
  auto worker = started(options);
  order(worker, "hang");
  worker.stop();
  const auto how = worker.wait(10s);
  ASSERT_TRUE(how);
  EXPECT_EQ(how->cause,
            "SIGKILL by this process, because it still ran 200 ms after it had been stopped (stop_timeout)");
}

TEST_F(workers, that_nobody_is_known_to_have_killed_say_so) {
  const auto worker = started(with("serve"));
  ::kill(worker.pid(), SIGKILL);
  const auto how = worker.wait(10s);
  ASSERT_TRUE(how);
  EXPECT_EQ(how->how, worker_ending::kind::signaled);
  EXPECT_EQ(how->value, SIGKILL);
  EXPECT_EQ(how->cause, "SIGKILL, cause unknown");
  EXPECT_FALSE(how->out_of_memory);
}

TEST_F(workers, whose_status_is_lost_say_so) {
  struct sigaction before {};
  struct sigaction ignored {};
  ignored.sa_handler = SIG_IGN;
  ::sigaction(SIGCHLD, &ignored, &before);
  {
    const auto worker = started(with("serve"));
    order(worker, "exit 9");
    const auto how = worker.wait(10s);
    const auto failed = start(with("exit"));
    ::sigaction(SIGCHLD, &before, nullptr);
    ASSERT_TRUE(how);
    EXPECT_EQ(how->how, worker_ending::kind::unknown);
    EXPECT_THAT(how->cause, StartsWith("status unknown: SIGCHLD is ignored"));
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().code(), node_errc::spawn_failed);
    EXPECT_THAT(failed.error().message(), HasSubstr("has ended before it connected: status unknown: "));
  }
}

TEST_F(workers, that_are_killed_on_request_say_so) {
  auto worker = started(with("serve"));
  worker.kill();
  const auto how = worker.wait(10s);
  ASSERT_TRUE(how);
  EXPECT_EQ(how->cause, "SIGKILL by this process, by worker_process::kill");
}

TEST_F(workers, are_killed_if_they_are_stopped_before_they_connect) {
  auto worker = worker_process::launch(*home.home, with("sleep"), {});
  worker->stop();
  const auto how = worker->wait(10s);
  ASSERT_TRUE(how);
  EXPECT_THAT(how->cause, HasSubstr("was stopped before it had connected"));
}

// -- their output

TEST_F(workers, lose_no_line_of_a_flood) {
  auto worker = worker_process::launch(*home.home, with("flood"), {});
  const auto how = worker->wait(30s);
  ASSERT_TRUE(how);
  EXPECT_EQ(how->value, 4);
  const auto lines = written.lines();
  ASSERT_EQ(lines.size(), 100'004u);
  EXPECT_EQ(lines[99'999], "line 99999");
  EXPECT_EQ(lines[100'000], std::string(3840, 'y'));
  EXPECT_EQ(lines[100'002], std::string(10'000 - 2 * 3840, 'y'));
  EXPECT_EQ(lines.back(), "the last line");
  EXPECT_THAT(how->last_errors, ElementsAre("the last error"));
}

TEST_F(workers, whose_children_keep_their_pipes_end_all_the_same) {
  auto worker = worker_process::launch(*home.home, with("child"), {});
  const auto how = worker->wait(10s);
  ASSERT_TRUE(how);
  EXPECT_EQ(how->value, 5);
  EXPECT_THAT(written.lines(), ElementsAre("forked"));
  EXPECT_TRUE(eventually([this] { return left().empty(); })); // Killed with the group.
}

TEST_F(workers, whose_children_leave_their_group_end_all_the_same) {
  auto worker = worker_process::launch(*home.home, with("runaway"), {});
  const auto how = worker->wait(10s);
  ASSERT_TRUE(how);
  EXPECT_EQ(how->value, 5);
  for (const auto each : left())
    ::kill(each, SIGKILL);
}

// -- limits

TEST_F(workers, have_the_niceness_and_the_cores_of_their_limits) {
  cpu_set_t mine;
  ::sched_getaffinity(0, sizeof mine, &mine);
  unsigned first = 0;
  while (!CPU_ISSET(first, &mine))
    ++first;
  auto options = with("serve");
  options.limits = {.cores = {first}, .niceness = 3};
  const auto worker = started(options);
  EXPECT_EQ(ask<std::string>(worker, std::string{"cores"}), std::to_string(first) + ' ');
  EXPECT_EQ(ask<std::string>(worker, std::string{"niceness"}),
            std::to_string(std::min(19, ::getpriority(PRIO_PROCESS, 0) + 3)));
}

TEST_F(workers, cannot_have_cores_that_are_not_there) {
  auto options = with("serve");
  options.limits.cores = {0, 1000};
  const auto failed = start(options);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code(), node_errc::unsupported);
  EXPECT_THAT(failed.error().message(), HasSubstr("its cores cannot be set to 0, 1000: "));
  options.limits.cores = {5000};
  EXPECT_EQ(start(options).error().code(), node_errc::bad_option);
}

TEST_F(workers, cannot_have_options_out_of_their_ranges) {
  const auto code_with = [&](auto change) {
    auto options = with("serve");
    change(options);
    const auto failed = start(options);
    return failed ? node_errc::none : failed.error().code();
  };
  EXPECT_EQ(code_with([](auto& options) { options.limits.niceness = 20; }), node_errc::bad_option);
  EXPECT_EQ(code_with([](auto& options) { options.limits.niceness = -1; }), node_errc::bad_option);
  EXPECT_EQ(code_with([](auto& options) { options.limits.memory_bytes = 0; }), node_errc::bad_option);
  EXPECT_EQ(code_with([](auto& options) { options.start_timeout = -1ms; }), node_errc::bad_option);
  EXPECT_EQ(code_with([](auto& options) { options.program.clear(); }), node_errc::bad_option);
  EXPECT_EQ(code_with([](auto& options) { options.name = std::string(201, 'n'); }), node_errc::bad_option);
  EXPECT_EQ(code_with([](auto& options) { options.name = "one\ntwo"; }), node_errc::bad_option);
  EXPECT_EQ(code_with([](auto& options) { options.environment = {{"A=B", "C"}}; }), node_errc::bad_option);
  EXPECT_EQ(code_with([](auto& options) { options.environment = {{"A", std::string("1\0002", 3)}}; }),
            node_errc::bad_option);
  EXPECT_EQ(code_with([](auto& options) { options.arguments = {std::string("1\0002", 3)}; }), node_errc::bad_option);
  EXPECT_EQ(code_with([](auto& options) { options.link.serializers = {"klingon"}; }), node_errc::bad_option);
}

/// The control groups of workers below this process's own.
std::size_t groups_of_workers() {
  auto probe = internal::memory_group::make(64_MiB);
  std::size_t count = 0;
  for (const auto& each : std::filesystem::directory_iterator{std::filesystem::path{probe->path()}.parent_path()})
    count += each.path().filename().string().starts_with("troupe-worker-" + std::to_string(::getpid()) + '-') ? 1 : 0;
  return count - 1;
}

TEST_F(workers, are_killed_for_memory_or_cannot_have_a_limit) {
  auto options = with("serve");
  options.limits.memory_bytes = 512_MiB; // Room for sanitizers.
  auto worker = start(options);
  if (!worker) {
    EXPECT_EQ(worker.error().code(), node_errc::unsupported);
    EXPECT_THAT(worker.error().message(), StartsWith("memory_bytes of a worker is 536,870,912, but the system cannot"));
    GTEST_SKIP() << worker.error().message();
  }
  EXPECT_EQ(groups_of_workers(), 1u);
  order(*worker, "eat");
  const auto how = worker->wait(30s);
  ASSERT_TRUE(how);
  EXPECT_TRUE(how->out_of_memory);
  EXPECT_EQ(how->cause, "SIGKILL, for memory (limit 536,870,912 bytes)");
  EXPECT_EQ(groups_of_workers(), 0u);
}

// -- the parent's end

// Goal: no worker outlives its parent, whenever the parent is killed.
// Method: kill parents that start workers all the time, at random moments.
TEST_F(workers, do_not_outlive_a_parent_that_is_killed_in_the_middle_of_a_start) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937 random{seed};
  for (int round = 0; round < 8; ++round) {
    processes::start_options options{.program = peer_program,
                                     .words = {peer_program, "parent"},
                                     .output = processes::lines{},
                                     .environment = {{"TROUPE_TEST_RUN", run_}}};
    auto parent = processes::process::start(options);
    ASSERT_TRUE(parent) << parent.error();
    ASSERT_TRUE(parent->channel().read_line(20s));
    std::this_thread::sleep_for(std::chrono::microseconds{random() % 50'000});
    parent->kill();
    EXPECT_TRUE(eventually([this] { return left().empty(); }));
  }
}

// Method: workers that have not called worker_main, and never will, so nothing but the kernel ends them.
TEST_F(workers, that_have_not_begun_do_not_outlive_a_parent_that_is_killed) {
  auto parent = processes::process::start({.program = peer_program,
                                           .words = {peer_program, "parent", "", "sleep"},
                                           .output = processes::lines{},
                                           .environment = {{"TROUPE_TEST_RUN", run_}}});
  ASSERT_TRUE(parent) << parent.error();
  ASSERT_TRUE(eventually([this] { return left().size() >= 2; })); // The parent and a worker.
  parent->kill();
  EXPECT_TRUE(eventually([this] { return left().empty(); }));
}

// Goal: a killed parent leaves no memory behind, because its workers still end in order.
TEST_F(workers, free_the_store_of_a_parent_that_is_killed) {
  const auto store = unique_name("orphaned");
  auto parent = parent_of_workers({"parent", store});
  ASSERT_TRUE(parent) << parent.error();
  parent->kill();
  EXPECT_TRUE(eventually([this] { return left().empty(); }));
  const auto again = store::object_store::open({.name = store, .must_exist = true});
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code(), store::store_errc::not_found);
  for (const auto& each : std::filesystem::directory_iterator{"/dev/shm"})
    EXPECT_THAT(each.path().filename().string(), ::testing::Not(HasSubstr(store)));
}

TEST_F(workers, that_hang_when_their_parent_is_killed_are_ended_in_time) {
  auto parent = parent_of_workers({"parent", "", "hanging"});
  ASSERT_TRUE(parent) << parent.error();
  parent->kill();
  EXPECT_TRUE(eventually([this] { return left().empty(); }));
}

TEST_F(workers, that_hang_after_worker_main_when_their_parent_is_killed_are_ended) {
  auto parent = parent_of_workers({"parent", "", "lingering"});
  ASSERT_TRUE(parent) << parent.error();
  parent->kill();
  EXPECT_TRUE(eventually([this] { return left().empty(); }));
}

TEST_F(workers, that_are_stopped_when_their_parent_is_killed_end_as_well) {
  auto parent = parent_of_workers({"parent"});
  ASSERT_TRUE(parent) << parent.error();
  parent->signal(SIGSTOP);
  auto stopped = left();
  std::erase_if(stopped, [](pid_t process) {
    const auto words = processes::arguments_of(process);
    return words.empty() || words.back() != "serve"; // It is about to become a worker.
  });
  ASSERT_FALSE(stopped.empty());
  for (const auto process : stopped) {
    ::kill(process, SIGSTOP);
    EXPECT_TRUE(eventually([process] { return processes::state_of(process) == 'T'; }));
  }
  parent->kill();
  EXPECT_TRUE(eventually([this] { return left().empty(); }));
}

TEST(a_worker_program, says_so_when_nobody_has_started_it) {
  processes::start_options options{.program = peer_program,
                                   .words = {peer_program, "serve"},
                                   .output = processes::lines{},
                                   .errors = processes::lines{}};
  auto alone = processes::process::start(options);
  ASSERT_TRUE(alone) << alone.error();
  EXPECT_THAT(alone->channel().read_all(), HasSubstr("a troupe::worker_process starts this program"));
  EXPECT_EQ(alone->wait(), processes::exited_with(2));
}

TEST(a_worker_program, says_so_when_its_socket_is_none) {
  processes::start_options options{.program = peer_program,
                                   .words = {peer_program, "serve"},
                                   .output = processes::lines{},
                                   .errors = processes::lines{},
                                   .environment = {{"TROUPE_WORKER", "77"}}};
  auto alone = processes::process::start(options);
  ASSERT_TRUE(alone) << alone.error();
  EXPECT_THAT(alone->channel().read_all(),
              HasSubstr("TROUPE_WORKER is \"77\", which is not the number of a connected"));
  EXPECT_EQ(alone->wait(), processes::exited_with(1));
}

} // namespace
} // namespace troupe::tests
