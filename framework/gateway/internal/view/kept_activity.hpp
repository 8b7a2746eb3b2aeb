// What has happened in the nodes since somebody looks at them.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include <troupe/framework/gateway/view.hpp>

namespace troupe::web {

/// Adds the letters and spans of one answer to those of earlier ones, so that all viewers see the same.
///
/// Threads: one at a time.
class kept_activity {
public:
  /// The newest of each node are kept.
  static constexpr std::size_t letters_max = 256;
  static constexpr std::size_t spans_max = 1'000;

  /// Takes the answers of all nodes. Nodes that are not among them are forgotten.
  void take(std::vector<viewed_activity> answers);
  /// What the nodes tell, with all kept letters and spans.
  [[nodiscard]] const std::vector<viewed_activity>& all() const noexcept { return all_; }

private:
  std::vector<viewed_activity> all_;
};

} // namespace troupe::web
