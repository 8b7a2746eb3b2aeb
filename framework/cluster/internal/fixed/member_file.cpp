#include <troupe/framework/cluster/internal/fixed/member_file.hpp>

#include <troupe/base/text.hpp>
#include <troupe/framework/cluster/internal/members/member_address.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace troupe::cluster_directories {

namespace {

std::unexpected<directory_error> no_list(directory_errc code, const std::string& path, std::string_view why) {
  return std::unexpected{
      directory_error{code, "the list of members \"" + one_line(path, 256) + "\" " + std::string{why}}};
}

std::unexpected<directory_error> unreadable(const std::string& path, std::string_view call) {
  const auto code = errno == EACCES || errno == EPERM                       ? directory_errc::refused
                    : errno == ENOENT || errno == ENOTDIR || errno == ELOOP ? directory_errc::bad_address
                                                                            : directory_errc::system_failure;
  return no_list(code, path, "cannot be read: " + std::string{call} + " failed: " + std::strerror(errno));
}

std::string_view without_comment_and_spaces(std::string_view line) {
  constexpr std::string_view spaces = " \t\r";
  for (auto sign = line.find('#'); sign != std::string_view::npos; sign = line.find('#', sign + 1))
    if (sign == 0 || spaces.find(line[sign - 1]) != std::string_view::npos) {
      line = line.substr(0, sign);
      break;
    }
  const auto first = line.find_first_not_of(spaces);
  if (first == std::string_view::npos)
    return {};
  return line.substr(first, line.find_last_not_of(spaces) - first + 1);
}

/// Closes a descriptor at the end of a scope.
struct closed_at_end {
  explicit closed_at_end(int of) : descriptor(of) {}
  closed_at_end(const closed_at_end&) = delete;
  closed_at_end& operator=(const closed_at_end&) = delete;
  ~closed_at_end() { ::close(descriptor); }
  int descriptor;
};

} // namespace

std::expected<std::vector<std::string>, directory_error> read_members(std::string_view text, const std::string& path) {
  std::vector<std::string> members;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const auto end = std::min(text.find('\n'), text.size());
    const auto address = without_comment_and_spaces(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (address.empty())
      continue;
    if (const auto problem = problem_of_address(address); !problem.empty())
      return no_list(directory_errc::bad_address, path,
                     "is wrong in line " + std::to_string(number) + ": \"" + one_line(address, 80) + "\" " + problem);
    if (members.size() == members_max)
      return no_list(directory_errc::bad_address, path,
                     "has, in line " + std::to_string(number) + ", one more member than the "
                         + std::to_string(members_max) + " that are possible");
    members.emplace_back(address);
  }
  return members;
}

std::expected<std::string, directory_error> read_member_file(const std::string& path) {
  const auto descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK); // Opening a pipe must not block.
  if (descriptor < 0)
    return unreadable(path, "opening");
  const closed_at_end file{descriptor};
  struct stat status {};
  if (::fstat(descriptor, &status) != 0)
    return unreadable(path, "looking");
  if (!S_ISREG(status.st_mode))
    return no_list(directory_errc::bad_address, path, "is not a regular file");
  std::string bytes(member_file_bytes_max + 1, '\0');
  std::size_t count = 0;
  while (count < bytes.size()) {
    const auto got = ::read(descriptor, bytes.data() + count, bytes.size() - count);
    if (got < 0 && errno != EINTR)
      return unreadable(path, "reading");
    if (got == 0)
      break;
    if (got > 0)
      count += static_cast<std::size_t>(got);
  }
  if (count > member_file_bytes_max)
    return no_list(directory_errc::bad_address, path,
                   "has more than " + std::to_string(member_file_bytes_max) + " bytes");
  bytes.resize(count);
  return bytes;
}

} // namespace troupe::cluster_directories
