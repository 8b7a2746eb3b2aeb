// A thin layer over SQLite. Its failures are exceptions that do not leave this room.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace troupe::cluster_directories {

/// A call of SQLite failed, or a row was not what the schema promises.
struct sqlite_failure {
  int code = 0;         // SQLite's extended result code.
  int system_errno = 0; // Of the system call that failed, or 0.
  std::string text;     // SQLite's words.
};

/// The failure of a row that is not what the schema promises.
[[nodiscard]] sqlite_failure damaged_record(const char* what);

/// One connection to a database file.
///
/// Threads: one at a time. Lifetime: statements must be destroyed before their connection.
class sqlite_connection {
public:
  /// Opens an existing file, and follows no symbolic link. Throws sqlite_failure.
  explicit sqlite_connection(const std::string& path);
  sqlite_connection(const sqlite_connection&) = delete;
  sqlite_connection& operator=(const sqlite_connection&) = delete;
  ~sqlite_connection();

  /// A call that waits for another process's lock goes on waiting as long as `keeps_waiting`, which may sleep, returns
  /// true. Without it, calls do not wait.
  void wait_for_locks(std::function<bool()> keeps_waiting);

  /// Runs one or more statements without arguments. Throws sqlite_failure.
  void execute(const char* sql);
  /// Runs a statement whose result is one value, and returns it as a text.
  [[nodiscard]] std::string value_of(const char* sql);

  /// Whether the database is no longer at its path, because somebody removed or renamed the file.
  [[nodiscard]] bool has_moved() const;

  struct log_pages {
    int in_log = 0;
    int written_back = 0;
  };
  /// Writes pages of the write-ahead log back to the database, as far as no other connection is in the way.
  log_pages write_log_back();
  /// Like write_log_back(), and waits for the readers of the log, so that the next write begins it anew. Returns false
  /// if a reader or writer was in the way for too long.
  [[nodiscard]] bool restart_log();
  /// The pages in the write-ahead log after the last commit of this connection.
  [[nodiscard]] int pages_in_log() const noexcept { return pages_in_log_; }

  [[nodiscard]] bool is_in_transaction() const;

  [[nodiscard]] sqlite3* get() const noexcept { return db_; }
  /// The reason of the last failure.
  [[nodiscard]] sqlite_failure failure(int code) const;

private:
  sqlite3* db_ = nullptr;
  std::function<bool()> keeps_waiting_;
  int pages_in_log_ = 0;
};

/// The row that a statement has reached. Throws sqlite_failure if a column is not of the asked kind.
class sqlite_row {
public:
  explicit sqlite_row(sqlite3_stmt* statement) : statement_(statement) {}

  /// Not negative.
  [[nodiscard]] std::uint64_t number(int column) const;
  /// Valid until the next row.
  [[nodiscard]] std::string_view bytes(int column, std::size_t bytes_max) const;

private:
  sqlite3_stmt* statement_;
};

/// A prepared statement.
///
/// Threads: those of its connection.
class sqlite_statement {
public:
  /// Throws sqlite_failure.
  sqlite_statement(sqlite_connection& of, const char* sql);
  sqlite_statement(const sqlite_statement&) = delete;
  sqlite_statement& operator=(const sqlite_statement&) = delete;
  ~sqlite_statement();

  /// Runs the statement with `arguments`, which are numbers and views of bytes. Throws sqlite_failure.
  template <class... Arguments>
  void run(const Arguments&... arguments) {
    each([](const sqlite_row&) { return true; }, arguments...);
  }

  /// Like run(), and calls `visit` with each row until it returns false.
  template <class Visit, class... Arguments>
  void each(Visit&& visit, const Arguments&... arguments) {
    const running guard{statement_};
    int index = 0;
    (bind(++index, arguments), ...);
    while (step() && visit(sqlite_row{statement_}))
      ;
  }

private:
  /// Ends a run, also if an exception is thrown.
  struct running {
    explicit running(sqlite3_stmt* of) : statement(of) {}
    running(const running&) = delete;
    running& operator=(const running&) = delete;
    ~running();
    sqlite3_stmt* statement;
  };

  void bind(int index, std::uint64_t number);
  void bind(int index, std::string_view bytes);
  bool step();

  sqlite_connection& connection_;
  sqlite3_stmt* statement_ = nullptr;
};

} // namespace troupe::cluster_directories
