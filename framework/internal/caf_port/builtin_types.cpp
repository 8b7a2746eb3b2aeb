#include <troupe/framework/internal/caf_port/builtin_types.hpp>

#include <array>
#include <unordered_map>

#include <boost/core/demangle.hpp>

#include <caf/all.hpp>

#include <troupe/framework/actor_codecs.hpp>
#include <troupe/framework/caf_family/caf_type.hpp>
#include <troupe/framework/memory_summary.hpp>
#include <troupe/framework/node_activity.hpp>
#include <troupe/framework/node_report.hpp>
#include <troupe/framework/remote_call.hpp>
#include <troupe/framework/remote_recording.hpp>
#include <troupe/framework/spawn_request.hpp>
#include <troupe/serializers/cereal/cereal_type.hpp>

namespace troupe::internal {

namespace {

template <class... Ts>
constexpr auto infos_of(caf::detail::type_list<Ts...>) {
  return std::array<const std::type_info*, sizeof...(Ts) + 1>{nullptr, &typeid(Ts)...};
}

/// The built-in types. CAF numbers them from 1 in the order of this list, and keeps no type_info for them.
const auto& builtin_infos() {
  static const auto infos = infos_of(caf::sorted_builtin_types{});
  return infos;
}

/// Adds the type under that alias, unless it has one. The families cereal and caf get it as well, so that a link with
/// no other family can answer with errors.
template <class T>
void add_once(type_registry& types, std::string alias) {
  if (const auto* known = types.find<T>())
    alias = known->alias();
  add_cereal<T>(types, alias);
  add_caf<T>(types, std::move(alias));
}

} // namespace

void add_builtin_types(type_registry& types) {
  add_once<caf::actor>(types, "caf.actor");
  add_once<caf::actor_addr>(types, "caf.actor_addr");
  add_once<caf::strong_actor_ptr>(types, "caf.actor_ptr");
  add_once<caf::atom_value>(types, "caf.atom");
  add_once<caf::error>(types, "caf.error");
  add_once<caf::exit_msg>(types, "caf.exit");
  add_once<caf::unit_t>(types, "caf.unit");
  add_once<caf::timespan>(types, "caf.timespan");
  add_once<caf::timestamp>(types, "caf.timestamp");
  add_once<std::vector<caf::actor>>(types, "caf.actors");
  add_once<std::map<std::string, std::string>>(types, "caf.str_map");
  add_once<std::set<std::string>>(types, "caf.str_set");
  add_once<spawn_call>(types, "troupe.spawn");
  add_once<task_call>(types, "troupe.task");
  add_once<memory_query>(types, "troupe.memory_query");
  add_once<memory_summary>(types, "troupe.memory_summary");
  add_once<report_query>(types, "troupe.report_query");
  add_once<node_report>(types, "troupe.node_report");
  add_once<activity_query>(types, "troupe.activity_query");
  add_once<node_activity>(types, "troupe.node_activity");
  add_once<node_order>(types, "troupe.node_order");
  add_once<order_receipt>(types, "troupe.order_receipt");
  add_once<recording_query>(types, "troupe.recording_query");
  add_once<recording_part>(types, "troupe.recording_part");
}

const std::type_info* info_of(const caf::rtti_pair& type) {
  return type.first == 0 ? type.second : builtin_infos().at(type.first);
}

const type_entry* entry_of(const caf::rtti_pair& type, const type_registry& types) {
  const auto* info = info_of(type);
  return info == nullptr ? nullptr : types.find(std::type_index{*info});
}

caf::rtti_pair rtti_of(const type_entry& type) {
  static const auto numbers = [] {
    std::unordered_map<std::type_index, std::uint16_t> result;
    for (std::uint16_t number = 1; number < builtin_infos().size(); ++number)
      result.emplace(*builtin_infos()[number], number);
    return result;
  }();
  if (auto found = numbers.find(type.type()); found != numbers.end())
    return {found->second, nullptr};
  return {0, &type.info()};
}

std::string name_of_type(const caf::rtti_pair& type) {
  const auto* info = info_of(type);
  return info == nullptr ? "unknown" : boost::core::demangle(info->name());
}

} // namespace troupe::internal
