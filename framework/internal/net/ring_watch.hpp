// The rings that an I/O thread checks by itself instead of being woken.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <asio/execution_context.hpp>

namespace asio {
class io_context;
}

namespace troupe::internal {

/// A ring with a waiting reader.
class watched_ring {
public:
  virtual ~watched_ring() = default;
  /// Handles the bytes in the ring. Returns false if it is empty.
  virtual bool look() = 0;
  /// Asks the writer to wake the I/O context when bytes arrive. Returns false if there are bytes already.
  virtual bool sleep() = 0;
};

/// Checks the rings of an I/O context that recently had bytes. A writer need not wake a reader that checks, and waking
/// costs most. A ring that was empty at many checks is put to sleep. All rings are put to sleep before their thread
/// sleeps.
///
/// Threads: the I/O thread, except is_driven().
class ring_watch final : public asio::execution_context::service {
public:
  using key_type = ring_watch;

  [[nodiscard]] static ring_watch& of(asio::io_context& io);

  explicit ring_watch(asio::execution_context& io) : asio::execution_context::service(io) {}

  /// The caller runs the I/O context. It calls look(), and sleep() before it waits.
  void drive() noexcept { is_driven_ = true; }
  [[nodiscard]] bool is_driven() const noexcept { return is_driven_; }

  /// Checks the ring until it sleeps. Requires: not added already.
  void add(std::shared_ptr<watched_ring> ring) { looked_at_.push_back({std::move(ring), 0}); }
  [[nodiscard]] bool empty() const noexcept { return looked_at_.empty(); }

  /// Checks each ring once. Returns how many had bytes.
  std::size_t look();
  /// Like look(), to be called from time to time by a thread that has other work. Rings that were empty for long are
  /// put to sleep.
  std::size_t look_in_passing();
  /// Puts all rings to sleep. Returns false if one of them has bytes.
  [[nodiscard]] bool sleep();

private:
  struct entry {
    std::shared_ptr<watched_ring> ring;
    std::uint32_t vain_looks; // Consecutive, in look_in_passing().
  };

  void shutdown() noexcept override { looked_at_.clear(); }

  std::vector<entry> looked_at_;
  bool is_driven_ = false; // Set before rings are added.
};

} // namespace troupe::internal
