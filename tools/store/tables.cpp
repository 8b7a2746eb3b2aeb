#include "store/tables.hpp"

#include "store/reasons.hpp"

#include <troupe/base/sizes.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace troupe::tools {

namespace {

[[nodiscard]] std::string state_of(const store::object_row& object) {
  return std::string{to_string(object.state)} + (object.has_own_file ? ", own file" : "");
}

} // namespace

std::string text_of(const std::vector<store::found_store>& stores) {
  if (stores.empty())
    return "no stores\n";
  auto lines = std::vector<std::vector<std::string>>{{"store", "bytes", ""}};
  for (const auto& store : stores) {
    auto state = store.in_use_by ? "in use by process " + std::to_string(*store.in_use_by)
                                 : std::string{"left by dead processes; `troupe store clean` removes it"};
    if (!store.is_of_this_boot)
      state = "of another boot; the next process that opens a store of this name removes it";
    else if (!store.is_of_this_layout)
      state += ", layout version " + std::to_string(store.layout_version);
    lines.push_back({store.name, grouped(store.memory_bytes), std::move(state)});
  }
  return table(lines, "<><");
}

std::string text_of(const std::vector<store::cleaned_store>& cleaned) {
  if (cleaned.empty())
    return "no stores\n";
  auto text = std::string{};
  for (const auto& each : cleaned) {
    const auto name = "store \"" + each.store.name + '"';
    if (!each.problem.empty())
      text += name + " stays: " + each.problem + '\n';
    else if (each.is_removed)
      text += fmt::format("{} is removed, {} bytes are free\n", name, grouped(each.store.memory_bytes));
    else
      text += name + " is in use; everything that dead processes held in it is free now\n";
  }
  return text;
}

std::string text_of_totals(const store::store_summary& summary) {
  auto text =
      fmt::format("store \"{}\": {}, {} of {} bytes in use ({:.0f} %), at most {}\n", summary.name,
                  several(summary.objects, "object"), grouped(summary.bytes_in_use), grouped(summary.capacity_bytes),
                  100.0 * static_cast<double>(summary.bytes_in_use)
                      / static_cast<double>(std::max<std::size_t>(summary.capacity_bytes, 1)),
                  grouped(summary.high_water_bytes));
  text += fmt::format("memory taken from the system: {} bytes\n", grouped(summary.committed_bytes));
  if (!summary.spill_directory.empty())
    text += fmt::format("on disk: {}, {} bytes, in {} of {} bytes in {}\n", several(summary.spilled_objects, "object"),
                        grouped(summary.spilled_bytes), several(summary.spill_files, "file"),
                        grouped(summary.disk_bytes), summary.spill_directory.string());
  if (summary.waiting > 0)
    text += fmt::format("calls that wait for room: {}\n", summary.waiting);
  text += summary.processes.empty() ? "no process has it open" : "open in:";
  for (const auto process : summary.processes)
    text += " " + std::to_string(process);
  return text + '\n';
}

std::string text_of_objects(const store::store_summary& summary) {
  const auto& objects = summary.rows;
  if (objects.empty())
    return "no objects\n";
  auto lines = std::vector<std::vector<std::string>>{{"object", "bytes", "state", "creator", "age", "kept because"}};
  auto bytes = std::size_t{0};
  for (const auto& object : objects) {
    const auto all = reasons(object, summary.processes);
    lines.push_back({to_string(object.id), grouped(object.size_bytes), state_of(object), std::to_string(object.creator),
                     text_of(object.age),
                     all.front() + (all.size() > 1 ? fmt::format(" (and {} more)", all.size() - 1) : "")});
    bytes += object.size_bytes;
  }
  return table(lines, "<><>><") + fmt::format("{}, {} bytes\n", several(objects.size(), "object"), grouped(bytes));
}

std::string text_of(const store::object_row& object, const std::vector<pid_t>& living) {
  auto text = fmt::format("object {}\n  {} bytes, and {} of metadata\n  {}\n  made by process {}, {} ago\n",
                          to_string(object.id), grouped(object.size_bytes), grouped(object.metadata_bytes),
                          state_of(object), object.creator, text_of(object.age));
  if (!object.call_site.empty())
    text += "  at " + object.call_site + '\n';
  for (const auto& why : reasons(object, living))
    text += "  " + why + '\n';
  for (const auto& inner : object.captures)
    text += "  captures " + to_string(inner) + '\n';
  return text;
}

} // namespace troupe::tools
