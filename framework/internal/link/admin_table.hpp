// The table that names, for each admin packet, the part of a link that handles it.
#pragma once

#include <expected>
#include <span>
#include <string>
#include <type_traits>

#include <troupe/framework/internal/wire/admin.hpp>
#include <troupe/framework/internal/wire/packet.hpp>
#include <troupe/framework/internal/words/failing.hpp>
#include <troupe/framework/node_errc.hpp>
#include <troupe/serializers/limits.hpp>

namespace troupe::internal {

/// Hands an admin packet of one operation to the part of `Link` that handles it.
template <class Link>
struct admin_row {
  admin_op op;
  std::expected<void, node_error> (*handle)(Link& link, bytes_view body, const limits& bounds);
};

namespace admin_handling {

template <class Handler>
struct admin_handler;
template <class Result, class Part, class Admin>
struct admin_handler<Result (Part::*)(const Admin&)> {
  using admin = Admin;
};

template <admin_op op, auto handler, class Part>
std::expected<void, node_error> handle_admin(Part& part, bytes_view body, const limits& bounds) {
  const auto what = decode_admin<typename admin_handler<decltype(handler)>::admin>(body, bounds);
  if (!what)
    return violation("admin message " + std::to_string(static_cast<int>(op))
                     + " cannot be read: " + what.error().message());
  if constexpr (std::is_void_v<decltype((part.*handler)(*what))>) {
    (part.*handler)(*what);
    return {};
  } else {
    return (part.*handler)(*what);
  }
}

} // namespace admin_handling

/// The row for `handler`, a member function of the link's member `part` that takes the decoded packet.
template <class Link, admin_op op, auto part, auto handler>
inline constexpr admin_row<Link> handled_by_part{
    op, [](Link& link, bytes_view body, const limits& bounds) -> std::expected<void, node_error> {
      return admin_handling::handle_admin<op, handler>(link.*part, body, bounds);
    }};
/// The row for `handler`, a member function of the link itself.
template <class Link, admin_op op, auto handler>
inline constexpr admin_row<Link> handled_by_link{
    op, [](Link& link, bytes_view body, const limits& bounds) -> std::expected<void, node_error> {
      return admin_handling::handle_admin<op, handler>(link, body, bounds);
    }};

/// Returns null if no row handles the operation.
template <class Link>
[[nodiscard]] constexpr const admin_row<Link>* row_of(admin_op op, std::span<const admin_row<Link>> rows) {
  for (const auto& each : rows)
    if (each.op == op)
      return &each;
  return nullptr;
}

} // namespace troupe::internal
