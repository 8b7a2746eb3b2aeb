// Orders to members of a cluster: that they withdraw from their work.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

#include <troupe/base/export.hpp>
#include <troupe/framework/cluster/cluster_member.hpp>
#include <troupe/framework/cluster/directory.hpp>

namespace troupe {

/// An order that a member is drained, as the directory has it.
struct drain_order {
  std::string member;
  /// Of the process that is to be drained. The order does not count for a later process of the same name.
  std::string incarnation;
  std::string by; // The author of the order, as free text.

  friend bool operator==(const drain_order&, const drain_order&) = default;
};

/// Writes an order that `member` is drained. The member obeys as soon as it reads the order: it withdraws its names
/// from the directory, gives its singletons up, and says so in its entry (cluster_member::is_draining). Links and
/// handles go on. An order that exists is replaced. `by` has at most 1,024 bytes. Blocks as directory::commit() does.
/// Fails with
/// - `invalid_argument`: the member's incarnation is unknown, `by` is too long, or the name is too long for a key.
/// - `read_only`, and the errors of directory::commit().
[[nodiscard]] TROUPE_EXPORT std::expected<void, directory_error>
order_drain(directory& where, const cluster_member& member, std::string_view by);

/// Removes the order. The member publishes its names again, and is ready for singletons again. Returns false if there
/// was no order. Blocks and fails as order_drain() does.
[[nodiscard]] TROUPE_EXPORT std::expected<bool, directory_error> cancel_drain(directory& where,
                                                                              std::string_view member);

} // namespace troupe
