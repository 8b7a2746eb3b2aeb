// Why messages to what is sought are not taken, for the errors of pools.
#pragma once

#include <functional>
#include <string>

#include <caf/actor.hpp>
#include <caf/fwd.hpp>

#include <troupe/framework/cluster/cluster_member.hpp>
#include <troupe/framework/cluster/internal/join/member_handles.hpp>
#include <troupe/framework/cluster/internal/join/problem_list.hpp>
#include <troupe/framework/cluster/internal/join/published_names.hpp>
#include <troupe/framework/cluster/internal/join/sought.hpp>
#include <troupe/framework/cluster/internal/membership/counted_directory.hpp>
#include <troupe/framework/cluster/internal/membership/view_follower.hpp>

namespace troupe::membership {

/// Tells who provides what is sought, and why that is of no use.
///
/// Threads: any.
class absence_reasons {
public:
  struct parts {
    const caf::actor_system& system;
    std::string self; // This member's name.
    const counted_directory& where;
    const published_names& own;
    const member_handles& handles;
    const problem_list& problems;
  };

  explicit absence_reasons(const parts& of) : of_(of) {}

  /// "service cart", for the beginning of an error.
  [[nodiscard]] static std::string title_of(const sought& what);
  [[nodiscard]] std::string of(const sought& what, const view_follower& seen) const;
  /// Why this process's own actor cannot be used; empty: it can be.
  [[nodiscard]] std::string against_own(const caf::actor& own, const sought& what) const;

private:
  [[nodiscard]] std::string against(const cluster_member& provider, const sought& what) const;

  const parts of_;
};

} // namespace troupe::membership
