#include <troupe/framework/cluster/internal/host/process_identity.hpp>

#include <array>
#include <cerrno>
#include <charconv>
#include <expected>
#include <string>
#include <string_view>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace troupe::cluster_directories {

namespace {

/// The n-th word, counted from 0; empty if there are fewer.
std::string_view word_of(std::string_view text, int which) {
  for (;;) {
    const auto begin = text.find_first_not_of(' ');
    if (begin == std::string_view::npos)
      return {};
    text.remove_prefix(begin);
    const auto word = text.substr(0, text.find(' '));
    if (which-- == 0)
      return word;
    text.remove_prefix(word.size());
  }
}

/// Whether /proc shows the processes of this process's namespace.
bool is_own_proc() {
  std::array<char, 32> link{};
  const auto count = ::readlink("/proc/self", link.data(), link.size());
  return count > 0 && std::string_view{link.data(), static_cast<std::size_t>(count)} == std::to_string(::getpid());
}

/// Fails with the reason's errno.
std::expected<std::string, int> read_proc_file(const std::string& path) {
  const auto descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0)
    return std::unexpected{errno};
  std::array<char, 1024> bytes;
  const auto count = ::read(descriptor, bytes.data(), bytes.size());
  const auto reason = errno;
  ::close(descriptor);
  if (count <= 0)
    return std::unexpected{count < 0 ? reason : EIO};
  return std::string{bytes.data(), static_cast<std::size_t>(count)};
}

} // namespace

process_state state_of_process(std::uint64_t number) {
  process_state state;
  const auto line = read_proc_file("/proc/" + std::to_string(number) + "/stat");
  if (!line) {
    state.is_known = line.error() == ENOENT || line.error() == ESRCH;
    return state;
  }
  // The second field is the program's name in parentheses, which may contain anything.
  const auto name_end = line->rfind(')');
  if (name_end == std::string::npos)
    return state;
  constexpr int start_behind_name = 19;
  const auto behind = std::string_view{*line}.substr(name_end + 1);
  const auto letter = word_of(behind, 0);
  const auto started = word_of(behind, start_behind_name);
  if (letter.empty()
      || std::from_chars(started.data(), started.data() + started.size(), state.started).ec != std::errc{})
    return state;
  state.letter = letter[0];
  state.is_known = true;
  state.exists = true;
  return state;
}

bool has_ended(const process_identity& process, const process_state& state) {
  return state.is_known
         && (!state.exists || state.started != process.started || state.letter == 'Z' || state.letter == 'X');
}

process_identity own_process() {
  process_identity self{.number = static_cast<std::uint64_t>(::getpid())};
  struct stat pid_namespace {};
  if (!is_own_proc() || ::stat("/proc/self/ns/pid", &pid_namespace) != 0)
    return self;
  if (const auto state = state_of_process(self.number); state.exists) {
    self.started = state.started;
    self.pid_namespace = pid_namespace.st_ino;
  }
  return self;
}

} // namespace troupe::cluster_directories
