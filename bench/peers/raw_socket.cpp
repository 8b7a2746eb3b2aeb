#include "peers/raw_socket.hpp"

#include <cerrno>
#include <cstring>
#include <system_error>
#include <thread>
#include <vector>

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace bench {

namespace {

std::string problem(const char* what) {
  return std::string{what} + ": " + std::generic_category().message(errno);
}

/// An address of either kind, in the form of the system calls.
struct socket_address {
  union {
    sockaddr any;
    sockaddr_un local;
    sockaddr_in internet;
  };
  socklen_t size;
};

/// The text is an abstract name, which has no file, or a port of this host.
socket_address address_of(socket_kind kind, const std::string& text) {
  socket_address made{};
  if (kind == socket_kind::unix_socket) {
    made.local.sun_family = AF_UNIX;
    text.copy(made.local.sun_path + 1, sizeof(made.local.sun_path) - 1);
    made.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + text.size());
  } else {
    made.internet.sin_family = AF_INET;
    made.internet.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    made.internet.sin_port = htons(static_cast<std::uint16_t>(std::stoi(text)));
    made.size = sizeof(sockaddr_in);
  }
  return made;
}

int open_socket(socket_kind kind) {
  return ::socket(kind == socket_kind::unix_socket ? AF_UNIX : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
}

bool write_all(int socket, const void* bytes, std::size_t count) {
  for (std::size_t done = 0; done < count;) {
    const auto written = ::send(socket, static_cast<const char*>(bytes) + done, count - done, MSG_NOSIGNAL);
    if (written <= 0)
      return false;
    done += static_cast<std::size_t>(written);
  }
  return true;
}

bool read_all(int socket, void* bytes, std::size_t count) {
  for (std::size_t done = 0; done < count;) {
    const auto got = ::recv(socket, static_cast<char*>(bytes) + done, count - done, 0);
    if (got <= 0)
      return false;
    done += static_cast<std::size_t>(got);
  }
  return true;
}

/// Sent by the near end before it writes.
struct announcement {
  std::uint64_t messages = 0;
  std::uint64_t message_bytes = 0;
};

void read_for_ever(int socket) {
  std::vector<char> large;
  for (announcement next; read_all(socket, &next, sizeof next);) {
    if (large.size() < next.message_bytes)
      large.resize(next.message_bytes);
    for (std::uint64_t i = 0; i < next.messages; ++i)
      if (!read_all(socket, large.data(), next.message_bytes) || large.front() != 'b'
          || large[next.message_bytes - 1] != 'b')
        return;
    if (!write_all(socket, &next.messages, sizeof next.messages))
      return;
  }
}

} // namespace

std::expected<void, std::string> serve_raw(socket_kind kind, const ready_report& ready) {
  auto text = kind == socket_kind::unix_socket ? "troupe-bench-raw-" + std::to_string(::getpid()) : "0";
  auto address = address_of(kind, text);
  const auto listening = open_socket(kind);
  if (listening < 0 || ::bind(listening, &address.any, address.size) != 0 || ::listen(listening, 1) != 0)
    return std::unexpected{problem("listening")};
  if (kind == socket_kind::tcp) {
    if (::getsockname(listening, &address.any, &address.size) != 0)
      return std::unexpected{problem("listening")};
    text = std::to_string(ntohs(address.internet.sin_port));
  }
  ready(text);
  std::thread{[listening] {
    const auto accepted = ::accept(listening, nullptr, nullptr);
    read_for_ever(accepted);
    ::close(accepted); // Lets a remaining near end notice.
  }}.detach();
  wait_for_end_of_input();
  std::_Exit(0); // Also ends the thread, which waits in the socket.
}

std::expected<std::unique_ptr<raw_near_end>, std::string> raw_near_end::connect(socket_kind kind,
                                                                                const std::string& address) {
  const auto to = address_of(kind, address);
  std::unique_ptr<raw_near_end> made{new raw_near_end{open_socket(kind)}};
  if (made->socket_ < 0 || ::connect(made->socket_, &to.any, to.size) != 0)
    return std::unexpected{problem("connecting")};
  return made;
}

raw_near_end::~raw_near_end() {
  if (socket_ >= 0)
    ::close(socket_);
}

std::expected<seconds, std::string> raw_near_end::send_bulk(std::uint64_t messages, std::size_t message_bytes) const {
  const std::vector<char> large(message_bytes, 'b');
  const announcement next{messages, message_bytes};
  std::uint64_t taken = 0;
  const auto begin = bench_clock::now();
  bool is_well = write_all(socket_, &next, sizeof next);
  for (std::uint64_t i = 0; i < messages && is_well; ++i)
    is_well = write_all(socket_, large.data(), large.size());
  if (!is_well || !read_all(socket_, &taken, sizeof taken) || taken != messages)
    return std::unexpected{problem("the other end has gone")};
  return bench_clock::now() - begin;
}

} // namespace bench
