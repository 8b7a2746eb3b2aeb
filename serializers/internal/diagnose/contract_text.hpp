// The text form of layouts: what contract.hpp writes and compares.
//
// A layout is a chain of words and what hangs below its end: `optional list struct`, and the fields in lines of their
// own, two blanks further in.
#pragma once

#include <cstddef>
#include <expected>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <troupe/serializers/serialize_error.hpp>

namespace troupe::detail {

inline constexpr std::string_view contract_title = "troupe contract 1";

/// In quotes, and what would end them or a line escaped.
[[nodiscard]] std::string quoted(std::string_view text);

/// Ends the line, and adds those below. Requires: a layout that layout_of made.
void append_layout(std::string& text, std::span<const std::byte> layout);

/// One place of a type. Where it is what stands further up it is that very node.
struct contract_node {
  std::string form;                                       // "struct", "i32", "list", "fixed 3", "unit \"1/1000\"", ...
  std::vector<std::pair<std::string, std::size_t>> parts; // By name: ".field", "<\"label\">", "[0]", "{key}", "[]", ...
};

struct contract_tree {
  std::vector<contract_node> nodes;
  std::map<std::string, std::size_t> types; // By alias; the node of the whole.
  std::map<std::string, std::string> functions;
};

/// Fails with `malformed`, and the line.
[[nodiscard]] std::expected<contract_tree, serialize_error> parse_contract(std::string_view text);

} // namespace troupe::detail
