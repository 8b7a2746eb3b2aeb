// The value of a member's entry: cluster/format.md.
#pragma once

#include <cstddef>
#include <expected>
#include <string>
#include <string_view>

#include <troupe/framework/cluster/cluster_member.hpp>

namespace troupe::membership {

[[nodiscard]] std::string member_record(const cluster_member& of);

/// Fails with the fault of the record. Any user of the directory may have written the entry.
[[nodiscard]] std::expected<cluster_member, std::string> read_member_record(std::string name, std::string_view record);

/// The value of the entry of a kind of entities.
[[nodiscard]] std::string kind_record(std::size_t shards);
[[nodiscard]] std::expected<std::size_t, std::string> read_kind_record(std::string_view record);

} // namespace troupe::membership
