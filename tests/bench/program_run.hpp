// Runs a benchmark as a real program with real processes, and checks what it leaves behind.
#pragma once

#include <troupe/processes/process.hpp>

#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace bench::tests {

using troupe::processes::ending;
using troupe::processes::exited_with;
using troupe::processes::killed_by;

[[nodiscard]] std::string read_file(const std::filesystem::path& path);

/// Waits until the condition holds. Returns false after half a minute.
[[nodiscard]] bool eventually(const std::function<bool()>& condition);

/// A run of the program in a temporary folder of its own.
class program_run : public testing::Test {
protected:
  explicit program_run(std::string program);
  ~program_run() override;

  void start(const std::vector<std::string>& arguments);

  /// Waits for the program's end.
  [[nodiscard]] ending end();
  [[nodiscard]] ending run(const std::vector<std::string>& arguments);
  /// The running processes of the program, except the program itself.
  [[nodiscard]] std::vector<pid_t> processes() const;

  /// Waits until both ends of a subject run. Returns them in no particular order.
  [[nodiscard]] std::vector<pid_t> both_ends() const;

  void expect_nothing_left() const;

  /// Reads the results that the program has written. Checks in each line what all benchmarks have in common.
  [[nodiscard]] std::vector<nlohmann::json> results(const std::string& benchmark) const;

  [[nodiscard]] std::string output() const { return read_file(folder_ / "output"); }
  [[nodiscard]] std::string errors() const { return read_file(folder_ / "errors"); }
  [[nodiscard]] std::filesystem::path json() const { return folder_ / "results.json"; }

  std::filesystem::path folder_;
  std::optional<troupe::processes::process> process_;

private:
  const std::string program_;
  std::set<std::string> files_elsewhere_before_;
};

} // namespace bench::tests
