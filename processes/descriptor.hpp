// An open file descriptor.
#pragma once

#include <utility>

#include <unistd.h>

namespace troupe::processes {

/// Owns a file descriptor. The destructor closes it.
class descriptor {
public:
  descriptor() = default;
  explicit descriptor(int number) : number_(number) {}
  descriptor(descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  descriptor& operator=(descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~descriptor() { close(); }

  [[nodiscard]] int number() const noexcept { return number_; } ///< -1 if there is none.
  [[nodiscard]] explicit operator bool() const noexcept { return number_ >= 0; }

  /// Gives the descriptor to the caller, who closes it.
  [[nodiscard]] int release() noexcept { return std::exchange(number_, -1); }

  void close() {
    if (number_ >= 0)
      ::close(std::exchange(number_, -1));
  }

private:
  int number_ = -1;
};

} // namespace troupe::processes
