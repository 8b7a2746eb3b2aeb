#include <troupe/framework/internal/caf_port/system_module.hpp>

#include <algorithm>
#include <chrono>
#include <exception>
#include <mutex>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <unistd.h>

#include <caf/node_id.hpp>

#include <troupe/framework/internal/watch/supervisor_book.hpp>
#include <troupe/framework/internal/words/log.hpp>
#include <troupe/framework/system_config.hpp>

namespace caf::net {

using troupe::log_level;
using troupe::internal::log;
using troupe::internal::system_threads;

// CAF 0.17 declares this class a friend of actor_system, and leaves it to a network module to define it. This
// friendship is the only way to set the system's node id.
class middleman final : public actor_system::module {
public:
  explicit middleman(actor_system& system) : system_(system) {}

  /// By then, handlers that still run and links that are still closing have ended.
  static constexpr std::chrono::seconds end_patience{60};
  /// By then, an owner that is about to end the node, perhaps in another thread, has done so.
  static constexpr std::chrono::seconds owner_patience{5};

  void init(actor_system_config&) override {
    node_id::default_data::host_id_type host;
    std::random_device random;
    for (auto& byte : host)
      byte = static_cast<std::uint8_t>(random());
    auto process = static_cast<std::uint32_t>(::getpid());
    system_.node_ = node_id{make_counted<node_id::default_data>(process, host)};
  }

  void start() override {}
  /// All actors are done, but work started by the last references to them may still be going on.
  void stop() override {
    for (;;) {
      std::unique_lock guard{mutex_};
      if (kept_.empty())
        return;
      auto threads = kept_.back();
      guard.unlock();
      if (!threads->is_left())
        await_owner(*threads);
      if (!threads->join_within(end_patience)) {
        log(log_level::error, "an actor system ends while a handler of an actor has been running on a thread of node "
                                  + threads->owner() + " for a minute after the node's end; the process ends");
        std::terminate(); // Its threads would use freed memory.
      }
      forget(*threads);
    }
  }

  /// The actor system no longer delays the owner of the node. So the owner ends the node soon or never.
  static void await_owner(system_threads& threads) {
    constexpr std::chrono::milliseconds pause{10};
    constexpr std::chrono::milliseconds unspoken{200}; // No warning so soon: a node that is just ending is no mistake.
    std::chrono::milliseconds waited{0};
    for (; !threads.is_left() && waited < owner_patience; waited += pause) {
      if (waited == unspoken)
        log(log_level::warning, still_open(threads) + "; the process ends in 5 s unless the node does");
      if (threads.join_within(pause))
        return;
    }
    if (threads.is_left())
      return;
    log(log_level::error, still_open(threads) + "; the process ends");
    std::terminate(); // Its threads would use freed memory.
  }

  static std::string still_open(const system_threads& threads) {
    return "an actor system ends while its node " + threads.owner()
           + " is open; the node must end first: declare it after the actor system, and let no longer-lived object "
             "keep it";
  }

  id_t id() const override { return network_manager; }
  void* subtype_ptr() override { return this; }

  static module* make(actor_system& system, detail::type_list<>) { return new middleman(system); }

  void keep(std::shared_ptr<system_threads> threads) {
    std::vector<std::shared_ptr<system_threads>> over; // Destroyed outside the lock.
    std::lock_guard guard{mutex_};
    std::erase_if(kept_, [&](auto& one) {
      if (!one->is_left() || !one->join_within(std::chrono::milliseconds{0}))
        return false;
      over.push_back(std::move(one));
      return true;
    });
    kept_.push_back(std::move(threads));
  }

  void forget(const system_threads& threads) {
    std::shared_ptr<system_threads> over; // Destroyed outside the lock.
    std::lock_guard guard{mutex_};
    auto found = std::ranges::find(kept_, &threads, &std::shared_ptr<system_threads>::get);
    if (found == kept_.end())
      return;
    over = std::move(*found);
    kept_.erase(found);
  }

  [[nodiscard]] troupe::internal::supervisor_book& supervisors() noexcept { return supervisors_; }

private:
  actor_system& system_;
  troupe::internal::supervisor_book supervisors_;
  std::mutex mutex_;
  std::vector<std::shared_ptr<system_threads>> kept_; // Guarded by mutex_.
};

} // namespace caf::net

namespace troupe::internal {

void add_system_module(system_config& config) {
  config.load<caf::net::middleman>();
}

bool has_system_module(const caf::actor_system& system) {
  return system.has_network_manager();
}

const system_config* config_of(const caf::actor_system& system) {
  // Only a system_config can load the module.
  return has_system_module(system) ? static_cast<const system_config*>(&system.config()) : nullptr;
}

void keep_threads(caf::actor_system& system, std::shared_ptr<system_threads> threads) {
  system.network_manager().keep(std::move(threads));
}

void forget_threads(caf::actor_system& system, const system_threads& threads) {
  system.network_manager().forget(threads);
}

supervisor_book* supervisors_of(caf::actor_system& system) {
  return has_system_module(system) ? &system.network_manager().supervisors() : nullptr;
}

} // namespace troupe::internal
