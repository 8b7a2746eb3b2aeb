// Where a read-only directory has its members from.
#pragma once

#include <troupe/framework/cluster/directory_errc.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace troupe::cluster_directories {

/// A list of addresses outside of this program.
///
/// Threads: one at a time.
class member_source {
public:
  struct finding {
    std::optional<std::vector<std::string>> members; // Nothing: as before.
    std::optional<directory_error> trouble;          // Why it may be out of date.
    std::chrono::milliseconds pause{};               // The list need not be looked at earlier than after this time.
  };

  member_source(const member_source&) = delete;
  member_source& operator=(const member_source&) = delete;
  virtual ~member_source() = default;

  /// Looks at the list. Blocks at most for the time that the source was made with, and returns at once when
  /// `stop_descriptor` becomes readable.
  [[nodiscard]] virtual finding look(int stop_descriptor) = 0;

  /// A descriptor for poll(), readable if the list should be looked at before the pause is over; -1 if there is none.
  [[nodiscard]] virtual int readable() const { return -1; }

protected:
  member_source() = default;
};

} // namespace troupe::cluster_directories
