#include "cluster/views.hpp"

#include "text.hpp"

#include <troupe/base/sizes.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <string_view>
#include <tuple>

namespace troupe::tools {

namespace {

using json = nlohmann::ordered_json;

[[nodiscard]] std::string joined(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, ", "));
}

[[nodiscard]] const drain_order* order_to(const cluster_snapshot& in, const std::string& member) {
  const auto found = std::ranges::find(in.orders, member, &drain_order::member);
  return found == in.orders.end() ? nullptr : &*found;
}

[[nodiscard]] json member_document(const cluster_member& member) {
  return {{"name", member.name},           {"incarnation", member.incarnation},
          {"addresses", member.addresses}, {"roles", member.roles},
          {"host", member.host},           {"version", member.version},
          {"draining", member.is_draining}};
}

/// Kind, member, and its shards.
using owned_shards = std::map<std::pair<std::string, std::string>, std::vector<std::uint32_t>>;

[[nodiscard]] owned_shards shards_by_owner(const cluster_snapshot& in) {
  owned_shards all;
  for (const auto& each : in.shards)
    all[{each.kind, each.member}].push_back(each.shard);
  return all;
}

/// Name, kind, member; in the order of the names.
[[nodiscard]] std::vector<std::tuple<std::string, std::string, std::string>> named_actors(const cluster_snapshot& in) {
  std::vector<std::tuple<std::string, std::string, std::string>> all;
  // The members that host a kind of entities publish where its messages arrive: framework/cluster/format.md.
  constexpr std::string_view regions = "troupe.entities.";
  for (const auto& [name, member] : in.names)
    if (name.starts_with(regions))
      all.emplace_back(name.substr(regions.size()), "entities", member);
    else
      all.emplace_back(name, "name", member);
  for (const auto& [name, member] : in.singletons)
    all.emplace_back(name, "singleton", member);
  std::ranges::sort(all);
  return all;
}

/// In UTC, with milliseconds.
[[nodiscard]] std::string time_now() {
  const auto now = std::chrono::system_clock::now();
  const auto seconds = std::chrono::system_clock::to_time_t(now);
  const auto milliseconds =
      std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count() % 1000;
  std::tm broken{};
  char text[32] = {};
  if (::gmtime_r(&seconds, &broken) != nullptr)
    std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &broken);
  return fmt::format("{}.{:03}Z", text, milliseconds);
}

} // namespace

std::size_t member_work::shard_count() const {
  std::size_t count = 0;
  for (const auto& [kind, numbers] : shards)
    count += numbers.size();
  return count;
}

member_work work_of(const cluster_snapshot& in, const std::string& member) {
  member_work work;
  for (const auto& [name, by] : in.names)
    if (by == member)
      work.names.push_back(name);
  for (const auto& [name, by] : in.singletons)
    if (by == member)
      work.singletons.push_back(name);
  for (const auto& each : in.shards)
    if (each.member == member)
      work.shards[each.kind].push_back(each.shard);
  return work;
}

std::string text_of(const member_work& work) {
  std::vector<std::string> parts;
  if (!work.names.empty())
    parts.push_back(several(work.names.size(), "name"));
  if (!work.singletons.empty())
    parts.push_back(several(work.singletons.size(), "singleton"));
  if (work.shard_count() > 0)
    parts.push_back(several(work.shard_count(), "shard"));
  return parts.empty() ? "nothing" : joined(parts);
}

json document_of(const member_work& work) {
  auto shards = json::object();
  for (const auto& [kind, numbers] : work.shards)
    shards[kind] = numbers;
  return {{"names", work.names}, {"singletons", work.singletons}, {"shards", shards}};
}

std::string text_of_members(const cluster_snapshot& in) {
  if (in.members.empty())
    return "no members\n";
  std::vector<std::vector<std::string>> lines{
      {"member", "state", "names", "singletons", "shards", "roles", "addresses"}};
  for (const auto& each : in.members) {
    const auto work = work_of(in, each.name);
    const auto* const state = each.is_draining                     ? (work.is_none() ? "drained" : "draining")
                              : order_to(in, each.name) != nullptr ? "ordered to drain"
                                                                   : "up";
    lines.push_back({each.name, state, grouped(work.names.size()), grouped(work.singletons.size()),
                     grouped(work.shard_count()), joined(each.roles), joined(each.addresses)});
  }
  return table(std::move(lines), "<<>>><<");
}

json document_of_members(const cluster_snapshot& in) {
  auto list = json::array();
  for (const auto& each : in.members) {
    auto row = member_document(each);
    const auto* const order = order_to(in, each.name);
    row["drain_ordered_by"] = order == nullptr ? json(nullptr) : json(order->by);
    row.update(document_of(work_of(in, each.name)));
    list.push_back(std::move(row));
  }
  return list;
}

std::string text_of_names(const cluster_snapshot& in) {
  const auto all = named_actors(in);
  if (all.empty())
    return "no names\n";
  std::vector<std::vector<std::string>> lines{{"name", "kind", "member"}};
  for (const auto& [name, kind, member] : all)
    lines.push_back({name, kind, member});
  return table(std::move(lines), "<<<");
}

json document_of_names(const cluster_snapshot& in) {
  auto list = json::array();
  for (const auto& [name, kind, member] : named_actors(in))
    list.push_back({{"name", name}, {"kind", kind}, {"member", member}});
  return list;
}

std::string text_of_entities(const cluster_snapshot& in) {
  const auto all = shards_by_owner(in);
  if (all.empty())
    return "no entities\n";
  std::vector<std::vector<std::string>> lines{{"kind", "member", "shards"}};
  for (const auto& [of, numbers] : all)
    lines.push_back({of.first, of.second, grouped(numbers.size())});
  return table(std::move(lines), "<<>");
}

json document_of_entities(const cluster_snapshot& in) {
  auto list = json::array();
  for (const auto& [of, numbers] : shards_by_owner(in))
    list.push_back({{"kind", of.first}, {"member", of.second}, {"shards", numbers}});
  return list;
}

std::string line_of(const cluster_event& event) {
  using enum cluster_event::kind;
  auto line = fmt::format("{}  {:<15}", time_now().substr(11), name_of(event.what));
  if (event.what == singleton_moved)
    line += "  " + event.name + " to " + (event.member.name.empty() ? "nobody" : event.member.name);
  else if (event.what == entities_moved)
    line += "  " + event.name;
  else if (!event.member.name.empty())
    line += "  " + event.member.name;
  if (event.what == name_added || event.what == name_gone)
    line += "  " + event.name;
  if (event.what == member_up || event.what == member_changed)
    line += "  " + joined(event.member.addresses) + (event.member.is_draining ? "  draining" : "");
  if (event.what == directory_lost)
    line += "  " + event.reason.message();
  line.erase(line.find_last_not_of(' ') + 1);
  return in_line(line, 2'000);
}

json document_of(const cluster_event& event) {
  json document{{"time", time_now()}, {"event", name_of(event.what)}};
  if (!event.member.name.empty())
    document["member"] = member_document(event.member);
  else if (event.what == cluster_event::kind::singleton_moved)
    document["member"] = nullptr;
  if (!event.name.empty())
    document["name"] = event.name;
  if (event.what == cluster_event::kind::directory_lost)
    document["reason"] = {{"code", to_string(event.reason.code())}, {"text", event.reason.message()}};
  return document;
}

std::string finished(const json& document, int indent) {
  return document.dump(indent, ' ', false, json::error_handler_t::replace) + '\n';
}

} // namespace troupe::tools
