#include "hosts.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <stdexcept>
#include <thread>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace troupe::tests {

namespace {

using clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr auto patience = 20s;

std::string number_of_this_process() {
  return std::to_string(::getpid());
}

} // namespace

// -- child_process

child_process::child_process(const std::vector<std::string>& words) {
  int input[2], output[2];
  if (::pipe2(input, O_CLOEXEC) != 0)
    throw std::runtime_error("no pipe");
  if (::pipe2(output, O_CLOEXEC) != 0) {
    ::close(input[0]);
    ::close(input[1]);
    throw std::runtime_error("no pipe");
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output[1], STDOUT_FILENO);
  std::vector<char*> arguments;
  for (const auto& each : words)
    arguments.push_back(const_cast<char*>(each.c_str()));
  arguments.push_back(nullptr);
  const auto failed = ::posix_spawn(&pid_, words.front().c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  ::close(input[0]);
  ::close(output[1]);
  input_ = input[1];
  output_ = output[0];
  if (failed != 0) {
    pid_ = -1;
    close_pipes();
    throw std::runtime_error("cannot start " + words.front());
  }
}

child_process::~child_process() {
  if (pid_ > 0)
    end();
  close_pipes();
}

void child_process::close_pipes() {
  for (auto* each : {&input_, &output_})
    if (*each >= 0)
      ::close(std::exchange(*each, -1));
}

void child_process::write_line(const std::string& line) const {
  // Who reads may just have been killed: no reason to die, too.
  struct sigaction ignoring {
  }, before{};
  ignoring.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &ignoring, &before);
  const auto text = line + '\n';
  for (std::size_t at = 0; at < text.size();) {
    const auto written = ::write(input_, text.data() + at, text.size() - at);
    if (written < 0 && errno != EINTR)
      break;
    at += written > 0 ? static_cast<std::size_t>(written) : 0;
  }
  ::sigaction(SIGPIPE, &before, nullptr);
}

std::optional<std::string> child_process::read_line(std::chrono::milliseconds timeout) {
  const auto deadline = clock::now() + timeout;
  while (true) {
    if (const auto end = read_.find('\n'); end != std::string::npos) {
      auto line = read_.substr(0, end);
      read_.erase(0, end + 1);
      return line;
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - clock::now());
    pollfd readable{output_, POLLIN, 0};
    if (output_ < 0 || ::poll(&readable, 1, static_cast<int>(std::max(0ms, left).count())) <= 0)
      return std::nullopt;
    std::array<char, 65536> bytes;
    const auto got = ::read(output_, bytes.data(), bytes.size());
    if (got <= 0)
      return std::nullopt;
    read_.append(bytes.data(), static_cast<std::size_t>(got));
  }
}

void child_process::kill() {
  if (pid_ > 0)
    ::kill(pid_, SIGKILL);
  wait();
}

int child_process::end() {
  if (input_ >= 0)
    ::close(std::exchange(input_, -1));
  return wait();
}

void child_process::freeze() const {
  ::kill(pid_, SIGSTOP);
}

void child_process::go_on() const {
  ::kill(pid_, SIGCONT);
}

int child_process::wait() {
  if (pid_ <= 0)
    return -1;
  int status = 0;
  for (const auto deadline = clock::now() + patience; ::waitpid(pid_, &status, WNOHANG) != pid_;) {
    if (clock::now() > deadline) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, &status, 0);
      break;
    }
    // What it still says must not fill the pipe.
    if (output_ >= 0) {
      pollfd readable{output_, POLLIN, 0};
      std::array<char, 4096> bytes;
      if (::poll(&readable, 1, 1) > 0 && ::read(output_, bytes.data(), bytes.size()) > 0)
        continue;
    }
    std::this_thread::sleep_for(1ms);
  }
  pid_ = -1;
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

// -- host

host::host(std::string name)
    : name_(std::move(name)),
      holder_(std::make_unique<child_process>(
          std::vector<std::string>{TROUPE_SYSTEM_HOST, number_of_this_process(), "hold", TROUPE_BUILD_TREE})) {
  const auto said = holder_->read_line(patience);
  if (said != "ready")
    throw std::runtime_error(said.value_or("the holder of a host did not start"));
}

