// A node with actors, for fuzzers that play its peers: one for all inputs, as it was before after each.
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

/// Waits for what the other threads do; ends the process where it is not so within the patience.
void expect_soon(const std::function<bool()>& condition, std::string_view what,
                 const std::function<std::string()>& details = {});

/// Threads: one, that of the fuzzer. Lifetime: that of the process.
class home {
public:
  /// `listen`: as in node_options.
  explicit home(std::vector<std::string> listen = {});

  [[nodiscard]] troupe::internal::node_core& node() { return *node_; }
  [[nodiscard]] const troupe::type_registry& types() const { return types_; }
  [[nodiscard]] const troupe::family_set& families() const { return families_; }

  /// Small bounds, so that scripts reach them, and everything allowed.
  [[nodiscard]] static troupe::link_options link_options();

  /// A link whose other end holds `bytes`; with a secret as over TCP.
  [[nodiscard]] std::shared_ptr<troupe::internal::link_core> start(const troupe::link_options& options,
                                                                   troupe::internal::link_side side,
                                                                   const std::string& secret,
                                                                   const std::shared_ptr<pipe>& bytes);

  /// Actors that the node has published, by these names. They may be ended; the next script finds new ones.
  ///     echo     answers with what it gets
  ///     keeper   keeps the handles that it gets, and the senders
  ///     quiet    never answers, until it is told to forget: then every second request
  ///     source   sends so many numbers
  ///     mortal   ends with that reason
  static constexpr std::array<const char*, 5> names{"echo", "keeper", "quiet", "source", "mortal"};

  /// What the keeper has got.
  [[nodiscard]] std::vector<caf::strong_actor_ptr> kept();
  void keep(caf::strong_actor_ptr actor);
  void drop_kept(std::size_t place);
  void drop_all_kept();
  void forget();
  [[nodiscard]] const caf::actor& actor(std::size_t place) const { return actors_[place].handle; }

  /// Publishes a kept actor as "kept", in the place of the one before.
  void publish_kept(std::size_t place);

  /// Has an actor of the node's run this, and waits for it.
  void act(std::function<void(caf::event_based_actor*)> what);

  /// All actors live; nothing is kept. Ends the process where links or actors are left, or handles of the actors.
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
  std::size_t running_ = 0; // Actors, when nothing goes on.

  std::mutex mutex_;
  std::vector<caf::strong_actor_ptr> kept_; // Guarded by mutex_.
};

} // namespace fuzz
