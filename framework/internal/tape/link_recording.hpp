// Records one link.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include <troupe/framework/internal/tape/tape_queue.hpp>
#include <troupe/framework/internal/wire/packet_tap.hpp>

namespace troupe::internal {

/// Passes the packets of messages to what records them. Of admin packets it learns only under which names actors were
/// found.
class link_recording final : public packet_tap {
public:
  link_recording(std::shared_ptr<tape_queue> to, const tape_link_began& link)
      : to_(std::move(to)), link_(to_->begin_link(link)) {}

  void on_sent(packet_kind kind, std::uint8_t detail, bytes_view begin, bytes_view end) noexcept override;
  void on_received(packet_kind kind, std::uint8_t detail, bytes_view body) noexcept override;
  /// To be called once. No packet follows.
  void end(std::string_view reason) noexcept { to_->end_link(link_, reason); }

private:
  using questions = std::map<std::uint64_t, std::string>; // Names that one end has asked for.

  void learn(tape_side writer, std::uint8_t operation, bytes_view body) noexcept;

  const std::shared_ptr<tape_queue> to_;
  const std::uint64_t link_;
  std::mutex mutex_; // Both directions of a link run at once.
  questions of_recorder_;
  questions of_peer_;
};

} // namespace troupe::internal
