// What a member of a cluster says about itself when it is asked: for `troupe cluster doctor`.
#pragma once

#include <chrono>
#include <cstddef>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <troupe/base/export.hpp>
#include <troupe/framework/link.hpp>
#include <troupe/framework/node_errc.hpp>

namespace troupe {

/// Whether one member reaches another one.
struct member_reach {
  std::string member;
  bool is_tried = true; // False: there was no time for it.
  std::string why = {}; // Why it does not reach it; empty: it does.
  std::chrono::milliseconds time{0};

  friend bool operator==(const member_reach&, const member_reach&) = default;
};

struct member_account {
  std::string member;
  bool is_draining = false;
  /// Its clock when it answered; nullopt if it did not say.
  std::optional<std::chrono::sys_time<std::chrono::milliseconds>> clock = {};
  /// cluster::problems(), at most 100 of them.
  std::vector<std::string> problems;
  /// The members that it knows, apart from itself, at most 256. It has dialed each of them just now, over the links'
  /// usual way: its best address, with the check of the identity.
  std::vector<member_reach> reaches;

  friend bool operator==(const member_account&, const member_account&) = default;
};

/// Every member publishes an actor of this name on its node.
inline constexpr std::string_view account_name = "troupe.cluster";

/// Asks the member at the other end of the link. Blocks until the answer or the timeout; the member takes up to 6 s for
/// its dials. Fails with
/// - `not_found`: that node is no member of a cluster, or has an older version of Troupe.
/// - `undecodable`: the answer cannot be read.
/// - `timed_out`, `link_down`, and other errors of requests over links.
[[nodiscard]] TROUPE_EXPORT std::expected<member_account, node_error>
ask_for_account(link& to, std::chrono::milliseconds timeout = std::chrono::seconds(10));

} // namespace troupe
