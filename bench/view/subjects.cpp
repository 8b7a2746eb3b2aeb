#include "view/subjects.hpp"

#include "peers/small_messages.hpp"
#include "peers/troupe_process.hpp"

#include <troupe/framework/gateway/gateway.hpp>

#include <caf/all.hpp>

#include <charconv>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

namespace bench {

namespace {

using std::chrono::steady_clock;

constexpr std::size_t idle_links = 1'000;
constexpr std::uint64_t asked_every = 1'000;
// The far process is the only one that the gateway admits strangers to, for the time of the measurement.
constexpr std::string_view token = "0123456789abcdef0123456789abcdef";

/// Each link takes a descriptor at either end.
void allow_many_descriptors() {
  ::rlimit allowed{};
  ::getrlimit(RLIMIT_NOFILE, &allowed);
  allowed.rlim_cur = allowed.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &allowed);
}

caf::behavior handling_small_messages() {
  return {[](const small_message&) {}, [](int number) { return number; }};
}

/// The bytes of the state; 0 if it does not come.
std::size_t look(std::uint16_t port) {
  const auto descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(port);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const ::timeval patience{.tv_sec = 20, .tv_usec = 0};
  const auto request = "GET /view/state HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(port)
                       + "\r\nConnection: close\r\nAuthorization: Bearer " + std::string(token) + "\r\n\r\n";
  std::size_t bytes = 0;
  if (::connect(descriptor, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0
      && ::setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) == 0
      && ::send(descriptor, request.data(), request.size(), MSG_NOSIGNAL) > 0) {
    std::vector<char> piece(64 * 1024);
    for (auto got = ::recv(descriptor, piece.data(), piece.size(), 0); got > 0;
         got = ::recv(descriptor, piece.data(), piece.size(), 0))
      bytes += static_cast<std::size_t>(got);
  }
  ::close(descriptor);
  return bytes;
}

/// Looks once a second, until it is destroyed.
class viewer {
public:
  explicit viewer(std::uint16_t port) : thread_([this, port](const std::stop_token& enough) { run(enough, port); }) {}
  /// Whether each look has shown all links.
  [[nodiscard]] bool has_seen_all() const {
    const std::lock_guard guard{mutex_};
    return has_seen_all_;
  }

private:
  void run(const std::stop_token& enough, std::uint16_t port) {
    constexpr std::size_t bytes_of_a_link_min = 300;
    std::unique_lock lock{mutex_};
    for (auto due = steady_clock::now(); !enough.stop_requested();) {
      lock.unlock();
      const auto bytes = look(port);
      lock.lock();
      has_seen_all_ = has_seen_all_ && bytes > idle_links * bytes_of_a_link_min;
      due += std::chrono::seconds(1);
      is_due_.wait_until(lock, enough, due, [] { return false; });
    }
  }

  mutable std::mutex mutex_;
  std::condition_variable_any is_due_;
  bool has_seen_all_ = true; // Guarded by mutex_.
  std::jthread thread_;
};

/// What the near process has.
struct link_opener {
  troupe_process process;
  std::vector<troupe::link> idle;
  caf::actor there;
  std::uint16_t port = 0; // 0: nobody looks.
};

numbers send_for(link_opener& from, std::chrono::milliseconds time) {
  caf::scoped_actor self{from.process.system};
  const auto begun = steady_clock::now();
  std::uint64_t sent = 0;
  while (steady_clock::now() - begun < time) {
    for (std::uint64_t i = 0; i < asked_every; ++i)
      self->send(from.there, numbered(sent++));
    self->request(from.there, caf::infinite, 0).receive([](int) {}, [](const caf::error&) { std::abort(); });
  }
  return {static_cast<double>(sent) / std::chrono::duration<double>(steady_clock::now() - begun).count()};
}

} // namespace

std::expected<void, std::string> serve_view(const std::string&, const std::function<void(const std::string&)>& ready) {
  allow_many_descriptors();
  troupe_process process;
  process.types.add<small_message>("small");
  const auto address = unix_address();
  if (auto opened = process.open({address}); !opened)
    return opened;
  if (auto published = process.node->publish("handling", process.system.spawn(handling_small_messages)); !published)
    return std::unexpected{published.error().message()};
  const auto file = std::filesystem::temp_directory_path() / ("troupe-bench-view-" + std::to_string(::getpid()));
  std::ofstream(file).close();
  std::filesystem::permissions(file, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  std::ofstream(file) << "bench " << token << " view\n";
  // Also where nobody looks, so that the viewer is the only difference.
  auto gateway = troupe::gateway::open(*process.node, {.token_file = file.string()});
  std::filesystem::remove(file);
  if (!gateway)
    return std::unexpected{gateway.error().message()};
  gateway->serve_own_view();
  ready(std::to_string(gateway->port()) + ' ' + address);
  wait_for_end_of_input();
  std::_Exit(0); // Skips the shutdown of the links.
}

std::expected<step_taker, std::string> connect_view(const std::string& subject, const std::string& address) {
  allow_many_descriptors();
  auto from = std::make_shared<link_opener>();
  from->process.types.add<small_message>("small");
  const auto blank = address.find(' ');
  if (auto opened = from->process.open({}); !opened)
    return std::unexpected{opened.error()};
  const auto to = address.substr(blank + 1);
  for (std::size_t i = 0; i < idle_links; ++i) {
    auto link = from->process.dial(to);
    if (!link)
      return std::unexpected{"link " + std::to_string(i) + ": " + link.error()};
    from->idle.push_back(*std::move(link));
  }
  auto busy = from->process.dial(to);
  if (!busy)
    return std::unexpected{busy.error()};
  auto found = busy->find("handling");
  if (!found)
    return std::unexpected{found.error().message()};
  from->there = *std::move(found);
  from->idle.push_back(*std::move(busy));
  if (subject == "viewed")
    std::from_chars(address.data(), address.data() + blank, from->port);
  return [from](const step& next) -> std::expected<numbers, std::string> {
    const std::chrono::milliseconds time(next.count);
    if (from->port == 0)
      return send_for(*from, time);
    const viewer looking{from->port};
    auto sent = send_for(*from, time);
    if (!looking.has_seen_all())
      return std::unexpected{"the viewer has not seen all links"};
    return sent;
  };
}

} // namespace bench
