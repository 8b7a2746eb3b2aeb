// A fuzzer's input as a list of events on a link. Every input has a meaning: past its end it reads as zeros.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace fuzz {

class script {
public:
  explicit script(std::span<const std::byte> input) : left_(input) {}

  [[nodiscard]] bool is_over() const { return left_.empty(); }
  std::uint8_t byte() {
    if (left_.empty())
      return 0;
    const auto first = std::to_integer<std::uint8_t>(left_[0]);
    left_ = left_.subspan(1);
    return first;
  }
  std::uint8_t below(std::uint8_t bound) { return static_cast<std::uint8_t>(byte() % bound); }
  /// The first byte is the number of bytes that follow.
  std::span<const std::byte> bytes() {
    const std::size_t wanted = byte();
    const auto taken = left_.first(wanted < left_.size() ? wanted : left_.size());
    left_ = left_.subspan(taken.size());
    return taken;
  }
  std::span<const std::byte> rest() {
    const auto all = left_;
    left_ = {};
    return all;
  }

private:
  std::span<const std::byte> left_;
};

/// Steps of a link's script; operands follow each. Numbered by hand: append only.
enum class step : std::uint8_t {
  // Packets of the peer.
  raw_packet = 0,
  raw_bytes = 1,
  raw_admin = 2,
  signature = 3,
  header = 4,
  message = 5,
  chunk = 6,
  find = 7,
  found = 8,
  monitor = 9,
  demonitor = 10,
  down = 11,
  release_actor = 12,
  release_object = 13,
  credit = 14,
  ping = 15,
  introduce = 16,
  withdraw = 17,
  type_refused = 18,
  reconfigure = 19,
  reconfigured = 20,
  goodbye = 21,
  answer = 22,
  // How bytes are moved.
  split = 23,
  stall = 24,
  other_peer = 25,
  // Actions of the node's own actors.
  send = 26,
  request = 27,
  ask_names = 28,
  watch = 29,
  link_to = 30,
  send_exit = 31,
  drop_kept = 32,
  publish_kept = 33,
  change_lists = 34,
  forget = 35,
  end_actor = 36,
  use_helpers = 37,
  close = 38,
  // Of the peer.
  name_changed = 39,
};
inline constexpr std::uint8_t steps = 40;

} // namespace fuzz
