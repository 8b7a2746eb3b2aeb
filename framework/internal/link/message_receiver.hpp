// The way in: from the packets of messages to deliveries.
#pragma once

#include <atomic>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>

#include <troupe/framework/internal/caf_port/decoded_message.hpp>
#include <troupe/framework/internal/flow/receive_account.hpp>
#include <troupe/framework/internal/flow/reply_room.hpp>
#include <troupe/framework/internal/link/delivery.hpp>
#include <troupe/framework/internal/link/incoming_message.hpp>
#include <troupe/framework/internal/link/passed_traffic.hpp>
#include <troupe/framework/internal/link/pending_requests.hpp>
#include <troupe/framework/internal/link/received_dictionary.hpp>
#include <troupe/framework/internal/link/value_decoder.hpp>
#include <troupe/framework/internal/net/link_mutex.hpp>
#include <troupe/framework/internal/net/transport.hpp>
#include <troupe/framework/internal/objects/pending_objects.hpp>
#include <troupe/framework/internal/wire/packet.hpp>
#include <troupe/framework/node_errc.hpp>

namespace troupe::internal {

/// Turns the packets of messages into deliveries.
///
/// Threads: one.
class message_receiver {
public:
  /// Parts of the link, which outlive this.
  struct parts {
    const acceptance& accepted;
    const received_dictionary& known;
    incoming_message& incoming;
    value_decoder& decoder;
    delivery& deliveries;
    pending_objects& pending; // Objects that messages name which are not consumed.
    link_mutex& mutex;
    pending_requests& asked;       // Guarded by `mutex`.
    reply_room& replies;           // Of those.
    passed_traffic& passed_counts; // Of values that come beside the bytes.
    std::atomic<std::uint64_t>& received;
    std::atomic<std::uint64_t>& forwarded;
  };

  explicit message_receiver(const parts& of) : of_(of) {}

  /// What the link has agreed on.
  struct terms {
    receive_account& account;
    std::shared_ptr<value_lane> values = nullptr; // Null where only bytes pass.
    bool takes_extensions = false;
    bool takes_repeated_frames = false;
  };
  /// Before the first message.
  void open(terms agreed) { terms_.emplace(std::move(agreed)); }

  // The detail and the body of a packet.
  std::expected<void, node_error> on_message(std::uint8_t flags, bytes_view body);
  /// A message that comes beside the bytes, as it is.
  std::expected<void, node_error> on_value(std::uint8_t flags, bytes_view body);

private:
  [[nodiscard]] std::expected<void, node_error> admit_flags(std::uint8_t flags) const;
  std::expected<void, node_error> on_plain(message_head& head, const signature& types, const plain_element& element,
                                           std::size_t body_bytes);
  std::expected<void, node_error> on_elements(message_head& head, const signature& types, packet_reader& in,
                                              bytes_view body);
  [[nodiscard]] std::expected<bool, node_error> pass_on(const message_head& head, const signature& types,
                                                        receipt& owed);
  [[nodiscard]] receipt noted(receipt owed);
  [[nodiscard]] std::expected<void, node_error> charge_understated(const message_head& head, std::uint64_t cost,
                                                                   std::size_t values_take,
                                                                   message_under_construction& message);
  [[nodiscard]] bool is_deliverable(message_head& head, std::uint64_t cost, receipt& owed);
  [[nodiscard]] bool take_question(message_head& head, std::uint64_t cost, receipt& owed);

  const parts of_;
  std::optional<terms> terms_;
};

} // namespace troupe::internal
