#include "cluster/diagnosis.hpp"

#include "text.hpp"

#include <troupe/base/sizes.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <string_view>

namespace troupe::tools {

namespace {

using json = nlohmann::ordered_json;

constexpr std::size_t matrix_members_max = 16;

[[nodiscard]] double in_milliseconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

[[nodiscard]] std::string word_of(tried_address::outcome what) {
  using enum tried_address::outcome;
  switch (what) {
  case proven:
    return "proven";
  case reachable:
    return "reachable";
  case elsewhere:
    return "not this host";
  case failed:
    return "failed";
  }
  return "unknown";
}

[[nodiscard]] std::string line_of_address(const tried_address& tried) {
  auto text = tried.address + ": " + word_of(tried.what);
  if (tried.what == tried_address::outcome::proven)
    text += fmt::format(" in {:.1f} ms", in_milliseconds(tried.time));
  if (!tried.text.empty())
    text += ": " + tried.text;
  return text;
}

[[nodiscard]] std::string line_of_directory(const examined_directory& where) {
  return fmt::format("directory {}: answers in {:.1f} ms, revision {}, {}\n", where.address,
                     in_milliseconds(where.answer_time), where.revision,
                     !where.is_writable  ? "finds members only"
                     : where.was_written ? "can be written"
                                         : "was not written");
}

/// "yes", "no", or "?" if it is not known.
[[nodiscard]] std::string_view cell_of(const examined_member& from, const std::string& to) {
  if (from.member.name == to)
    return "-";
  if (!from.account)
    return "?";
  const auto found = std::ranges::find(from.account->reaches, to, &member_reach::member);
  if (found == from.account->reaches.end() || !found->is_tried)
    return "?";
  return found->why.empty() ? "yes" : "NO";
}

/// Which member (line) reaches which one (column).
[[nodiscard]] std::string matrix_of(const std::vector<examined_member>& members) {
  if (members.size() < 2 || members.size() > matrix_members_max
      || std::ranges::none_of(members, [](const auto& each) { return each.account.has_value(); }))
    return {};
  std::vector<std::vector<std::string>> lines{{"reaches"}};
  for (const auto& each : members)
    lines.front().push_back(each.member.name);
  for (const auto& from : members) {
    auto& line = lines.emplace_back(std::vector{from.member.name});
    for (const auto& to : members)
      line.emplace_back(cell_of(from, to.member.name));
  }
  return '\n' + table(std::move(lines), std::string(members.size() + 1, '<'));
}

[[nodiscard]] std::string list_of_findings(const std::vector<finding>& findings, bool problems, const char* title) {
  std::string text;
  for (const auto& each : findings)
    if (each.is_problem == problems)
      text += "  " + reason_in_line(each.about + ": " + each.text) + '\n';
  return text.empty() ? text : '\n' + std::string{title} + '\n' + text;
}

[[nodiscard]] json account_document(const member_account& account) {
  auto reaches = json::array();
  for (const auto& each : account.reaches)
    reaches.push_back({{"member", each.member},
                       {"tried", each.is_tried},
                       {"reached", each.is_tried && each.why.empty()},
                       {"why", each.why},
                       {"ms", each.time.count()}});
  return {{"problems", account.problems}, {"reaches", reaches}};
}

} // namespace

bool diagnosis::is_healthy() const {
  return std::ranges::none_of(findings, &finding::is_problem);
}

std::string text_of(const diagnosis& of) {
  auto text = line_of_directory(of.where);
  for (const auto& each : of.members) {
    text += in_line("member " + each.member.name + (each.member.is_draining ? " (draining)" : "")
                        + (each.no_account.empty() ? "" : ", without an account: " + each.no_account),
                    400)
            + '\n';
    for (const auto& tried : each.addresses)
      text += "  " + reason_in_line(line_of_address(tried)) + '\n';
  }
  text += matrix_of(of.members);
  text += list_of_findings(of.findings, false, "to know:");
  text += list_of_findings(of.findings, true, "problems:");
  const auto count = static_cast<std::size_t>(std::ranges::count_if(of.findings, &finding::is_problem));
  return text + '\n' + (count == 0 ? "nothing is wrong" : several(count, "problem")) + '\n';
}

json document_of(const diagnosis& of) {
  auto members = json::array();
  for (const auto& each : of.members) {
    auto addresses = json::array();
    for (const auto& tried : each.addresses)
      addresses.push_back({{"address", tried.address},
                           {"outcome", word_of(tried.what)},
                           {"text", tried.text},
                           {"ms", in_milliseconds(tried.time)}});
    members.push_back({{"name", each.member.name},
                       {"incarnation", each.member.incarnation},
                       {"draining", each.member.is_draining},
                       {"version", each.member.version},
                       {"addresses", addresses},
                       {"account", each.account ? account_document(*each.account) : json(nullptr)},
                       {"no_account", each.no_account}});
  }
  auto findings = json::array();
  for (const auto& each : of.findings)
    findings.push_back({{"problem", each.is_problem}, {"about", each.about}, {"text", each.text}});
  return {{"healthy", of.is_healthy()},
          {"directory",
           {{"address", of.where.address},
            {"identity", of.where.identity},
            {"answer_ms", in_milliseconds(of.where.answer_time)},
            {"revision", of.where.revision},
            {"writable", of.where.is_writable},
            {"written", of.where.was_written}}},
          {"members", members},
          {"findings", findings}};
}

} // namespace troupe::tools
