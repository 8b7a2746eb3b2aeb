// Calls of etcd's gateway.
#pragma once

#include <troupe/framework/cluster/internal/etcd/account.hpp>
#include <troupe/framework/cluster/internal/etcd/connection_pool.hpp>
#include <troupe/framework/cluster/internal/etcd/endpoints.hpp>
#include <troupe/framework/cluster/internal/etcd/etcd_failures.hpp>
#include <troupe/framework/cluster/internal/etcd/etcd_requests.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <expected>
#include <string>
#include <vector>

namespace troupe::cluster_directories {

struct etcd_answer {
  std::size_t endpoint = 0;
  std::string body;
};

struct etcd_settings {
  std::vector<std::string> endpoints; // HOST:PORT each.
  http_settings http;
  std::string user;
  std::string password;
  std::chrono::milliseconds timeout{};
};

/// Sends each request to one endpoint after another, until one answers or the time is over.
///
/// Threads: any.
class etcd_caller {
public:
  using time_point = std::chrono::steady_clock::time_point;

  explicit etcd_caller(etcd_settings settings);

  /// Until when a call that begins now may take.
  [[nodiscard]] time_point deadline() const;

  /// A request that is not repeatable is sent to a second endpoint only if the first one cannot have applied it.
  [[nodiscard]] std::expected<etcd_answer, etcd_failure> call(const etcd_request& request, time_point until);

  /// Gets a new token from an endpoint.
  [[nodiscard]] std::expected<void, etcd_failure> authenticate(std::size_t endpoint,
                                                               std::chrono::milliseconds patience);

  /// How long ago an endpoint answered; a day if none has.
  [[nodiscard]] std::chrono::milliseconds silence() const;

  /// Something has not answered.
  void note_trouble() noexcept { has_trouble_ = true; }
  /// Whether something has not answered since the last time that this was asked.
  [[nodiscard]] bool take_trouble() noexcept { return has_trouble_.exchange(false); }

  [[nodiscard]] http_post post_of(std::size_t endpoint, const etcd_request& request) const;
  /// How long one of several endpoints may take, if none of them has had its turn.
  [[nodiscard]] std::chrono::milliseconds share() const;

  void close() { pool_.close(); }
  /// Also true in a forked child.
  [[nodiscard]] bool is_closed() const noexcept { return pool_.is_closed(); }
  [[nodiscard]] bool is_of_this_process() const noexcept { return pool_.is_of_this_process(); }
  [[nodiscard]] const http_settings& http() const noexcept { return pool_.settings(); }
  [[nodiscard]] endpoints& places() noexcept { return endpoints_; }
  [[nodiscard]] const std::string& name(std::size_t endpoint) const { return endpoints_.name(endpoint); }

private:
  [[nodiscard]] std::expected<etcd_answer, etcd_failure> send(std::size_t endpoint, const http_post& post,
                                                              std::chrono::milliseconds patience);
  /// Like send(), but first gets a token if there is none, or if it has expired.
  [[nodiscard]] std::expected<etcd_answer, etcd_failure> send_as_user(std::size_t endpoint, const etcd_request& request,
                                                                      time_point until);
  void note_answer(std::size_t endpoint);
  [[nodiscard]] etcd_failure out_of_time(const etcd_failure& last) const;

  const std::chrono::milliseconds timeout_;
  endpoints endpoints_;
  account account_;
  connection_pool pool_;
  std::atomic<std::chrono::steady_clock::rep> answered_at_;
  std::atomic<bool> has_trouble_{false};
};

} // namespace troupe::cluster_directories
