// The list of a read-only directory's members over time.
#pragma once

#include <troupe/framework/cluster/directory.hpp>

#include <cstdint>
#include <deque>
#include <expected>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::cluster_directories {

/// Gives each change of a list of addresses a revision, and keeps the last changes for watches.
///
/// An address is an entry with the key `members/ADDRESS` and the value `{"addresses":["ADDRESS"]}`.
///
/// Threads: one at a time.
class member_history {
public:
  /// How many changes are kept; the newest revision always is.
  explicit member_history(std::size_t changes_max = 4'096) : changes_max_(changes_max) {}

  /// Returns whether the list has changed. The order of addresses, and those that are there twice, do not matter.
  bool update(const std::vector<std::string>& addresses);

  [[nodiscard]] std::uint64_t revision() const noexcept { return revision_; }
  [[nodiscard]] std::size_t count() const noexcept { return entries_.size(); }
  [[nodiscard]] directory_listing list(std::string_view prefix) const;

  /// The changes to keys below `prefix` from `first_revision` on. Fails with `compacted`.
  [[nodiscard]] std::expected<std::vector<directory_change>, directory_error>
  changes(std::string_view prefix, std::uint64_t first_revision) const;

private:
  void forget_old_changes();

  const std::size_t changes_max_;
  std::uint64_t revision_ = 1;
  std::uint64_t compacted_ = 0; // Changes up to this revision are no longer kept.
  std::map<std::string, directory_entry, std::less<>> entries_;
  std::deque<directory_change> changes_;
};

} // namespace troupe::cluster_directories
