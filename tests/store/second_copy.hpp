// A second copy of the store library in the same process, as a plugin may bring one: all of its sources compiled again
// with another name for the namespace. The two copies share nothing but the process.
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
  /// Puts an object, holds it until the end, and returns its id as text.
  [[nodiscard]] virtual std::string put(const std::string& text) = 0;
  /// Returns the bytes of the object with that id as text, or why they cannot be read.
  [[nodiscard]] virtual std::string read(const std::string& id) = 0;
};

/// Null if the store cannot be opened.
[[nodiscard]] std::unique_ptr<store> open(const std::string& name);

} // namespace second_copy
