#include "bench/sample/sample_values.hpp"

#include "bench/sample/shaping.hpp"
#include "bench/sample/typed_value.hpp"

#include <span>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <troupe/base/text.hpp>
#include <troupe/serializers/contract_tree.hpp>
#include <troupe/serializers/serialize.hpp>

namespace troupe::tools {

namespace {

/// The contract's own name of a type has quotes and escapes.
[[nodiscard]] std::string alias_in_quotes(const std::string& alias) {
  return fmt::format("{:?}", alias);
}

struct sampled_type {
  std::string alias;
  std::size_t node = 0;
};

[[nodiscard]] std::expected<sampled_type, std::string> find_sampled_type(const contract_tree& contract,
                                                                         const std::string& type) {
  if (!type.empty()) {
    const auto found = contract.types.find(alias_in_quotes(type));
    if (found == contract.types.end())
      return std::unexpected(fmt::format("the contract has no type '{}'", one_line(type, 100)));
    return sampled_type{type, found->second};
  }
  const type_registry built_in;
  std::vector<std::pair<std::string, std::size_t>> own;
  for (const auto& [name, node] : contract.types)
    if (const auto alias = name.size() > 2 ? name.substr(1, name.size() - 2) : name; built_in.find(alias) == nullptr)
      own.emplace_back(alias, node);
  if (own.size() == 1)
    return sampled_type{own.front().first, own.front().second};
  std::vector<std::string> names;
  for (const auto& [alias, node] : own)
    names.push_back(one_line(alias, 100));
  return std::unexpected(
      own.empty() ? std::string("the contract has only types that every program has; choose one (--type)")
                  : fmt::format("the contract has several types; choose one (--type): {}", fmt::join(names, ", ")));
}

/// The JSON as a record, read like a payload of an unknown type.
[[nodiscard]] std::expected<record, std::string> read_sample_json(std::string_view json, const std::string& alias) {
  const type_registry types;
  const family_set families;
  const troupe::payload from{make_header({.family = "json", .type = alias + " sample"}),
                             {frame::copy_of(std::as_bytes(std::span(json)))}};
  deserialize_options options{.deserializers = {"json"}};
  options.context.limits.memory_ratio = 1'000; // The file is the user's own.
  auto read = deserialize_any(from, options, types, families);
  if (!read)
    return std::unexpected(read.error().message());
  return *read->get<record>();
}

} // namespace

std::expected<sample_values, std::string> read_samples(std::string_view json, std::string_view contract,
                                                       const std::string& type) {
  const auto tree = parse_contract(contract);
  if (!tree)
    return std::unexpected("the contract: " + tree.error().message());
  const auto found = find_sampled_type(*tree, type);
  if (!found)
    return std::unexpected(found.error());
  const auto read = read_sample_json(json, found->alias);
  if (!read)
    return std::unexpected("the sample: " + read.error());
  sample_values made{.type = found->alias, .values = {}, .typed = {}};
  auto whole = shaped(*read, *tree, found->node);
  const auto* several = read->elements();
  if (whole)
    made.values.push_back(*std::move(whole));
  else if (several == nullptr || several->empty())
    return std::unexpected("the sample: " + whole.error());
  else
    for (const auto& each : *several) {
      auto one = shaped(each, *tree, found->node);
      if (!one)
        return std::unexpected(fmt::format("the sample: [{}]{}", made.values.size(), one.error()));
      made.values.push_back(*std::move(one));
    }
  for (const auto& each : made.values) {
    auto bytes = typed_value(each, *tree, found->node);
    if (!bytes) {
      made.typed.clear();
      break;
    }
    made.typed.push_back(frame::copy_of(*bytes));
  }
  return made;
}

} // namespace troupe::tools
