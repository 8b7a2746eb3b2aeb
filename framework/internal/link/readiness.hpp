// Actors that wait until a remote actor may be sent more.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include <troupe/framework/internal/caf_port/actor_pointers.hpp>
#include <troupe/framework/internal/net/link_mutex.hpp>

namespace troupe::internal {

/// Tells actors that a receiver has room again.
class readiness {
public:
  /// Says that a receiver has room. Keeps the actor that asked alive until it is told.
  struct notice {
    caf::strong_actor_ptr who;
    caf::strong_actor_ptr receiver; // The proxy of it.

    /// Sends a link_ready. Not under a link's lock.
    void tell() const;
  };

  void add(const link_held&, std::uint64_t receiver, notice asked) { asked_.push_back({receiver, std::move(asked)}); }

  /// Takes out, in the order in which they asked, those of whose receiver `may_tell` says yes.
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
