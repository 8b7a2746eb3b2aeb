// The log of nodes and links.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include <troupe/base/export.hpp>

namespace troupe {

/// How much is logged. Each level includes the levels above it.
enum class log_level : std::uint8_t {
  off = 0,     ///< Nothing.
  error = 1,   ///< The program uses the library incorrectly.
  warning = 2, ///< Something was lost or refused, or is less safe than it could be. The default.
  info = 3,    ///< Links that open and end, and what their ends agreed on.
  debug = 4,   ///< What peers request, find and define, and each message that is not delivered.
};

/// The name of the level, for example "warning".
[[nodiscard]] TROUPE_EXPORT std::string_view to_string(log_level level);

/// The threshold: the value of set_log_threshold(), or else of the environment variable TROUPE_LOG (off, error,
/// warning, info or debug). The variable is read when it is first needed. Any other value is reported once, and
/// `warning` is used.
///
/// Threads: any.
[[nodiscard]] TROUPE_EXPORT log_level log_threshold() noexcept;
TROUPE_EXPORT void set_log_threshold(log_level threshold) noexcept;

/// Receives each line that the threshold admits, without a line end: at most 4,096 bytes of valid UTF-8 without control
/// characters, even if the text comes from a peer. The number of lines per second that peers can cause is limited. One
/// line then tells how many more were left out.
using log_sink = std::function<void(log_level level, std::string_view text)>;

/// Sets the sink that receives all lines from now on. Null: lines go to the standard error stream, for example "troupe
/// warning: not sent to kitchen: ...". Each line is one write of at most 4,096 bytes, so lines of several processes do
/// not mix. The call waits for a sink that is running on another thread. When it returns, the previous sink is neither
/// called nor kept any more. A sink may call it; then the previous sink is kept until it returns.
///
/// Writing to the standard error stream never waits for its reader and raises no signal (SIGPIPE, SIGXFSZ, SIGTTOU).
/// Lines that a pipe, a socket or a terminal does not accept at once are dropped; a line before the next accepted one
/// tells how many. A file accepts each line as fast as its file system does.
///
/// Threads: any. A sink is called by one thread at a time. Often that is a node's I/O thread, so a sink that blocks
/// also blocks the node. Exceptions that the sink throws are dropped, and so are lines that the sink itself causes.
/// After a fork the child keeps the sink, with one exception: if another thread was in the sink at the moment of the
/// fork, the child's lines go to the standard error stream.
TROUPE_EXPORT void set_log_sink(log_sink sink);

/// Writes a line to the log if the threshold admits its level. For components and families of the program's own.
///
/// Threads: any that holds no lock which the sink may need.
TROUPE_EXPORT void write_log_line(log_level level, std::string_view text) noexcept;

} // namespace troupe
