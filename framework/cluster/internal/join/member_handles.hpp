// What keeps the actors of other members from being used.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <caf/actor.hpp>
#include <caf/actor_control_block.hpp>

#include <troupe/framework/node_errc.hpp>

namespace troupe::membership {

/// Knows the lasting handles to the actors of other members as long as they live, and tells why they lead nowhere.
///
/// Threads: any.
class member_handles {
public:
  /// `handle` leads to what `member` has published as `name`.
  void add(std::string member, std::string name, const caf::actor& handle);

  /// Why the member's actor cannot be used; `none`: nothing is known to be wrong.
  [[nodiscard]] node_error problem(const std::string& member, const std::string& name) const;

  /// Every problem that a person has to solve. That a member has not published a name is none: it may be about to, and
  /// with a read-only directory most members have not.
  [[nodiscard]] std::vector<std::string> problems() const;

private:
  using key = std::pair<std::string, std::string>; // Member and name.

  void forget_dropped();

  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::multimap<key, caf::weak_actor_ptr> all_;
  std::size_t forgets_at_ = 64; // When this many are known, those that nobody has any more are forgotten.
};

} // namespace troupe::membership
