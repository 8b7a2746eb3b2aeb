// Keeps the spans of nodes for a test.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include <troupe/framework/span.hpp>

namespace troupe::tests {

class span_collector final : public span_sink {
public:
  bool take(span what) noexcept override {
    const std::lock_guard guard{mutex_};
    spans_.push_back(std::move(what));
    return true;
  }

  [[nodiscard]] std::vector<span> all() const {
    const std::lock_guard guard{mutex_};
    return spans_;
  }
  /// The span of that name; nullopt if there is none, or several.
  [[nodiscard]] std::optional<span> named(std::string_view name) const {
    std::optional<span> found;
    for (auto& each : all()) {
      if (each.name != name)
        continue;
      if (found)
        return std::nullopt;
      found = std::move(each);
    }
    return found;
  }

private:
  mutable std::mutex mutex_;
  std::vector<span> spans_;
};

} // namespace troupe::tests
