#include <troupe/framework/cluster/internal/host/host_database.hpp>

#include <troupe/framework/cluster/internal/host/bell.hpp>
#include <troupe/framework/cluster/internal/host/clock.hpp>
#include <troupe/framework/cluster/internal/host/host_errors.hpp>
#include <troupe/framework/cluster/internal/host/schema.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <thread>
#include <utility>

#include <sys/random.h>

namespace troupe::cluster_directories {

namespace {

using std::chrono::milliseconds;

constexpr int log_pages_written_back = 1'000; // Four megabytes, as SQLite's own bound.
constexpr int log_pages_waited_for = 4'000;
constexpr milliseconds wait_for_readers{50};
constexpr milliseconds pause_between_restarts{500};

std::string random_identity() {
  std::array<unsigned char, 16> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    throw sqlite_failure{.code = 0, .system_errno = errno, .text = "no random bytes"};
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (const auto byte : bytes) {
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

/// An error that ends a transaction from within.
struct refused_transaction {
  directory_error why;
};

} // namespace

struct host_database::session {
  /// Opens the file again and again until other processes let this one in.
  void open(const host_settings& settings) {
    connection.emplace(settings.path);
    connection->wait_for_locks([this] { return waits_on(); });
    connection->execute("PRAGMA temp_store = MEMORY");
  }

  bool waits_on() {
    if (deadline == nullptr || deadline->has_passed() || is_closed->load())
      return false;
    constexpr std::chrono::microseconds longest{5'000};
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, longest);
    return true;
  }

  void begin_call(const call_deadline& call) {
    deadline = &call;
    pause = std::chrono::microseconds{200};
  }

  /// Rolls back at the end of a scope, unless the transaction has ended.
  struct unfinished {
    explicit unfinished(session& in) : of(in) {}
    unfinished(const unfinished&) = delete;
    unfinished& operator=(const unfinished&) = delete;
    ~unfinished() {
      if (of.connection && of.connection->is_in_transaction())
        try {
          of.connection->execute("ROLLBACK");
        } catch (const sqlite_failure&) { // The failure that led here matters more.
        }
    }
    session& of;
  };

  turns turn;
  // In turn.
  std::optional<sqlite_connection> connection;
  std::optional<records> rows;
  const std::atomic<bool>* is_closed = nullptr;
  const call_deadline* deadline = nullptr;
  std::chrono::microseconds pause{};
  call_deadline::clock::time_point next_restart; // Of the log.
  bool is_synced = false;                        // Each commit of the connection is written to the disk.
};

host_database::host_database(host_settings settings)
    : settings_(std::move(settings)),
      processes_(settings_.self),
      reading_(std::make_unique<session>()),
      writing_(std::make_unique<session>()) {
  reading_->is_closed = &is_closed_;
  writing_->is_closed = &is_closed_;
}

host_database::~host_database() {
  close();
}

std::expected<std::unique_ptr<host_database>, directory_error> host_database::open(host_settings settings) {
  if (const auto parent = open_database_count::forked_from())
    return std::unexpected{directory_error{
        directory_errc::refused, "this process was forked from process " + std::to_string(*parent)
                                     + ", which had a directory of kind host:// open; start it as a program of its own "
                                       "(exec), or fork before the first directory is opened"}};
  const call_deadline deadline{settings.timeout};
  std::unique_ptr<host_database> database{new host_database{std::move(settings)}};
  try {
    database->connect(deadline);
  } catch (const sqlite_failure& failure) {
    return std::unexpected{error_of(failure, database->path(), deadline.timeout())};
  } catch (const refused_transaction& refused) {
    return std::unexpected{refused.why};
  }
  return database;
}

void host_database::connect(const call_deadline& deadline) {
  for (auto* const each : {writing_.get(), reading_.get()}) {
    each->begin_call(deadline);
    // SQLite does not wait for some locks while it opens a file.
    for (;;) {
      try {
        each->open(settings_);
        const session::unfinished guard{*each};
        if (each == writing_.get())
          prepare_tables();
        each->rows.emplace(*each->connection);
        break;
      } catch (const sqlite_failure& failure) {
        each->rows.reset();
        each->connection.reset();
        if (!is_busy(failure) || !each->waits_on())
          throw;
      }
    }
  }
  check_boot(deadline);
}

void host_database::prepare_tables() {
  auto& connection = *writing_->connection;
  const auto check = [&] {
    const auto state = schema_of(connection);
    if (state == schema_state::foreign)
      throw refused_transaction{foreign_error(path())};
    if (state == schema_state::newer)
      throw refused_transaction{newer_error(path())};
    return state;
  };
  if (check() == schema_state::none) {
    if (const auto mode = connection.value_of("PRAGMA journal_mode = WAL"); mode != "wal")
      throw sqlite_failure{.code = 0, .text = "the file system does not allow a write-ahead log"};
    connection.execute("BEGIN IMMEDIATE");
    if (check() == schema_state::none)
      make_first_state();
    connection.execute("COMMIT");
  }
  const auto bounds = "PRAGMA max_page_count = " + std::to_string(settings_.pages_max)
                      + "; PRAGMA journal_size_limit = 4194304; PRAGMA synchronous = NORMAL";
  connection.execute(bounds.c_str());
}

void host_database::make_first_state() {
  auto& connection = *writing_->connection;
  make_tables(connection);
  records{connection}.set_head({.identity = random_identity(),
                                .boot = settings_.boot,
                                .reserved = settings_.reserved_revisions}); // The connection writes to the disk still.
}

void host_database::check_boot(const call_deadline& deadline) {
  std::string boot;
  auto looked = read(deadline, [&](records& rows) {
    const auto head = rows.head();
    identity_ = head.identity;
    boot = head.boot;
  });
  if (looked && boot != settings_.boot)
    looked = write(deadline, write_safety::power_loss, [&](record_writer& writer) {
      if (writer.head().boot != settings_.boot)
        writer.begin_boot(settings_.boot);
    });
  if (!looked)
    throw refused_transaction{std::move(looked).error()};
}

std::expected<void, directory_error> host_database::run(session& in, const call_deadline& deadline,
                                                        const std::function<void()>& transaction) {
  if (!in.turn.take(deadline))
    return std::unexpected{
        directory_error{directory_errc::busy, "other calls of this process used \"" + path() + "\" for "
                                                  + std::to_string(deadline.timeout().count()) + " ms; try again"}};
  const turn_taken taken{in.turn};
  if (is_closed_)
    return std::unexpected{closed_error(path())};
  in.begin_call(deadline);
  try {
    const session::unfinished guard{in};
    if (in.connection->has_moved())
      return std::unexpected{moved_error(path())};
    transaction();
    return {};
  } catch (const sqlite_failure& failure) {
    return std::unexpected{is_closed_ && is_busy(failure) ? closed_error(path())
                                                          : error_of(failure, path(), deadline.timeout())};
  } catch (const refused_transaction& refused) {
    return std::unexpected{refused.why};
  }
}

std::expected<void, directory_error> host_database::read(const call_deadline& deadline,
                                                         const std::function<void(records&)>& work) {
  return run(*reading_, deadline, [&] {
    reading_->connection->execute("BEGIN");
    work(*reading_->rows);
    reading_->connection->execute("COMMIT");
  });
}

std::expected<void, directory_error> host_database::write(const call_deadline& deadline, write_safety safety,
                                                          const std::function<void(record_writer&)>& work,
                                                          bool is_told) {
  return run(*writing_, deadline, [&] {
    if (const auto pages = writing_->connection->pages_in_log(); pages > settings_.log_pages_max)
      while (!writing_->connection->restart_log()) // Fails at once while another process does the same.
        if (!writing_->waits_on())
          throw refused_transaction{is_closed_ ? closed_error(path()) : long_log_error(path(), pages)};
    try {
      write_until_reserved(safety, work, is_told);
    } catch (const sqlite_failure& failure) {
      if (!is_out_of_pages(failure))
        throw;
      forget_history();
      write_until_reserved(safety, work, is_told);
    }
    keep_log_short();
  });
}

void host_database::write_until_reserved(write_safety safety, const std::function<void(record_writer&)>& work,
                                         bool is_told) {
  if (!write_once(safety, work, is_told))
    static_cast<void>(write_once(write_safety::power_loss, work, is_told));
}

/// The history makes room for entries, so that a full directory can still remove some.
void host_database::forget_history() {
  const session::unfinished guard{*writing_};
  auto& connection = *writing_->connection;
  if (connection.is_in_transaction())
    connection.execute("ROLLBACK");
  connection.execute("BEGIN IMMEDIATE");
  record_writer writer{*writing_->rows, static_cast<std::uint64_t>(boottime_ms()), settings_.history};
  writer.forget_history();
  writing_->rows->set_head(writer.head());
  connection.execute("COMMIT");
}

/// Returns false, without effect, if more revisions must be reserved and the commit would not be written to the disk.
bool host_database::write_once(write_safety safety, const std::function<void(record_writer&)>& work, bool is_told) {
  auto& connection = *writing_->connection;
  const auto is_synced = safety == write_safety::power_loss;
  if (std::exchange(writing_->is_synced, is_synced) != is_synced)
    connection.execute(is_synced ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL");
  connection.execute("BEGIN IMMEDIATE");
  record_writer writer{*writing_->rows, static_cast<std::uint64_t>(boottime_ms()), settings_.history};
  const auto before = writer.head();
  writer.end_due_leases(processes_.ended_of(writer.owners()));
  work(writer);
  if (is_synced && writer.head().revision != before.revision)
    writer.reserve(writer.head().revision + settings_.reserved_revisions);
  if (writer.head().revision > writer.head().reserved) {
    connection.execute("ROLLBACK");
    return false;
  }
  if (writer.head() != before)
    writing_->rows->set_head(writer.head());
  connection.execute("COMMIT");
  if (is_told || writer.head().revision != before.revision)
    ring_bell(path());
  return true;
}

/// Under constant load, there is always a reader of the log, so that SQLite never begins the log anew. Then this waits
/// for the readers, but not again and again for one that is stopped.
void host_database::keep_log_short() {
  auto& connection = *writing_->connection;
  if (connection.pages_in_log() >= log_pages_written_back)
    connection.write_log_back();
  if (connection.pages_in_log() < log_pages_waited_for || call_deadline::clock::now() < writing_->next_restart)
    return;
  const call_deadline brief{wait_for_readers};
  writing_->begin_call(brief);
  const auto is_short = connection.restart_log();
  writing_->deadline = nullptr;
  writing_->next_restart = call_deadline::clock::now() + (is_short ? milliseconds::zero() : pause_between_restarts);
}

void host_database::close() {
  if (!opener_.is_current() || is_closed_.exchange(true))
    return;
  for (auto* const each : {reading_.get(), writing_.get()}) {
    each->turn.take();
    const turn_taken taken{each->turn};
    each->deadline = nullptr;
    each->rows.reset();
    each->connection.reset();
  }
}

} // namespace troupe::cluster_directories
