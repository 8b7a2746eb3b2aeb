#include "peers/basp.hpp"

#include "peers/caf_ends.hpp"
#include "peers/caf_large.hpp"

#include <caf/all.hpp>
#include <caf/io/all.hpp>
#include <troupe/framework/message_types.hpp>

#include <sstream>

namespace bench {

namespace {

constexpr const char* loopback = "127.0.0.1";
using large_bytes = std::vector<char>;

struct basp_config : caf::actor_system_config {
  explicit basp_config(caf::atom_value policy) {
    load<caf::io::middleman>();
    add_message_type<small_message>("small_message");
    add_message_type<small_messages>("small_messages");
    add_message_type<large_bytes>("large");
    set("scheduler.policy", policy);
  }
};

std::expected<void, std::string> serve_basp(caf::atom_value policy, const ready_report& ready) {
  basp_config config{policy};
  caf::actor_system system{config};
  std::string address;
  const auto actors = {spawn_consumer(system), spawn_echoer(system), spawn_taker<large_bytes>(system)};
  for (const auto& actor : actors) {
    const auto port = system.middleman().publish(actor, 0, loopback);
    if (!port)
      return std::unexpected{system.render(port.error())};
    address += (address.empty() ? "" : ",") + std::to_string(*port);
  }
  ready(address);
  wait_for_end_of_input();
  std::_Exit(0); // CAF would wait for actors that stay alive because they are published.
}

/// The near end and the actor system in which it lives.
class basp_near_end : public near_end {
public:
  basp_near_end(caf::atom_value policy, load carried) : config_(policy), carried_(carried) {}

  std::expected<void, std::string> connect(const std::string& address) {
    std::vector<caf::actor> actors;
    std::istringstream ports{address};
    for (std::string port; std::getline(ports, port, ',');) {
      auto found = system_.middleman().remote_actor(loopback, static_cast<std::uint16_t>(std::stoi(port)));
      if (!found)
        return std::unexpected{system_.render(found.error())};
      actors.push_back(*std::move(found));
    }
    near_ = make_caf_near_end(system_, actors.at(0), actors.at(1), carried_);
    taker_ = actors.at(2);
    return {};
  }

  std::expected<seconds, std::string> one_way(std::uint64_t count) override { return near_->one_way(count); }
  std::expected<seconds, std::string> echo(std::uint64_t count, std::uint64_t window,
                                           std::vector<seconds>* round_trips) override {
    return near_->echo(count, window, round_trips);
  }

  std::expected<std::vector<seconds>, std::string> hand_over(std::uint64_t count, std::size_t size_bytes) override {
    return caf_hand_over<large_bytes>(system_, taker_, count, size_bytes);
  }

private:
  basp_config config_;
  load carried_;
  caf::actor_system system_{config_};
  std::unique_ptr<near_end> near_;
  caf::actor taker_;
};

std::expected<std::unique_ptr<near_end>, std::string> connect_basp(caf::atom_value policy, load carried,
                                                                   const std::string& address) {
  auto near = std::make_unique<basp_near_end>(policy, carried);
  if (auto connected = near->connect(address); !connected)
    return std::unexpected{std::move(connected).error()};
  return near;
}

subject basp_with(std::string name, caf::atom_value policy, load carried = load::one_struct) {
  return {std::move(name), [policy](const ready_report& ready) { return serve_basp(policy, ready); },
          [policy, carried](const std::string& address) { return connect_basp(policy, carried, address); }};
}

} // namespace

subject caf_basp() {
  return basp_with("caf-basp", caf::atom("stealing"));
}

subject caf_basp_sharing() {
  return basp_with("caf-basp-sharing", caf::atom("sharing"));
}

subject batches_caf_basp() {
  return basp_with("batches-caf-basp", caf::atom("stealing"), load::many_structs);
}

} // namespace bench
