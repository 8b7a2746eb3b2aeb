// Which cluster of etcd a directory belongs to.
#pragma once

#include <troupe/framework/cluster/directory_errc.hpp>
#include <troupe/framework/cluster/internal/etcd/etcd_answers.hpp>

#include <algorithm>
#include <cstdint>
#include <expected>
#include <mutex>
#include <string>

namespace troupe::cluster_directories {

/// Recognizes answers of another cluster, and of the same one after it has lost its data.
///
/// Threads: any.
class cluster_pin {
public:
  /// 0 until a cluster has answered.
  [[nodiscard]] std::uint64_t cluster_id() const {
    const std::lock_guard guard{mutex_};
    return cluster_id_;
  }
  /// The highest revision of all answers.
  [[nodiscard]] std::uint64_t revision() const {
    const std::lock_guard guard{mutex_};
    return revision_;
  }

  /// Fails with `another_cluster`. `revision_min` is what revision() returned before the request was sent, or 0 if the
  /// answer may be that of a member that lags behind.
  [[nodiscard]] std::expected<void, directory_error> check(const std::string& endpoint, const etcd_head& head,
                                                           std::uint64_t revision_min) {
    const std::lock_guard guard{mutex_};
    if (cluster_id_ == 0)
      cluster_id_ = head.cluster_id;
    if (head.cluster_id != cluster_id_)
      return std::unexpected{directory_error{directory_errc::another_cluster,
                                             "etcd at " + endpoint + " belongs to the cluster "
                                                 + std::to_string(head.cluster_id) + ", but the cluster "
                                                 + std::to_string(cluster_id_)
                                                 + " answered first; name endpoints of one cluster, or open the "
                                                   "directory again"}};
    if (head.revision < revision_min)
      return std::unexpected{directory_error{directory_errc::another_cluster,
                                             "etcd at " + endpoint + " was at revision " + std::to_string(revision_min)
                                                 + " and is now at " + std::to_string(head.revision)
                                                 + ", so its data was lost or restored from a backup; open the "
                                                   "directory again"}};
    revision_ = std::max(revision_, head.revision);
    return {};
  }

  /// Whether check_name() was called.
  [[nodiscard]] bool has_name() const {
    const std::lock_guard guard{mutex_};
    return !name_.empty();
  }

  /// `name` is the value of the directory's own key; empty if it is absent. Fails with `another_cluster` unless it is
  /// the first name.
  [[nodiscard]] std::expected<void, directory_error> check_name(const std::string& name) {
    const std::lock_guard guard{mutex_};
    if (name_.empty())
      name_ = name;
    if (name == name_)
      return {};
    return std::unexpected{directory_error{directory_errc::another_cluster,
                                           "the directory in etcd has another identity than before, so its data was "
                                           "lost or restored from a backup; open the directory again"}};
  }

private:
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::string name_;
  std::uint64_t cluster_id_ = 0;
  std::uint64_t revision_ = 0;
};

} // namespace troupe::cluster_directories
