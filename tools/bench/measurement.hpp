// What is measured: one pattern over one kind of link with payloads of one size.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::tools {

/// Who sends what to whom.
enum class pattern : std::uint8_t {
  one_way,   ///< An actor streams to an actor of another process.
  echo,      ///< A request after the other, each answered with what it brought.
  pipelined, ///< The same with several requests under way.
  fan_in,    ///< An actor in each of several processes streams to one actor.
  fan_out,   ///< An actor streams to one in each of several processes, a message to each in turn.
  ring,      ///< A message goes round several processes, over and over.
};

inline constexpr std::array pattern_names{"one-way", "echo", "pipelined", "fan-in", "fan-out", "ring"};
inline constexpr std::array transport_names{"inproc", "unix", "tcp", "tls"};
inline constexpr std::array compression_names{"none", "lz4", "zstd", "automatic"};

[[nodiscard]] std::string_view name_of(pattern which);
/// Requires: one of pattern_names.
[[nodiscard]] pattern pattern_of(std::string_view name);

/// Those that this build has.
[[nodiscard]] const std::vector<std::string>& families_built();

/// Whether each message comes back, so that its time there and back is known.
[[nodiscard]] constexpr bool has_latency(pattern which) {
  return which == pattern::echo || which == pattern::pipelined || which == pattern::ring;
}

/// All that the processes of a measurement have to know. What is in the first group differs from one measurement of a
/// run to the next.
struct measurement {
  pattern how = pattern::one_way;
  std::string transport = "unix";
  std::string family = "typed"; // "-" within a process, where nothing is encoded.
  std::string compression = "none";
  std::size_t size_bytes = 0;

  std::size_t peers = 4;      // How many processes there are on the side of several.
  std::size_t in_flight = 32; // Of `pipelined`, as far as memory allows.
  std::size_t spill_bytes = 0;
  std::string data = "noise";
  std::string store = {};            // Its name; empty: none.
  std::filesystem::path folder = {}; // Where the store lies, and what links prove who they are by.

  [[nodiscard]] std::size_t far_ends() const;
  [[nodiscard]] std::size_t near_ends() const { return how == pattern::fan_in ? peers : 1; }

  /// How many messages may be under way to each receiver.
  [[nodiscard]] std::size_t window() const;

  /// Whether a shared store is used: never where frames shall be compressed, which they are not beside one.
  [[nodiscard]] bool shares_store() const { return transport == "unix" && compression == "none"; }
  [[nodiscard]] bool goes_by_handle() const { return shares_store() && size_bytes >= spill_bytes; }

  /// Memory that all processes together need, about, and how much of that in the store.
  [[nodiscard]] std::size_t memory_bytes() const;
  [[nodiscard]] std::size_t store_bytes() const;
};

/// "8 B", "1 KiB", "1.5 MiB".
[[nodiscard]] std::string text_of_size(std::size_t bytes);

/// For people: "one-way unix typed 1 KiB".
[[nodiscard]] std::string label_of(const measurement& what);

/// On one line, for the processes that take part; nothing where the text is none of those.
[[nodiscard]] std::string text_of(const measurement& what);
[[nodiscard]] std::optional<measurement> measurement_of(const std::string& text);

} // namespace troupe::tools
