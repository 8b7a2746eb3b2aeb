// The value of an order's entry: cluster/format.md.
#pragma once

#include <expected>
#include <string>
#include <string_view>

#include <troupe/framework/cluster/drain_order.hpp>

namespace troupe::membership {

[[nodiscard]] std::string order_record(const drain_order& of);

/// Fails with the fault of the record. Any user of the directory may have written the entry.
[[nodiscard]] std::expected<drain_order, std::string> read_order_record(std::string member, std::string_view record);

} // namespace troupe::membership
