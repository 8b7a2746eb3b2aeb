// What a pool of a cluster leads messages to.
#pragma once

#include <cstdint>
#include <set>
#include <string>

namespace troupe::membership {

/// The actors of a service, the owner of a singleton, or the hosts of a kind of entities.
struct sought {
  enum class kind : std::uint8_t { service, singleton, entities };

  kind what = kind::service;
  std::string name;                     // As the program says it.
  std::set<std::string> interface = {}; // Of the handles; empty: untyped.

  /// What members publish the actors as.
  [[nodiscard]] std::string published_name() const;
};

} // namespace troupe::membership
