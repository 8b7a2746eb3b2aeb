// A directory in this process's memory, which tests can make fail.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <troupe/framework/cluster/directory.hpp>

namespace troupe::tests {

/// What the clients of one directory share. Leases end only when a test says so.
class memory_world {
public:
  memory_world() : teller_{[this] { tell(); }} {}
  memory_world(const memory_world&) = delete;
  memory_world& operator=(const memory_world&) = delete;
  ~memory_world();

  /// From now on every call fails so, and watches end; nullopt: no more.
  void fail(std::optional<directory_errc> code);
  /// Ends a lease, and removes its entries.
  void expire(std::uint64_t lease);
  void expire_all();
  [[nodiscard]] std::vector<std::uint64_t> leases();
  [[nodiscard]] std::optional<directory_entry> entry(const std::string& key);
  /// Writes an entry as another client would.
  void put(const std::string& key, std::string value, std::uint64_t lease = 0);
  [[nodiscard]] std::uint64_t grant();
  /// Forgets all changes so far.
  void compact();
  [[nodiscard]] std::size_t keep_alives();

private:
  friend class memory_directory;
  class watch;
  struct observer {
    std::string prefix;
    std::uint64_t next = 1;
    directory_watch_handlers handlers;
    std::optional<directory_error> end;
    bool is_in_handler = false;
    std::thread::id thread;
  };
  struct change {
    std::uint64_t revision;
    directory_change what;
  };

  void tell();
  void write(const directory_write& what, std::uint64_t revision);
  void remove(const std::string& key, std::uint64_t revision);
  [[nodiscard]] std::optional<directory_error> failure() const;
  void end_watches(directory_errc code);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, directory_entry> entries_;
  std::set<std::uint64_t> leases_;
  std::vector<change> log_;
  std::uint64_t compacted_ = 0;
  std::uint64_t revision_ = 0;
  std::uint64_t next_lease_ = 1;
  std::optional<directory_errc> fails_;
  std::list<std::shared_ptr<observer>> observers_;
  std::size_t keep_alives_ = 0;
  bool ends_ = false;
  std::thread teller_;
};

class memory_directory final : public directory {
public:
  explicit memory_directory(std::shared_ptr<memory_world> world) : world_(std::move(world)) {}
  ~memory_directory() override { close(); }

  const std::string& shown_address() const noexcept override { return address_; }
  std::expected<std::string, directory_error> identity() override { return "memory"; }
  bool is_writable() const noexcept override { return true; }
  std::expected<directory_listing, directory_error> list(std::string_view prefix) override;
  std::expected<directory_lease, directory_error> grant(std::chrono::milliseconds time) override;
  std::expected<std::chrono::milliseconds, directory_error> keep_alive(std::uint64_t lease) override;
  std::expected<void, directory_error> revoke(std::uint64_t lease) override;
  std::expected<directory_commit, directory_error> commit(std::span<const directory_condition> conditions,
                                                          std::span<const directory_write> writes) override;
  std::expected<std::unique_ptr<directory_watch>, directory_error>
  watch(std::string_view prefix, std::uint64_t first_revision, directory_watch_handlers handlers) override;
  void close() override {}

private:
  const std::shared_ptr<memory_world> world_;
  const std::string address_ = "memory://test";
  std::chrono::milliseconds time_{10'000};
};

} // namespace troupe::tests
