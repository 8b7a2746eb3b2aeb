// The actors at both ends, whatever type the payload has in C++.
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

/// What a driver has reached.
struct reached {
  std::uint64_t messages = 0;
  double seconds = 0;          // From the first one's sending until the last one is known to have arrived.
  std::vector<double> trips{}; // In seconds, there and back.
};

/// To a driver, with the seconds that it shall take: answered with true, or an error, when `reached` is filled.
using measure_atom = caf::atom_constant<caf::atom("measure")>;
/// To a passer, with who comes next.
using next_atom = caf::atom_constant<caf::atom("next")>;

/// All actors of one type of payloads.
class ends {
public:
  ends() = default;
  ends(const ends&) = delete;
  ends& operator=(const ends&) = delete;
  virtual ~ends() = default;

  virtual void add_type(type_registry& types) const = 0;
  /// What registries call the type.
  [[nodiscard]] virtual std::string_view alias() const = 0;

  // At the far end. One that gets something else than `expected` says so to the driver, or lets the message pass.
  [[nodiscard]] virtual caf::actor spawn_consumer(caf::actor_system& system, const payload& expected) const = 0;
  [[nodiscard]] virtual caf::actor spawn_echoer(caf::actor_system& system) const = 0;
  [[nodiscard]] virtual caf::actor spawn_passer(caf::actor_system& system) const = 0;

  // Drivers, at the near end.
  [[nodiscard]] virtual caf::actor spawn_streamer(caf::actor_system& system, const measurement& what,
                                                  std::vector<caf::actor> consumers,
                                                  std::shared_ptr<reached> result) const = 0;
  [[nodiscard]] virtual caf::actor spawn_asker(caf::actor_system& system, const measurement& what, caf::actor echoer,
                                               std::shared_ptr<reached> result) const = 0;
  /// Sends to the actor that it is told by next_atom, and waits for what comes round.
  [[nodiscard]] virtual caf::actor spawn_lapper(caf::actor_system& system, const measurement& what,
                                                std::shared_ptr<reached> result) const = 0;
};

/// As users of that family would have their payload: as an array where the family carries that without copying it
/// ("typed", "msgpack"), as a vector in a described struct ("json", which has base64 for it, "cereal", "caf"), or as a
/// protobuf message.
[[nodiscard]] const ends& ends_for(const std::string& family);

[[nodiscard]] const ends& array_ends();
[[nodiscard]] const ends& struct_ends();
#if TROUPE_BENCH_FAMILY_PROTOBUF
[[nodiscard]] const ends& protobuf_ends();
#endif

} // namespace troupe::tools
