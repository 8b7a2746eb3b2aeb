#include "top/frame.hpp"

#include "text.hpp"

#include <troupe/base/sizes.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

namespace troupe::tools {

namespace {

using passed_seconds = std::chrono::duration<double>;

/// The same node's report in the previous update. Null if the node was not in it, or if another node has its address
/// now.
[[nodiscard]] const node_report* report_before(const asked_node& node, const look& before) {
  for (const auto& each : before.nodes)
    if (each.where.address == node.where.address && each.report && each.report->process == node.report->process
        && each.report->age_ms <= node.report->age_ms)
      return &*each.report;
  return nullptr;
}

struct line {
  const link_report* link = nullptr;
  link_rates rates;
};

void sort(std::vector<line>& lines, top_order order) {
  const auto traffic = [](const line& each) { return each.rates.bytes_out + each.rates.bytes_in; };
  const auto waiting = [](const line& each) { return each.link->stats.waiting_bytes + each.link->stats.unread_bytes; };
  switch (order) {
  case top_order::traffic:
    std::ranges::stable_sort(lines, std::ranges::greater{}, traffic);
    break;
  case top_order::waiting:
    std::ranges::stable_sort(lines, std::ranges::greater{}, waiting);
    break;
  case top_order::link:
    break; // Keep the reported order.
  case top_order::peer:
    std::ranges::stable_sort(lines, {}, [](const line& each) { return each.link->peer; });
    break;
  }
}

[[nodiscard]] std::string text_of_rate(double per_second) {
  return per_second < 9.95 ? fmt::format("{:.1f}", per_second) : grouped(static_cast<std::uint64_t>(per_second + 0.5));
}

[[nodiscard]] std::string percent(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? "-" : fmt::format("{:.0f} %", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

[[nodiscard]] std::vector<std::string> cells_of(const line& one) {
  const auto& stats = one.link->stats;
  const auto& rates = one.rates;
  return {std::to_string(one.link->number),
          one.link->peer,
          one.link->transport,
          list_of(one.link->serializers),
          text_of_rate(rates.messages_out),
          text_of_bytes(rates.bytes_out),
          text_of_rate(rates.messages_in),
          text_of_bytes(rates.bytes_in),
          text_of_bytes(static_cast<double>(stats.waiting_bytes)),
          text_of_bytes(static_cast<double>(stats.unread_bytes)),
          percent(stats.credit_bytes, stats.window_bytes),
          text_of_rate(rates.lost),
          text_of(rates.round_trip),
          text_of(rates.handler)};
}

void add_links(const asked_node& node, const look& before, passed_seconds passed, top_order order,
               std::vector<std::string>& to) {
  const auto* const older = report_before(node, before);
  std::vector<line> links;
  for (const auto& each : node.report->links)
    links.push_back({&each, rates_of(each, older, passed)});
  if (links.empty())
    return;
  sort(links, order);
  auto cells =
      std::vector<std::vector<std::string>>{{"link", "to", "over", "sends", "out/s", "B/s", "in/s", "B/s", "waiting",
                                             "unread", "credit", "lost/s", "trip p50 / p99", "handler"}};
  for (const auto& each : links)
    cells.push_back(cells_of(each));
  const auto text = table(cells, "><<<>>>>>>>>>>");
  for (std::size_t begin = 0; begin < text.size();) {
    const auto end = text.find('\n', begin);
    to.push_back("  " + text.substr(begin, end - begin));
    begin = end + 1;
  }
}

} // namespace

std::string_view name_of(top_order order) {
  switch (order) {
  case top_order::traffic:
    return "traffic";
  case top_order::waiting:
    return "waiting";
  case top_order::link:
    return "link";
  case top_order::peer:
    return "peer";
  }
  return "unknown";
}

top_order next(top_order order) {
  return order == top_order::peer ? top_order::traffic : static_cast<top_order>(static_cast<int>(order) + 1);
}

link_rates rates_of(const link_report& link, const node_report* before, passed_seconds passed) {
  if (before == nullptr || passed.count() <= 0)
    return {};
  const auto found = std::ranges::find(before->links, link.number, &link_report::number);
  if (found == before->links.end())
    return {};
  const auto rate = [&](std::uint64_t now, std::uint64_t then) {
    return now > then ? static_cast<double>(now - then) / passed.count() : 0.0;
  };
  const auto& now = link.stats;
  const auto& then = found->stats;
  return {.messages_out = rate(now.messages_sent, then.messages_sent),
          .messages_in = rate(now.messages_received, then.messages_received),
          .bytes_out =
              rate(now.socket_bytes_sent + now.handle_bytes_sent, then.socket_bytes_sent + then.handle_bytes_sent),
          .bytes_in = rate(now.socket_bytes_received + now.handle_bytes_received,
                           then.socket_bytes_received + then.handle_bytes_received),
          .lost = rate(lost_by(now), lost_by(then)),
          .round_trip = between(then.latencies.round_trip, now.latencies.round_trip),
          .handler = between(then.latencies.handler, now.latencies.handler)};
}

std::vector<std::string> lines_of(const look& before, const look& now, top_order order, std::size_t columns,
                                  std::size_t rows) {
  const passed_seconds passed = now.at - before.at;
  std::vector<std::string> lines;
  if (now.nodes.empty())
    lines.emplace_back("no nodes of this user on this host; to see other nodes, give their addresses");
  for (const auto& each : now.nodes) {
    if (!each.report) {
      lines.push_back(name_of(each.where) + " does not answer: " + reason_in_line(each.report.error().message()));
      continue;
    }
    const auto store = text_of(each.report->store);
    lines.push_back(title_of(*each.report) + (store.empty() ? "" : "; " + store));
    add_links(each, before, passed, order, lines);
  }
  if (lines.size() > rows && rows > 0) {
    const auto left_off = lines.size() - rows + 1;
    lines.resize(rows - 1);
    lines.push_back(fmt::format("... and {} more lines", left_off));
  }
  for (auto& each : lines) {
    each = printable(std::move(each));
    std::ranges::replace(each, '\n', ' '); // Line feeds from peers must not break the view's lines.
    if (each.size() > columns)
      each.resize(columns);
  }
  return lines;
}

nlohmann::ordered_json document_of(const look& before, const look& now) {
  const passed_seconds passed = now.at - before.at;
  auto nodes = nlohmann::ordered_json::array();
  for (const auto& each : now.nodes) {
    auto document = document_of(each);
    if (each.report) {
      const auto* const older = report_before(each, before);
      for (std::size_t i = 0; i < each.report->links.size(); ++i) {
        const auto rates = rates_of(each.report->links[i], older, passed);
        document["links"][i]["rates"] = {{"messages_out", rates.messages_out},
                                         {"messages_in", rates.messages_in},
                                         {"bytes_out", rates.bytes_out},
                                         {"bytes_in", rates.bytes_in},
                                         {"lost", rates.lost},
                                         {"round_trip_p50_ns", rates.round_trip.p50.count()},
                                         {"round_trip_p99_ns", rates.round_trip.p99.count()},
                                         {"handler_p50_ns", rates.handler.p50.count()},
                                         {"handler_p99_ns", rates.handler.p99.count()}};
      }
    }
    nodes.push_back(std::move(document));
  }
  return {{"seconds", passed.count()}, {"nodes", nodes}};
}

} // namespace troupe::tools
