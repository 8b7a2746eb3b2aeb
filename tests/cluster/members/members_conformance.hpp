// What every kind of directory must do as far as it finds members: one suite, run for each kind.
#pragma once

#include <troupe/framework/cluster/directory.hpp>

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace troupe::tests {

/// A list of members that one test changes, and that ends with this object.
class members_place {
public:
  members_place(const members_place&) = delete;
  members_place& operator=(const members_place&) = delete;
  virtual ~members_place() = default;

  /// To be called before the first open(), then at any time. `members` are addresses.
  virtual void set(const std::vector<std::string>& members) = 0;
  [[nodiscard]] virtual std::string address() const = 0;
  [[nodiscard]] virtual directory_options options() const { return {}; }

protected:
  members_place() = default;
};

struct members_maker {
  std::string name; // A part of the tests' names.
  std::function<std::unique_ptr<members_place>()> make;
  bool is_writable = false;

  friend std::ostream& operator<<(std::ostream& out, const members_maker& maker) { return out << maker.name; }
};

/// Instantiate it for each kind: INSTANTIATE_TEST_SUITE_P(dns, directory_of_members, testing::Values(maker),
/// name_of_members_maker)
class directory_of_members : public testing::TestWithParam<members_maker> {
protected:
  directory_of_members() : place_(GetParam().make()) {}

  [[nodiscard]] std::shared_ptr<directory> open(const std::vector<std::string>& members);

  std::unique_ptr<members_place> place_;
};

inline std::string name_of_members_maker(const testing::TestParamInfo<members_maker>& info) {
  return info.param.name;
}

} // namespace troupe::tests
