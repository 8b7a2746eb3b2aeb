#include <troupe/store/internal/ending_process.hpp>

#include <csignal>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

namespace troupe::store::internal {

namespace {

[[nodiscard]] std::string text_of(pid_t process, const char* name) {
  auto file = std::ifstream{"/proc/" + std::to_string(process) + '/' + name};
  return {std::istreambuf_iterator<char>{file}, {}};
}

/// Its state is a zombie's, or the kernel has begun to take it apart.
[[nodiscard]] bool exits(pid_t process) {
  constexpr auto exiting_flag = std::uint64_t{0x4}; // PF_EXITING, see proc(5) and the kernel's sched.h.
  const auto stat = text_of(process, "stat");
  const auto name_end = stat.rfind(") "); // The name may hold anything.
  if (name_end == std::string::npos)
    return false;
  auto fields = std::istringstream{stat.substr(name_end + 2)};
  auto state = char{};
  auto flags = std::uint64_t{0};
  auto skipped = std::int64_t{0};
  fields >> state;
  for (auto field = 4; field <= 8; ++field) // Parent, group, session, terminal, terminal's group.
    fields >> skipped;
  return static_cast<bool>(fields >> flags) && (state == 'Z' || state == 'X' || (flags & exiting_flag) != 0);
}

/// SIGKILL has been sent to it. Before it exits each of its threads has one pending.
[[nodiscard]] bool is_being_killed(pid_t process) {
  constexpr auto kill_bit = std::uint64_t{1} << (SIGKILL - 1);
  auto lines = std::istringstream{text_of(process, "status")};
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("SigPnd:") || line.starts_with("ShdPnd:"))
      if (auto pending = std::uint64_t{0};
          std::istringstream{line.substr(7)} >> std::hex >> pending && (pending & kill_bit) != 0)
        return true;
  return false;
}

} // namespace

bool is_ending(pid_t process) {
  return process > 0 && (is_being_killed(process) || exits(process)); // In this order: exiting clears what is pending.
}

} // namespace troupe::store::internal
