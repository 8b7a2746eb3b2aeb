#include "raw_client.hpp"

#include <algorithm>
#include <cerrno>
#include <stdexcept>
#include <utility>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace troupe::tests {

namespace {

using std::chrono::steady_clock;
constexpr std::chrono::seconds patience{20};

int left_until(steady_clock::time_point limit) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(limit - steady_clock::now()).count();
  return static_cast<int>(std::max<std::int64_t>(left, 0));
}

std::string in_small_letters(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](char each) { return each >= 'A' && each <= 'Z' ? static_cast<char>(each + 32) : each; });
  return text;
}

} // namespace

std::string frame_of(std::string_view payload, int opcode, bool is_final) {
  std::string frame;
  frame += static_cast<char>((is_final ? 0x80 : 0) | opcode);
  if (payload.size() < 126) {
    frame += static_cast<char>(0x80 | payload.size());
  } else if (payload.size() < 65536) {
    frame += static_cast<char>(0x80 | 126);
    frame += static_cast<char>(payload.size() >> 8);
    frame += static_cast<char>(payload.size() & 0xff);
  } else {
    frame += static_cast<char>(0x80 | 127);
    for (int shift = 56; shift >= 0; shift -= 8)
      frame += static_cast<char>((payload.size() >> shift) & 0xff);
  }
  frame.append(4, '\0'); // A mask that changes nothing.
  frame += payload;
  return frame;
}

raw_client::raw_client(std::uint16_t port) : descriptor_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(port);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (descriptor_ < 0 || ::connect(descriptor_, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0)
    throw std::runtime_error("cannot connect to the gateway");
}

raw_client::~raw_client() {
  if (descriptor_ >= 0)
    ::close(descriptor_);
}

void raw_client::vanish() {
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(descriptor_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  ::close(std::exchange(descriptor_, -1));
}

bool raw_client::send(std::string_view bytes) {
  const auto limit = steady_clock::now() + patience;
  while (!bytes.empty()) {
    ::pollfd ready{.fd = descriptor_, .events = POLLOUT, .revents = 0};
    if (::poll(&ready, 1, left_until(limit)) <= 0)
      return false;
    const auto sent = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno != EAGAIN)
      return false;
    bytes.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(sent, 0)));
  }
  return true;
}

bool raw_client::fill(steady_clock::time_point limit) {
  ::pollfd ready{.fd = descriptor_, .events = POLLIN, .revents = 0};
  if (::poll(&ready, 1, left_until(limit)) <= 0)
    return false;
  char piece[16384];
  const auto got = ::recv(descriptor_, piece, sizeof piece, 0);
  if (got <= 0)
    return false;
  buffer_.append(piece, static_cast<std::size_t>(got));
  return true;
}

std::optional<std::string> raw_client::take(std::size_t bytes) {
  const auto limit = steady_clock::now() + patience;
  while (buffer_.size() < bytes)
    if (!fill(limit))
      return std::nullopt;
  auto taken = buffer_.substr(0, bytes);
  buffer_.erase(0, bytes);
  return taken;
}

http_answer raw_client::answer(bool has_body) {
  const auto limit = steady_clock::now() + patience;
  std::size_t end = 0;
  while ((end = buffer_.find("\r\n\r\n")) == std::string::npos)
    if (!fill(limit))
      return {};
  const auto head = *take(end + 4);
  http_answer made;
  made.status = std::stoi(head.substr(9, 3));
  for (auto at = head.find("\r\n") + 2; at < head.size() - 2;) {
    const auto line_end = head.find("\r\n", at);
    const auto line = head.substr(at, line_end - at);
    const auto colon = line.find(": ");
    made.head[in_small_letters(line.substr(0, colon))] = line.substr(colon + 2);
    at = line_end + 2;
  }
  if (const auto length = made.head.find("content-length"); has_body && length != made.head.end())
    made.body = take(std::stoul(length->second)).value_or("");
  return made;
}

bool raw_client::is_closed_by_peer() {
  const auto limit = steady_clock::now() + patience;
  while (steady_clock::now() < limit)
    if (!fill(limit))
      return left_until(limit) > 0;
  return false;
}

bool raw_client::is_quiet() const {
  ::pollfd ready{.fd = descriptor_, .events = POLLIN, .revents = 0};
  return buffer_.empty() && ::poll(&ready, 1, 0) == 0;
}

socket_frame raw_client::frame() {
  for (;;) {
    const auto head = take(2);
    if (!head)
      return {};
    const int opcode = (*head)[0] & 0x0f;
    std::uint64_t size = static_cast<unsigned char>((*head)[1]) & 0x7f;
    if (size >= 126) {
      const auto longer = take(size == 126 ? 2 : 8);
      if (!longer)
        return {};
      size = 0;
      for (const auto byte : *longer)
        size = size << 8 | static_cast<unsigned char>(byte);
    }
    auto payload = take(size);
    if (!payload)
      return {};
    if (opcode != 9)
      return {.opcode = opcode, .payload = *std::move(payload)};
  }
}

} // namespace troupe::tests
