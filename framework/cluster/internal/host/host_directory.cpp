#include <troupe/framework/cluster/internal/host/host_directory.hpp>

#include <troupe/framework/cluster/internal/host/clock.hpp>
#include <troupe/framework/cluster/internal/host/host_errors.hpp>
#include <troupe/framework/cluster/internal/host/host_watches.hpp>
#include <troupe/framework/cluster/internal/host/place.hpp>
#include <troupe/framework/cluster/internal/watching/arguments.hpp>

#include <algorithm>
#include <fstream>
#include <utility>

#include <sys/random.h>

namespace troupe::cluster_directories {

namespace {

constexpr std::chrono::milliseconds longest_wait_of_a_listing{250};

/// Not 0, and not negative for SQLite.
std::uint64_t random_lease() {
  std::uint64_t number = 0;
  while (::getrandom(&number, sizeof(number), 0) != sizeof(number) || (number & INT64_MAX) == 0)
    ;
  return number & INT64_MAX;
}

/// Whether a power failure must not undo the commit. Entries with a lease end with the boot, as does their owner.
write_safety safety_of(std::span<const directory_write> writes) {
  const auto lasts = [](const directory_write& write) {
    return write.what == directory_write::kind::remove || write.lease == 0;
  };
  return std::ranges::any_of(writes, lasts) ? write_safety::power_loss : write_safety::process_end;
}

class host_directory final : public directory {
public:
  host_directory(std::string shown_address, std::unique_ptr<host_database> database)
      : shown_address_(std::move(shown_address)),
        database_(std::move(database)),
        watches_(std::make_unique<host_watches>(database_)) {}

  ~host_directory() override {
    if (database_->opener().is_current()) {
      close();
      return;
    }
    // SQLite must not close in a child what the parent has opened, and the parent's thread does not run here.
    static_cast<void>(new std::shared_ptr<host_database>{std::move(database_)});
    static_cast<void>(watches_.release());
  }

  [[nodiscard]] const std::string& shown_address() const noexcept override { return shown_address_; }
  [[nodiscard]] bool is_writable() const noexcept override { return true; }

  [[nodiscard]] std::expected<std::string, directory_error> identity() override {
    return answer<std::string>([&](std::string& identity) {
      return database_->read(deadline(), [&](records&) { identity = database_->identity(); });
    });
  }

  [[nodiscard]] std::expected<directory_listing, directory_error> list(std::string_view prefix) override {
    if (auto good = check_prefix(prefix); !good)
      return std::unexpected{std::move(good).error()};
    return answer<directory_listing>([&](directory_listing& listing) {
      auto is_due = false;
      auto read = database_->read(deadline(), [&](records& rows) { is_due = read_listing(rows, prefix, listing); });
      if (!read || !is_due)
        return read;
      // If a process keeps the lock, the listing shows the entries of leases that are due, as of its revision.
      const call_deadline brief{std::min(database_->settings().timeout, longest_wait_of_a_listing)};
      if (!database_->write(brief, write_safety::process_end, [](record_writer&) {}))
        return read;
      return database_->read(deadline(), [&](records& rows) { read_listing(rows, prefix, listing); });
    });
  }

  [[nodiscard]] std::expected<directory_lease, directory_error> grant(std::chrono::milliseconds time) override {
    if (auto good = check_lease_time(time, record_writer::longest_lease); !good)
      return std::unexpected{std::move(good).error()};
    return answer<directory_lease>([&](directory_lease& lease) {
      constexpr auto is_told = true; // Watches follow the process and the time of the lease.
      return database_->write(
          deadline(), write_safety::process_end,
          [&](record_writer& writer) { lease = writer.grant(random_lease(), time, database_->settings().self); },
          is_told);
    });
  }

  [[nodiscard]] std::expected<std::chrono::milliseconds, directory_error> keep_alive(std::uint64_t lease) override {
    return written<std::chrono::milliseconds>(write_safety::process_end,
                                              [&](record_writer& writer) { return writer.keep_alive(lease); });
  }

  std::expected<void, directory_error> revoke(std::uint64_t lease) override {
    if (auto usable = check_process(); !usable)
      return usable;
    return database_->write(deadline(), write_safety::process_end,
                            [&](record_writer& writer) { writer.end_lease(lease); });
  }

  [[nodiscard]] std::expected<directory_commit, directory_error>
  commit(std::span<const directory_condition> conditions, std::span<const directory_write> writes) override {
    if (auto good = check_commit(conditions, writes); !good)
      return std::unexpected{std::move(good).error()};
    return written<directory_commit>(safety_of(writes),
                                     [&](record_writer& writer) { return writer.commit(conditions, writes); });
  }

