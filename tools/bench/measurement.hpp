// One measurement: a pattern, over one kind of link, with payloads of one size.
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

/// Which actors send to which other actors.
enum class pattern : std::uint8_t {
  one_way,   ///< One actor streams to an actor in another process.
  echo,      ///< One request after the other, each answered with its payload.
  pipelined, ///< Like `echo`, with several requests in flight.
  fan_in,    ///< One actor in each of several processes streams to a single actor.
  fan_out,   ///< One actor streams to one actor in each of several processes, in turn.
  ring,      ///< One message circulates through several processes.
};

inline constexpr std::array pattern_names{"one-way", "echo", "pipelined", "fan-in", "fan-out", "ring"};
inline constexpr std::array transport_names{"inproc", "unix", "tcp", "tls"};
inline constexpr std::array compression_names{"none", "lz4", "zstd", "automatic"};

[[nodiscard]] std::string_view name_of(pattern which);
/// Requires: `name` is one of pattern_names.
[[nodiscard]] pattern pattern_of(std::string_view name);

/// The families in this build.
[[nodiscard]] const std::vector<std::string>& families_built();

/// Whether each message comes back, so that its round-trip time is known.
[[nodiscard]] constexpr bool has_latency(pattern which) {
  return which == pattern::echo || which == pattern::pipelined || which == pattern::ring;
}

/// Everything that the participating processes need to know. The members of the first group differ between the
/// measurements of one run.
struct measurement {
  pattern how = pattern::one_way;
  std::string transport = "unix";
  std::string family = "typed"; // "-" for the in-process transport, which encodes nothing.
  std::string compression = "none";
  std::size_t size_bytes = 0;

  std::size_t peers = 4;      // Number of processes on the side that has several.
  std::size_t in_flight = 32; // Requests in flight for `pipelined`; fewer if memory does not allow it.
  std::size_t spill_bytes = 0;
  std::string data = "noise";
  std::string store = {};            // The store's name; empty: no store.
  std::filesystem::path folder = {}; // Folder of the store and of the links' credentials.

  [[nodiscard]] std::size_t far_ends() const;
  [[nodiscard]] std::size_t near_ends() const { return how == pattern::fan_in ? peers : 1; }

  /// Maximum number of messages in flight to each receiver.
  [[nodiscard]] std::size_t window() const;

  /// Whether a shared store is used. Never with compression, because links that share a store do not compress frames.
  [[nodiscard]] bool shares_store() const { return transport == "unix" && compression == "none"; }
  [[nodiscard]] bool goes_by_handle() const { return shares_store() && size_bytes >= spill_bytes; }

  /// Estimated memory of all processes together, and the part of it in the store.
  [[nodiscard]] std::size_t memory_bytes() const;
  [[nodiscard]] std::size_t store_bytes() const;
};

/// "8 B", "1 KiB", "1.5 MiB".
[[nodiscard]] std::string text_of_size(std::size_t bytes);

/// For people: "one-way unix typed 1 KiB".
[[nodiscard]] std::string label_of(const measurement& what);

/// The one-line form that participating processes are given. measurement_of() returns nullopt if the text is not such a
/// line.
[[nodiscard]] std::string text_of(const measurement& what);
[[nodiscard]] std::optional<measurement> measurement_of(const std::string& text);

} // namespace troupe::tools
