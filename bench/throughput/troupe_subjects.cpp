#include "throughput/troupe_subjects.hpp"

#include "peers/caf_ends.hpp"

#include <cstdlib>
#include <optional>
#include <random>

#include <caf/all.hpp>
#include <netinet/in.h>
#include <sys/socket.h>
#include <troupe/framework/node.hpp>
#include <unistd.h>

namespace bench {

namespace {

/// In the environment, where other users cannot read it, as they can arguments.
constexpr const char* secret_variable = "TROUPE_BENCH_SECRET";

troupe::link_options link_of_this_run() {
  troupe::link_options options;
  if (const auto* secret = std::getenv(secret_variable))
    options.credentials.secret = secret;
  return options;
}

/// All that one process needs, declared in the order that node.hpp asks for.
struct troupe_process {
  troupe_process() { types.add<small_message>("bench.small_message"); }

  /// Without a store: small messages do not use it, and a process may be killed without leaving one behind.
  std::expected<void, std::string> open(std::vector<std::string> listen) {
    auto opened = troupe::node::open(
        system, types, families,
        {.name = "bench", .listen = std::move(listen), .accepted_links = link_of_this_run(), .store = std::nullopt});
    if (!opened)
      return std::unexpected{opened.error().message()};
    node.emplace(*std::move(opened));
    return {};
  }

  troupe::type_registry types;
  troupe::family_set families;
  troupe::system_config config;
  caf::actor_system system{config};
  std::optional<troupe::node> node;
};

std::expected<void, std::string> serve_at(const std::string& address, const ready_report& ready) {
  troupe_process process;
  if (auto opened = process.open({address}); !opened)
    return opened;
  for (const auto& [name, actor] :
       {std::pair{"consumer", spawn_consumer(process.system)}, std::pair{"echoer", spawn_echoer(process.system)}})
    if (auto published = process.node->publish(name, actor); !published)
      return std::unexpected{published.error().message()};
  ready(address);
  wait_for_end_of_input();
  std::_Exit(0); // The actors need no ending.
}

class troupe_near_end : public near_end {
public:
  std::expected<void, std::string> connect(const std::string& address) {
    if (auto opened = process_.open({}); !opened)
      return opened;
    auto link = process_.node->connect(address, link_of_this_run());
    if (!link)
      return std::unexpected{link.error().message()};
    auto consumer = link->find("consumer");
    auto echoer = link->find("echoer");
    if (!consumer || !echoer)
      return std::unexpected{(consumer ? echoer : consumer).error().message()};
    near_ = make_caf_near_end(process_.system, *std::move(consumer), *std::move(echoer));
    return {};
  }

  std::expected<seconds, std::string> one_way(std::uint64_t count) override { return near_->one_way(count); }
  std::expected<seconds, std::string> echo(std::uint64_t count, std::uint64_t window,
                                           std::vector<seconds>* round_trips) override {
    return near_->echo(count, window, round_trips);
  }

private:
  troupe_process process_;
  std::unique_ptr<near_end> near_;
};

std::expected<std::unique_ptr<near_end>, std::string> connect(const std::string& address) {
  auto near = std::make_unique<troupe_near_end>();
  if (auto connected = near->connect(address); !connected)
    return std::unexpected{std::move(connected).error()};
  return near;
}

/// A port that nobody listens at now. Another process may take it before we do, which is as rare as it is visible.
std::uint16_t free_port() {
  const auto socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{.sin_family = AF_INET, .sin_port = 0, .sin_addr = {::htonl(INADDR_LOOPBACK)}, .sin_zero = {}};
  socklen_t size = sizeof address;
  ::bind(socket, reinterpret_cast<const sockaddr*>(&address), size);
  ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size);
  ::close(socket);
  return ::ntohs(address.sin_port);
}

} // namespace

void make_secret_of_this_run() {
  std::random_device random; // The system's own source of randomness.
  std::string secret;
  for (int i = 0; i < 8; ++i)
    secret += std::to_string(random());
  ::setenv(secret_variable, secret.c_str(), 1);
}

subject troupe_unix() {
  return {
      "troupe-unix",
      [](const ready_report& ready) { return serve_at("unix://@troupe-bench-" + std::to_string(::getpid()), ready); },
      connect};
}

subject troupe_tcp() {
  return {"troupe-tcp",
          [](const ready_report& ready) { return serve_at("tcp://127.0.0.1:" + std::to_string(free_port()), ready); },
          connect};
}

} // namespace bench
