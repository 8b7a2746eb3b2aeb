#include <troupe/store/internal/host/ending_process.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>

namespace troupe::store::internal {

namespace {

/// The readable content of a file in the process's /proc folder. The process may end between two reads. Uses no stream,
/// because a stream's buffer throws in that case.
[[nodiscard]] std::string text_of(pid_t process, const char* name) {
  const auto path = "/proc/" + std::to_string(process) + '/' + name;
  const auto descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0)
    return {};
  auto text = std::string{};
  auto piece = std::array<char, 4096>{};
  for (;;) {
    const auto count = ::read(descriptor, piece.data(), piece.size());
    if (count > 0)
      text.append(piece.data(), static_cast<std::size_t>(count));
    else if (count == 0 || errno != EINTR)
      break;
  }
  ::close(descriptor);
  return text;
}

/// Whether the process is a zombie, or the kernel has begun to end it.
[[nodiscard]] bool exits(pid_t process) {
  constexpr auto exiting_flag = std::uint64_t{0x4}; // PF_EXITING, see proc(5) and the kernel's sched.h.
  const auto stat = text_of(process, "stat");
  const auto name_end = stat.rfind(") "); // The name may contain anything.
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

/// Whether SIGKILL was sent to the process. Until the process exits, the signal is pending for each of its threads.
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
  return process > 0 && (is_being_killed(process) || exits(process)); // In this order: an exit clears pending signals.
}

} // namespace troupe::store::internal
