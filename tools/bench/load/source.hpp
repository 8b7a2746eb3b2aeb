// `troupe bench --to`: offers load to sinks.
#pragma once

#include "bench/load/load_options.hpp"
#include "bench/load/load_round.hpp"
#include "bench/load/load_run.hpp"

#include "harness/stop_signals.hpp"

#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <caf/all.hpp>
#include <troupe/framework/node.hpp>

namespace troupe::tools {

/// A round, and why it ended early.
struct offered_round {
  load_round figures;
  std::vector<std::string> lost; // The addresses to which links were lost.
  int stopped_by = 0;            // A signal's number.
  std::string failure;           // The figures mean nothing, for this reason.
};

/// The links to all sinks. Threads: one. Lifetime: the links end with this object.
class load_source {
public:
  /// Dials the sinks. Fails as node::connect() does, or with `not_found` if there is no sink. The text names the
  /// address.
  [[nodiscard]] static std::expected<std::unique_ptr<load_source>, node_error> open(const source_options& options);

  load_source(const load_source&) = delete;
  load_source& operator=(const load_source&) = delete;
  ~load_source() = default;

  /// Makes a round. Ends early if all links are lost, or if a signal comes.
  [[nodiscard]] offered_round offer(const load_plan& plan, bench::stop_signals& signals);

private:
  explicit load_source(const source_options& options);
  [[nodiscard]] std::expected<std::vector<load_target>, std::string> open_targets(bool are_answered);
  [[nodiscard]] std::vector<std::string> lost() const;
  [[nodiscard]] std::string wrong_family() const;

  struct dialed {
    std::string address;
    link by;
    caf::actor opener;
  };

  const source_options options_;
  type_registry types_;
  family_set families_;
  system_config config_;
  caf::actor_system system_{config_};
  std::optional<node> node_;
  std::vector<dialed> links_;
};

} // namespace troupe::tools
