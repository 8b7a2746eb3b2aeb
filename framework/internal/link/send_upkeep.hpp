// Keeps what a link's sending holds within bounds as time passes.
#pragma once

#include <chrono>

#include <troupe/framework/internal/link/peer_watch.hpp>
#include <troupe/framework/internal/net/link_mutex.hpp>

namespace troupe::internal {

class connection;
class send_gate;
class send_pump;

/// Frees what overdue answers and unread bytes would otherwise hold for ever.
///
/// Threads: the I/O thread.
class send_upkeep final : public link_chores {
public:
  /// All must outlive this object.
  send_upkeep(link_mutex& mutex, send_gate& gate, send_pump& pump) : mutex_(mutex), gate_(gate), pump_(pump) {}

  /// To be called when the link is open. `to` must outlive this object.
  void open(connection& to) noexcept { to_ = &to; }

  /// Ends the link if too much waits for a peer that asks and does not read. Returns true if it ends.
  bool end_for_unread();

  [[nodiscard]] bool run() override;
  /// Short while requests wait for room for their answers.
  [[nodiscard]] std::chrono::milliseconds pause() const noexcept override;

private:
  link_mutex& mutex_;
  send_gate& gate_;
  send_pump& pump_;
  connection* to_ = nullptr;
  bool requests_wait_ = false; // As of the last run.
};

} // namespace troupe::internal
