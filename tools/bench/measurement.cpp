#include "bench/measurement.hpp"

#include "harness/plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include <troupe/base/sizes.hpp>

namespace troupe::tools {

namespace {

/// A stream's window. Small messages stay within the default bounds of a link; of large ones, two may be in flight.
constexpr std::size_t window_messages_max = 10'000;
constexpr std::size_t window_bytes = 16_MiB;

/// Over a socket, the sender and the receiver each have the encoded payload at the same time.
std::size_t copies_of(std::string_view family) {
  return family == "typed" || family == "msgpack" ? 2 : family == "json" ? 5 : 4;
}

} // namespace

std::string_view name_of(pattern which) {
  return pattern_names.at(static_cast<std::size_t>(which));
}

pattern pattern_of(std::string_view name) {
  return static_cast<pattern>(std::ranges::find(pattern_names, name) - pattern_names.begin());
}

const std::vector<std::string>& families_built() {
  static const std::vector<std::string> names {
    "typed", "msgpack", "json", "cereal", "caf",
#if TROUPE_BENCH_FAMILY_PROTOBUF
        "protobuf"
#endif
  };
  return names;
}

std::size_t measurement::far_ends() const {
  return how == pattern::fan_out || how == pattern::ring ? peers : 1;
}

std::size_t measurement::window() const {
  const auto of_bytes = window_bytes / std::max<std::size_t>(size_bytes, 1);
  switch (how) {
  case pattern::echo:
  case pattern::ring:
    return 1;
  case pattern::pipelined:
    return std::clamp<std::size_t>(of_bytes, 1, in_flight);
  default:
    return std::clamp<std::size_t>(of_bytes, 2, window_messages_max);
  }
}

std::size_t measurement::store_bytes() const {
  // One object more than the window: a receiver releases an object shortly after its answer.
  const auto streams = far_ends() * near_ends();
  return goes_by_handle() ? size_bytes * (window() + 1) * streams : 0;
}

std::size_t measurement::memory_bytes() const {
  const auto values = size_bytes * near_ends();
  if (transport == "inproc")
    return values;
  if (goes_by_handle())
    return values + store_bytes();
  return values + size_bytes * (window() + 1) * far_ends() * near_ends() * copies_of(family);
}

std::string text_of_size(std::size_t bytes) {
  return bench::number_text(static_cast<double>(bytes), bench::axis_numbers::bytes);
}

std::string label_of(const measurement& what) {
  auto text = fmt::format("{} {}", name_of(what.how), what.transport);
  if (what.family != "-")
    text += ' ' + what.family;
  if (what.compression != "none")
    text += ' ' + what.compression;
  return text + ' ' + text_of_size(what.size_bytes);
}

std::string text_of(const measurement& what) {
  return fmt::format("{} {} {} {} {} {} {} {} {} {} {}", name_of(what.how), what.transport, what.family,
                     what.compression, what.size_bytes, what.peers, what.in_flight, what.spill_bytes, what.data,
                     what.store.empty() ? "-" : what.store, what.folder.string());
}

std::optional<measurement> measurement_of(const std::string& text) {
  std::istringstream words{text};
  std::string how;
  std::string folder;
  measurement read;
  words >> how >> read.transport >> read.family >> read.compression >> read.size_bytes >> read.peers >> read.in_flight
      >> read.spill_bytes >> read.data >> read.store;
  words.get();
  std::getline(words, folder);
  if (!words || std::ranges::find(pattern_names, how) == pattern_names.end())
    return std::nullopt;
  read.how = pattern_of(how);
  read.folder = folder;
  if (read.store == "-")
    read.store.clear();
  return read;
}

} // namespace troupe::tools
