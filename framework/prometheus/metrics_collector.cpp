// Makes metrics from statistics: their names, labels and texts. README.md lists them.
#include <troupe/framework/prometheus/metrics_endpoint.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>

#include <troupe/base/text.hpp>
#include <troupe/framework/node.hpp>

namespace troupe {

namespace {

using labels = std::vector<prometheus::ClientMetric::Label>;
using prometheus::MetricType;
using namespace std::chrono_literals;

double seconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

double number(std::uint64_t value) {
  return static_cast<double>(value);
}

/// A metric that exists for each link, as troupe_link_<name>, and as the sum over all present and past links, as
/// troupe_<name>.
struct link_metric {
  const char* name;
  MetricType type;
  const char* help;
  const char* label; // Null: no label.
  const char* label_value;
  double (*value)(const link_stats& of);
};

constexpr auto counter = MetricType::Counter;
constexpr auto gauge = MetricType::Gauge;

// Rows that differ only in labels must be adjacent.
constexpr link_metric link_metrics[] = {
    {"messages_total", counter, "Messages of actors.", "direction", "sent",
     [](const link_stats& of) { return number(of.messages_sent); }},
    {"messages_total", counter, "", "direction", "received",
     [](const link_stats& of) { return number(of.messages_received); }},
    {"socket_bytes_total", counter, "Bytes through the socket, with all that the protocol adds.", "direction", "sent",
     [](const link_stats& of) { return number(of.socket_bytes_sent); }},
    {"socket_bytes_total", counter, "", "direction", "received",
     [](const link_stats& of) { return number(of.socket_bytes_received); }},
    {"handle_bytes_total", counter, "Bytes of frames that travelled as handles to the shared store.", "direction",
     "sent", [](const link_stats& of) { return number(of.handle_bytes_sent); }},
    {"handle_bytes_total", counter, "", "direction", "received",
     [](const link_stats& of) { return number(of.handle_bytes_received); }},
    {"pulled_bytes_total", counter, "Bytes of objects that hosts have asked each other for.", "direction", "sent",
     [](const link_stats& of) { return number(of.pulled_bytes_sent); }},
    {"pulled_bytes_total", counter, "", "direction", "received",
     [](const link_stats& of) { return number(of.pulled_bytes_received); }},
    {"spilled_bytes_total", counter, "Bytes put into the store to be sent as handles.", nullptr, nullptr,
     [](const link_stats& of) { return number(of.spilled_bytes); }},
    {"store_fallbacks_total", counter, "Frames that went through the socket because the store was full.", nullptr,
     nullptr, [](const link_stats& of) { return number(of.store_fallbacks); }},
    {"not_sent_total", counter, "Messages that were not sent.", "reason", "unserializable",
     [](const link_stats& of) { return number(of.unserializable - of.refused_by_policy); }},
    {"not_sent_total", counter, "", "reason", "policy",
     [](const link_stats& of) { return number(of.refused_by_policy); }},
    {"not_sent_total", counter, "", "reason", "bound",
     [](const link_stats& of) { return number(of.refused_at_bound); }},
    {"not_sent_total", counter, "", "reason", "dropped", [](const link_stats& of) { return number(of.dropped); }},
    {"undecodable_total", counter, "Messages that arrived and could not be decoded.", nullptr, nullptr,
     [](const link_stats& of) { return number(of.undecodable); }},
    {"undelivered_total", counter, "Messages sent when the link was down or ended, or received for nobody.", nullptr,
     nullptr, [](const link_stats& of) { return number(of.undelivered); }},
    {"expired_total", counter, "Requests that arrived and were not handled, because their deadline had passed.",
     nullptr, nullptr, [](const link_stats& of) { return number(of.expired); }},
    {"forwarded_total", counter, "Messages for actors of other nodes, passed on without being decoded.", nullptr,
     nullptr, [](const link_stats& of) { return number(of.forwarded); }},
    {"coding_seconds_total", counter, "Time that encoding and decoding took, estimated from some of the payloads.",
     "operation", "encode", [](const link_stats& of) { return seconds(of.encode_time); }},
    {"coding_seconds_total", counter, "", "operation", "decode",
     [](const link_stats& of) { return seconds(of.decode_time); }},
    {"unconsumed_bytes", gauge, "Sent and not consumed by actors, against the window.", "end", "there",
     [](const link_stats& of) { return number(of.unconsumed_bytes_there); }},
    {"unconsumed_bytes", gauge, "", "end", "here",
     [](const link_stats& of) { return number(of.unconsumed_bytes_here); }},
    {"unconsumed_handle_bytes", gauge, "Behind handles, sent and not consumed by actors, against their window.", "end",
     "there", [](const link_stats& of) { return number(of.unconsumed_handle_bytes_there); }},
    {"unconsumed_handle_bytes", gauge, "", "end", "here",
     [](const link_stats& of) { return number(of.unconsumed_handle_bytes_here); }},
    {"waiting_handle_bytes", gauge, "Behind handles of what waits on this end.", nullptr, nullptr,
     [](const link_stats& of) { return number(of.waiting_handle_bytes); }},
    {"window_bytes", gauge, "How much may be sent and not consumed.", nullptr, nullptr,
     [](const link_stats& of) { return number(of.window_bytes); }},
    {"credit_bytes", gauge, "What is left of the window.", nullptr, nullptr,
     [](const link_stats& of) { return number(of.credit_bytes); }},
    {"waiting_bytes", gauge, "Waiting on this end until the peer has consumed enough.", nullptr, nullptr,
     [](const link_stats& of) { return number(of.waiting_bytes); }},
    {"unread_bytes", gauge, "Written and not taken by the system, large frames on their way included.", nullptr,
     nullptr, [](const link_stats& of) { return number(of.unread_bytes); }},
    {"large_frame_bytes", gauge, "Large frames that came through the socket and still live here.", nullptr, nullptr,
     [](const link_stats& of) { return number(of.large_frame_bytes_here); }},
    {"actors", gauge, "Actors that the peer may address, and actors of the peer that something here refers to.",
     "direction", "exported", [](const link_stats& of) { return number(of.actors_exported); }},
    {"actors", gauge, "", "direction", "imported", [](const link_stats& of) { return number(of.actors_imported); }},
};

/// The values of link_metrics, in their order, and the latencies.
struct link_values {
  std::array<double, std::size(link_metrics)> figures{};
  link_latencies latencies;
};

link_values values_of(const link_stats& of) {
  link_values values{.latencies = of.latencies};
  std::ranges::transform(link_metrics, values.figures.begin(), [&](const link_metric& one) { return one.value(of); });
  return values;
}

void add(link_values& total, const link_values& more) {
  std::ranges::transform(total.figures, more.figures, total.figures.begin(), std::plus{});
  for (const auto& [name, kind] : latency_kinds)
    merge(total.latencies.*kind, more.latencies.*kind);
}

/// Keeps only the counters, since the link has ended.
void clear_gauges(link_values& values) {
  for (std::size_t i = 0; i < values.figures.size(); ++i)
    if (link_metrics[i].type == gauge)
      values.figures[i] = 0;
}

// The bounds of the buckets of latencies in Prometheus, besides +Inf.
constexpr auto bounds_of_latencies =
    std::to_array<std::chrono::nanoseconds>({10us, 25us, 100us, 250us, 1ms, 2500us, 10ms, 25ms, 100ms, 1s, 10s});
static_assert(bounds_of_latencies.size() + 1 <= 12); // README.md counts the series.

/// A finer bucket that contains a bound is counted as above it.
prometheus::ClientMetric::Histogram histogram_of(const latency_stats& of) {
  prometheus::ClientMetric::Histogram made;
  made.sample_count = of.count;
  made.sample_sum = seconds(of.sum);
  std::uint64_t so_far = 0;
  auto next = of.buckets.begin();
  for (const auto bound : bounds_of_latencies) {
    for (; next != of.buckets.end() && next->up_to <= bound; ++next)
      so_far += next->count;
    made.bucket.push_back({.cumulative_count = so_far, .upper_bound = seconds(bound)});
  }
  made.bucket.push_back({.cumulative_count = of.count, .upper_bound = std::numeric_limits<double>::infinity()});
  return made;
}

void add(payload_totals& total, const payload_totals& more) {
  total.payloads += more.payloads;
  total.bytes += more.bytes;
  total.time += more.time;
}

class families {
public:
  void add(std::string name, MetricType type, const char* help, labels with, double value) {
    if (made_.empty() || made_.back().name != name)
      made_.push_back({.name = std::move(name), .help = help, .type = type, .metric = {}});
    auto& metric = made_.back().metric.emplace_back();
    metric.label = std::move(with);
    (type == counter ? metric.counter.value : metric.gauge.value) = value;
  }

