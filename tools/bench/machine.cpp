#include "bench/machine.hpp"

#include "bench/measurement.hpp"

#include "harness/child_process.hpp"

#include <fmt/format.h>
#include <troupe/base/version.hpp>

#include <ctime>
#include <fstream>

#include <sys/utsname.h>
#include <unistd.h>

namespace troupe::tools {

namespace {

[[nodiscard]] std::string cpu_model() {
  std::ifstream lines{"/proc/cpuinfo"};
  for (std::string line; std::getline(lines, line);)
    if (const auto colon = line.find(": "); line.starts_with("model name") && colon != std::string::npos)
      return line.substr(colon + 2);
  return "unknown processor"; // On some architectures the file has no model name.
}

[[nodiscard]] std::string compiler() {
#if defined(__clang__)
  return fmt::format("clang {}.{}.{}", __clang_major__, __clang_minor__, __clang_patchlevel__);
#else
  return fmt::format("gcc {}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#endif
}

[[nodiscard]] std::string build() {
  std::string text = TROUPE_BENCH_BUILD_TYPE;
  if (text.empty())
    text = "no build type";
#if defined(__SANITIZE_ADDRESS__)
  text += ", AddressSanitizer";
#endif
#if defined(__SANITIZE_THREAD__)
  text += ", ThreadSanitizer";
#endif
  return text;
}

[[nodiscard]] std::string date_now() {
  const auto now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  char text[32] = {};
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M UTC", &parts);
  return text;
}

} // namespace

machine machine_now() {
  utsname system{};
  ::uname(&system);
  return {.cpu = cpu_model(),
          .cores = bench::usable_cores().size(),
          .memory_bytes =
              static_cast<std::size_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)),
          .kernel = fmt::format("{} {}", system.sysname, system.release),
          .compiler = compiler(),
          .build = build(),
          .version = TROUPE_VERSION,
          .date = date_now()};
}

std::string text_of(const machine& where) {
  return fmt::format("troupe {} on {}, {} cores, {} of memory; {}; {}, {}; {}", where.version, where.cpu, where.cores,
                     text_of_size(where.memory_bytes), where.kernel, where.compiler, where.build, where.date);
}

bool is_optimized(const machine& where) {
  return where.build == "Release" || where.build == "RelWithDebInfo";
}

} // namespace troupe::tools
