// Stands between the two ends of a link, passes everything on, and writes it down.
#pragma once

#include <atomic>
#include <exception>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "wire.hpp"

namespace troupe::tests::compat {

class recorder {
public:
  /// Takes a connection and passes its bytes on to `target`. If lose_answer() has broken the link, takes the next one.
  explicit recorder(std::string target) : thread_([this, target = std::move(target)] { run(target); }) {}

  [[nodiscard]] std::string address() const { return entrance_.address(); }

  /// Breaks the link as soon as the acceptor has answered a request. Until then, nothing more reaches the dialer.
  void lose_answer() { loses_ = true; }

  /// What has passed until now, for each link.
  [[nodiscard]] std::vector<packets> so_far();

  /// Waits until both ends have closed. Throws std::runtime_error if they did not speak protocol 1.
  [[nodiscard]] std::vector<packets> all();

private:
  enum class passed : std::uint8_t { on, closed, broken };

  void run(const std::string& target);
  [[nodiscard]] passed relay(const std::string& target);
  [[nodiscard]] passed pass(wire& from, wire& to, end by);
  void note(packet what);

  entrance entrance_;
  std::atomic<bool> loses_{false};
  std::mutex mutex_;
  std::vector<packets> links_; // Guarded by mutex_.
  std::exception_ptr failure_; // Read once the thread has ended.
  std::jthread thread_;
};

} // namespace troupe::tests::compat
