// A node in a cluster, as the other nodes see it, and what they are told of it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <caf/allowed_unsafe_message_type.hpp>

#include <troupe/framework/cluster/directory_errc.hpp>

namespace troupe {

struct cluster_member {
  /// Unique in the cluster.
  std::string name;
  /// Another one each time that a node of this name is opened.
  std::string incarnation;
  /// Where the other nodes can reach it, in the order in which it said them.
  std::vector<std::string> addresses;
  std::vector<std::string> roles;
  /// The same for nodes that run on one host and have booted it together; such nodes may reach each other over unix
  /// sockets.
  std::string host;
  /// What it runs, like "Troupe 0.1.0, protocol 1.4".
  std::string version;

  friend bool operator==(const cluster_member&, const cluster_member&) = default;
};

/// A change of the cluster.
struct cluster_event {
  enum class kind : std::uint8_t {
    member_up,       ///< `member` has joined.
    member_changed,  ///< `member` has the same incarnation, and other roles or addresses.
    member_down,     ///< `member` has left, or its lease has ended.
    name_added,      ///< `member` has published `name`.
    name_gone,       ///< `member` has withdrawn `name`, or is down.
    singleton_moved, ///< `member` owns the singleton `name` from now on; if its name is empty, nobody does.
    directory_lost,  ///< The directory does not answer; `reason` says why. What is known stays as it was.
    directory_found, ///< The directory answers again. The changes since then have been told.
  };

  kind what = kind::member_up;
  cluster_member member = {};
  std::string name = {};
  directory_error reason = {directory_errc::none, {}};
};

} // namespace troupe

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::cluster_event)
