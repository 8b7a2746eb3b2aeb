// The text in which a member gives its account: cluster/format.md.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <troupe/framework/cluster/member_account.hpp>

namespace troupe::membership {

/// The question to a member's actor.
inline constexpr std::string_view account_question = "account";

/// Longer lists and texts are cut.
[[nodiscard]] std::string account_record(const member_account& of);

/// nullopt if it is not such a text. Any node may have sent it.
[[nodiscard]] std::optional<member_account> read_account_record(std::string_view record);

} // namespace troupe::membership
