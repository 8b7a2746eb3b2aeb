#include "store/json.hpp"

#include "store/reasons.hpp"

#include <nlohmann/json.hpp>

namespace troupe::tools {

namespace {

using json = nlohmann::ordered_json;

[[nodiscard]] std::string finished(const json& document) {
  return document.dump(2) + '\n';
}

[[nodiscard]] json ids(const std::vector<store::object_id>& all) {
  auto list = json::array();
  for (const auto& id : all)
    list.push_back(to_string(id));
  return list;
}

[[nodiscard]] json document_of(const store::object_row& object, const std::vector<pid_t>& living) {
  auto flights = json::array();
  for (const auto& flight : object.in_flight)
    flights.push_back({{"from", flight.from}, {"to", flight.to}, {"channel", flight.channel}, {"count", flight.count}});
  return {{"id", to_string(object.id)},
          {"size_bytes", object.size_bytes},
          {"metadata_bytes", object.metadata_bytes},
          {"state", to_string(object.state)},
          {"own_file", object.has_own_file},
          {"creator", object.creator},
          {"age_seconds", std::chrono::duration<double>(object.age).count()},
          {"call_site", object.call_site},
          {"holders", object.holders},
          {"pinned_by", object.pinned_by},
          {"captures", ids(object.captures)},
          {"captured_by", ids(object.captured_by)},
          {"in_flight", flights},
          {"reasons", reasons(object, living)}};
}

} // namespace

std::string json_of(const std::vector<store::found_store>& stores) {
  auto list = json::array();
  for (const auto& store : stores)
    list.push_back({{"name", store.name},
                    {"memory_bytes", store.memory_bytes},
                    {"in_use_by", store.in_use_by ? json(*store.in_use_by) : json(nullptr)},
                    {"layout_version", store.layout_version},
                    {"this_boot", store.is_of_this_boot}});
  return finished(list);
}

std::string json_of_totals(const store::store_summary& summary) {
  return finished({{"name", summary.name},
                   {"capacity_bytes", summary.capacity_bytes},
                   {"bytes_in_use", summary.bytes_in_use},
                   {"high_water_bytes", summary.high_water_bytes},
                   {"committed_bytes", summary.committed_bytes},
                   {"objects", summary.objects},
                   {"spill_directory", summary.spill_directory.string()},
                   {"spilled_objects", summary.spilled_objects},
                   {"spilled_bytes", summary.spilled_bytes},
                   {"spill_files", summary.spill_files},
                   {"disk_bytes", summary.disk_bytes},
                   {"waiting", summary.waiting},
                   {"processes", summary.processes}});
}

std::string json_of_objects(const store::store_summary& summary) {
  auto list = json::array();
  for (const auto& object : summary.rows)
    list.push_back(document_of(object, summary.processes));
  return finished(list);
}

std::string json_of(const store::object_row& object, const std::vector<pid_t>& living) {
  return finished(document_of(object, living));
}

std::string json_of(const std::vector<store::cleaned_store>& cleaned) {
  auto list = json::array();
  for (const auto& each : cleaned)
    list.push_back({{"name", each.store.name},
                    {"layout_version", each.store.layout_version},
                    {"removed", each.is_removed},
                    {"bytes", each.store.memory_bytes},
                    {"problem", each.problem}});
  return finished(list);
}

} // namespace troupe::tools
