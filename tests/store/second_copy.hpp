// A second copy of the store library in the same process, as a plugin may bring one along: all of its sources compiled
// once more with another name for the namespace. It shares nothing with the first one but the process.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

namespace second_copy {

/// One store, open in the second copy.
class store {
public:
  virtual ~store() = default;
  [[nodiscard]] virtual std::uint64_t number() const = 0;
  [[nodiscard]] virtual std::uint32_t slot() const = 0;
  /// Puts an object, holds it until the end, and gives its id as text.
  [[nodiscard]] virtual std::string put(const std::string& text) = 0;
  /// What is in the object with that id.
  [[nodiscard]] virtual std::string read(const std::string& id) = 0;
};

/// Null where it cannot be opened.
[[nodiscard]] std::unique_ptr<store> open(const std::string& name);

} // namespace second_copy
