// Who takes part, and what each is asked.
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
  /// In the far process: see subject::serve.
  std::function<std::expected<void, std::string>(const ready_report& ready)> serve;
  /// In the near process. Fails with a text.
  std::function<std::expected<step_taker, std::string>(const std::string& address)> connect;
  /// In the process that measures: starts the two, and asks.
  std::function<std::expected<observations, failure>(const bulk_options& told, stop_signals& signals)> run_round;
};

/// In the order of the rounds and of the table.
[[nodiscard]] const std::vector<bulk_subject>& bulk_subjects();

/// Those that ratios are taken to.
[[nodiscard]] const std::vector<std::string>& bulk_peers();

/// Null where there is none of that name.
[[nodiscard]] const bulk_subject* find_bulk_subject(std::string_view name);

} // namespace bench
