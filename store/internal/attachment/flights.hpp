// Handles on their way from one process to another.
#pragma once

#include <troupe/store/internal/attachment/ended_channels.hpp>
#include <troupe/store/internal/attachment/given_objects.hpp>
#include <troupe/store/internal/attachment/held_objects.hpp>
#include <troupe/store/internal/attachment/store_errors.hpp>
#include <troupe/store/internal/attachment/table_access.hpp>
#include <troupe/store/internal/attachment/table_growth.hpp>
#include <troupe/store/store_error.hpp>

#include <cstdint>
#include <expected>

namespace troupe::store::internal {

/// Hands objects over between processes. An entry in the table keeps the object alive from before the sender notifies
/// the receiver until the receiver holds it, even if the sender dies.
///
/// Threads: any.
class flights {
public:
  flights(control_view view, const membership& member, const table_access& access, held_objects& holds,
          table_growth& growth, ended_channels& ended, const store_errors& errors)
      : view_(view), member_(member), access_(access), holds_(holds), growth_(growth), ended_(ended), errors_(errors) {}

  /// Counts one handle in flight. Requires: this process holds the object. Fails with `peer_gone`, as growing the table
  /// does, or as locking it does.
  [[nodiscard]] std::expected<void, store_error> hand_over(const held_object& what, const process_id& to,
                                                           std::uint64_t channel);
  /// Undoes one hand_over(). Does nothing if no such handle is in flight.
  void take_back(const held_object& what, const process_id& to, std::uint64_t channel);
  /// Takes one handle off its entry. Fails with `not_found` or `unsealed`, or as locking the table does.
  [[nodiscard]] std::expected<held_object, store_error> adopt(const object_id& id, const process_id& from,
                                                              std::uint64_t channel);
  /// Drops all handles that are in flight on the channel now or later.
  std::expected<void, store_error> abandon(const process_id& peer, std::uint64_t channel);

private:
  control_view view_;
  const membership& member_;
  const table_access& access_;
  held_objects& holds_;
  table_growth& growth_;
  ended_channels& ended_;
  const store_errors& errors_;
};

} // namespace troupe::store::internal
