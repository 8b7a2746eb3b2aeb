// Adoptions that came before their vouchers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>

#include <troupe/framework/internal/handles/messages.hpp>
#include <troupe/framework/internal/handles/timers.hpp>

namespace troupe::internal::handles {

/// Keeps a peer's adoptions that came before their vouchers. Vouchers take another path.
class parked_adoptions {
public:
  parked_adoptions(link_number link, timer_queue& timers, std::size_t allowed)
      : link_(link), timers_(timers), allowed_(allowed) {}

  /// Returns false if too many are parked. Requires: no parked adoption has that number.
  [[nodiscard]] bool park(const adopt& what, time_point until);
  /// Removes a parked adoption. Does nothing if it is not parked.
  void take(request_number request);
  void clear();

  [[nodiscard]] bool empty() const noexcept { return waiting_.empty(); }
  [[nodiscard]] std::size_t size() const noexcept { return waiting_.size(); }
  /// The first adoption that waits for this voucher.
  [[nodiscard]] std::optional<request_number> find(const object_id& name, std::uint64_t token) const;
  /// The first invariant that does not hold; empty if all hold.
  [[nodiscard]] std::string_view broken_invariant() const;

private:
  struct parked {
    parked(const adopt& what, link_number link, timer_queue& timers)
        : name(what.name), token(what.token), until(timers, timer::kind::parked, link, what.request) {}

    object_id name;
    std::uint64_t token;
    deadline until;
  };

  const link_number link_;
  timer_queue& timers_;
  const std::size_t allowed_;
  std::map<request_number, parked> waiting_;
  std::set<std::tuple<object_id, std::uint64_t, request_number>> by_name_; // `waiting_` by name and token.
};

} // namespace troupe::internal::handles