  /// Adds every link metric for each of these links.
  void add_links(const std::string& prefix, const std::vector<std::pair<labels, link_values>>& all) {
    for (std::size_t i = 0; i < std::size(link_metrics); ++i) {
      const auto& first = link_metrics[i];
      if (i > 0 && std::string_view{link_metrics[i - 1].name} == first.name)
        continue;
      for (const auto& [of_link, values] : all)
        for (auto j = i; j < std::size(link_metrics) && std::string_view{link_metrics[j].name} == first.name; ++j) {
          const auto& one = link_metrics[j];
          auto with = of_link;
          if (one.label != nullptr)
            with.push_back({one.label, one.label_value});
          add(prefix + first.name, first.type, first.help, std::move(with), values.figures[j]);
        }
    }
    add_latencies(prefix + "latency_seconds", all);
  }

  /// Adds the latencies of which there are any.
  void add_latencies(const std::string& name, const std::vector<std::pair<labels, link_values>>& all) {
    prometheus::MetricFamily made{.name = name,
                                  .help = "How long requests, waits for credit, coding and handlers take, estimated "
                                          "from some of them.",
                                  .type = MetricType::Histogram,
                                  .metric = {}};
    for (const auto& [of_link, values] : all)
      for (const auto& [kind, member] : latency_kinds) {
        const auto& latency = values.latencies.*member;
        if (latency.count == 0)
          continue;
        auto& metric = made.metric.emplace_back();
        metric.label = of_link;
        metric.label.push_back({"kind", std::string{kind}});
        metric.histogram = histogram_of(latency);
      }
    if (!made.metric.empty())
      made_.push_back(std::move(made));
  }

