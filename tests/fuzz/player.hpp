// Plays scripts on links to a home: the packets of peers, and the actions of the node's actors meanwhile.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "peer.hpp"
#include "samples.hpp"
#include "script.hpp"

namespace fuzz {

/// Marks numbers that this node did not assign.
inline constexpr std::uint64_t foreign_bit = std::uint64_t{1} << 63;

/// Threads: one.
class player {
public:
  explicit player(home& at);

  /// Opens a link as the first byte says, then plays step by step. Asserts that the node answers or has ended the link,
  /// and that nothing of it is left in the end.
  void play(std::span<const std::byte> input);

  /// Asserts that an honest peer can connect, find an actor, get its answer, and have a task run.
  void expect_served();

private:
  static constexpr std::size_t peers = 2;

  /// The definitions that one end of a link has sent.
  struct definitions {
    std::vector<std::vector<std::string>> signatures;
    std::vector<std::size_t> headers; // The sample of each.
    std::uint64_t next_transfer = 1;
    bool is_framed = true; // Only whole packets were written.
    bool is_stalled = false;
  };

  void meet(std::size_t place, std::uint8_t how);
  void take_step(script& in);
  void catch_up();
  bool take_packet_step(step what, script& in);
  bool take_admin_step(step what, script& in);
  bool take_node_step(step what, script& in);
  void part(std::size_t place, std::uint8_t how);

  [[nodiscard]] peer& current() { return *peers_[current_]; }
  [[nodiscard]] definitions& defined() { return definitions_[current_]; }
  [[nodiscard]] std::uint64_t number(script& in);
  [[nodiscard]] std::uint64_t amount(script& in, std::uint64_t right);
  [[nodiscard]] std::string alias(script& in);
  [[nodiscard]] std::vector<std::string> families(script& in);

  void define_signature(script& in);
  void define_header(std::size_t sample);
  void write_message(script& in);
  void write_element(script& in, const std::string& alias, troupe::internal::byte_vector& message, price& cost);
  [[nodiscard]] troupe::internal::frame_descriptor place_frame(const troupe::frame& of, std::uint8_t how, price& cost);
  void write_chunk(script& in);
  void write_introduction(script& in);
  void answer(script& in);
  void act_on_kept(script& in, const std::function<void(caf::event_based_actor*, const caf::actor&)>& what);

  home& home_;
  const std::vector<sample> samples_;
  std::array<std::unique_ptr<peer>, peers> peers_;
  std::array<definitions, peers> definitions_;
  std::vector<std::weak_ptr<troupe::internal::link_core>> ended_; // Links that must be gone in the end.
  std::size_t current_ = 0;
  std::size_t played_ = 0;
};

} // namespace fuzz
