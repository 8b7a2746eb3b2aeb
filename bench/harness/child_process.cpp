#include "harness/child_process.hpp"

#include <troupe/processes/listing.hpp>

#include <filesystem>
#include <system_error>
#include <utility>

#include <poll.h>
#include <sched.h>
#include <time.h>

namespace bench {

namespace {

using std::chrono::milliseconds;

/// Time for a child to end by itself after its input has ended.
constexpr milliseconds ending_patience{1000};

std::string sentence_of(const troupe::processes::ending& how) {
  return "its process " + troupe::processes::text_of(how);
}

} // namespace

std::expected<child_process, std::string> child_process::start(const std::vector<std::string>& arguments) {
  troupe::processes::start_options options{
      .words = {"bench"}, .input = troupe::processes::lines{}, .output = troupe::processes::lines{}};
  options.words.insert(options.words.end(), arguments.begin(), arguments.end());
  auto started = troupe::processes::process::start(options, ending_patience);
  if (!started)
    return std::unexpected{std::move(started).error()};
  return child_process{*std::move(started)};
}

void child_process::write_line(std::string_view line) {
  process_.channel().write_line(line); // If the child has ended, the next read reports it.
}

std::expected<std::string, std::string> child_process::read_line(milliseconds patience, stop_signals& signals,
                                                                 child_process* partner) {
  auto& channel = process_.channel();
  for (const troupe::processes::deadline until{patience};;) {
    if (auto line = channel.take_line())
      return *std::move(line);
    if (const auto signal = signals.came(); signal != 0)
      return std::unexpected{"stopped by signal " + std::to_string(signal)};
    if (until.has_passed())
      return std::unexpected{"nothing came within " + std::to_string(patience.count()) + " ms"};
    // Nothing is read from the partner here; only its end is noticed.
    const auto partners = partner == nullptr ? -1 : partner->process_.channel().readable();
    pollfd waited_for[] = {{channel.readable(), POLLIN, 0}, {signals.fd(), POLLIN, 0}, {partners, 0, 0}};
    if (channel.readable() >= 0 && (partner == nullptr || partners >= 0))
      ::poll(waited_for, 3, until.left_for_poll());
    if (partner != nullptr && (partners < 0 || (waited_for[2].revents & POLLHUP) != 0))
      return std::unexpected{"at the other end " + partner->end()};
    if ((waited_for[0].revents != 0 || channel.readable() < 0) && !channel.receive())
      return std::unexpected{end()};
  }
}

std::string child_process::end() {
  return sentence_of(process_.end(ending_patience));
}

std::optional<std::string> child_process::ended_within(milliseconds patience) {
  return process_.ended_within(patience).transform(sentence_of);
}

void child_process::run_on(const std::vector<int>& cores) const {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  for (const auto core : cores)
    CPU_SET(core, &allowed);
  for (const auto process : troupe::processes::family_of(process_.number())) {
    std::error_code ignored; // The end of a process is noticed elsewhere.
    const auto threads = "/proc/" + std::to_string(process) + "/task";
    for (const auto& thread : std::filesystem::directory_iterator{threads, ignored})
      ::sched_setaffinity(std::stoi(thread.path().filename()), sizeof allowed, &allowed);
  }
}

std::chrono::nanoseconds child_process::processor_time() const {
  std::chrono::nanoseconds total{0};
  for (const auto process : troupe::processes::family_of(process_.number())) {
    clockid_t clock{};
    timespec time{};
    if (::clock_getcpuclockid(process, &clock) == 0 && ::clock_gettime(clock, &time) == 0)
      total += std::chrono::seconds{time.tv_sec} + std::chrono::nanoseconds{time.tv_nsec};
  }
  return total;
}

std::vector<int> usable_cores() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  ::sched_getaffinity(0, sizeof allowed, &allowed);
  std::vector<int> cores;
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &allowed))
      cores.push_back(core);
  return cores;
}

} // namespace bench
