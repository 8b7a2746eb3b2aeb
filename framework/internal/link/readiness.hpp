// Actors that wait until they may send more to a remote actor.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include <troupe/framework/internal/caf_port/actor_pointers.hpp>
#include <troupe/framework/internal/net/link_mutex.hpp>

namespace troupe::internal {

/// Tells actors when a receiver has room again.
class readiness {
public:
  /// The news that a receiver has room. Keeps the waiting actor alive until it is told.
  struct notice {
    caf::strong_actor_ptr who;
    caf::strong_actor_ptr receiver; // The receiver's proxy.

    /// Sends a link_ready. Requires: no link's lock is held.
    void tell() const;
  };

  void add(const link_held&, std::uint64_t receiver, notice asked) { asked_.push_back({receiver, std::move(asked)}); }

  /// Removes and returns the notices whose receiver satisfies `may_tell`, in the order in which they were added.
  template <class MayTell>
  [[nodiscard]] std::vector<notice> take(const link_held&, MayTell&& may_tell) {
    std::vector<notice> due;
    std::erase_if(asked_, [&](entry& each) {
      if (!may_tell(each.receiver))
        return false;
      due.push_back(std::move(each.asked));
      return true;
    });
    return due;
  }

  [[nodiscard]] bool anybody_waits(const link_held&) const noexcept { return !asked_.empty(); }

private:
  struct entry {
    std::uint64_t receiver;
    notice asked;
  };

  std::vector<entry> asked_;
};

} // namespace troupe::internal
