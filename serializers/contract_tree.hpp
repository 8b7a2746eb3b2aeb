// A contract as a tree, for programs that look up what a type consists of.
#pragma once

#include <cstddef>
#include <expected>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <troupe/base/export.hpp>
#include <troupe/serializers/serialize_error.hpp>

namespace troupe {

/// One place of a type. A place that repeats a place further up is the same node.
struct contract_node {
  std::string form;                                       // "struct", "i32", "list", "fixed 3", "unit \"1/1000\"", ...
  std::vector<std::pair<std::string, std::size_t>> parts; // By name: ".field", "<\"label\">", "[0]", "{key}", "[]", ...
};

/// The nodes of all types. The parts of an "enum" are its values, with their numbers as forms.
struct contract_tree {
  std::vector<contract_node> nodes;
  std::map<std::string, std::size_t> types; // By alias, in quotes as in the text: the node of the whole type.
  std::map<std::string, std::string> functions;
};

/// Parses a text of contract_of(), which need not be trusted. Fails with `malformed` and names the line.
/// Threads: any.
[[nodiscard]] TROUPE_EXPORT std::expected<contract_tree, serialize_error> parse_contract(std::string_view text);

} // namespace troupe
