#include "compare/machine.hpp"

#include "harness/child_process.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <sstream>
#include <string_view>

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

namespace bench {

namespace {

/// The text after the separator on the first line that begins with `key`.
std::optional<std::string> value_in(const char* file, std::string_view key, char separator) {
  std::ifstream lines{file};
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(key))
      continue;
    auto value = line.substr(std::min(line.find(separator), line.size() - 1) + 1);
    value.erase(0, value.find_first_not_of(" \t\""));
    value.erase(value.find_last_not_of(" \t\"") + 1);
    return value;
  }
  return std::nullopt;
}

std::string processor() {
  const auto cores = usable_cores().size();
  const auto is_virtual = value_in("/proc/cpuinfo", "flags", ':').value_or("").find(" hypervisor") != std::string::npos;
  return fmt::format("{}, {} core{}{}", value_in("/proc/cpuinfo", "model name", ':').value_or("of unknown make"), cores,
                     cores == 1 ? "" : "s", is_virtual ? ", of a virtual machine" : "");
}

std::string memory() {
  const auto kib = std::stod(value_in("/proc/meminfo", "MemTotal", ':').value_or("0"));
  return fmt::format("{:.1f} GiB", kib / (1 << 20));
}

std::string system_name() {
  utsname kernel{};
  ::uname(&kernel);
  return fmt::format("{}, {} {}", value_in("/etc/os-release", "PRETTY_NAME", '=').value_or("unknown"), kernel.sysname,
                     kernel.release);
}

std::string compiler() {
#ifdef __clang__
  return __VERSION__;
#else
  return "g++ " __VERSION__;
#endif
}

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

} // namespace

std::vector<std::pair<std::string, std::string>> facts_of_machine() {
  return {{"processor", processor()}, {"memory", memory()}, {"system", system_name()}, {"compiler", compiler()}};
}

std::string date_of(std::chrono::system_clock::time_point when) {
  return fmt::format("{:%Y-%m-%d %H:%M} UTC", fmt::gmtime(std::chrono::system_clock::to_time_t(when)));
}

processor_watch::processor_watch() {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  began_ = read();
}

processor_watch::reading processor_watch::read() {
  while (::waitpid(-1, nullptr, WNOHANG) > 0)
    continue;
  rusage used{};
  ::getrusage(RUSAGE_CHILDREN, &used);
  // "cpu user nice system idle iowait irq softirq steal ...", in ticks.
  std::ifstream stat{"/proc/stat"};
  std::string name;
  stat >> name;
  std::vector<double> ticks(8);
  for (auto& one : ticks)
    stat >> one;
  const auto ticks_a_second = static_cast<double>(::sysconf(_SC_CLK_TCK));
  enum { idle = 3, waiting = 4, steal = 7 };
  reading made{.stolen = ticks[steal] / ticks_a_second, .ours = seconds_of(used.ru_utime) + seconds_of(used.ru_stime)};
  for (const auto one : ticks)
    made.total += one / ticks_a_second;
  made.busy = made.total - made.stolen - (ticks[idle] + ticks[waiting]) / ticks_a_second;
  return made;
}

shares processor_watch::taken() const {
  const auto now = read();
  const auto total = std::max(now.total - began_.total, 1e-3);
  const auto ours = now.ours - began_.ours;
  return {.ours = ours / total,
          .others = std::max(now.busy - began_.busy - ours, 0.0) / total,
          .host = (now.stolen - began_.stolen) / total};
}

} // namespace bench
