// What a watch delivered.
#pragma once

#include <troupe/framework/cluster/directory.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace troupe::tests {

/// Records the calls of a watch's handlers, and checks their order.
///
/// Threads: any. Lifetime: shared with the handlers.
class recorded_watch {
public:
  [[nodiscard]] static directory_watch_handlers handlers_of(const std::shared_ptr<recorded_watch>& to) {
    return {
        .on_changes = [to](std::span<const directory_change> what, std::uint64_t revision) { to->add(what, revision); },
        .on_end = [to](const directory_error& why) { to->end(why); }};
  }

  [[nodiscard]] std::vector<directory_change> changes() const {
    const std::lock_guard guard{mutex_};
    return changes_;
  }
  [[nodiscard]] std::size_t count() const { return changes().size(); }
  [[nodiscard]] std::uint64_t revision() const {
    const std::lock_guard guard{mutex_};
    return revision_;
  }
  /// The first breach of the order; empty if there was none.
  [[nodiscard]] std::string breach() const {
    const std::lock_guard guard{mutex_};
    return breach_;
  }
  [[nodiscard]] std::optional<directory_errc> end() const {
    const std::lock_guard guard{mutex_};
    return end_;
  }
  /// The values of the keys that were put and not removed.
  [[nodiscard]] std::map<std::string, std::string> state() const {
    std::map<std::string, std::string> values;
    for (const auto& change : changes()) {
      if (change.what == directory_change::kind::put)
        values[change.entry.key] = change.entry.value;
      else
        values.erase(change.entry.key);
    }
    return values;
  }
  [[nodiscard]] bool has_removed(const std::string& key) const {
    const auto all = changes();
    return std::ranges::any_of(all, [&](const directory_change& change) {
      return change.what == directory_change::kind::removed && change.entry.key == key;
    });
  }

private:
  void add(std::span<const directory_change> what, std::uint64_t revision) {
    const std::lock_guard guard{mutex_};
    if (end_)
      breach_ = "a change after the end";
    if (what.empty() || what.back().entry.changed_revision != revision)
      breach_ = "the revision is not that of the last change";
    if (!what.empty() && what.front().entry.changed_revision <= revision_)
      breach_ = "revision " + std::to_string(what.front().entry.changed_revision) + " came after revision "
                + std::to_string(revision_);
    for (const auto& change : what) {
      if (!changes_.empty() && change.entry.changed_revision < changes_.back().entry.changed_revision)
        breach_ = "revisions fell within a call";
      changes_.push_back(change);
    }
    revision_ = revision;
  }
  void end(const directory_error& why) {
    const std::lock_guard guard{mutex_};
    if (end_)
      breach_ = "a second end";
    end_ = why.code();
  }

  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::vector<directory_change> changes_;
  std::uint64_t revision_ = 0;
  std::string breach_;
  std::optional<directory_errc> end_;
};

} // namespace troupe::tests