  void add_types(const std::vector<type_stats>& all) {
    for (const auto& [name, help, value] :
         {std::tuple{"troupe_payloads_total", "Payloads: a message has one for each of its elements.",
                     +[](const payload_totals& of) { return number(of.payloads); }},
          std::tuple{"troupe_payload_bytes_total", "Bytes of payloads as they travel.",
                     +[](const payload_totals& of) { return number(of.bytes); }},
          std::tuple{"troupe_payload_seconds_total",
                     "Time that encoding (sent) and decoding (received) took, estimated.",
                     +[](const payload_totals& of) { return seconds(of.time); }}})
      for (const auto& row : all)
        for (const auto& [direction, totals] : {std::pair{"sent", &row.sent}, std::pair{"received", &row.received}})
          add(name, counter, help,
              {{"family", one_line(row.family, 64)}, {"type", one_line(row.type, 128)}, {"direction", direction}},
              value(*totals));
  }

  [[nodiscard]] std::vector<prometheus::MetricFamily> take() { return std::move(made_); }

private:
  std::vector<prometheus::MetricFamily> made_;
};

class metrics_collector final : public prometheus::Collectable {
public:
  metrics_collector(const node& of, const metrics_options& options)
      : view_(of.weak()), name_(one_line(of.stats().name, 128)), options_(options) {}

