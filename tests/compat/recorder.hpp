// Stands between the two ends of a link, passes everything on, and writes it down.
#pragma once

#include <exception>
#include <mutex>
#include <string>
#include <thread>

#include "wire.hpp"

namespace troupe::tests::compat {

class recorder {
public:
  /// Takes one connection and passes its bytes on to `target`.
  explicit recorder(std::string target) : thread_([this, target = std::move(target)] { run(target); }) {}

  [[nodiscard]] std::string address() const { return entrance_.address(); }

  /// What has passed until now.
  [[nodiscard]] std::vector<packet> so_far();

  /// Waits until both ends have closed. Throws std::runtime_error if they did not speak protocol 1.
  [[nodiscard]] std::vector<packet> all();

private:
  void run(const std::string& target);
  void relay(const std::string& target);

  entrance entrance_;
  std::mutex mutex_;
  std::vector<packet> packets_; // Guarded by mutex_.
  std::exception_ptr failure_;  // Read once the thread has ended.
  std::jthread thread_;
};

} // namespace troupe::tests::compat
