// The path from the packets of messages to deliveries.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <expected>
#include <memory>
#include <optional>
#include <span>

#include <troupe/framework/internal/caf_port/answer_memory.hpp>
#include <troupe/framework/internal/caf_port/decoded_message.hpp>
#include <troupe/framework/internal/flow/latency_meter.hpp>
#include <troupe/framework/internal/flow/receive_account.hpp>
#include <troupe/framework/internal/flow/reply_room.hpp>
#include <troupe/framework/internal/link/dead_letter_writer.hpp>
#include <troupe/framework/internal/link/delivery.hpp>
#include <troupe/framework/internal/link/incoming_message.hpp>
#include <troupe/framework/internal/link/link_traces.hpp>
#include <troupe/framework/internal/link/passed_traffic.hpp>
#include <troupe/framework/internal/link/pending_requests.hpp>
#include <troupe/framework/internal/link/received_dictionary.hpp>
#include <troupe/framework/internal/link/value_decoder.hpp>
#include <troupe/framework/internal/net/connection.hpp>
#include <troupe/framework/internal/net/link_mutex.hpp>
#include <troupe/framework/internal/net/transport.hpp>
#include <troupe/framework/internal/objects/pending_objects.hpp>
#include <troupe/framework/internal/wire/message_run.hpp>
#include <troupe/framework/internal/wire/packet.hpp>
#include <troupe/framework/node_errc.hpp>

namespace troupe::internal {

/// Makes deliveries from the packets of messages.
///
/// Threads: one.
class message_receiver {
public:
  /// Parts of the link; all must outlive this object.
  struct parts {
    const acceptance& accepted;
    const received_dictionary& known;
    incoming_message& incoming;
    value_decoder& decoder;
    route_finder& routes;
    delivery& deliveries;
    pending_objects& pending; // Objects named by messages that are not consumed.
    link_mutex& mutex;
    pending_requests& asked;       // Guarded by `mutex`.
    reply_room& replies;           // The room for answers to `asked`.
    passed_traffic& passed_counts; // Counts the values that pass beside the bytes.
    std::atomic<std::uint64_t>& received;
    std::atomic<std::uint64_t>& forwarded;
    const dead_letter_writer& letters;
    const link_traces& traces;
    const std::shared_ptr<answer_memory>& answers;
    latency_meter* round_trips = nullptr; // Null: they are not measured.
  };

  explicit message_receiver(const parts& of) : of_(of) {}

  /// The terms that the link has agreed on.
  struct terms {
    receive_account& account;
    std::shared_ptr<value_lane> values = nullptr; // Null if only bytes pass.
    bool takes_extensions = false;
    bool takes_repeated_frames = false;
    bool takes_identities = false;
  };
  /// To be called before the first message.
  void open(terms agreed) { terms_.emplace(std::move(agreed)); }

  // Handles one message, given the detail and the body of its packet.
  std::expected<void, node_error> on_message(std::uint8_t flags, bytes_view body);
  /// Handles the packets at the beginning of `bytes`, at most `packets_max`, as long as each is a message like an
  /// earlier one. For most messages every check has the same result as for the message before. Returns what it has
  /// handled.
  std::expected<handled_packets, node_error> on_run(bytes_view bytes, int packets_max);
  /// Handles a message whose value passes beside the bytes.
  std::expected<void, node_error> on_value(std::uint8_t flags, bytes_view body);

private:
  /// What is known of the message being handled.
  struct arrival {
    message_head head;
    bool begins_as_last = false; // Same head as the message before, neither a request nor an answer.
    message_route* route = nullptr;
    taken_question question; // The question that it answers or returns.
    message_notes notes;     // Its deadline, and its trace or that of the request that it answers.
  };

  /// The head of a message that is neither a request nor an answer, with its bytes.
  struct known_head {
    std::array<std::byte, 32> bytes = {};
    std::size_t size_bytes = 0; // 0: no head is known.
    message_head head;
    const signature* types = nullptr;

    [[nodiscard]] bool begins(std::uint8_t flags, bytes_view body) const noexcept {
      return size_bytes != 0 && flags == head.flags && body.size() > size_bytes
             && std::memcmp(bytes.data(), body.data(), size_bytes) == 0;
    }
  };

  [[nodiscard]] std::expected<void, node_error> admit_flags(std::uint8_t flags) const;
  [[nodiscard]] const signature* read_head(arrival& what, packet_reader& in, std::uint8_t flags, bytes_view body);
  std::expected<void, node_error> take_message(arrival& what, std::uint8_t flags, bytes_view body);
  std::expected<void, node_error> take_value(arrival& what, std::uint8_t flags, bytes_view body);
  [[nodiscard]] std::expected<void, node_error> find_route(arrival& what);
  std::expected<void, node_error> on_plain(arrival& what, const signature& types,
                                           std::span<const plain_element> elements, std::size_t body_bytes);
  void expect_like(const arrival& what, const signature& types, const plain_element& element);
  std::expected<void, node_error> on_one_of_run(message_route& route, const received_header& header,
                                                const message_run::packet& packet);
  std::expected<void, node_error> on_elements(arrival& what, const signature& types, packet_reader& in,
                                              bytes_view body);
  [[nodiscard]] std::expected<bool, node_error> forward(const arrival& what, const signature& types, receipt& owed);
  [[nodiscard]] receipt noted(receipt owed);
  [[nodiscard]] std::expected<void, node_error> charge_understated(const message_head& head, std::uint64_t cost,
                                                                   std::size_t values_take,
                                                                   message_under_construction& message);
  [[nodiscard]] bool is_repeated(arrival& what);
  [[nodiscard]] bool is_deliverable(arrival& what, std::uint64_t cost, receipt& owed);
  [[nodiscard]] bool is_over(arrival& what) const;
  std::expected<void, node_error> give_up(const message_route& route, const message_head& head, const signature& types,
                                          const dead_letter_writer::read_values& values, node_error reason);
  void measure_round_trip(std::chrono::steady_clock::time_point since);
  [[nodiscard]] bool take_question(arrival& what, std::uint64_t cost, receipt& owed);

  const parts of_;
  std::optional<terms> terms_;
  known_head last_;              // Most messages begin like the one before.
  message_run run_;              // Matches messages like the one with the head last_.
  std::uint64_t run_header_ = 0; // The number of the header of their elements; 0: none.
  latency_sampler timed_answers_;
};

} // namespace troupe::internal
