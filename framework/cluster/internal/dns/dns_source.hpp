// The members that DNS names.
#pragma once

#include <troupe/framework/cluster/internal/dns/dns_address.hpp>
#include <troupe/framework/cluster/internal/dns/dns_lookup.hpp>
#include <troupe/framework/cluster/internal/members/member_source.hpp>

#include <chrono>
#include <map>
#include <string>
#include <vector>

namespace troupe::cluster_directories {

struct dns_source_settings {
  dns_address address;
  std::string scheme = "tcp"; // Of the members' addresses.
  std::string name_servers;
  std::chrono::milliseconds timeout{3'000};
  // How long the last list stays in force while lookups fail.
  std::chrono::milliseconds outage_max = std::chrono::minutes{5};
};

/// Looks a name up again when the records' time to live is over, at least every 30 s and at most every second.
class dns_source final : public member_source {
public:
  explicit dns_source(dns_source_settings settings) : settings_(std::move(settings)) {}

  [[nodiscard]] finding look(int stop_descriptor) override;

private:
  struct looked_up {
    std::vector<std::string> members;
    std::chrono::milliseconds ttl{};
  };

  [[nodiscard]] std::expected<looked_up, std::string> ask(int stop_descriptor);
  void add_members(const dns_answer& answer, looked_up& to) const;
  [[nodiscard]] dns_answer with_addresses(const dns_answer& services, std::chrono::milliseconds timeout,
                                          int stop_descriptor);
  [[nodiscard]] finding after_failure(const std::string& why);

  const dns_source_settings settings_;
  bool has_answered_ = false;
  std::map<dns_type, bool> had_records_;                      // At the last success.
  std::map<std::string, std::vector<dns_record>> of_targets_; // The addresses that were found last.
  std::chrono::steady_clock::time_point answered_at_;
  std::chrono::milliseconds next_pause_{0}; // After the next failure.
};

} // namespace troupe::cluster_directories
