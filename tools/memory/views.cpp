#include "memory/views.hpp"

#include <troupe/base/sizes.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <set>

namespace troupe::tools {

namespace {

using json = nlohmann::ordered_json;

/// "link 3 to kitchen".
[[nodiscard]] std::string text_of_link(const memory_holder& holder) {
  if (holder.link == 0)
    return "a link";
  return fmt::format("link {} to {}", holder.link, holder.peer);
}

[[nodiscard]] std::set<std::string> groups_of(const memory_object& object, memory_group key,
                                              const process_names& names_of) {
  std::set<std::string> names;
  switch (key) {
  case memory_group::reason:
    for (const auto& each : object.holders)
      names.emplace(to_string(each.reason));
    break;
  case memory_group::process:
    for (const auto& each : object.holders)
      names.insert(each.process == 0 ? "no process" : text_of_process(each.process, names_of));
    break;
  case memory_group::link:
    for (const auto& each : object.holders)
      if (each.link != 0)
        names.insert(fmt::format("{} of {}", text_of_link(each), text_of_process(each.process, names_of)));
    if (names.empty())
      names.emplace("no link");
    break;
  case memory_group::store:
    names.insert(object.store.empty() ? "no store here" : object.store);
    break;
  case memory_group::state:
    names.insert(object.state);
    break;
  case memory_group::creator:
    names.insert(object.creator == 0 ? "not known" : text_of_process(object.creator, names_of));
    break;
  case memory_group::call_site:
    names.insert(object.call_site.empty() ? "not recorded" : object.call_site);
    break;
  case memory_group::none:
    break;
  }
  if (names.empty())
    names.emplace("nobody");
  return names;
}

[[nodiscard]] std::string table_of_objects(const std::vector<memory_object>& objects, const process_names& names) {
  if (objects.empty())
    return "no objects\n";
  auto lines = std::vector<std::vector<std::string>>{{"object", "bytes", "state", "store", "age", "kept by"}};
  auto bytes = std::uint64_t{0};
  for (const auto& each : objects) {
    bytes += each.size_bytes;
    lines.push_back(
        {each.object, grouped(each.size_bytes), each.state, each.store, text_of_age(each.age_ms),
         each.holders.empty() ? "nothing: the next reclaim removes it" : text_of(each.holders.front(), names)});
    for (std::size_t i = 1; i < each.holders.size(); ++i)
      lines.push_back({"", "", "", "", "", text_of(each.holders[i], names)});
    if (!each.call_site.empty())
      lines.push_back(
          {"", "", "", "", "", fmt::format("put by {} at {}", text_of_process(each.creator, names), each.call_site)});
  }
  return table(lines, "<><<><") + fmt::format("{}, {} bytes\n", several(objects.size(), "object"), grouped(bytes));
}

[[nodiscard]] json document_of(const memory_holder& holder, const process_names& names) {
  json result{{"reason", to_string(holder.reason)}, {"process", holder.process}, {"count", holder.count}};
  if (holder.link != 0 || !holder.peer.empty())
    result.update({{"link", holder.link}, {"peer", holder.peer}});
  if (!holder.object.empty())
    result["object"] = holder.object;
  if (holder.to != 0)
    result["to"] = holder.to;
  if (!holder.where.empty())
    result["where"] = holder.where;
  if (holder.age_ms >= 0)
    result["age_seconds"] = static_cast<double>(holder.age_ms) / 1000;
  if (const auto known = names.find(holder.process); known != names.end())
    result["node"] = known->second;
  result["text"] = text_of(holder, names);
  return result;
}

[[nodiscard]] json document_of(const memory_object& object, const process_names& names) {
  auto holders = json::array();
  for (const auto& each : object.holders)
    holders.push_back(document_of(each, names));
  return {{"object", object.object},       {"size_bytes", object.size_bytes},
          {"state", object.state},         {"store", object.store},
          {"creator", object.creator},     {"age_seconds", static_cast<double>(object.age_ms) / 1000},
          {"call_site", object.call_site}, {"holders", holders}};
}

} // namespace

process_names names_in(const memory_summary& summary) {
  process_names result;
  for (const auto& each : summary.processes)
    if (each.process != 0 && !each.node.empty()) {
      auto& name = result[each.process];
      name += (name.empty() ? "" : ", ") + each.node;
    }
  return result;
}

std::string text_of_process(std::uint32_t process, const process_names& names) {
  const auto known = names.find(process);
  return known == names.end() ? std::to_string(process) : fmt::format("{} \"{}\"", process, known->second);
}

std::string text_of(const memory_holder& holder, const process_names& names) {
  const auto process = text_of_process(holder.process, names);
  const auto in = "in " + process;
  const auto age = holder.age_ms >= 0 ? ", for " + text_of_age(holder.age_ms) : std::string{};
  switch (holder.reason) {
  case memory_reason::handle:
    if (holder.count == 0)
      return "at least one handle " + in;
    return several(holder.count, "handle") + " " + in
           + (holder.link != 0 ? fmt::format(", received over {}", text_of_link(holder)) : "");
  case memory_reason::pinned_view:
    return (holder.count == 0 ? std::string{"at least one pinned view"} : several(holder.count, "pinned view")) + " "
           + in;
  case memory_reason::being_written:
    return "being written " + in;
  case memory_reason::captured:
    return "captured in " + holder.object;
  case memory_reason::in_flight:
    return fmt::format("in flight from {} to {}, {}", process, text_of_process(holder.to, names),
                       several(holder.count, "handle"));
  case memory_reason::exported:
    return fmt::format("exported by {} over {}, {}{}", process, text_of_link(holder), several(holder.count, "time"),
                       age);
  case memory_reason::lost_link:
    return fmt::format("kept {} for a lost link{}{}", in, holder.where.empty() ? "" : " (" + holder.where + ")", age);
  case memory_reason::pending_message:
    return fmt::format("used {} by {} from {}{}", in, several(holder.count, "pending message"), text_of_link(holder),
                       age);
  case memory_reason::queued_message:
    return fmt::format("used {} by {} for {}{}", in, several(holder.count, "queued message"), text_of_link(holder),
                       age);
  case memory_reason::fetched:
    return "being fetched " + in;
  case memory_reason::out_of_band:
    return fmt::format("pinned out of band {}, at {}{}", in, holder.where, age);
  }
  return "unknown";
}

std::vector<object_group> grouped_by(const memory_summary& summary, memory_group key) {
  return grouped_by(summary.objects, [key, names = names_in(summary)](const memory_object& each) {
    return groups_of(each, key, names);
  });
}

std::string text_of(const memory_summary& summary, const std::vector<memory_hint>& hints) {
  auto text = table_of_objects(summary.objects, names_in(summary));
  if (summary.objects_left_off > 0)
    text += fmt::format("and {} more, of {} bytes; --limit 0 shows all\n", grouped(summary.objects_left_off),
                        grouped(summary.bytes_left_off));
  for (const auto& each : summary.processes)
    if (each.problem.empty())
      text += fmt::format("asked: {} \"{}\"{}\n", each.process, in_line(each.node),
                          each.store.empty() ? "" : ", store \"" + in_line(each.store) + '"');
  text += text_of_unasked(summary);
  for (const auto& each : hints)
    text += fmt::format("looks like a leak: {}: {}\n", in_line(each.object), printable(each.text));
  return text;
}

std::string text_of_unasked(const memory_summary& summary) {
  std::string text;
  for (const auto& each : summary.processes)
    if (!each.problem.empty())
      text += fmt::format("not asked: {}: {}\n", in_line(each.process == 0 ? each.node : std::to_string(each.process)),
                          reason_in_line(each.problem));
  return text;
}

std::string json_of(const memory_summary& summary, const std::vector<memory_hint>& hints) {
  auto processes = json::array();
  for (const auto& each : summary.processes)
    processes.push_back({{"process", each.process},
                         {"node", each.node},
                         {"store", each.store},
                         {"answered", each.problem.empty()},
                         {"problem", each.problem}});
  auto objects = json::array();
  const auto names = names_in(summary);
  for (const auto& each : summary.objects)
    objects.push_back(document_of(each, names));
  auto leaks = json::array();
  for (const auto& each : hints)
    leaks.push_back({{"object", each.object}, {"text", each.text}});
  return json{{"processes", processes},
              {"objects", objects},
              {"objects_left_off", summary.objects_left_off},
              {"bytes_left_off", summary.bytes_left_off},
              {"leaks", leaks}}
             .dump(2, ' ', false, json::error_handler_t::replace)
         + '\n';
}

} // namespace troupe::tools
