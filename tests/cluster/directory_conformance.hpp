// What every writable kind of directory must do: one suite, run for each kind.
#pragma once

#include <troupe/framework/cluster/directory.hpp>

#include <functional>
#include <memory>
#include <ostream>
#include <string>

#include <gtest/gtest.h>

namespace troupe::tests {

/// A fresh directory for one test, which ends with this object. Clients are opened by open_directory().
class directory_place {
public:
  directory_place(const directory_place&) = delete;
  directory_place& operator=(const directory_place&) = delete;
  virtual ~directory_place() = default;

  [[nodiscard]] virtual std::string address() const = 0;
  [[nodiscard]] virtual directory_options options() const { return {}; }

protected:
  directory_place() = default;
};

struct directory_maker {
  std::string name; // A part of the tests' names.
  std::function<std::unique_ptr<directory_place>()> make;
  std::chrono::milliseconds short_lease; // The shortest that a test should wait for.

  friend std::ostream& operator<<(std::ostream& out, const directory_maker& maker) { return out << maker.name; }
};

/// Instantiate it for each kind: INSTANTIATE_TEST_SUITE_P(etcd, writable_directory, testing::Values(maker),
/// name_of_maker)
class writable_directory : public testing::TestWithParam<directory_maker> {
protected:
  void SetUp() override;
  void TearDown() override;

  /// Another client of the same directory.
  [[nodiscard]] std::shared_ptr<directory> open_another() const;

  std::unique_ptr<directory_place> place_;
  std::shared_ptr<directory> directory_; // The first client.
};

inline std::string name_of_maker(const testing::TestParamInfo<directory_maker>& info) {
  return info.param.name;
}

} // namespace troupe::tests
