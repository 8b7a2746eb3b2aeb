#include "line_channel.hpp"

#include <array>
#include <cerrno>
#include <utility>

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace troupe::processes {

bool line_channel::write_line(std::string_view line) {
  auto text = std::string{line} + '\n';
  for (std::string_view left{text}; !left.empty();) {
    const auto written = ::send(to_.number(), left.data(), left.size(), MSG_NOSIGNAL);
    if (written < 0 && errno != EINTR)
      return false;
    left.remove_prefix(written > 0 ? static_cast<std::size_t>(written) : 0);
  }
  return true;
}

void line_channel::end_writing() {
  if (to_)
    ::shutdown(to_.number(), SHUT_WR);
  to_.close();
}

std::expected<std::string, silence> line_channel::read_line(time_limit patience) {
  for (const deadline until{patience};;) {
    if (auto line = take_line())
      return *std::move(line);
    if (!from_)
      return std::unexpected{silence::ended};
    pollfd waited_for{.fd = from_.number(), .events = POLLIN, .revents = 0};
    const auto ready = ::poll(&waited_for, 1, until.left_for_poll());
    if (ready > 0)
      receive();
    else if (ready == 0 && until.has_passed())
      return std::unexpected{silence::timed_out};
  }
}

std::string line_channel::read_all() {
  while (receive())
    continue;
  return std::exchange(received_, {});
}

std::optional<std::string> line_channel::take_line() {
  const auto end = received_.find('\n');
  if (end == std::string::npos)
    return std::nullopt;
  auto line = received_.substr(0, end);
  received_.erase(0, end + 1);
  return line;
}

bool line_channel::receive() {
  std::array<char, 65536> bytes;
  const auto count = from_ ? ::read(from_.number(), bytes.data(), bytes.size()) : 0;
  if (count < 0 && (errno == EINTR || errno == EAGAIN))
    return true;
  if (count <= 0) {
    from_.close();
    return false;
  }
  received_.append(bytes.data(), static_cast<std::size_t>(count));
  return true;
}

} // namespace troupe::processes
