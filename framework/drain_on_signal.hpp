// Ending a service by a signal.
#pragma once

#include <chrono>
#include <csignal>
#include <expected>
#include <initializer_list>

#include <troupe/base/export.hpp>
#include <troupe/framework/node.hpp>
#include <troupe/framework/node_errc.hpp>

namespace troupe {

/// Waits for one of the signals, and then drains the node: node::drain. Returns the signal's number.
///
///     int main() {
///       // ... open the node and publish its actors ...
///       if (auto ended = troupe::drain_on_signal(*node, 5s); !ended)
///         std::cerr << ended.error().message() << '\n';
///     }
///
/// While the call waits, it handles these signals for the whole process. A signal that comes before the call ends a
/// program that has no handler, so make the call at once after the program listens. When the first signal has come, the
/// earlier handlers are in force again, so a second one ends such a program.
/// Threads: one call at a time in a process, not on an I/O thread of a node.
/// Fails as node::drain does, or with `bad_option` if `patience` is negative, there is no signal, one cannot be
/// handled, or another call waits.
[[nodiscard]] TROUPE_EXPORT std::expected<int, node_error>
drain_on_signal(node& which, std::chrono::milliseconds patience,
                std::initializer_list<int> signals = {SIGTERM, SIGINT});

} // namespace troupe
