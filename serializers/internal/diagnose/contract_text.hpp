// The text form of layouts, which contract.hpp writes and compares.
//
// A layout is a chain of words, with parts below its end: `optional list struct`, and the fields on lines of their own,
// two blanks further in.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include <troupe/serializers/contract_tree.hpp>

namespace troupe::detail {

inline constexpr std::string_view contract_title = "troupe contract 1";

/// The text in quotes, with escapes for characters that would end the quotes or the line.
[[nodiscard]] std::string quoted(std::string_view text);

/// Ends the current line, and adds the lines below it. Requires: a layout made by layout_of.
void append_layout(std::string& text, std::span<const std::byte> layout);

} // namespace troupe::detail
