#include <troupe/framework/cluster/internal/host/records.hpp>

#include <utility>

namespace troupe::cluster_directories {

namespace {

constexpr std::size_t identity_bytes_max = 64;
// Above what a row costs besides its key and value.
constexpr std::uint64_t change_overhead_bytes = 64;

/// The first key behind all that begin with `prefix`; empty if there is none.
std::string end_of_prefix(std::string_view prefix) {
  std::string end{prefix};
  while (!end.empty() && end.back() == '\xff')
    end.pop_back();
  if (!end.empty())
    end.back() = static_cast<char>(static_cast<unsigned char>(end.back()) + 1);
  return end;
}

directory_entry entry_of(const sqlite_row& row, int first) {
  return {.key = std::string{row.bytes(first, directory::key_bytes_max)},
          .value = std::string{row.bytes(first + 1, directory::value_bytes_max)},
          .created_revision = row.number(first + 2),
          .changed_revision = row.number(first + 3),
          .lease = row.number(first + 4)};
}

} // namespace

std::vector<process_identity> owners_of(const std::vector<lease_record>& leases) {
  std::vector<process_identity> owners;
  owners.reserve(leases.size());
  for (const auto& lease : leases)
    owners.push_back(lease.owner);
  return owners;
}

records::records(sqlite_connection& of)
    : read_head_(of, "SELECT identity, boot, revision, reserved, compacted, change_count, change_bytes FROM head"),
      write_head_(of, "UPDATE head SET identity = ?, boot = ?, revision = ?, reserved = ?, compacted = ?, "
                      "change_count = ?, change_bytes = ?"),
      read_entry_(of, "SELECT key, value, created, changed, lease FROM entries WHERE key = ?"),
      read_entries_(of, "SELECT key, value, created, changed, lease FROM entries "
                        "WHERE key >= ?1 AND (key < ?2 OR ?2 = x'') ORDER BY key"),
      read_keys_of_lease_(of, "SELECT key FROM entries WHERE lease = ? AND lease <> 0 ORDER BY key"),
      write_entry_(of, "INSERT OR REPLACE INTO entries (key, value, created, changed, lease) VALUES (?, ?, ?, ?, ?)"),
      delete_entry_(of, "DELETE FROM entries WHERE key = ?"),
      read_leases_(of, "SELECT id, ends, time_ms, process, started, pid_namespace FROM leases"),
      write_lease_(of, "INSERT INTO leases (id, ends, time_ms, process, started, pid_namespace) "
                       "VALUES (?, ?, ?, ?, ?, ?)"),
      write_lease_end_(of, "UPDATE leases SET ends = ? WHERE id = ?"),
      delete_lease_(of, "DELETE FROM leases WHERE id = ?"),
      write_change_(of, "INSERT INTO changes (revision, place, is_removal, key, value, created, changed, lease) "
                        "VALUES (?, ?, ?, ?, ?, ?, ?, ?)"),
      read_changes_(of, "SELECT is_removal, key, value, created, changed, lease FROM changes WHERE revision >= ?1 "
                        "AND revision <= ?2 AND key >= ?3 AND (key < ?4 OR ?4 = x'') ORDER BY revision, place"),
      read_revisions_(of, "SELECT revision, count(*), sum(length(key) + length(value)) FROM changes GROUP BY revision "
                          "ORDER BY revision"),
      delete_changes_(of, "DELETE FROM changes WHERE revision <= ?") {}

head_record records::head() {
  head_record head;
  auto is_there = false;
  read_head_.each([&](const sqlite_row& row) {
    is_there = true;
    head = {.identity = std::string{row.bytes(0, identity_bytes_max)},
            .boot = std::string{row.bytes(1, identity_bytes_max)},
            .revision = row.number(2),
            .reserved = row.number(3),
            .compacted = row.number(4),
            .change_count = row.number(5),
            .change_bytes = row.number(6)};
    return false;
  });
  if (!is_there)
    throw damaged_record("the row of the last revision is missing");
  return head;
}

void records::set_head(const head_record& head) {
  write_head_.run(std::string_view{head.identity}, std::string_view{head.boot}, head.revision, head.reserved,
                  head.compacted, head.change_count, head.change_bytes);
}

std::optional<directory_entry> records::entry(std::string_view key) {
  std::optional<directory_entry> found;
  read_entry_.each(
      [&](const sqlite_row& row) {
        found = entry_of(row, 0);
        return false;
      },
      key);
  return found;
}

std::vector<directory_entry> records::entries(std::string_view prefix) {
  std::vector<directory_entry> found;
  read_entries_.each(
      [&](const sqlite_row& row) {
        found.push_back(entry_of(row, 0));
        return true;
      },
      prefix, std::string_view{end_of_prefix(prefix)});
  return found;
}

std::vector<std::string> records::keys_of_lease(std::uint64_t lease) {
  std::vector<std::string> keys;
  read_keys_of_lease_.each(
      [&](const sqlite_row& row) {
        keys.emplace_back(row.bytes(0, directory::key_bytes_max));
        return true;
      },
      lease);
  return keys;
}

void records::put_entry(const directory_entry& entry) {
  write_entry_.run(std::string_view{entry.key}, std::string_view{entry.value}, entry.created_revision,
                   entry.changed_revision, entry.lease);
}

void records::remove_entry(std::string_view key) {
  delete_entry_.run(key);
}

std::vector<lease_record> records::leases() {
  std::vector<lease_record> all;
  read_leases_.each([&](const sqlite_row& row) {
    all.push_back({.id = row.number(0),
                   .ends = row.number(1),
                   .time_ms = row.number(2),
                   .owner = {.number = row.number(3), .started = row.number(4), .pid_namespace = row.number(5)}});
    return true;
  });
  return all;
}

void records::add_lease(const lease_record& lease) {
  write_lease_.run(lease.id, lease.ends, lease.time_ms, lease.owner.number, lease.owner.started,
                   lease.owner.pid_namespace);
}

void records::set_lease_end(std::uint64_t lease, std::uint64_t ends) {
  write_lease_end_.run(ends, lease);
}

void records::remove_lease(std::uint64_t lease) {
  delete_lease_.run(lease);
}

void records::add_change(std::uint64_t revision, std::uint64_t place, const directory_change& change) {
  const auto is_removal = change.what == directory_change::kind::removed ? std::uint64_t{1} : std::uint64_t{0};
  write_change_.run(revision, place, is_removal, std::string_view{change.entry.key},
                    std::string_view{change.entry.value}, change.entry.created_revision, change.entry.changed_revision,
                    change.entry.lease);
}

void records::each_change(std::string_view prefix, std::uint64_t first, std::uint64_t last,
                          const std::function<bool(directory_change)>& visit) {
  read_changes_.each(
      [&](const sqlite_row& row) {
        using enum directory_change::kind;
        return visit({.what = row.number(0) != 0 ? removed : put, .entry = entry_of(row, 1)});
      },
      first, last, prefix, std::string_view{end_of_prefix(prefix)});
}

void records::each_revision(const std::function<bool(const revision_size&)>& visit) {
  read_revisions_.each([&](const sqlite_row& row) {
    const auto changes = row.number(1);
    return visit(
        {.revision = row.number(0), .changes = changes, .bytes = row.number(2) + changes * change_overhead_bytes});
  });
}

void records::forget_changes(std::uint64_t up_to_revision) {
  delete_changes_.run(up_to_revision);
}

std::uint64_t records::bytes_of(const directory_change& change) {
  return change.entry.key.size() + change.entry.value.size() + change_overhead_bytes;
}

} // namespace troupe::cluster_directories
