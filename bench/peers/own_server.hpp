// A server that a subject starts for the connection between its two ends.
#pragma once

#include <chrono>
#include <cstdlib>
#include <exception>
#include <expected>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "peers/own_folder.hpp"
#include "peers/small_messages.hpp"

#include <troupe/processes/process.hpp>

namespace bench {

/// Starts the program and waits until `listens` reports that the server listens. `words` are the program's name and
/// arguments. Fails with a text.
template <class Listens>
std::expected<troupe::processes::process, std::string> start_server(std::string program, std::vector<std::string> words,
                                                                    const Listens& listens) {
  const auto name = words.front();
  auto server = troupe::processes::process::start({.program = std::move(program),
                                                   .words = std::move(words),
                                                   .input = troupe::processes::nothing{},
                                                   .output = troupe::processes::nothing{},
                                                   .errors = troupe::processes::nothing{},
                                                   .environment = {}});
  constexpr std::chrono::seconds patience{10};
  const auto deadline = bench_clock::now() + patience;
  while (server && !listens()) {
    if (!server->runs() || bench_clock::now() > deadline)
      return std::unexpected{name + " does not listen"};
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
  }
  return server;
}

/// Serves until standard input ends. Then ends the server, removes its folder, and ends the process.
template <class Serve>
[[noreturn]] void serve_by(troupe::processes::process server, std::optional<own_folder>& folder, const Serve& serve) {
  std::optional running{std::move(server)};
  std::thread{[&serve] {
    try {
      serve();
    } catch (const std::exception&) {
      // The server is gone, and so is the near end.
    }
  }}.detach();
  wait_for_end_of_input();
  running.reset();
  folder.reset();
  std::_Exit(0); // Also ends the thread, which may wait for a message.
}

} // namespace bench
