// The subjects of the benchmark.
#pragma once

#include "bulk/options.hpp"
#include "harness/steps.hpp"
#include "peers/small_messages.hpp"

#include <expected>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

struct bulk_subject {
  std::string name;
  /// In the far process; see subject::serve.
  std::function<std::expected<void, std::string>(const ready_report& ready)> serve;
  /// In the near process. Fails with a text.
  std::function<std::expected<step_taker, std::string>(const std::string& address)> connect;
  /// In the measuring process: starts the two processes and asks.
  std::function<std::expected<observations, failure>(const bulk_options& told, stop_signals& signals)> run_round;
};

/// In the order of the rounds and of the table.
[[nodiscard]] const std::vector<bulk_subject>& bulk_subjects();

/// The subjects to which ratios are taken.
[[nodiscard]] const std::vector<std::string>& bulk_peers();

/// Null if no subject has that name.
[[nodiscard]] const bulk_subject* find_bulk_subject(std::string_view name);

} // namespace bench
