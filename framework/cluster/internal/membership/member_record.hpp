// The value of a member's entry: cluster/format.md.
#pragma once

#include <expected>
#include <string>
#include <string_view>

#include <troupe/framework/cluster/cluster_member.hpp>

namespace troupe::membership {

[[nodiscard]] std::string member_record(const cluster_member& of);

/// Fails with what is wrong: an entry may have been written by anybody whom the directory lets in.
[[nodiscard]] std::expected<cluster_member, std::string> read_member_record(std::string name, std::string_view record);

} // namespace troupe::membership
