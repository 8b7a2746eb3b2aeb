#include "throughput/local_subjects.hpp"

#include "peers/caf_ends.hpp"
#include "peers/troupe_process.hpp"

#include <caf/all.hpp>
#include <troupe/framework/message_types.hpp>

namespace bench {

namespace {

/// The base of both subjects: two ends in one system.
class local_near_end : public near_end {
public:
  std::expected<seconds, std::string> one_way(std::uint64_t count) override { return near_->one_way(count); }
  std::expected<seconds, std::string> echo(std::uint64_t count, std::uint64_t window,
                                           std::vector<seconds>* round_trips) override {
    return near_->echo(count, window, round_trips);
  }

protected:
  void spawn_ends(caf::actor_system& system) {
    near_ = make_caf_near_end(system, spawn_consumer(system), spawn_echoer(system));
  }

private:
  std::unique_ptr<near_end> near_;
};

class linked_near_end final : public local_near_end {
public:
  std::expected<void, std::string> open(const std::string& address) {
    process_.types.add<small_message>("bench.small_message");
    auto link = process_.connect(address, {unix_address()});
    if (!link)
      return std::unexpected{std::move(link).error()};
    link_.emplace(*std::move(link));
    spawn_ends(process_.system);
    return {};
  }

private:
  troupe_process process_;
  std::optional<troupe::link> link_; // Stays idle.
};

struct plain_config : caf::actor_system_config {
  plain_config() { set("scheduler.policy", caf::atom("sharing")); }
};

class caf_near_end final : public local_near_end {
public:
  caf_near_end() { spawn_ends(system_); }

private:
  plain_config config_;
  caf::actor_system system_{config_};
};

std::expected<void, std::string> serve_troupe(const ready_report& ready) {
  troupe_process process;
  process.types.add<small_message>("bench.small_message");
  if (auto opened = process.open({unix_address()}); !opened)
    return opened;
  ready(process.node->addresses().front());
  wait_for_end_of_input();
  std::_Exit(0);
}

/// Serves nothing, so that this subject has two processes as well.
std::expected<void, std::string> serve_nobody(const ready_report& ready) {
  ready("nowhere");
  wait_for_end_of_input();
  std::_Exit(0);
}

} // namespace

subject troupe_local() {
  return {"troupe-local", serve_troupe,
          [](const std::string& address) -> std::expected<std::unique_ptr<near_end>, std::string> {
            auto near = std::make_unique<linked_near_end>();
            if (auto opened = near->open(address); !opened)
              return std::unexpected{std::move(opened).error()};
            return near;
          }};
}

subject caf_local() {
  return {"caf-local", serve_nobody, [](const std::string&) -> std::expected<std::unique_ptr<near_end>, std::string> {
            return std::make_unique<caf_near_end>();
          }};
}

} // namespace bench
