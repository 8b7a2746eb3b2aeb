// The subjects of the benchmark.
#pragma once

#include "handles/options.hpp"
#include "harness/steps.hpp"
#include "peers/small_messages.hpp"

#include <cstddef>
#include <expected>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

struct handles_subject {
  std::string name;
  /// In far process `number`; see subject::serve.
  std::function<std::expected<void, std::string>(std::size_t number, const ready_report& ready)> serve;
  /// In the near process. Fails with a text.
  std::function<std::expected<step_taker, std::string>(const std::string& address)> connect;
  /// In the measuring process: starts the processes and asks.
  std::function<std::expected<observations, failure>(const handles_options& told, stop_signals& signals)> run_round;
};

/// In the order of the rounds and of the table.
[[nodiscard]] const std::vector<handles_subject>& handles_subjects();

/// The subjects to which ratios are taken.
[[nodiscard]] const std::vector<std::string>& handles_peers();

/// Null if no subject has that name.
[[nodiscard]] const handles_subject* find_handles_subject(std::string_view name);

} // namespace bench
