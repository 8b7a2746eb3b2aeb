// A cluster's members, and the events about them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <caf/allowed_unsafe_message_type.hpp>

#include <troupe/framework/cluster/directory_errc.hpp>

namespace troupe {

struct cluster_member {
  /// Unique in the cluster.
  std::string name;
  /// The node's identity (node::identity): new each time that a node is opened. Empty in read-only directories.
  std::string incarnation;
  /// Where the other nodes can reach it, in the order in which it said them.
  std::vector<std::string> addresses;
  std::vector<std::string> roles;
  /// Equal for processes that can reach each other over unix sockets: boot id of the host, user, network and mount
  /// namespaces. Empty in read-only directories.
  std::string host;
  /// The version of Troupe, such as "Troupe 0.1.0". Empty in read-only directories.
  std::string version;
  /// What the member offers to others beyond what every member does, such as "load". Empty in read-only directories.
  std::vector<std::string> features;
  /// Equal for nodes whose types and functions have the same contract (contract_of()): 16 hexadecimal digits. Empty if
  /// the member did not say it.
  std::string contract;
  /// It withdraws from its work: it has no names, and is no candidate for singletons (cluster::drain).
  bool is_draining = false;

  friend bool operator==(const cluster_member&, const cluster_member&) = default;
};

/// A change of the cluster.
struct cluster_event {
  enum class kind : std::uint8_t {
    member_up,       ///< `member` has joined.
    member_changed,  ///< `member` has the same incarnation, and other roles or addresses, or drains.
    member_down,     ///< `member` has left, or its lease has ended.
    name_added,      ///< `member` has published `name`.
    name_gone,       ///< `member` has withdrawn `name`, or is down.
    singleton_moved, ///< The singleton `name` has the owner `member` from now on. If `member.name` is empty, it has
                     ///< none.
    entities_moved,  ///< Shards of the kind of entities `name` may have other owners from now on.
    directory_lost,  ///< The directory does not answer; `reason` says why. What is known stays as it was.
    directory_found, ///< The directory answers again. The changes since then have been told.
    drain_ordered,   ///< `member`, which is this one, is drained from now on, by `troupe cluster drain` or
                     ///< cluster::drain(). The program ends its work, for example with node::drain().
    drain_cancelled, ///< `member`, which is this one, is not drained any more.
  };

  kind what = kind::member_up;
  cluster_member member = {};
  std::string name = {};
  directory_error reason = {directory_errc::none, {}};
};

/// The event's name, as in the enumeration: "member_up".
[[nodiscard]] constexpr std::string_view name_of(cluster_event::kind what) noexcept {
  switch (what) {
    using enum cluster_event::kind;
  case member_up:
    return "member_up";
  case member_changed:
    return "member_changed";
  case member_down:
    return "member_down";
  case name_added:
    return "name_added";
  case name_gone:
    return "name_gone";
  case singleton_moved:
    return "singleton_moved";
  case entities_moved:
    return "entities_moved";
  case directory_lost:
    return "directory_lost";
  case directory_found:
    return "directory_found";
  case drain_ordered:
    return "drain_ordered";
  case drain_cancelled:
    return "drain_cancelled";
  }
  return "unknown";
}

} // namespace troupe

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::cluster_event)
