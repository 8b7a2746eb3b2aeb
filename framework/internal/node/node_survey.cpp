#include <troupe/framework/internal/node/node_survey.hpp>

#include <unistd.h>

#include <algorithm>
#include <chrono>

#include <troupe/base/version.hpp>
#include <troupe/framework/internal/link/node_link.hpp>
#include <troupe/framework/internal/node/node_core.hpp>
#include <troupe/serializers/contract.hpp>

namespace troupe::internal {

namespace {

store_report report_of(store::object_store store) {
  const auto known = store.totals();
  if (!known)
    return {};
  return {.name = known->name,
          .capacity_bytes = known->capacity_bytes,
          .bytes_in_use = known->bytes_in_use,
          .objects = known->objects,
          .spilled_objects = known->spilled_objects,
          .spilled_bytes = known->spilled_bytes,
          .waiting = known->waiting};
}

} // namespace

node_report report_of(const node_core& node, const report_query& query) {
  node_report result;
  result.name = node.options().name;
  result.version = TROUPE_VERSION;
  result.process = static_cast<std::uint32_t>(::getpid());
  result.age_ms =
      std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - node.since()).count();
  result.addresses = node.entrances().addresses();
  for (const auto& each : node.families().names())
    result.families.emplace_back(each);
  if (query.types)
    result.contract = contract_of(node.types());
  auto stats = node.stats();
  result.names_published = stats.names_published;
  result.links_opened = stats.links_opened;
  result.peers_refused = stats.peers_refused;
  result.totals = std::move(stats.links);
  if (query.links)
    for (const auto& link : node.links().open())
      result.links.push_back(link->report());
  std::ranges::sort(result.links, {}, &link_report::number);
  if (node.store())
    result.store = report_of(*node.store());
  return result;
}

} // namespace troupe::internal
