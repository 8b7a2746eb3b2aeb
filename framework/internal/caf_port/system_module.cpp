#include <troupe/framework/internal/caf_port/system_module.hpp>

#include <mutex>
#include <random>
#include <utility>
#include <vector>

#include <unistd.h>

#include <caf/node_id.hpp>

namespace caf::net {

// CAF 0.17 declares this class a friend of actor_system and leaves it to a network module to define it; being that
// friend is the only way to set the system's node id.
class middleman final : public actor_system::module {
public:
  explicit middleman(actor_system& system) : system_(system) {}

  void init(actor_system_config&) override {
    node_id::default_data::host_id_type host;
    std::random_device random;
    for (auto& byte : host)
      byte = static_cast<std::uint8_t>(random());
    auto process = static_cast<std::uint32_t>(::getpid());
    system_.node_ = node_id{make_counted<node_id::default_data>(process, host)};
  }

  void start() override {}
  void stop() override {
    for (;;) {
      std::unique_lock guard{mutex_};
      auto left = std::exchange(left_, {});
      guard.unlock();
      if (left.empty())
        return;
      for (auto& thread : left)
        thread.join();
    }
  }
  id_t id() const override { return network_manager; }
  void* subtype_ptr() override { return this; }

  static module* make(actor_system& system, detail::type_list<>) { return new middleman(system); }

  void leave(std::thread thread) {
    std::lock_guard guard{mutex_};
    left_.push_back(std::move(thread));
  }

private:
  actor_system& system_;
  std::mutex mutex_;
  std::vector<std::thread> left_; // Guarded by mutex_.
};

} // namespace caf::net

namespace troupe::internal {

void add_system_module(caf::actor_system_config& config) {
  config.load<caf::net::middleman>();
}

bool has_system_module(const caf::actor_system& system) {
  return system.has_network_manager();
}

void leave_thread(caf::actor_system& system, std::thread thread) {
  system.network_manager().leave(std::move(thread));
}

} // namespace troupe::internal
