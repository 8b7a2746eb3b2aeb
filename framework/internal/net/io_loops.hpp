// The I/O loops of a node.
#pragma once

#include <cstddef>
#include <expected>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <troupe/framework/internal/net/io_loop.hpp>
#include <troupe/framework/internal/threads/loop_seat.hpp>
#include <troupe/framework/node_errc.hpp>

namespace troupe::internal {

/// How many loops a node with that option has: as many, or for 0 as many as the process may use cores.
[[nodiscard]] std::size_t loops_for(std::size_t io_threads);

/// Several I/O loops, each of which runs its links by itself. The first one is the main one: it does what concerns the
/// whole node, and runs links as well.
///
/// Threads: start and stop from the thread that owns it, the rest from any.
/// Lifetime: everything that belongs to one of its contexts ends before it.
class io_loops {
public:
  static constexpr std::size_t loops_max = 256;

  /// Requires: 1 to loops_max of them.
  io_loops(const std::shared_ptr<loop_host>& host, const std::string& owner, const dispatch_budget& budget,
           std::size_t count);
  io_loops(const io_loops&) = delete;
  io_loops& operator=(const io_loops&) = delete;
  ~io_loops();

  /// As io_loop::start(), of each. Where one fails, none runs any more. The main one begins last.
  [[nodiscard]] std::expected<void, node_error> start(const std::function<void()>& on_takeover);
  /// As io_loop::stop(), of each; of the main one last.
  void stop();

  [[nodiscard]] asio::io_context& main() noexcept { return loops_.front()->context(); }
  /// On the loop with the fewest links.
  [[nodiscard]] loop_seat seat_for_link();
  /// How many links each loop has, the main one's first.
  [[nodiscard]] std::vector<std::size_t> links() const;

private:
  class seats;
  struct taken_seat;

  std::vector<std::shared_ptr<io_loop>> loops_; // Never changed.
  const std::shared_ptr<seats> seats_;          // Shared with those that are taken.
};

} // namespace troupe::internal
