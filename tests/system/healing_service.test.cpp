// Two processes with the same service, which are restarted, killed, stopped and cut off at random while clients use
// lasting handles.
#include <array>
#include <deque>
#include <fstream>

#include <troupe/framework/lasting.hpp>

#include "healing_world.hpp"

namespace troupe::tests {
namespace {

/// A process that serves at one address, again and again.
class healing_instance {
public:
  healing_instance(std::string run, std::string address, std::string file)
      : run_(std::move(run)), address_(std::move(address)), file_(std::move(file)) {
    start();
  }

  void start() {
    process_.emplace(processes::process::start({.program = TROUPE_HEALING_PEER,
                                                .words = {TROUPE_HEALING_PEER, "service", address_, run_, file_},
                                                .output = processes::lines{},
                                                .environment = {{"TROUPE_TEST_RUN", run_}}})
                         .value());
    ASSERT_EQ(process_->channel().read_line(30s), "ready");
    ASSERT_TRUE(eventually([this] { return handles_sigterm(); }));
  }

  void ask_to_end() { process_->signal(SIGTERM); }
  void expect_end() { EXPECT_EQ(process_->ended_within(30s), processes::exited_with(0)); }
  void kill() { process_->kill(); }
  [[nodiscard]] pid_t number() const { return process_->number(); }

private:
  /// Whether drain_on_signal waits.
  [[nodiscard]] bool handles_sigterm() const {
    std::ifstream status{"/proc/" + std::to_string(process_->number()) + "/status"};
    for (std::string line; std::getline(status, line);)
      if (line.starts_with("SigCgt:"))
        return ((std::stoull(line.substr(7), nullptr, 16) >> (SIGTERM - 1)) & 1) != 0;
    return false;
  }

  const std::string run_, address_, file_;
  std::optional<processes::process> process_;
};

class healing_service : public healing {
protected:
  healing_service() {
    std::filesystem::create_directory(folder_);
    for (const auto& address : addresses_)
      instances_.emplace_back(run_, address, folder_ / "handled");
  }
  ~healing_service() override {
    instances_.clear();
    home_.reset();
    std::filesystem::remove_all(folder_);
  }

  caf::actor lasting(request_retry retry) {
    const lasting_options options{.patience = 30s,
                                  .retry = retry,
                                  .policy = {.first_pause = 5ms, .longest_pause = 50ms},
                                  .events = {.callback = [this](const lasting_event& event) {
                                    is_given_up_ = is_given_up_ || event.what == lasting_event::kind::given_up;
                                  }}};
    return home_->node.lasting(known_addresses_, "doubler", options).value();
  }

  /// Calls `disturb` again and again while four clients make requests over two handles.
  template <class Disturb>
  void run(request_retry retry, Disturb disturb, std::chrono::milliseconds pause_max = 20ms) {
    const std::array handles{lasting(retry), lasting(retry)};
    {
      std::deque<client> clients;
      for (const auto number : {0, 1, 2, 3})
        clients.emplace_back(home_->system, handles[static_cast<std::size_t>(number % 2)], number * 200'000'000, false,
                             answers_);
      for (const auto end = clock::now() + service_time; clock::now() < end && !HasFailure();) {
        disturb();
        std::this_thread::sleep_for(up_to(pause_max));
      }
      resume(true);
      for (auto& each : clients)
        each.stop();
    }
    EXPECT_FALSE(is_given_up_);
    std::cout << "answers:" << answers_ << std::endl;
    for (auto& each : instances_)
      each.ask_to_end();
    for (auto& each : instances_)
      each.expect_end();
  }

  /// Lets one instance end in order, rarely both, and starts it again.
  void restart() {
    const auto which = any(2);
    const auto both = any(6) == 0;
    for (std::size_t each = 0; each < 2; ++each)
      if (both || each == which)
        instances_[each].ask_to_end();
    for (std::size_t each = 0; each < 2; ++each)
      if (both || each == which) {
        instances_[each].expect_end();
        instances_[each].start();
      }
  }
  void kill() {
    auto& which = instances_[any(2)];
    which.kill();
    which.start();
  }
  void cut() { cut_sockets(folder_); }

  /// Expects that no number was handled twice, and that each with a right result was handled.
  void expect_handled_once() {
    std::unordered_map<int, int> handled;
    std::ifstream file{folder_ / "handled"};
    for (int number = 0; file >> number;)
      ++handled[number];
    const auto outcomes = answers_.outcomes();
    for (const auto& [number, times] : handled)
      EXPECT_EQ(times, 1) << number << ": " << outcomes.at(number);
    for (const auto& [number, outcome] : outcomes)
      if (outcome == "right") {
        EXPECT_TRUE(handled.contains(number)) << number;
      }
  }

  const std::filesystem::path folder_ = std::filesystem::temp_directory_path() / run_;
  const std::vector<std::string> addresses_{"unix://" + (folder_ / "a").string(), "unix://" + (folder_ / "b").string()};
  std::vector<std::string> known_addresses_ = addresses_; // To the clients.
  std::atomic<bool> is_given_up_ = false;
  ledger answers_;
  std::optional<home> home_{run_};
  std::deque<healing_instance> instances_;
};

TEST_F(healing_service, that_is_restarted_in_order_fails_no_request) {
  std::size_t count = 0;
  run(request_retry::none, [&] {
    restart();
    ++count;
  });
  EXPECT_GT(count, 3u);
  answers_.expect_only({});
  expect_handled_once();
}

TEST_F(healing_service, that_is_killed_fails_only_requests_under_way) {
  run(request_retry::none, [&] { any(2) == 0 ? kill() : suspend(instances_[any(2)].number()), resume(false); });
  answers_.expect_only({"link_down"});
  expect_handled_once();
}

TEST_F(healing_service, that_is_cut_off_answers_repeated_requests_from_its_memory) {
  known_addresses_.pop_back(); // With two addresses, the handle may find the other process.
  run(
      request_retry::repeat_idempotent, [&] { cut(); }, 100ms);
  answers_.expect_only({});
  expect_handled_once();
}

TEST_F(healing_service, that_is_killed_and_cut_off_handles_no_repeated_request_twice) {
  run(request_retry::repeat_idempotent, [&] {
    switch (any(4)) {
    case 0:
      return kill();
    case 1:
      suspend(instances_[any(2)].number());
      [[fallthrough]];
    default:
      resume(false);
      return cut();
    }
  });
  answers_.expect_only({"outcome_unknown"});
  expect_handled_once();
}

TEST_F(healing_service, that_is_restarted_and_cut_off_handles_no_repeated_request_twice) {
  run(request_retry::repeat_idempotent, [&] { any(3) == 0 ? restart() : cut(); });
  answers_.expect_only({"outcome_unknown"});
  expect_handled_once();
}

} // namespace
} // namespace troupe::tests
