// A process at the other end of a link, which a test starts, stops and kills.
#pragma once

#include "../eventually.hpp"

#include <troupe/processes/process.hpp>

#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

namespace troupe::tests {

using namespace std::chrono_literals;

/// A system_peer process that has printed "ready". The destructor ends it, by closing its input or by force.
class peer_process {
public:
  peer_process(const std::string& address, const std::string& store, const std::string& families,
               std::size_t io_threads = 1)
      : process_(processes::process::start(
                     {.program = TROUPE_SYSTEM_PEER,
                      .words = {TROUPE_SYSTEM_PEER, address, store, families, std::to_string(io_threads)},
                      .input = processes::lines{},
                      .output = processes::lines{}})
                     .value()) {
    if (process_.channel().read_line() != "ready")
      throw std::runtime_error("the peer did not start");
  }
  ~peer_process() {
    if (!is_over_) {
      EXPECT_EQ(process_.end(patience), processes::exited_with(0));
    }
  }
  peer_process(const peer_process&) = delete;
  peer_process& operator=(const peer_process&) = delete;

  void kill() {
    is_over_ = true;
    process_.kill();
  }

  /// How the process ended; nullopt if it still runs after 10 s.
  std::optional<processes::ending> ended() {
    const auto how = process_.ended_within(patience);
    is_over_ = how.has_value();
    return how;
  }

  /// Stops the process until `go_on()`, as if the machine gave it no processor time.
  void freeze() { EXPECT_TRUE(process_.stop(patience)); }
  void go_on() { process_.go_on(); }

  [[nodiscard]] pid_t pid() const noexcept { return process_.number(); }

private:
  static constexpr auto patience = 10s;

  processes::process process_;
  bool is_over_ = false; // The test has killed it or seen its end.
};

} // namespace troupe::tests
