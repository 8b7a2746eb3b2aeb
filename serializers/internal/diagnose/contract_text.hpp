// The text form of layouts, which contract.hpp writes and compares.
//
// A layout is a chain of words, with parts below its end: `optional list struct`, and the fields on lines of their own,
// two blanks further in.
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

/// The text in quotes, with escapes for characters that would end the quotes or the line.
[[nodiscard]] std::string quoted(std::string_view text);

/// Ends the current line, and adds the lines below it. Requires: a layout made by layout_of.
void append_layout(std::string& text, std::span<const std::byte> layout);

/// One place of a type. A place that repeats a place further up is the same node.
struct contract_node {
  std::string form;                                       // "struct", "i32", "list", "fixed 3", "unit \"1/1000\"", ...
  std::vector<std::pair<std::string, std::size_t>> parts; // By name: ".field", "<\"label\">", "[0]", "{key}", "[]", ...
};

struct contract_tree {
  std::vector<contract_node> nodes;
  std::map<std::string, std::size_t> types; // By alias: the node of the whole type.
  std::map<std::string, std::string> functions;
};

/// Parses a contract. Fails with `malformed` and names the line.
[[nodiscard]] std::expected<contract_tree, serialize_error> parse_contract(std::string_view text);

} // namespace troupe::detail
