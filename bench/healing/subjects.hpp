// What the benchmark measures: messages through handles, memory of handles, and deaths of worker processes.
#pragma once

#include "harness/process_group.hpp"
#include "harness/statistics.hpp"
#include "harness/steps.hpp"
#include "healing/options.hpp"
#include "peers/small_messages.hpp"

#include <expected>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

/// A step and the quantities of its answer.
struct healing_step {
  std::string name;
  std::uint64_t healing_options::*count;
  std::vector<quantity> quantities;
};

struct healing_subject {
  std::string name;
  group_shape shape = {};
  std::vector<healing_step> steps;
  std::function<std::expected<void, std::string>(const ready_report& ready)> serve; // Empty without a far end.
  std::function<std::expected<step_taker, std::string>(const std::string& address)> connect;
};

inline constexpr const char* one_way_time_name = "one way, processor time of the sender";
inline constexpr const char* served_again_p50_name = "served again p50";
inline constexpr const char* served_again_p95_name = "served again p95";

[[nodiscard]] const std::vector<healing_subject>& healing_subjects();
[[nodiscard]] const healing_subject* find_healing_subject(std::string_view name);

/// For the near process. The step "deaths" kills a supervised worker process `step::count` times.
[[nodiscard]] std::expected<step_taker, std::string> connect_deaths(std::chrono::milliseconds back_off);
[[nodiscard]] const std::vector<quantity>& death_quantities();

/// The main function of the worker process that is killed.
[[nodiscard]] int mortal_worker_main(int argument_count, char** arguments);

} // namespace bench
