// `troupe bench --serve`: answers requests and takes one-way messages until it is told to end.
#pragma once

#include "bench/load/load_options.hpp"
#include "bench/load/sinking.hpp"

#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <caf/all.hpp>
#include <troupe/framework/node.hpp>

namespace troupe::tools {

/// Sent to the opener of a sink with a family, and whether messages are to be answered. It answers with a new actor
/// that takes payloads.
using open_atom = caf::atom_constant<caf::atom("open")>;

/// A node that sources can dial. Lifetime: the links end with this object.
class load_sink {
public:
  /// Fails as node::open() does, for example with `bad_option` for a TCP address beyond this host without a secret.
  [[nodiscard]] static std::expected<std::unique_ptr<load_sink>, node_error> open(const sink_options& options);

  load_sink(const load_sink&) = delete;
  load_sink& operator=(const load_sink&) = delete;
  ~load_sink() = default;

  /// The addresses, with the ports that the system chose.
  [[nodiscard]] std::vector<std::string> addresses() const { return node_->addresses(); }
  [[nodiscard]] const sink_account& account() const { return *account_; }

private:
  explicit load_sink(const sink_options& options);

  type_registry types_;
  family_set families_;
  system_config config_;
  caf::actor_system system_{config_};
  std::shared_ptr<sink_account> account_;
  std::optional<node> node_;
};

} // namespace troupe::tools
