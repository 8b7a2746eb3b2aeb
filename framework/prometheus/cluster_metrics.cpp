// Makes metrics from the figures of a cluster's member: their names and texts.
#include <troupe/framework/prometheus/cluster_metrics.hpp>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>

#include <troupe/framework/cluster/cluster_stats.hpp>

namespace troupe {

namespace {

prometheus::MetricFamily gauge_of(const char* name, const char* help, double value) {
  prometheus::ClientMetric metric;
  metric.gauge.value = value;
  return {name, help, prometheus::MetricType::Gauge, {std::move(metric)}};
}

prometheus::MetricFamily count_of(const char* name, const char* help, std::size_t value) {
  return gauge_of(name, help, static_cast<double>(value));
}

prometheus::MetricFamily requests_of(const directory_requests& all) {
  prometheus::MetricFamily made{
      "troupe_cluster_directory_requests_total", "Requests to the directory.", prometheus::MetricType::Counter, {}};
  const std::pair<const char*, request_counts> kinds[]{
      {"list", all.list},     {"grant", all.grant},   {"keep_alive", all.keep_alive},
      {"revoke", all.revoke}, {"commit", all.commit}, {"watch", all.watch}};
  for (const auto& [kind, counts] : kinds)
    for (const auto& [result, value] : {std::pair{"answered", counts.answered}, std::pair{"failed", counts.failed}}) {
      auto& metric = made.metric.emplace_back();
      metric.label = {{"request", kind}, {"result", result}};
      metric.counter.value = static_cast<double>(value);
    }
  return made;
}

class cluster_collector final : public prometheus::Collectable {
public:
  explicit cluster_collector(std::function<std::optional<cluster_stats>()> read) : read_(std::move(read)) {}

  std::vector<prometheus::MetricFamily> Collect() const override {
    const auto stats = read_();
    std::vector<prometheus::MetricFamily> made;
    made.push_back(count_of("troupe_cluster_up", "1 as long as this process is a member.", stats ? 1 : 0));
    if (!stats)
      return made;
    const auto add = [&](const char* name, const char* help, std::size_t value) {
      made.push_back(count_of(name, help, value));
    };
    add("troupe_cluster_members", "Members that are known.", stats->members);
    add("troupe_cluster_members_draining", "Members that drain.", stats->members_draining);
    add("troupe_cluster_names", "Names that members have published.", stats->names);
    add("troupe_cluster_singletons", "Singletons that have an owner.", stats->singletons);
    add("troupe_cluster_shards", "Shards of entities that have an owner.", stats->shards);
    add("troupe_cluster_names_published", "Names that this member has in the directory.", stats->names_published);
    add("troupe_cluster_singletons_owned", "Singletons that this member owns.", stats->singletons_owned);
    add("troupe_cluster_shards_owned", "Shards of entities that this member owns.", stats->shards_owned);
    add("troupe_cluster_draining", "1 while this member drains.", stats->is_draining ? 1 : 0);
    add("troupe_cluster_directory_up", "1 while the directory answers.", stats->directory_is_up ? 1 : 0);
    made.push_back(gauge_of("troupe_cluster_lease_seconds_left", "How long the lease is sure to last.",
                            std::chrono::duration<double>(stats->lease_left).count()));
    made.push_back(requests_of(stats->requests));
    add("troupe_cluster_problems", "Problems that are known here.", stats->problems);
    return made;
  }

private:
  const std::function<std::optional<cluster_stats>()> read_;
};

} // namespace

std::shared_ptr<prometheus::Collectable> cluster_metrics(std::function<std::optional<cluster_stats>()> read) {
  return std::make_shared<cluster_collector>(std::move(read));
}

} // namespace troupe
