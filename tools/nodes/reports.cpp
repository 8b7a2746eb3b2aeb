#include "nodes/reports.hpp"

#include "text.hpp"

#include <troupe/base/sizes.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

namespace troupe::tools {

namespace {

using json = nlohmann::ordered_json;

[[nodiscard]] json document_of(const payload_totals& totals) {
  return {{"payloads", totals.payloads}, {"bytes", totals.bytes}, {"time_ns", totals.time.count()}};
}

[[nodiscard]] json document_of(const latency_stats& latency) {
  auto buckets = json::array(); // [end of the bucket in ns, count]
  for (const auto& each : latency.buckets)
    buckets.push_back({each.up_to.count(), each.count});
  return {{"count", latency.count},
          {"sum_ns", latency.sum.count()},
          {"p50_ns", latency.p50.count()},
          {"p90_ns", latency.p90.count()},
          {"p99_ns", latency.p99.count()},
          {"max_ns", latency.max.count()},
          {"buckets", buckets}};
}

[[nodiscard]] json document_of(const link_latencies& latencies) {
  json result;
  for (const auto& [name, kind] : latency_kinds)
    result[std::string{name}] = document_of(latencies.*kind);
  return result;
}

[[nodiscard]] json document_of(const link_stats& stats) {
  auto types = json::array();
  for (const auto& each : stats.by_type)
    types.push_back({{"family", each.family},
                     {"type", each.type},
                     {"sent", document_of(each.sent)},
                     {"received", document_of(each.received)}});
  return {{"messages_sent", stats.messages_sent},
          {"messages_received", stats.messages_received},
          {"socket_bytes_sent", stats.socket_bytes_sent},
          {"socket_bytes_received", stats.socket_bytes_received},
          {"handle_bytes_sent", stats.handle_bytes_sent},
          {"handle_bytes_received", stats.handle_bytes_received},
          {"pulled_bytes_sent", stats.pulled_bytes_sent},
          {"pulled_bytes_received", stats.pulled_bytes_received},
          {"spilled_bytes", stats.spilled_bytes},
          {"unserializable", stats.unserializable},
          {"refused_by_policy", stats.refused_by_policy},
          {"undecodable", stats.undecodable},
          {"undelivered", stats.undelivered},
          {"store_fallbacks", stats.store_fallbacks},
          {"refused_at_bound", stats.refused_at_bound},
          {"dropped", stats.dropped},
          {"expired", stats.expired},
          {"forwarded", stats.forwarded},
          {"unconsumed_bytes_there", stats.unconsumed_bytes_there},
          {"waiting_bytes", stats.waiting_bytes},
          {"unconsumed_bytes_here", stats.unconsumed_bytes_here},
          {"unconsumed_handle_bytes_there", stats.unconsumed_handle_bytes_there},
          {"waiting_handle_bytes", stats.waiting_handle_bytes},
          {"unconsumed_handle_bytes_here", stats.unconsumed_handle_bytes_here},
          {"unread_bytes", stats.unread_bytes},
          {"large_frame_bytes_here", stats.large_frame_bytes_here},
          {"window_bytes", stats.window_bytes},
          {"credit_bytes", stats.credit_bytes},
          {"actors_exported", stats.actors_exported},
          {"actors_imported", stats.actors_imported},
          {"encode_time_ns", stats.encode_time.count()},
          {"decode_time_ns", stats.decode_time.count()},
          {"latencies", document_of(stats.latencies)},
          {"by_type", types}};
}

[[nodiscard]] json document_of(const node_version& version) {
  return {{"troupe", version.troupe}, {"protocol", version.protocol}, {"protocol_minor", version.protocol_minor}};
}

[[nodiscard]] json document_of(const std::vector<link_feature>& features) {
  auto result = json::array();
  for (const auto& each : features)
    result.push_back({{"name", each.name}, {"version", each.version}, {"in_use", each.in_use}});
  return result;
}

/// The version of the peer, and the features that only one end has.
[[nodiscard]] std::string text_of_version(const link_report& link) {
  auto text = (link.version.troupe.empty() ? "?" : link.version.troupe) + " (" + std::to_string(link.version.protocol)
              + '.' + std::to_string(link.version.protocol_minor) + ')';
  for (const auto& each : link.features)
    if (!each.in_use)
      text += " +" + each.name;
  return text;
}

[[nodiscard]] json document_of(const link_report& link) {
  return {{"number", link.number},
          {"link_id", link.link_id},
          {"peer", link.peer},
          {"address", link.address},
          {"transport", link.transport},
          {"dialed", link.is_dialed},
          {"role", link.role},
          {"shares_store", link.shares_store},
          {"age_seconds", static_cast<double>(link.age_ms) / 1000},
          {"serializers", link.serializers},
          {"deserializers", link.deserializers},
          {"compression", link.compression},
          {"version", document_of(link.version)},
          {"features", document_of(link.features)},
          {"stats", document_of(link.stats)}};
}

[[nodiscard]] std::string text_of_links(const std::vector<link_report>& links) {
  if (links.empty())
    return "  no links\n";
  auto lines = std::vector<std::vector<std::string>>{
      {"  link", "to", "over", "sends / accepts", "compression", "store", "version", "age", "messages out / in",
       "socket out / in", "handles out / in", "waiting", "not delivered", "round trip p50 / p99", "handler p50 / p99"}};
  for (const auto& each : links) {
    const auto& stats = each.stats;
    lines.push_back({"  " + std::to_string(each.number),
                     each.peer + (each.address.empty() ? "" : " at " + each.address)
                         + (each.role.empty() ? "" : " as " + each.role),
                     each.transport + (each.is_dialed ? ", dialed" : ""),
                     list_of(each.serializers) + " / " + list_of(each.deserializers), each.compression,
                     each.shares_store ? "shared" : "-", text_of_version(each), text_of_age(each.age_ms),
                     grouped(stats.messages_sent) + " / " + grouped(stats.messages_received),
                     text_of_bytes(static_cast<double>(stats.socket_bytes_sent)) + " / "
                         + text_of_bytes(static_cast<double>(stats.socket_bytes_received)),
                     text_of_bytes(static_cast<double>(stats.handle_bytes_sent)) + " / "
                         + text_of_bytes(static_cast<double>(stats.handle_bytes_received)),
                     text_of_bytes(static_cast<double>(stats.waiting_bytes)), grouped(lost_by(stats)),
                     text_of(stats.latencies.round_trip), text_of(stats.latencies.handler)});
  }
  return table(lines, ">><<<<<>>>>>>>>");
}

} // namespace

std::vector<asked_node> reports_of(const std::vector<local_node>& nodes, const report_query& what, const access& by) {
  std::vector<asked_node> result(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i)
    result[i].where = nodes[i];
  if (nodes.empty())
    return result;
  client one{by};
  std::vector<char> others(nodes.size());
  ask_each(nodes.size(), [&](std::size_t which) {
    auto& asked = result[which];
    auto link = one.connect(asked.where.address);
    if (!link) {
      asked.report = std::unexpected{link.error()};
      others[which] = is_none_of_ours(asked.where, link.error());
      return;
    }
    asked.report = link->report(one.timeout(), what);
    link->close();
    leave_out_observer(asked);
  });
  for (auto which = nodes.size(); which-- > 0;)
    if (others[which] != 0)
      result.erase(result.begin() + static_cast<std::ptrdiff_t>(which));
  return result;
}

void leave_out_observer(asked_node& asked) {
  if (asked.report)
    std::erase_if(asked.report->links, [](const link_report& each) { return each.peer == observer_name(); });
}

std::uint64_t lost_by(const link_stats& stats) {
  return stats.unserializable + stats.undecodable + stats.undelivered + stats.refused_at_bound + stats.dropped;
}

std::string text_of_bytes(double bytes) {
  constexpr auto units = std::array{"B", "kB", "MB", "GB", "TB"};
  auto unit = std::size_t{0};
  for (; bytes >= 999.5 && unit + 1 < units.size(); ++unit)
    bytes /= 1000;
  if (unit == 0)
    return fmt::format("{:.0f} B", bytes);
  return fmt::format("{:.{}f} {}", bytes, bytes < 9.995 ? 2 : bytes < 99.95 ? 1 : 0, units[unit]);
}

namespace {

/// "85.0 us": three digits and a unit.
[[nodiscard]] std::string short_time(std::chrono::nanoseconds time) {
  constexpr auto units = std::array{"us", "ms", "s"};
  auto value = static_cast<double>(time.count()) / 1000;
  auto unit = std::size_t{0};
  for (; value >= 999.5 && unit + 1 < units.size(); ++unit)
    value /= 1000;
  return fmt::format("{:.{}f} {}", value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0, units[unit]);
}

} // namespace

std::string text_of(const latency_stats& latency) {
  return latency.count == 0 ? "-" : short_time(latency.p50) + " / " + short_time(latency.p99);
}

std::string list_of(const std::vector<std::string>& names) {
  return fmt::format("{}", fmt::join(names, ","));
}

std::string title_of(const node_report& node) {
  return fmt::format("{}, process {}, troupe {}, up {}", in_line(node.name), node.process, node.version,
                     text_of_age(node.age_ms));
}

std::string text_of(const store_report& store) {
  if (store.name.empty())
    return {};
  auto text =
      fmt::format("store \"{}\": {}, {:.0f} % of {} in use", in_line(store.name), several(store.objects, "object"),
                  100.0 * static_cast<double>(store.bytes_in_use)
                      / static_cast<double>(std::max<std::uint64_t>(store.capacity_bytes, 1)),
                  text_of_bytes(static_cast<double>(store.capacity_bytes)));
  if (store.spilled_objects > 0)
    text += fmt::format(", {} on disk ({})", grouped(store.spilled_objects),
                        text_of_bytes(static_cast<double>(store.spilled_bytes)));
  if (store.waiting > 0)
    text += fmt::format(", {} wait for room", grouped(store.waiting));
  return text;
}

int status_of(const node_error& why) {
  return why.code() == node_errc::bad_address ? 2 : 1;
}

int status_of(const std::vector<asked_node>& nodes) {
  auto status = 0;
  for (const auto& each : nodes)
    if (!each.report)
      status = std::max(status, status_of(each.report.error()));
  return status;
}

std::string text_of(const std::vector<asked_node>& nodes) {
  auto text = std::string{};
  for (const auto& each : nodes) {
    if (!each.report) {
      text +=
          fmt::format("{} does not answer: {}\n", name_of(each.where), reason_in_line(each.report.error().message()));
      continue;
    }
    const auto& node = *each.report;
    text += title_of(node) + '\n';
    if (!node.addresses.empty())
      text += "  listens at " + in_line(fmt::format("{}", fmt::join(node.addresses, ", "))) + '\n';
    if (const auto store = text_of(node.store); !store.empty())
      text += "  " + store + '\n';
    text += text_of_links(node.links);
  }
  return text.empty() ? "no nodes\n" : text;
}

json document_of(const asked_node& asked) {
  if (!asked.report)
    return {{"address", asked.where.address},
            {"process", asked.where.process},
            {"answered", false},
            {"problem", asked.report.error().message()}};
  const auto& node = *asked.report;
  auto links = json::array();
  for (const auto& each : node.links)
    links.push_back(document_of(each));
  json result{{"address", asked.where.address},
              {"process", node.process},
              {"answered", true},
              {"name", node.name},
              {"version", node.version},
              {"age_seconds", static_cast<double>(node.age_ms) / 1000},
              {"addresses", node.addresses},
              {"families", node.families},
              {"names_published", node.names_published},
              {"links_opened", node.links_opened},
              {"peers_refused", node.peers_refused},
              {"totals", document_of(node.totals)},
              {"links", links}};
  if (!node.store.name.empty())
    result["store"] = {{"name", node.store.name},
                       {"capacity_bytes", node.store.capacity_bytes},
                       {"bytes_in_use", node.store.bytes_in_use},
                       {"objects", node.store.objects},
                       {"spilled_objects", node.store.spilled_objects},
                       {"spilled_bytes", node.store.spilled_bytes},
                       {"waiting", node.store.waiting}};
  return result;
}

} // namespace troupe::tools
