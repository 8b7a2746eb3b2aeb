// A node with actors, for fuzzers that play its peers. One node serves all inputs, and is restored after each.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <caf/all.hpp>

#include <troupe/framework/internal/link/link_core.hpp>
#include <troupe/framework/internal/node/node_core.hpp>
#include <troupe/framework/node.hpp>

#include "pipe.hpp"

namespace fuzz {

struct reading {
  std::string sensor;
  double celsius = 0;
  std::vector<double> samples;
};
TROUPE_DESCRIBE(reading, sensor, celsius, samples)

struct guest_list {
  std::string host;
  std::vector<caf::actor> guests;
};
TROUPE_DESCRIBE(guest_list, host, guests)

/// Waits until the condition holds. Ends the process if it does not hold within `patience`.
void expect_soon(const std::function<bool()>& condition, std::string_view what,
                 const std::function<std::string()>& details = {});

/// Threads: one, the fuzzer's. Lifetime: the process.
class home {
public:
  /// `listen`: as in node_options.
  explicit home(std::vector<std::string> listen = {});

  [[nodiscard]] troupe::internal::node_core& node() { return *node_; }
  [[nodiscard]] const troupe::type_registry& types() const { return types_; }
  [[nodiscard]] const troupe::family_set& families() const { return families_; }

  /// Small limits, which scripts can reach, and all permissions.
  [[nodiscard]] static troupe::link_options link_options();

  /// A link whose other end holds `bytes`. With a secret, the link is as over TCP.
  [[nodiscard]] std::shared_ptr<troupe::internal::link_core> start(const troupe::link_options& options,
                                                                   troupe::internal::link_side side,
                                                                   const std::string& secret,
                                                                   const std::shared_ptr<pipe>& bytes);

  /// The node's actors, published by these names. A script may end them; the next script finds new ones.
  ///     echo     answers with the message it receives
  ///     keeper   keeps the handles in messages, and the senders
  ///     quiet    answers nothing until told to forget; then it answers every second request
  ///     source   sends as many numbers and texts as asked, at most 12
  ///     mortal   ends with the given reason
  static constexpr std::array<const char*, 5> names{"echo", "keeper", "quiet", "source", "mortal"};

  /// The handles that the keeper has received.
  [[nodiscard]] std::vector<caf::strong_actor_ptr> kept();
  void keep(caf::strong_actor_ptr actor);
  void drop_kept(std::size_t place);
  void drop_all_kept();
  void forget();
  [[nodiscard]] const caf::actor& actor(std::size_t place) const { return actors_[place].handle; }

  /// Publishes a kept actor as "kept", in place of the previous one.
  void publish_kept(std::size_t place);

  /// Lets an actor of the node run `what`, and waits for it.
  void act(std::function<void(caf::event_based_actor*)> what);

  /// Restores the home: all actors live and nothing is kept. Ends the process if links, other actors, or foreign
  /// handles of the actors are left.
  void settle();

private:
  struct published {
    caf::actor handle;
    std::shared_ptr<std::atomic<bool>> has_ended;
  };

  [[nodiscard]] caf::actor spawn(std::size_t place);
  void revive(std::size_t place);
  void warm_up();

  troupe::type_registry types_;
  troupe::family_set families_;
  std::unique_ptr<troupe::system_config> config_;
  std::unique_ptr<caf::actor_system> system_;
  std::shared_ptr<troupe::internal::node_core> node_;
  std::array<published, names.size()> actors_;
  caf::actor driver_;
  bool driver_is_used_ = false;
  std::size_t running_ = 0; // The number of actors when the node is idle.

  std::mutex mutex_;
  std::vector<caf::strong_actor_ptr> kept_; // Guarded by mutex_.
};

} // namespace fuzz
