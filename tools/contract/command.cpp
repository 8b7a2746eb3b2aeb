#include "contract/command.hpp"

#include "nodes/client.hpp"
#include "text.hpp"

#include <troupe/framework/node_report.hpp>
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
#include <tuple>
#include <vector>

namespace troupe::tools {

namespace {

struct contract_request {
  std::string older;
  std::string newer;
  bool strict = false;
  bool json = false;
};

/// Two ends to compare. Each is the address of a node, or a file.
struct diff_request {
  std::string first;
  std::string second;
  access by;
  bool strict = false;
  bool json = false;
};

/// An end's contract. `families` is empty if they are unknown, as in a file.
struct known_end {
  std::string name;
  std::string version;
  std::vector<std::string> families;
  std::string types;
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

/// Indents each line by two spaces.
std::string indented(const std::string& lines) {
  std::string result;
  for (std::size_t begin = 0; begin < lines.size();) {
    const auto end = lines.find('\n', begin);
    result += "  " + lines.substr(begin, end - begin + 1);
    begin = end + 1;
  }
  return result;
}

/// Why there is no contract, and the status with which the command ends.
struct no_end {
  std::string why;
  int status;
};

std::expected<known_end, no_end> end_at(const std::string& where, const access& by) {
  if (where.find("://") == std::string::npos) {
    auto content = content_of(where);
    if (!content)
      return std::unexpected{no_end{std::move(content).error(), 2}};
    return known_end{.name = where, .version = {}, .families = {}, .types = *std::move(content)};
  }
  client one{by};
  auto link = one.connect(where);
  if (!link)
    return std::unexpected{no_end{where + " does not answer: " + link.error().message(), 1}};
  auto known = link->contract(one.timeout());
  if (!known)
    return std::unexpected{no_end{where + " does not tell its contract: " + known.error().message(), 1}};
  return known_end{.name = where,
                   .version = to_string(known->version),
                   .families = std::move(known->families),
                   .types = std::move(known->types)};
}

/// The values and families of the sender that the receiver would refuse.
std::expected<std::vector<contract_change>, std::string> refused_between(const known_end& sender,
                                                                         const known_end& receiver) {
  auto refused = refused_by_receiver(sender.types, receiver.types);
  if (!refused)
    return std::unexpected(sender.name + " and " + receiver.name + ": " + refused.error().message());
  const auto has = [&](const std::string& family) { return std::ranges::count(receiver.families, family) != 0; };
  if (!sender.families.empty() && !receiver.families.empty() && std::ranges::none_of(sender.families, has))
    refused->insert(refused->begin(),
                    {contract_effect::breaking, "families", "the receiver has none of the sender's families"});
  return *std::move(refused);
}

[[nodiscard]] nlohmann::ordered_json document_of(const std::vector<contract_change>& changes) {
  auto list = nlohmann::ordered_json::array();
  for (const auto& each : changes)
    list.push_back({{"effect", to_string(each.effect)}, {"place", each.place}, {"what", each.what}});
  return list;
}

/// {"changes": [{"effect": "breaking", "place": "weather.reading.unit", "what": "..."}]}
std::string json_of_changes(const std::vector<contract_change>& changes) {
  return nlohmann::ordered_json{{"changes", document_of(changes)}}.dump(2) + '\n';
}

[[nodiscard]] nlohmann::ordered_json document_of(const known_end& end) {
  return {{"where", end.name}, {"version", end.version}, {"families", end.families}};
}

[[nodiscard]] bool reaches(const std::vector<contract_change>& changes, bool strict) {
  const auto bound = strict ? contract_effect::depends_on_values : contract_effect::breaking;
  return std::ranges::any_of(changes, [bound](const auto& each) { return each.effect >= bound; });
}

void diff(const diff_request& asked, std::ostream& out, std::ostream& err, int& status) {
  const auto fail = [&](const std::string& why, int with) {
    err << printable("troupe: " + why) << '\n';
    status = with;
  };
  const auto first = end_at(asked.first, asked.by);
  const auto second = end_at(asked.second, asked.by);
  if (!first || !second)
    return fail((first ? second : first).error().why, (first ? second : first).error().status);
  const auto there = refused_between(*first, *second);
  const auto back = refused_between(*second, *first);
  if (!there || !back)
    return fail(there ? back.error() : there.error(), 2);
  if (asked.json) {
    const nlohmann::ordered_json document{{"first", document_of(*first)},
                                          {"second", document_of(*second)},
                                          {"refused_by_second", document_of(*there)},
                                          {"refused_by_first", document_of(*back)}};
    out << document.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) << '\n';
  } else {
    for (const auto* end : {&*first, &*second})
      if (!end->version.empty())
        out << printable(end->name + ": " + end->version + '\n');
    for (const auto& [from, to, refused] :
         {std::tuple{&*first, &*second, &*there}, std::tuple{&*second, &*first, &*back}})
      out << printable("from " + from->name + " to " + to->name + ":"
                       + (refused->empty() ? " nothing is refused\n" : "\n" + indented(to_text(*refused))));
  }
  status = reaches(*there, asked.strict) || reaches(*back, asked.strict) ? 1 : 0;
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
  status = reaches(*changes, asked.strict) ? 1 : 0;
}

} // namespace

void add_contract_command(CLI::App& app, std::ostream& out, std::ostream& err, int& status) {
  auto* contract =
      app.add_subcommand("contract", "Compares the contracts of two versions of a program, or of two nodes");
  contract->require_subcommand(1);
  auto asked = std::make_shared<contract_request>();
  auto* checks = contract->add_subcommand("check", "Lists the changes, and tells which of them break older peers");
  checks->add_option("older", asked->older, "Contract of the older version, as troupe::contract_of() returns it")
      ->required()
      ->option_text("FILE");
  checks->add_option("newer", asked->newer, "Contract of the newer version; -: reads standard input")
      ->required()
      ->option_text("FILE");
  checks->add_flag("--strict", asked->strict, "Also ends with status 1 if only some values are refused");
  checks->add_flag("--json", asked->json, "One JSON document instead of text");
  checks->callback([asked, &out, &err, &status] { check(*asked, out, err, status); });

  auto compared = std::make_shared<diff_request>();
  auto* diffs = contract->add_subcommand(
      "diff", "Shows what each of two nodes would refuse of the other. The links to the nodes must allow reports "
              "(allow_report)");
  diffs->add_option("first", compared->first, "The address of a node, or a file with a contract")->required();
  diffs->add_option("second", compared->second, "The address of the other node, or a file with its contract")
      ->required();
  add_access(*diffs, compared->by);
  diffs->add_flag("--strict", compared->strict, "Also ends with status 1 if only some values are refused");
  diffs->add_flag("--json", compared->json, "One JSON document instead of text");
  diffs->callback([compared, &out, &err, &status] { diff(*compared, out, err, status); });
}

} // namespace troupe::tools
