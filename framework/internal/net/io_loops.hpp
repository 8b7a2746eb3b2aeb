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

/// The number of loops for that option; 0 stands for the number of cores that the process may use.
[[nodiscard]] std::size_t loops_for(std::size_t io_threads);

/// Several I/O loops. Each runs its links independently. The first loop is the main one, which also does the work of
/// the node as a whole.
///
/// Threads: start and stop on the owner's thread; the rest on any thread.
/// Lifetime: everything that belongs to one of its contexts ends earlier.
class io_loops {
public:
  static constexpr std::size_t loops_max = 256;

  /// Requires: `count` is 1 to loops_max.
  io_loops(const std::shared_ptr<loop_host>& host, const std::string& owner, const dispatch_budget& budget,
           std::size_t count);
  io_loops(const io_loops&) = delete;
  io_loops& operator=(const io_loops&) = delete;
  ~io_loops();

  /// Starts each loop as io_loop::start() does, the main one last. If one fails, all are stopped.
  [[nodiscard]] std::expected<void, node_error> start(const std::function<void()>& on_takeover);
  /// Stops each loop as io_loop::stop() does, the main one last.
  void stop();

  [[nodiscard]] asio::io_context& main() noexcept { return loops_.front()->context(); }
  /// Returns a seat on the loop with the fewest links.
  [[nodiscard]] loop_seat seat_for_link();
  /// The number of links of each loop, the main one's first.
  [[nodiscard]] std::vector<std::size_t> links() const;

private:
  class seats;
  struct taken_seat;

  std::vector<std::shared_ptr<io_loop>> loops_; // Never changed.
  const std::shared_ptr<seats> seats_;          // Shared with the taken seats.
};

} // namespace troupe::internal
