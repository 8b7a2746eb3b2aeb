// A folder for the database files of one test.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include <unistd.h>

namespace troupe::tests {

/// Makes a folder, and points TROUPE_STATE_DIR to it. Removes it at its end.
class temporary_state {
public:
  temporary_state() {
    std::string made = ::testing::TempDir() + "troupe-state-XXXXXX";
    path_ = ::mkdtemp(made.data());
    ::setenv("TROUPE_STATE_DIR", path_.c_str(), 1);
  }
  temporary_state(const temporary_state&) = delete;
  temporary_state& operator=(const temporary_state&) = delete;
  ~temporary_state() {
    ::unsetenv("TROUPE_STATE_DIR");
    std::filesystem::remove_all(path_);
  }

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
  [[nodiscard]] std::filesystem::path folder() const { return path_ / "clusters"; }
  [[nodiscard]] std::filesystem::path file(const std::string& name) const { return folder() / (name + ".sqlite"); }

private:
  std::filesystem::path path_;
};

} // namespace troupe::tests
