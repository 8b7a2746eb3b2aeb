// A benchmark as a real program with real processes, and what it leaves behind.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include <boost/property_tree/ptree.hpp>
#include <gtest/gtest.h>

namespace bench::tests {

[[nodiscard]] std::string read_file(const std::filesystem::path& path);

/// Waits until the condition holds; false after half a minute.
[[nodiscard]] bool eventually(const std::function<bool()>& condition);

/// A run of the program in a temporary folder of its own.
class program_run : public testing::Test {
protected:
  explicit program_run(std::string program);
  ~program_run() override;

  void start(const std::vector<std::string>& arguments);

  /// Waits for the program's end; -n when signal n killed it.
  [[nodiscard]] int end();
  [[nodiscard]] int run(const std::vector<std::string>& arguments);
  /// Whether it has ended by itself and can be waited for without waiting.
  [[nodiscard]] bool has_ended() const;

  /// The processes of the program that run, without itself.
  [[nodiscard]] std::vector<pid_t> processes() const;

  /// Waits until both ends of a subject are there. Gives them in no order.
  [[nodiscard]] std::vector<pid_t> both_ends() const;

  void expect_nothing_left() const;

  /// The lines of the file that the program was told to write its results to, each read and checked for what all
  /// benchmarks have in common.
  [[nodiscard]] std::vector<boost::property_tree::ptree> results(const std::string& benchmark) const;

  [[nodiscard]] std::string output() const { return read_file(folder_ / "output"); }
  [[nodiscard]] std::string errors() const { return read_file(folder_ / "errors"); }
  [[nodiscard]] std::filesystem::path json() const { return folder_ / "results.json"; }

  std::filesystem::path folder_;
  pid_t process_ = -1;

private:
  [[nodiscard]] std::string mark() const { return "TMPDIR=" + (folder_ / "tmp").string(); }

  const std::string program_;
  std::set<std::string> shared_memory_before_;
};

} // namespace bench::tests
