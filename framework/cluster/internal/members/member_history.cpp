#include <troupe/framework/cluster/internal/members/member_history.hpp>

#include <troupe/framework/cluster/internal/watching/watch_list.hpp>

#include <algorithm>
#include <set>

namespace troupe::cluster_directories {

namespace {

constexpr std::string_view key_prefix = "members/";

} // namespace

bool member_history::update(const std::vector<std::string>& addresses) {
  std::set<std::string> wanted;
  for (const auto& address : addresses)
    wanted.insert(std::string{key_prefix} + address);
  const auto next = revision_ + 1;
  const auto count_before = changes_.size();
  std::erase_if(entries_, [&](const auto& element) {
    const auto& key = element.first;
    if (wanted.contains(key))
      return false;
    changes_.push_back({.what = directory_change::kind::removed, .entry = {.key = key, .changed_revision = next}});
    return true;
  });
  for (const auto& key : wanted) {
    if (entries_.contains(key))
      continue;
    const directory_entry entry{.key = key,
                                .value = R"({"addresses":[")" + key.substr(key_prefix.size()) + R"("]})",
                                .created_revision = next,
                                .changed_revision = next};
    entries_.emplace(key, entry);
    changes_.push_back({.what = directory_change::kind::put, .entry = entry});
  }
  if (changes_.size() == count_before)
    return false;
  revision_ = next;
  forget_old_changes();
  return true;
}

void member_history::forget_old_changes() {
  while (changes_.size() > changes_max_ && changes_.front().entry.changed_revision != revision_) {
    compacted_ = changes_.front().entry.changed_revision;
    while (changes_.front().entry.changed_revision == compacted_)
      changes_.pop_front();
  }
}

directory_listing member_history::list(std::string_view prefix) const {
  directory_listing listing{.revision = revision_};
  for (auto entry = entries_.lower_bound(prefix); entry != entries_.end() && entry->first.starts_with(prefix); ++entry)
    listing.entries.push_back(entry->second);
  return listing;
}

std::expected<std::vector<directory_change>, directory_error>
member_history::changes(std::string_view prefix, std::uint64_t first_revision) const {
  if (first_revision <= compacted_)
    return std::unexpected{compacted_error(first_revision)};
  std::vector<directory_change> found;
  std::ranges::copy_if(changes_, std::back_inserter(found), [&](const directory_change& change) {
    return change.entry.changed_revision >= first_revision && change.entry.key.starts_with(prefix);
  });
  return found;
}

} // namespace troupe::cluster_directories
