// What clients have not read yet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>

namespace troupe::web {

/// Bounds the bytes that wait for the clients of all connections together. If they exceed the bound, the connection
/// that has most of them is cut, so that clients that do not read take nothing from those that do.
///
/// Threads: any.
class unread_ledger {
  struct entry {
    std::function<void()> cut;
    std::size_t bytes = 0;
    bool is_cut = false;
  };

public:
  explicit unread_ledger(std::size_t bytes_max) : bytes_max_(bytes_max) {}
  unread_ledger(const unread_ledger&) = delete;
  unread_ledger& operator=(const unread_ledger&) = delete;

  /// What waits for one client. The ledger must outlive it.
  class account {
  public:
    account(unread_ledger& ledger, std::list<entry>::iterator at) : ledger_(ledger), at_(at) {}
    account(const account&) = delete;
    account& operator=(const account&) = delete;
    ~account() { ledger_.close(at_); }

    /// Bytes are to wait for the client. Returns false, and counts nothing, if that exceeds the bound and no other
    /// client has more bytes waiting. May call another account's `cut`.
    [[nodiscard]] bool add(std::size_t bytes) { return ledger_.add(*at_, bytes); }
    /// The client has read them, or they are dropped. Requires: they were added.
    void subtract(std::size_t bytes) { ledger_.subtract(*at_, bytes); }

  private:
    unread_ledger& ledger_;
    const std::list<entry>::iterator at_;
  };

  /// `cut` is called at most once, by any thread. It must not block, and the account should be destroyed soon after.
  [[nodiscard]] std::unique_ptr<account> open(std::function<void()> cut);

  /// Without those of connections that are being cut.
  [[nodiscard]] std::size_t bytes() const;
  [[nodiscard]] std::uint64_t cut() const;

private:
  [[nodiscard]] bool add(entry& to, std::size_t bytes);
  void subtract(entry& from, std::size_t bytes);
  void close(std::list<entry>::iterator at);

  const std::size_t bytes_max_;
  mutable std::mutex mutex_; // Guards the members below.
  std::list<entry> entries_;
  std::size_t bytes_ = 0; // Of entries that are not cut.
  std::uint64_t cut_ = 0;
};

} // namespace troupe::web
