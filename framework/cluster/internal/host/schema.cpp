#include <troupe/framework/cluster/internal/host/schema.hpp>

#include <string>
#include <string_view>

namespace troupe::cluster_directories {

namespace {

constexpr const char* tables = R"(
  CREATE TABLE head (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    identity BLOB NOT NULL,
    boot BLOB NOT NULL,
    revision INTEGER NOT NULL,
    reserved INTEGER NOT NULL,
    compacted INTEGER NOT NULL,
    change_count INTEGER NOT NULL,
    change_bytes INTEGER NOT NULL
  );
  CREATE TABLE entries (
    key BLOB PRIMARY KEY,
    value BLOB NOT NULL,
    created INTEGER NOT NULL,
    changed INTEGER NOT NULL,
    lease INTEGER NOT NULL
  ) WITHOUT ROWID;
  CREATE INDEX entries_with_lease ON entries (lease) WHERE lease <> 0;
  CREATE TABLE leases (
    id INTEGER PRIMARY KEY,
    ends INTEGER NOT NULL,
    time_ms INTEGER NOT NULL,
    process INTEGER NOT NULL,
    started INTEGER NOT NULL,
    pid_namespace INTEGER NOT NULL
  );
  CREATE TABLE changes (
    revision INTEGER NOT NULL,
    place INTEGER NOT NULL,
    is_removal INTEGER NOT NULL,
    key BLOB NOT NULL,
    value BLOB NOT NULL,
    created INTEGER NOT NULL,
    changed INTEGER NOT NULL,
    lease INTEGER NOT NULL,
    PRIMARY KEY (revision, place)
  ) WITHOUT ROWID;
  INSERT INTO head VALUES (1, x'', x'', 1, 1, 0, 0, 0);
  PRAGMA application_id = 1414680644;
  PRAGMA user_version = 1;
)";
constexpr std::string_view application_id = "1414680644"; // "TRPD".
static_assert(schema_version == 1);                       // As in `tables`.

} // namespace

schema_state schema_of(sqlite_connection& of) {
  if (of.value_of("SELECT count(*) FROM sqlite_schema") == "0")
    return schema_state::none;
  if (of.value_of("PRAGMA application_id") != application_id)
    return schema_state::foreign;
  return of.value_of("PRAGMA user_version") == std::to_string(schema_version) ? schema_state::ready
                                                                              : schema_state::newer;
}

void make_tables(sqlite_connection& of) {
  of.execute(tables);
}

} // namespace troupe::cluster_directories