std::unique_ptr<child_process> host::start(std::vector<std::string> words) const {
  std::vector<std::string> all{TROUPE_SYSTEM_HOST, number_of_this_process(), "enter", std::to_string(holder())};
  all.insert(all.end(), std::make_move_iterator(words.begin()), std::make_move_iterator(words.end()));
  return std::make_unique<child_process>(all);
}

void host::run(std::vector<std::string> words) const {
  std::string command;
  for (const auto& each : words)
    command += each + ' ';
  const auto process = start(std::move(words));
  std::string said;
  while (const auto line = process->read_line(patience))
    said += *line + '\n';
  if (process->end() != 0)
    throw std::runtime_error(command + "fails at host " + name_ + ": " + said);
}

std::vector<std::string> host::files_in(const std::string& directory) const {
  const auto process = start({"ls", "-A", directory});
  std::vector<std::string> files;
  while (auto line = process->read_line(patience))
    files.push_back(*std::move(line));
  return files;
}

// -- network

network::network(const std::vector<std::string>& names) {
  for (const auto& name : names)
    hosts_.emplace(name, std::make_unique<host>(name));
  int number = 0;
  for (auto one = hosts_.begin(); one != hosts_.end(); ++one)
    for (auto other = std::next(one); other != hosts_.end(); ++other)
      connect({one->first, other->first}, ++number);
}

network::ends network::ends_of(const std::string& one, const std::string& other) {
  return std::minmax(one, other);
}

void network::connect(const ends& which, int number) {
  const auto& [one, other] = which;
  at(one).run({"ip", "link", "add", "to-" + other, "type", "veth", "peer", "name", "to-" + one, "netns",
               std::to_string(at(other).holder())});
  cables_[which] = {number};
  for (const auto& [from, to] : {which, ends{other, one}}) {
    at(from).run({"ip", "address", "add", address(to, from) + "/24", "dev", "to-" + to});
    at(from).run({"ip", "link", "set", "to-" + to, "up"});
  }
}

std::string network::address(const std::string& from, const std::string& to) const {
  return "10.0." + std::to_string(cables_.at(ends_of(from, to)).number) + (to < from ? ".1" : ".2");
}

void network::cut(const std::string& one, const std::string& other) {
  const auto which = ends_of(one, other);
  if (!std::exchange(cables_.at(which).is_cut, true))
    at(which.first).run({"ip", "link", "set", "to-" + which.second, "down"});
}

void network::mend(const std::string& one, const std::string& other) {
  const auto which = ends_of(one, other);
  if (std::exchange(cables_.at(which).is_cut, false))
    at(which.first).run({"ip", "link", "set", "to-" + which.second, "up"});
}

bool network::is_cut(const std::string& one, const std::string& other) const {
  return cables_.at(ends_of(one, other)).is_cut;
}

void network::mend_all() {
  for (const auto& [which, each] : cables_)
    mend(which.first, which.second);
}

bool network::limit(const std::string& one, const std::string& other, int megabits) try {
  auto& is_limited = cables_.at(ends_of(one, other)).is_limited;
  for (const auto& [from, to] : {ends{one, other}, ends{other, one}}) {
    if (megabits > 0)
      at(from).run({"tc", "qdisc", "replace", "dev", "to-" + to, "root", "tbf", "rate",
                    std::to_string(megabits) + "mbit", "burst", "64k", "latency", "100ms"});
    else if (is_limited)
      at(from).run({"tc", "qdisc", "delete", "dev", "to-" + to, "root"});
  }
  is_limited = megabits > 0;
  return true;
} catch (const std::runtime_error&) {
  return false;
}

std::pair<std::unique_ptr<network>, std::string> make_network(const std::vector<std::string>& names) {
  try {
    return {std::make_unique<network>(names), ""};
  } catch (const std::runtime_error& failed) {
    return {nullptr, std::string{"hosts cannot be simulated here: "} + failed.what()};
  }
}

} // namespace troupe::tests
