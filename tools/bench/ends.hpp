// The actors at both ends, independent of the payload's C++ type.
#pragma once

#include "bench/measurement.hpp"
#include "bench/payload.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <caf/actor.hpp>
#include <caf/actor_system.hpp>
#include <caf/atom.hpp>
#include <troupe/serializers/type_registry.hpp>

namespace troupe::tools {

class load_run;
class sink_account;

/// The result of one driver.
struct reached {
  std::uint64_t messages = 0;
  double seconds = 0;          // From sending the first message until the last one is known to have arrived.
  std::vector<double> trips{}; // Round-trip times in seconds.
};

/// Sent to a driver with the seconds to measure. The driver answers with true once `reached` is filled, or with an
/// error.
using measure_atom = caf::atom_constant<caf::atom("measure")>;
/// Sent to a passer with the next actor of the ring.
using next_atom = caf::atom_constant<caf::atom("next")>;

/// Spawns the actors for one payload type.
class ends {
public:
  ends() = default;
  ends(const ends&) = delete;
  ends& operator=(const ends&) = delete;
  virtual ~ends() = default;

  virtual void add_type(type_registry& types) const = 0;
  /// The type's alias in registries.
  [[nodiscard]] virtual std::string_view alias() const = 0;

  // Actors of the far end. A consumer compares each message with `expected` and reports mismatches to the driver.
  // Echoers and passers check nothing.
  [[nodiscard]] virtual caf::actor spawn_consumer(caf::actor_system& system, const payload& expected) const = 0;
  [[nodiscard]] virtual caf::actor spawn_echoer(caf::actor_system& system) const = 0;
  [[nodiscard]] virtual caf::actor spawn_passer(caf::actor_system& system) const = 0;

  // Drivers, which are actors of the near end.
  [[nodiscard]] virtual caf::actor spawn_streamer(caf::actor_system& system, const measurement& what,
                                                  std::vector<caf::actor> consumers,
                                                  std::shared_ptr<reached> result) const = 0;
  [[nodiscard]] virtual caf::actor spawn_asker(caf::actor_system& system, const measurement& what, caf::actor echoer,
                                               std::shared_ptr<reached> result) const = 0;
  /// Sends to the actor that next_atom names, and waits until the message has gone round the ring.
  [[nodiscard]] virtual caf::actor spawn_lapper(caf::actor_system& system, const measurement& what,
                                                std::shared_ptr<reached> result) const = 0;

  // Actors for offered load: of the sink (bench/load/sinking.hpp), and of the source (bench/load/sending.hpp).
  [[nodiscard]] virtual caf::actor spawn_load_echoer(caf::actor_system& system,
                                                     std::shared_ptr<sink_account> account) const = 0;
  [[nodiscard]] virtual caf::actor spawn_load_consumer(caf::actor_system& system,
                                                       std::shared_ptr<sink_account> account) const = 0;
  [[nodiscard]] virtual caf::actor spawn_load_sender(caf::actor_system& system,
                                                     std::shared_ptr<load_run> run) const = 0;
};

/// The actors for the payload type that users of the family would choose. This is an array if the family carries arrays
/// without a copy ("typed", "msgpack"). It is a vector in a described struct for "json" (which encodes it as base64),
/// "cereal" and "caf", and a protobuf message for "protobuf".
[[nodiscard]] const ends& ends_for(const std::string& family);

[[nodiscard]] const ends& array_ends();
[[nodiscard]] const ends& struct_ends();
#if TROUPE_BENCH_FAMILY_PROTOBUF
[[nodiscard]] const ends& protobuf_ends();
#endif

} // namespace troupe::tools
