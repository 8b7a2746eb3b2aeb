#include "fake_dns_server.hpp"

#include <array>
#include <stdexcept>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

namespace troupe::tests {

namespace {

constexpr std::size_t head_bytes = 12;

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  at.sin_port = htons(port);
  return at;
}

bool bind_to(int socket, std::uint16_t port) {
  const auto at = loopback(port);
  return ::bind(socket, reinterpret_cast<const sockaddr*>(&at), sizeof(at)) == 0;
}

std::uint16_t port_of(int socket) {
  sockaddr_in at{};
  socklen_t bytes = sizeof(at);
  ::getsockname(socket, reinterpret_cast<sockaddr*>(&at), &bytes);
  return ntohs(at.sin_port);
}

unsigned read_16(std::string_view bytes, std::size_t at) {
  return static_cast<unsigned>(static_cast<unsigned char>(bytes[at]) << 8 | static_cast<unsigned char>(bytes[at + 1]));
}

} // namespace

dns_bytes& dns_bytes::name(std::string_view text) {
  while (!text.empty()) {
    const auto end = std::min(text.find('.'), text.size());
    bytes_ += static_cast<char>(end);
    bytes_ += text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  bytes_ += '\0';
  return *this;
}

fake_dns_server::fake_dns_server() : stops_(::eventfd(0, EFD_CLOEXEC)) {
  for (int tries = 0; tries < 50; ++tries) { // Until TCP has the port that UDP has got.
    datagrams_ = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind_to(datagrams_, 0) && bind_to(listener_, port_of(datagrams_)) && ::listen(listener_, 8) == 0)
      break;
    ::close(datagrams_);
    ::close(listener_);
    listener_ = -1;
  }
  if (listener_ < 0)
    throw std::runtime_error{"no port for a DNS server"};
  port_ = port_of(datagrams_);
  thread_ = std::thread{[this] { run(); }};
}

fake_dns_server::~fake_dns_server() {
  ::eventfd_write(stops_, 1);
  thread_.join();
  for (const auto descriptor : {datagrams_, listener_, stops_})
    ::close(descriptor);
}

void fake_dns_server::set(const std::string& name, unsigned type, dns_response response) {
  const std::lock_guard guard{mutex_};
  responses_[{name, type}] = std::move(response);
}

void fake_dns_server::set_addresses(const std::string& name, const std::vector<std::string>& addresses,
                                    std::uint32_t ttl_s) {
  dns_bytes records;
  for (const auto& address : addresses) {
    in_addr bytes{};
    ::inet_pton(AF_INET, address.c_str(), &bytes);
    records.record(name, 1, ttl_s, {reinterpret_cast<const char*>(&bytes), sizeof(bytes)});
  }
  set(name, 1, {.count = static_cast<unsigned>(addresses.size()), .records = records.text()});
  set(name, 28, {});
}

void fake_dns_server::set_services(const std::string& name,
                                   const std::vector<std::pair<std::string, unsigned>>& targets, std::uint32_t ttl_s) {
  dns_bytes records;
  for (const auto& [target, port] : targets)
    records.record(name, 33, ttl_s, dns_bytes{}.number_32(0).number_16(port).name(target).text());
  set(name, 33, {.count = static_cast<unsigned>(targets.size()), .records = records.text()});
}

std::string fake_dns_server::answer_to(std::string_view question) {
  ++questions_;
  if (question.size() < head_bytes + 5 || is_silent_)
    return {};
  std::string name;
  auto at = head_bytes;
  while (at < question.size() && question[at] != '\0') {
    const auto length = static_cast<std::size_t>(question[at]);
    name += (name.empty() ? "" : ".") + std::string{question.substr(at + 1, length)};
    at += length + 1;
  }
  if (at + 5 > question.size())
    return {};
  const auto type = read_16(question, at + 1);
  const auto asked = question.substr(head_bytes, at + 5 - head_bytes);
  dns_response response{.rcode = 3};
  {
    const std::lock_guard guard{mutex_};
    if (const auto found = responses_.find({name, type}); found != responses_.end())
      response = found->second;
  }
  if (response.is_silent)
    return {};
  dns_bytes message;
  message.raw(question.substr(0, 2));
  if (!response.whole.empty())
    return message.raw(response.whole).text();
  message.number_16(0x8180 | response.rcode).number_16(response.is_question_kept ? 1 : 0).number_16(response.count);
  message.number_32(0);
  if (response.is_question_kept)
    message.raw(asked);
  return message.raw(response.records).text();
}

void fake_dns_server::serve_datagram() {
  std::array<char, 4096> bytes;
  sockaddr_in from{};
  socklen_t from_bytes = sizeof(from);
  const auto count =
      ::recvfrom(datagrams_, bytes.data(), bytes.size(), 0, reinterpret_cast<sockaddr*>(&from), &from_bytes);
  if (count <= 0)
    return;
  auto answer = answer_to({bytes.data(), static_cast<std::size_t>(count)});
  if (answer.empty())
    return;
  constexpr std::size_t datagram_bytes_max = 1'232;
  if (answer.size() > datagram_bytes_max) {
    answer.resize(datagram_bytes_max);
    answer[2] = static_cast<char>(answer[2] | 2); // Truncated: ask again by TCP.
  }
  ::sendto(datagrams_, answer.data(), answer.size(), 0, reinterpret_cast<const sockaddr*>(&from), from_bytes);
}

void fake_dns_server::serve_stream() {
  const auto peer = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
  if (peer < 0)
    return;
  ++streams_;
  const timeval patience{.tv_sec = 2, .tv_usec = 0};
  ::setsockopt(peer, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  std::string question;
  std::array<char, 4096> bytes;
  while (question.size() < 2 || question.size() < 2 + read_16(question, 0)) {
    const auto count = ::recv(peer, bytes.data(), bytes.size(), 0);
    if (count <= 0)
      break;
    question.append(bytes.data(), static_cast<std::size_t>(count));
  }
  if (question.size() > 2) {
    const auto answer = answer_to(std::string_view{question}.substr(2));
    const auto framed = dns_bytes{}.number_16(static_cast<unsigned>(answer.size())).raw(answer).text();
    std::size_t sent = 0;
    while (sent < framed.size()) {
      const auto count = ::send(peer, framed.data() + sent, framed.size() - sent, MSG_NOSIGNAL);
      if (count <= 0)
        break;
      sent += static_cast<std::size_t>(count);
    }
  }
  ::close(peer);
}

void fake_dns_server::run() {
  for (;;) {
    std::array<pollfd, 3> sources{{{.fd = stops_, .events = POLLIN, .revents = 0},
                                   {.fd = datagrams_, .events = POLLIN, .revents = 0},
                                   {.fd = listener_, .events = POLLIN, .revents = 0}}};
    ::poll(sources.data(), sources.size(), -1);
    if (sources[0].revents != 0)
      return;
    if (sources[1].revents != 0)
      serve_datagram();
    if (sources[2].revents != 0)
      serve_stream();
  }
}

} // namespace troupe::tests
