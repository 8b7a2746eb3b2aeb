#include <troupe/framework/internal/link/traffic.hpp>

#include <algorithm>
#include <tuple>

#include <troupe/framework/internal/link/link_totals.hpp>

namespace troupe::internal {

traffic& traffic_table::of(std::string_view family, std::string_view type) {
  std::lock_guard guard{mutex_};
  return entries_.try_emplace({std::string{family}, std::string{type}}, &times_).first->second;
}

void traffic_table::add_to(std::vector<type_stats>& into, payload_totals type_stats::*direction) const {
  std::lock_guard guard{mutex_};
  for (const auto& [names, carried] : entries_)
    add(row_of(into, names.first, names.second).*direction, carried.totals());
}

type_stats& row_of(std::vector<type_stats>& rows, std::string_view family, std::string_view type) {
  const auto sought = std::tuple{family, type};
  auto at = std::ranges::lower_bound(rows, sought, {}, [](const type_stats& row) {
    return std::tuple{std::string_view{row.family}, std::string_view{row.type}};
  });
  if (at == rows.end() || at->family != family || at->type != type)
    at = rows.insert(at, {.family = std::string{family}, .type = std::string{type}, .sent = {}, .received = {}});
  return *at;
}

} // namespace troupe::internal
