// A cluster's metrics for Prometheus. framework/cluster/README.md lists them.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include <troupe/base/export.hpp>

namespace prometheus {

class Collectable;

} // namespace prometheus

namespace troupe {

struct cluster_stats; // framework/cluster/cluster_stats.hpp, in the component troupe::cluster.

/// The metrics of a member, for metrics_endpoint::add() or the program's own prometheus::Exposer. They are read at each
/// scrape. `read` is cluster::stats_reader(). After the member has left, `troupe_cluster_up` is 0 and all other metrics
/// are gone. Threads: any. Lifetime: keeps nothing of the cluster object.
///
///     endpoint->add(troupe::cluster_metrics(cluster->stats_reader()));
[[nodiscard]] TROUPE_EXPORT std::shared_ptr<prometheus::Collectable>
cluster_metrics(std::function<std::optional<cluster_stats>()> read);

} // namespace troupe