  std::vector<prometheus::MetricFamily> Collect() const override {
    families made;
    const auto stats = view_.stats();
    made.add("troupe_node_up", gauge, "1 as long as the node is there.", {{"node", name_}}, stats ? 1 : 0);
    if (!stats)
      return made.take();
    made.add("troupe_links_open", gauge, "Links that are open.", {}, number(stats->links_open));
    made.add("troupe_links_opened_total", counter, "Links that were opened so far.", {}, number(stats->links_opened));
    made.add("troupe_peers_refused_total", counter, "Peers that were refused in the handshake.", {},
             number(stats->peers_refused));
    made.add("troupe_dead_letters_total", counter, "Dead letters that were sent to the actor that wants them.", {},
             number(stats->dead_letters));
    made.add("troupe_dead_letters_lost_total", counter,
             "Dead letters beyond the bounds, or about messages of the actor itself.", {},
             number(stats->dead_letters_lost));
    made.add("troupe_names_published", gauge, "Names under which actors are published.", {},
             number(stats->names_published));
    made.add_links("troupe_", {{labels{}, values_of(stats->links)}});
    std::lock_guard guard{mutex_};
    made.add_types(shown_types(stats->links.by_type));
    made.add_links("troupe_link_", shown_links());
    return made.take();
  }

private:
  // A type or link that has its own series keeps it. One that is summed never gets its own later. Otherwise the sum's
  // counters would decrease, which Prometheus takes for a restart.

  /// Requires: the mutex is held.
  [[nodiscard]] std::vector<type_stats> shown_types(const std::vector<type_stats>& all) const {
    std::vector<type_stats> shown;
    std::optional<type_stats> rest;
    for (const auto& row : all) {
      const auto names = std::pair{row.family, row.type};
      if (own_types_.size() < options_.types_max)
        own_types_.insert(names);
      if (own_types_.contains(names)) {
        shown.push_back(row);
        continue;
      }
      if (!rest)
        rest = type_stats{.family = "other", .type = "other", .sent = {}, .received = {}};
      add(rest->sent, row.sent);
      add(rest->received, row.received);
    }
    if (rest)
      shown.push_back(*std::move(rest));
    return shown;
  }

  /// Requires: the mutex is held.
  [[nodiscard]] std::vector<std::pair<labels, link_values>> shown_links() const {
    std::vector<std::pair<labels, link_values>> shown;
    std::set<std::uint64_t> open;
    const auto links = view_.links();
    for (const auto& link : links)
      open.insert(link.number());
    std::erase_if(own_links_, [&](std::uint64_t number) { return !open.contains(number); });
    for (const auto& link : links) {
      const auto number = link.number();
      const auto values = values_of(link.stats());
      if (own_links_.size() < options_.links_max && !summed_links_.contains(number))
        own_links_.insert(number);
      if (own_links_.contains(number))
        shown.emplace_back(labels{{"link", one_line(link.peer_name(), 64)}, {"number", std::to_string(number)}},
                           values);
      else
        summed_links_[number] = values;
    }
    for (auto at = summed_links_.begin(); at != summed_links_.end();) {
      if (open.contains(at->first)) {
        ++at;
        continue;
      }
      if (!ended_links_)
        ended_links_.emplace();
      clear_gauges(at->second);
      add(*ended_links_, at->second);
      at = summed_links_.erase(at);
    }
    if (ended_links_ || !summed_links_.empty()) {
      auto rest = ended_links_.value_or(link_values{});
      for (const auto& [number, values] : summed_links_)
        add(rest, values);
      shown.emplace_back(labels{{"link", "other"}, {"number", "0"}}, rest);
    }
    return shown;
  }

  const weak_node view_;
  const std::string name_;
  const metrics_options options_;
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  mutable std::set<std::pair<std::string, std::string>> own_types_;
  mutable std::set<std::uint64_t> own_links_;
  mutable std::map<std::uint64_t, link_values> summed_links_; // Links without own series, open at the last scrape.
  mutable std::optional<link_values> ended_links_;            // The sum of such links that have ended.
};

} // namespace

std::shared_ptr<prometheus::Collectable> metrics_of(const node& of, const metrics_options& options) {
  return std::make_shared<metrics_collector>(of, options);
}

} // namespace troupe
