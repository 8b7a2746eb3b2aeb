// The options of offered load: `troupe bench --serve` and `troupe bench --to`.
#pragma once

#include "bench/load/open_loop.hpp"
#include "bench/load/stall.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <troupe/framework/link_options.hpp>

namespace troupe::tools {

/// What both ends of the links have.
struct load_access {
  struct credentials known_by = {};
  std::string compression = "none";
  std::size_t io_threads = 1;
  std::chrono::milliseconds timeout{5'000};
};

struct sink_options {
  std::vector<std::string> addresses;
  std::vector<std::string> families;
  stall stalls = {};
  load_access access = {};
};

struct source_options {
  std::vector<std::string> addresses;
  std::size_t connections = 1; // To each address.
  std::string family = "typed";
  std::string data = "noise";
  load_access access = {};
  load_plan plan = {};
  int rounds = 1;
  bool finds_knee = false;
  std::chrono::nanoseconds knee_limit{0};
};

/// The options of a link that sends with `families`.
[[nodiscard]] link_options link_options_of(const load_access& access, std::vector<std::string> families);

/// The name under which a sink publishes the actor that opens others.
inline constexpr const char* opener_name = "troupe.bench.load";

} // namespace troupe::tools
