// The open connections.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

namespace troupe::web {

/// Bounds the number of connections. If there are too many, the longest idle one makes room, so that clients that do
/// nothing keep nobody out.
///
/// Threads: any.
class connection_table {
public:
  using clock = std::chrono::steady_clock;
  struct bounds {
    std::size_t connections_max;
    std::size_t per_address_max;
  };
  struct entry {
    std::string address;
    std::function<void()> close; ///< Must not block.
    bool is_idle = true;
    clock::time_point since{};
  };

  explicit connection_table(const bounds& limits) : limits_(limits) {}

  /// Takes the connection's place back when it is destroyed. The table must outlive it.
  class place {
  public:
    place(connection_table& table, std::list<entry>::iterator at) : table_(table), at_(at) {}
    place(const place&) = delete;
    place& operator=(const place&) = delete;
    ~place() { table_.remove(at_); }

    /// While it is not idle, the connection is not closed for the sake of others.
    void set_idle(bool is_idle);
    /// From now on this function is called if the connection has to make room.
    void set_close(std::function<void()> close);

  private:
    connection_table& table_;
    const std::list<entry>::iterator at_;
  };

  /// Null if there is no room. `close` is called if the connection has to make room.
  [[nodiscard]] std::unique_ptr<place> admit(const std::string& address, std::function<void()> close);

  /// Closes the longest idle connection soon, for a process that has no descriptor for another one. Returns false if
  /// none is idle.
  bool close_longest_idle();

  /// Closes all idle connections soon, and tells the others that they are to end.
  void close_idle();
  /// Waits until there is no connection, or until `limit`. Returns how many there are.
  [[nodiscard]] std::size_t wait_until_empty(clock::time_point limit);

  [[nodiscard]] std::uint64_t open() const;
  [[nodiscard]] std::uint64_t accepted() const;
  [[nodiscard]] std::uint64_t shed() const;

private:
  void remove(std::list<entry>::iterator at);
  [[nodiscard]] std::function<void()> take_longest_idle();

  const bounds limits_;
  mutable std::mutex mutex_; // Guards the members below.
  std::condition_variable is_empty_;
  std::list<entry> open_;
  std::unordered_map<std::string, std::size_t> by_address_;
  std::uint64_t accepted_ = 0;
  std::uint64_t shed_ = 0;
};

} // namespace troupe::web
