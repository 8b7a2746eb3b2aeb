#include <troupe/framework/cluster/internal/host/record_writer.hpp>

#include <algorithm>
#include <string>
#include <utility>

namespace troupe::cluster_directories {

namespace {

std::unexpected<directory_error> lease_gone(std::uint64_t lease) {
  return std::unexpected{directory_error{
      directory_errc::lease_gone, "lease " + std::to_string(lease)
                                      + " is gone: its time was over, its process ended, or it was revoked; grant "
                                        "another one and put its entries again"}};
}

bool holds(const directory_condition& condition, const std::optional<directory_entry>& entry) {
  using enum directory_condition::kind;
  switch (condition.what) {
  case absent:
    return !entry;
  case created_at:
    return entry && entry->created_revision == condition.revision;
  case changed_at:
    return entry && entry->changed_revision == condition.revision;
  }
  return false;
}

} // namespace

bool is_due(const lease_record& lease, std::uint64_t now, std::span<const process_identity> ended_processes) {
  return lease.ends < now || std::ranges::find(ended_processes, lease.owner) != ended_processes.end();
}

record_writer::record_writer(records& of, std::uint64_t now, const history_bounds& bounds)
    : records_(of), now_(now), bounds_(bounds), head_(of.head()), leases_(of.leases()) {}

void record_writer::begin_boot(const std::string& boot) {
  head_.boot = boot;
  head_.revision = std::max(head_.revision, head_.reserved);
  for (const auto& lease : std::exchange(leases_, {})) {
    for (const auto& key : records_.keys_of_lease(lease.id))
      records_.remove_entry(key);
    records_.remove_lease(lease.id);
  }
  ++head_.revision;
  forget_history();
}

void record_writer::forget_history() {
  records_.forget_changes(head_.revision);
  head_.compacted = head_.revision;
  head_.change_count = 0;
  head_.change_bytes = 0;
}

directory_lease record_writer::grant(std::uint64_t id, std::chrono::milliseconds time, const process_identity& owner) {
  const auto granted = std::max(time, shortest_lease);
  const auto time_ms = static_cast<std::uint64_t>(granted.count());
  const lease_record lease{.id = id, .ends = now_ + time_ms, .time_ms = time_ms, .owner = owner};
  records_.add_lease(lease);
  leases_.push_back(lease);
  return {.id = id, .time = granted};
}

std::expected<std::chrono::milliseconds, directory_error> record_writer::keep_alive(std::uint64_t lease) {
  const auto found = std::ranges::find(leases_, lease, &lease_record::id);
  if (found == leases_.end())
    return lease_gone(lease);
  found->ends = now_ + found->time_ms;
  records_.set_lease_end(lease, found->ends);
  return std::chrono::milliseconds{found->time_ms};
}

void record_writer::end_lease(std::uint64_t lease) {
  const auto found = std::ranges::find(leases_, lease, &lease_record::id);
  if (found == leases_.end())
    return;
  leases_.erase(found);
  for (const auto& key : records_.keys_of_lease(lease))
    remove(key);
  records_.remove_lease(lease);
  finish_revision();
}

void record_writer::end_due_leases(std::span<const process_identity> ended_processes) {
  for (const auto& lease : std::vector{leases_})
    if (is_due(lease, now_, ended_processes))
      end_lease(lease.id);
}

std::expected<directory_commit, directory_error> record_writer::commit(std::span<const directory_condition> conditions,
                                                                       std::span<const directory_write> writes) {
  directory_commit result{.is_applied = true};
  for (const auto& condition : conditions) {
    auto entry = records_.entry(condition.key);
    result.is_applied = result.is_applied && holds(condition, entry);
    if (entry)
      result.found.push_back(*std::move(entry));
  }
  if (result.is_applied) {
    result.found.clear();
    if (auto good = check_leases(writes); !good)
      return std::unexpected{std::move(good).error()};
    for (const auto& write : writes)
      apply(write);
    finish_revision();
  }
  result.revision = head_.revision;
  return result;
}

std::expected<void, directory_error> record_writer::check_leases(std::span<const directory_write> writes) {
  for (const auto& write : writes)
    if (write.what == directory_write::kind::put && write.lease != 0
        && std::ranges::find(leases_, write.lease, &lease_record::id) == leases_.end())
      return lease_gone(write.lease);
  return {};
}

void record_writer::apply(const directory_write& write) {
  if (write.what == directory_write::kind::remove)
    return remove(write.key);
  const auto revision = head_.revision + 1;
  const auto before = records_.entry(write.key);
  const directory_entry entry{.key = write.key,
                              .value = write.value,
                              .created_revision = before ? before->created_revision : revision,
                              .changed_revision = revision,
                              .lease = write.lease};
  records_.put_entry(entry);
  record({.what = directory_change::kind::put, .entry = entry});
}

void record_writer::remove(std::string_view key) {
  if (!records_.entry(key))
    return;
  records_.remove_entry(key);
  record({.what = directory_change::kind::removed,
          .entry = {.key = std::string{key}, .changed_revision = head_.revision + 1}});
}

void record_writer::record(directory_change change) {
  records_.add_change(head_.revision + 1, changes_of_revision_++, change);
  ++head_.change_count;
  head_.change_bytes += records::bytes_of(change);
}

void record_writer::finish_revision() {
  if (changes_of_revision_ == 0)
    return;
  changes_of_revision_ = 0;
  ++head_.revision;
  if (head_.change_count > bounds_.changes || head_.change_bytes > bounds_.bytes)
    forget_old_changes();
}

void record_writer::forget_old_changes() {
  // Forgets a quarter more than it must, so that not each commit does it.
  const auto is_enough = [&] {
    return head_.change_count <= bounds_.changes / 4 * 3 && head_.change_bytes <= bounds_.bytes / 4 * 3;
  };
  auto forgotten = head_.compacted;
  records_.each_revision([&](const revision_size& oldest) {
    if (is_enough() || oldest.revision == head_.revision)
      return false;
    forgotten = oldest.revision;
    head_.change_count -= std::min(oldest.changes, head_.change_count);
    head_.change_bytes -= std::min(oldest.bytes, head_.change_bytes);
    return true;
  });
  records_.forget_changes(forgotten);
  head_.compacted = std::max(head_.compacted, forgotten);
}

} // namespace troupe::cluster_directories