  [[nodiscard]] std::expected<std::unique_ptr<directory_watch>, directory_error>
  watch(std::string_view prefix, std::uint64_t first_revision, directory_watch_handlers handlers) override {
    if (auto good = check_prefix(prefix); !good)
      return std::unexpected{std::move(good).error()};
    if (auto usable = check_process(); !usable)
      return std::unexpected{std::move(usable).error()};
    return watches_->add(prefix, first_revision, std::move(handlers));
  }

  void close() override {
    if (!database_->opener().is_current())
      return;
    database_->close(); // Ends calls under way, also those of the watches' thread.
    watches_->close();
  }

private:
  [[nodiscard]] call_deadline deadline() const { return call_deadline{database_->settings().timeout}; }

  /// Fills the listing. Returns whether leases are due, so that it may have to be read anew.
  bool read_listing(records& rows, std::string_view prefix, directory_listing& listing) {
    listing.revision = rows.head().revision;
    listing.entries = rows.entries(prefix);
    const auto leases = rows.leases();
    const auto ended = database_->processes().ended_of(owners_of(leases));
    const auto now = static_cast<std::uint64_t>(boottime_ms());
    return std::ranges::any_of(leases, [&](const lease_record& lease) { return is_due(lease, now, ended); });
  }

  /// Fails in a child of the process that opened the directory.
  [[nodiscard]] std::expected<void, directory_error> check_process() const {
    if (database_->opener().is_current())
      return {};
    return std::unexpected{directory_error{
        directory_errc::closed, "the directory was opened by process " + std::to_string(database_->opener().number())
                                    + ", which forked this one; it cannot be used on both sides of a fork"}};
  }

  /// Runs `call`, which fills the answer.
  template <class Answer, class Call>
  [[nodiscard]] std::expected<Answer, directory_error> answer(Call&& call) {
    if (auto usable = check_process(); !usable)
      return std::unexpected{std::move(usable).error()};
    Answer result{};
    if (auto done = call(result); !done)
      return std::unexpected{std::move(done).error()};
    return result;
  }

  /// Returns the result of `work` in a transaction, if the transaction did not fail.
  template <class Answer, class Work>
  [[nodiscard]] std::expected<Answer, directory_error> written(write_safety safety, Work&& work) {
    if (auto usable = check_process(); !usable)
      return std::unexpected{std::move(usable).error()};
    std::expected<Answer, directory_error> result;
    if (auto done = database_->write(deadline(), safety, [&](record_writer& writer) { result = work(writer); }); !done)
      return std::unexpected{std::move(done).error()};
    return result;
  }

  const std::string shown_address_;
  std::shared_ptr<host_database> database_;
  std::unique_ptr<host_watches> watches_;
};

std::unexpected<directory_error> unsuitable_host(directory_errc code, std::string text) {
  return std::unexpected{directory_error{code, std::move(text)}};
}

/// Times of leases are compared between processes, which a time namespace of its own makes impossible.
std::expected<void, directory_error> check_time_namespace() {
  std::ifstream offsets{"/proc/self/timens_offsets"};
  for (std::string clock, seconds; offsets >> clock >> seconds >> std::ws && std::getline(offsets, clock);)
    if (seconds != "0")
      return unsuitable_host(directory_errc::refused,
                             "this process runs in a time namespace whose clocks are not those of the host; a "
                             "directory of kind host:// needs the clocks of the host");
  return {};
}

} // namespace

std::expected<host_settings, directory_error> settings_of_host(std::string_view name,
                                                               const directory_options& options) {
  if (auto good = check_time_namespace(); !good)
    return std::unexpected{std::move(good).error()};
  const auto folder = state_folder(options.may_make);
  if (!folder)
    return std::unexpected{folder.error()};
  auto path = database_file(*folder, name, options.may_make);
  if (!path)
    return std::unexpected{std::move(path).error()};
  host_settings settings{.path = *std::move(path), .self = own_process(), .timeout = options.timeout};
  if (!(std::ifstream{"/proc/sys/kernel/random/boot_id"} >> settings.boot))
    return unsuitable_host(directory_errc::system_failure,
                           "/proc/sys/kernel/random/boot_id cannot be read; mount /proc in this container");
  return settings;
}

std::expected<std::shared_ptr<directory>, directory_error> open_host_file(std::string shown_address,
                                                                          host_settings settings) {
  auto database = host_database::open(std::move(settings));
  if (!database)
    return std::unexpected{std::move(database).error()};
  return std::make_shared<host_directory>(std::move(shown_address), *std::move(database));
}

std::expected<std::shared_ptr<directory>, directory_error> open_host_directory(std::string_view name,
                                                                               const directory_options& options) {
  auto settings = settings_of_host(name, options);
  if (!settings)
    return std::unexpected{std::move(settings).error()};
  return open_host_file("host://" + std::string{name}, *std::move(settings));
}

} // namespace troupe::cluster_directories
