// Starts tests/cluster/host/host_peer.cpp.
#pragma once

#include <troupe/processes/process.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace troupe::tests {

inline processes::process start_peer(std::vector<std::string> words) {
  words.insert(words.begin(), HOST_PEER);
  return processes::process::start({.program = HOST_PEER,
                                    .words = std::move(words),
                                    .input = processes::lines{},
                                    .output = processes::lines{}})
      .value();
}

/// Waits until the peer says that it is ready.
inline void expect_ready(processes::process& peer) {
  const auto line = peer.channel().read_line(std::chrono::seconds{30});
  EXPECT_EQ(line.value_or("nothing"), "ready");
}

} // namespace troupe::tests
