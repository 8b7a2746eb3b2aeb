#include "contract/command.hpp"

#include <troupe/serializers/contract.hpp>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <expected>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

namespace troupe::tools {

namespace {

struct contract_request {
  std::string older;
  std::string newer;
  bool strict = false;
  bool json = false;
};

std::expected<std::string, std::string> content_of(const std::string& file) {
  std::error_code ignored;
  if (file != "-" && std::filesystem::is_directory(file, ignored))
    return std::unexpected(file + " is a folder");
  std::ifstream opened;
  if (file != "-")
    opened.open(file, std::ios::binary);
  auto& from = file == "-" ? std::cin : opened;
  std::string text{std::istreambuf_iterator<char>(from), {}};
  if (from.bad() || (file != "-" && !opened.is_open()))
    return std::unexpected(file + " cannot be read");
  return text;
}

/// {"changes": [{"effect": "breaking", "place": "weather.reading.unit", "what": "..."}]}
std::string json_of_changes(const std::vector<contract_change>& changes) {
  auto list = nlohmann::ordered_json::array();
  for (const auto& each : changes)
    list.push_back({{"effect", to_string(each.effect)}, {"place", each.place}, {"what", each.what}});
  return nlohmann::ordered_json{{"changes", list}}.dump(2) + '\n';
}

void check(const contract_request& asked, std::ostream& out, std::ostream& err, int& status) {
  const auto fail = [&](const std::string& why) {
    err << "troupe: " << why << '\n';
    status = 2;
  };
  const auto older = content_of(asked.older);
  const auto newer = content_of(asked.newer);
  if (!older || !newer)
    return fail(older ? newer.error() : older.error());
  const auto changes = compare_contracts(*older, *newer);
  if (!changes)
    return fail(asked.older + " and " + asked.newer + ": " + changes.error().message());
  out << (asked.json ? json_of_changes(*changes) : to_text(*changes));
  const auto worst = std::ranges::max_element(*changes, {}, &contract_change::effect);
  const auto bound = asked.strict ? contract_effect::depends_on_values : contract_effect::breaking;
  status = worst != changes->end() && worst->effect >= bound ? 1 : 0;
}

} // namespace

void add_contract_command(CLI::App& app, std::ostream& out, std::ostream& err, int& status) {
  auto* contract = app.add_subcommand("contract", "Compares two versions of a program, as their peers see them");
  contract->require_subcommand(1);
  auto asked = std::make_shared<contract_request>();
  auto* checks = contract->add_subcommand("check", "Lists the changes, and says which of them break older peers");
  checks->add_option("older", asked->older, "Contract of the older version, as troupe::contract_of() returns it")
      ->required()
      ->option_text("FILE");
  checks->add_option("newer", asked->newer, "The same of the newer one; - reads the standard input")
      ->required()
      ->option_text("FILE");
  checks->add_flag("--strict", asked->strict, "Also ends with status 1 if only some values are refused");
  checks->add_flag("--json", asked->json, "One JSON document instead of text");
  checks->callback([asked, &out, &err, &status] { check(*asked, out, err, status); });
}

} // namespace troupe::tools
