#include "peers/basp.hpp"

#include "peers/caf_ends.hpp"

#include <caf/all.hpp>
#include <caf/io/all.hpp>
#include <troupe/framework/message_types.hpp>

namespace bench {

namespace {

constexpr const char* loopback = "127.0.0.1";

struct basp_config : caf::actor_system_config {
  explicit basp_config(caf::atom_value policy) {
    load<caf::io::middleman>();
    add_message_type<small_message>("small_message");
    set("scheduler.policy", policy);
  }
};

std::expected<void, std::string> serve(caf::atom_value policy, const ready_report& ready) {
  basp_config config{policy};
  caf::actor_system system{config};
  std::string address;
  const auto actors = {spawn_consumer(system), spawn_echoer(system)};
  for (const auto& actor : actors) {
    const auto port = system.middleman().publish(actor, 0, loopback);
    if (!port)
      return std::unexpected{system.render(port.error())};
    address += (address.empty() ? "" : ",") + std::to_string(*port);
  }
  ready(address);
  wait_for_end_of_input();
  std::_Exit(0); // CAF would wait for actors that published names keep alive.
}

/// The near end together with the actor system that it lives in.
class basp_near_end : public near_end {
public:
  explicit basp_near_end(caf::atom_value policy) : config_(policy) {}

  std::expected<void, std::string> connect(const std::string& address) {
    const auto comma = address.find(',');
    auto consumer = system_.middleman().remote_actor(loopback, port_of(address));
    if (!consumer)
      return std::unexpected{system_.render(consumer.error())};
    auto echoer = system_.middleman().remote_actor(loopback, port_of(address.substr(comma + 1)));
    if (!echoer)
      return std::unexpected{system_.render(echoer.error())};
    near_ = make_caf_near_end(system_, *std::move(consumer), *std::move(echoer));
    return {};
  }

  std::expected<seconds, std::string> one_way(std::uint64_t count) override { return near_->one_way(count); }
  std::expected<seconds, std::string> echo(std::uint64_t count, std::uint64_t window,
                                           std::vector<seconds>* round_trips) override {
    return near_->echo(count, window, round_trips);
  }

private:
  static std::uint16_t port_of(const std::string& text) { return static_cast<std::uint16_t>(std::stoi(text)); }

  basp_config config_;
  caf::actor_system system_{config_};
  std::unique_ptr<near_end> near_;
};

std::expected<std::unique_ptr<near_end>, std::string> connect(caf::atom_value policy, const std::string& address) {
  auto near = std::make_unique<basp_near_end>(policy);
  if (auto connected = near->connect(address); !connected)
    return std::unexpected{std::move(connected).error()};
  return near;
}

subject basp_with(std::string name, caf::atom_value policy) {
  return {std::move(name), [policy](const ready_report& ready) { return serve(policy, ready); },
          [policy](const std::string& address) { return connect(policy, address); }};
}

} // namespace

subject caf_basp() {
  return basp_with("caf-basp", caf::atom("stealing"));
}

subject caf_basp_sharing() {
  return basp_with("caf-basp-sharing", caf::atom("sharing"));
}

} // namespace bench
