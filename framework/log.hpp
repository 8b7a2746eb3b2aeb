// What nodes and links tell whoever runs the program.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include <troupe/base/export.hpp>

namespace troupe {

/// How much is told; each level has what stands before it.
enum class log_level : std::uint8_t {
  off = 0,     ///< Nothing.
  error = 1,   ///< The program is used wrongly.
  warning = 2, ///< Something was lost or refused, or is not as safe as it could be. The default.
  info = 3,    ///< Links that open and end, and what they agreed on.
  debug = 4,   ///< What peers ask for, find and define, and each message that does not get through.
};

/// "warning".
[[nodiscard]] TROUPE_EXPORT std::string_view to_string(log_level level);

/// As the environment variable TROUPE_LOG says: off, error, warning, info or debug. Any other value is reported, once,
/// and `warning` is used. It is read when it is first needed; what `set_log_threshold` says goes before it.
///
/// Threads: any.
[[nodiscard]] TROUPE_EXPORT log_level log_threshold() noexcept;
TROUPE_EXPORT void set_log_threshold(log_level threshold) noexcept;

/// Gets each line that the threshold admits, without a line end: at most 4,096 bytes of valid UTF-8 without control
/// characters, whatever peers have put into it. What peers can bring about comes a bounded number of times a second,
/// and then in one line that says how many there were.
using log_sink = std::function<void(log_level level, std::string_view text)>;

/// Where lines go from now on; null: to the standard error stream, as "troupe warning: not sent to kitchen: ...", each
/// in one write of at most 4,096 bytes, so that lines of several processes do not mix. When this returns, the sink
/// before is not called any more, nor kept.
///
/// Writing to the standard error stream never waits for its reader, and brings no signal (SIGPIPE, SIGXFSZ, SIGTTOU):
/// lines that a pipe, a socket or a terminal does not take at once are left out, and the next one that is taken follows
/// a line that says how many. A file takes each line as fast as its file system does.
///
/// Threads: any. A sink is called by one thread at a time, often the one that handles all links of a node, which waits
/// for it: a sink that blocks, blocks the node. What it throws is dropped, and so are lines that come about while it
/// runs and by what it does. The child of a fork has the sink, unless another thread was within it at that moment; then
/// its lines go to the standard error stream.
TROUPE_EXPORT void set_log_sink(log_sink sink);

} // namespace troupe
