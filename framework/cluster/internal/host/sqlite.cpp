#include <troupe/framework/cluster/internal/host/sqlite.hpp>

#include <utility>

#include <sqlite3.h>

namespace troupe::cluster_directories {

namespace {

/// The reason of the last write that failed; SQLite tells it for the two files separately.
int errno_of_write(sqlite3* db) {
  sqlite3_file* log = nullptr;
  auto code = 0;
  if (sqlite3_file_control(db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log) == SQLITE_OK && log != nullptr
      && log->pMethods != nullptr)
    log->pMethods->xFileControl(log, SQLITE_FCNTL_LAST_ERRNO, &code);
  if (code == 0)
    sqlite3_file_control(db, "main", SQLITE_FCNTL_LAST_ERRNO, &code);
  return code;
}

int wait_for_lock(void* keeps_waiting, int) noexcept {
  return (*static_cast<std::function<bool()>*>(keeps_waiting))() ? 1 : 0;
}

/// Switches features off that only a foreign file would use.
void distrust_file(sqlite3* db) {
  sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
  sqlite3_limit(db, SQLITE_LIMIT_LENGTH, 1'000'000);
}

} // namespace

sqlite_failure damaged_record(const char* what) {
  return {SQLITE_CORRUPT, 0, what};
}

sqlite_connection::sqlite_connection(const std::string& path) {
  constexpr int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE | SQLITE_OPEN_NOFOLLOW
                        | SQLITE_OPEN_EXRESCODE;
  if (sqlite3_threadsafe() == 0)
    throw sqlite_failure{SQLITE_MISUSE, 0, "this SQLite was compiled for programs with one thread"};
  if (const auto code = sqlite3_open_v2(path.c_str(), &db_, flags, nullptr); code != SQLITE_OK) {
    auto why = db_ != nullptr ? failure(code) : sqlite_failure{code, 0, sqlite3_errstr(code)};
    sqlite3_close(db_);
    throw why;
  }
  distrust_file(db_);
  const auto count_pages = [](void* self, sqlite3*, const char*, int pages) noexcept {
    static_cast<sqlite_connection*>(self)->pages_in_log_ = pages;
    return SQLITE_OK;
  };
  sqlite3_wal_hook(db_, count_pages, this); // Replaces SQLite's own hook, which writes the log back inside a commit.
}

sqlite_connection::~sqlite_connection() {
  sqlite3_close(db_);
}

void sqlite_connection::wait_for_locks(std::function<bool()> keeps_waiting) {
  keeps_waiting_ = std::move(keeps_waiting);
  sqlite3_busy_handler(db_, keeps_waiting_ ? wait_for_lock : nullptr, &keeps_waiting_);
}

sqlite_failure sqlite_connection::failure(int code) const {
  const auto system_errno = code == SQLITE_IOERR_WRITE ? errno_of_write(db_) : sqlite3_system_errno(db_);
  return {code, system_errno, sqlite3_errmsg(db_)};
}

void sqlite_connection::execute(const char* sql) {
  if (const auto code = sqlite3_exec(db_, sql, nullptr, nullptr, nullptr); code != SQLITE_OK)
    throw failure(code);
}

std::string sqlite_connection::value_of(const char* sql) {
  std::string value;
  const auto keep = [](void* to, int, char** columns, char**) noexcept {
    *static_cast<std::string*>(to) = columns[0] != nullptr ? columns[0] : "";
    return 0;
  };
  if (const auto code = sqlite3_exec(db_, sql, keep, &value, nullptr); code != SQLITE_OK)
    throw failure(code);
  return value;
}

bool sqlite_connection::has_moved() const {
  int moved = 0;
  return sqlite3_file_control(db_, "main", SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK && moved != 0;
}

sqlite_connection::log_pages sqlite_connection::write_log_back() {
  log_pages pages;
  sqlite3_wal_checkpoint_v2(db_, "main", SQLITE_CHECKPOINT_PASSIVE, &pages.in_log, &pages.written_back);
  return pages;
}

bool sqlite_connection::restart_log() {
  return sqlite3_wal_checkpoint_v2(db_, "main", SQLITE_CHECKPOINT_RESTART, nullptr, nullptr) == SQLITE_OK;
}

bool sqlite_connection::is_in_transaction() const {
  return sqlite3_get_autocommit(db_) == 0;
}

std::uint64_t sqlite_row::number(int column) const {
  const auto value = sqlite3_column_int64(statement_, column);
  if (sqlite3_column_type(statement_, column) != SQLITE_INTEGER || value < 0)
    throw damaged_record("a column is not a number, or is negative");
  return static_cast<std::uint64_t>(value);
}

std::string_view sqlite_row::bytes(int column, std::size_t bytes_max) const {
  if (sqlite3_column_type(statement_, column) != SQLITE_BLOB)
    throw damaged_record("a column is not a text");
  const auto* const first = static_cast<const char*>(sqlite3_column_blob(statement_, column));
  const auto count = static_cast<std::size_t>(sqlite3_column_bytes(statement_, column));
  if (count > bytes_max)
    throw damaged_record("a column is too long");
  return {count == 0 ? "" : first, count};
}

sqlite_statement::sqlite_statement(sqlite_connection& of, const char* sql) : connection_(of) {
  const auto code = sqlite3_prepare_v3(of.get(), sql, -1, SQLITE_PREPARE_PERSISTENT, &statement_, nullptr);
  if (code != SQLITE_OK)
    throw of.failure(code);
}

sqlite_statement::~sqlite_statement() {
  sqlite3_finalize(statement_);
}

sqlite_statement::running::~running() {
  sqlite3_reset(statement);
  sqlite3_clear_bindings(statement);
}

void sqlite_statement::bind(int index, std::uint64_t number) {
  if (const auto code = sqlite3_bind_int64(statement_, index, static_cast<sqlite3_int64>(number)); code != SQLITE_OK)
    throw connection_.failure(code);
}

void sqlite_statement::bind(int index, std::string_view bytes) {
  const auto count = static_cast<sqlite3_uint64>(bytes.size());
  // A null pointer would bind NULL instead of no bytes. The bytes outlive the run.
  const auto code = sqlite3_bind_blob64(statement_, index, bytes.empty() ? "" : bytes.data(), count, SQLITE_STATIC);
  if (code != SQLITE_OK)
    throw connection_.failure(code);
}

bool sqlite_statement::step() {
  const auto code = sqlite3_step(statement_);
  if (code != SQLITE_ROW && code != SQLITE_DONE)
    throw connection_.failure(code);
  return code == SQLITE_ROW;
}

} // namespace troupe::cluster_directories
