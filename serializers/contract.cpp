#include <troupe/serializers/contract.hpp>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include <fmt/core.h>

#include <troupe/serializers/function_entry.hpp>
#include <troupe/serializers/internal/diagnose/contract_text.hpp>
#include <troupe/serializers/internal/words/failing.hpp>
#include <troupe/serializers/internal/words/type_text.hpp>

namespace troupe {

namespace {

std::string name_of(std::type_index type, const type_registry& types) {
  if (type == typeid(void))
    return "nothing";
  const auto* entry = types.find(type);
  return entry != nullptr ? entry->alias() : detail::type_text(type) + " without an alias";
}

std::string shape_of(const function_entry& function, const type_registry& types) {
  std::string text = "(";
  for (const auto& each : function.parameters())
    text += (text.size() > 1 ? ", " : "") + name_of(each, types);
  return text + ") -> " + name_of(function.result(), types);
}

void append_type(std::string& text, const type_entry& type) {
  text += fmt::format("type {}: ", detail::quoted(type.alias()));
  if (const auto* own = type.own())
    text += fmt::format("codec of its own for {}\n", detail::quoted(own->family));
  else
    detail::append_layout(text, type.schema());
}

} // namespace

std::string contract_of(const type_entry& type) {
  std::string text(detail::contract_title);
  text += '\n';
  append_type(text, type);
  return text;
}

std::string contract_of(const type_registry& types) {
  auto entries = types.entries();
  std::ranges::sort(entries, {}, &type_entry::alias);
  auto functions = types.functions();
  std::ranges::sort(functions, {}, [](const auto& each) { return each->name(); });
  std::string text(detail::contract_title);
  text += '\n';
  for (const auto* each : entries)
    append_type(text, *each);
  for (const auto& each : functions)
    text += fmt::format("function {}: {}\n", detail::quoted(each->name()), shape_of(*each, types));
  return text;
}

std::string_view to_string(contract_effect effect) {
  switch (effect) {
  case contract_effect::harmless:
    return "harmless";
  case contract_effect::depends_on_values:
    return "depends on values";
  case contract_effect::breaking:
    break;
  }
  return "breaking";
}

std::string to_text(const std::vector<contract_change>& changes) {
  std::string text;
  for (const auto& each : changes)
    text += fmt::format("{}: {}: {}\n", to_string(each.effect), each.place, each.what);
  return text;
}

std::expected<std::vector<contract_change>, serialize_error> check_contract(const std::filesystem::path& file,
                                                                            const type_registry& types) {
  const auto failure = [&](std::string_view what) {
    return detail::failure(serialize_errc::malformed, file.native() + " " + std::string(what));
  };
  const auto newer = contract_of(types);
  const auto* wish = std::getenv("TROUPE_WRITE_CONTRACT");
  const auto writes = wish != nullptr && std::string_view(wish) != "" && std::string_view(wish) != "0";
  std::error_code ignored;
  if (writes || !std::filesystem::exists(file, ignored)) {
    std::ofstream to(file, std::ios::binary);
    to << newer << std::flush;
    if (!to)
      return failure("cannot be written");
    return std::vector<contract_change>();
  }
  std::ifstream from(file, std::ios::binary);
  std::ostringstream older;
  older << from.rdbuf();
  if (!from)
    return failure("cannot be read");
  auto changes = compare_contracts(older.view(), newer);
  if (!changes)
    return failure("is not a contract: " + changes.error().message());
  return changes;
}

} // namespace troupe
