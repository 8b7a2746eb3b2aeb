// What a member knows to be wrong.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace troupe::membership {

/// Keeps the last problem of each thing that can have one, of at most 1,000 things.
///
/// Threads: any.
class problem_list {
public:
  static constexpr std::size_t most = 1'000;

  /// An empty text: the problem is solved.
  void note(const std::string& about, std::string text) {
    const std::lock_guard guard{mutex_};
    texts_.erase(about);
    if (!text.empty() && texts_.size() < most)
      texts_.emplace(about, std::move(text));
  }
  [[nodiscard]] std::optional<std::string> find(const std::string& about) const {
    const std::lock_guard guard{mutex_};
    const auto known = texts_.find(about);
    return known == texts_.end() ? std::nullopt : std::optional{known->second};
  }
  /// Adds each problem to `all`, with what it is about.
  void add_to(std::vector<std::string>& all) const {
    const std::lock_guard guard{mutex_};
    for (const auto& [about, text] : texts_)
      all.push_back(about + ": " + text);
  }

private:
  mutable std::mutex mutex_;
  std::map<std::string, std::string> texts_; // Guarded by mutex_. By what they are about.
};

} // namespace troupe::membership
