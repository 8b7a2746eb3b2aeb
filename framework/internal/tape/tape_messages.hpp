// From the records of a tape to messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <expected>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include <troupe/base/salted_hash.hpp>
#include <troupe/framework/internal/tape/link_words.hpp>
#include <troupe/framework/internal/tape/recorded_objects.hpp>
#include <troupe/framework/internal/tape/tape_format.hpp>
#include <troupe/framework/tape.hpp>

namespace troupe::internal {

/// Puts the messages of a tape together from its packets. The tape may be hostile or have gaps: a message is returned
/// as far as its parts are there, and says which are not.
///
/// Threads: one.
class tape_messages {
public:
  explicit tape_messages(const tape_limits& bounds) : bounds_(bounds) {}

  /// What a record has to say. Nullopt if nothing, as for a definition. `place`: of its block in the file.
  [[nodiscard]] std::optional<tape_event> take(const tape_record& record, std::uint64_t place);

  /// To be called where records are missing: what described the next message may be incomplete.
  void note_gap();

private:
  /// A frame whose chunks come.
  struct transfer {
    std::uint64_t total_bytes = 0;
    std::uint64_t wire_bytes = 0;
    byte_vector bytes;
    bool is_broken = false; // A chunk is missing; no bytes are kept.
  };
  /// What one end writes.
  struct direction {
    link_words words;
    std::unordered_map<std::uint64_t, transfer, detail::salted_hash> transfers;
    std::uint64_t described_objects = 0;  // For the next message.
    std::deque<object_mention> described; // At most tape_limits::frames of them.
    std::uint64_t described_bytes = 0;    // Of the packets that describe them.
  };
  struct asked {
    std::uint64_t message = 0;
    std::uint64_t at = 0;
  };
  struct question {
    std::uint64_t link = 0;
    tape_side asker_side = tape_side::recorder;
    std::uint64_t asker = 0;
    std::uint64_t number = 0;
    auto operator<=>(const question&) const = default;
  };
  struct link_state {
    explicit link_state(std::uint64_t with_number) : number(with_number) {}
    std::uint64_t number = 0;
    std::uint64_t beginning = 0; // A hash of its beginning; 0: that is not on the tape.
    direction of_recorder;
    direction of_peer;
    std::map<std::pair<tape_side, std::uint64_t>, std::string> names;
    std::uint64_t name_bytes = 0;

    [[nodiscard]] direction& written_by(tape_side side) { return side == tape_side::peer ? of_peer : of_recorder; }
  };
  using fault = std::unexpected<std::string>;

  [[nodiscard]] std::expected<std::optional<tape_event>, std::string> take_any(const tape_record& record,
                                                                               std::uint64_t place);
  [[nodiscard]] std::expected<link_state*, std::string> find(std::uint64_t link);
  [[nodiscard]] std::expected<std::optional<tape_event>, std::string> begin(const tape_link_began& record);
  [[nodiscard]] std::expected<std::optional<tape_event>, std::string> take_packet(const tape_packet& record,
                                                                                  std::uint64_t place);
  [[nodiscard]] std::expected<void, std::string> define(direction& by, const tape_packet& packet);
  [[nodiscard]] std::expected<void, std::string> describe(direction& by, bytes_view body);
  [[nodiscard]] std::expected<void, std::string> take_chunk(direction& by, const tape_packet& packet);
  [[nodiscard]] std::expected<void, std::string> name(const tape_actor_named& record);
  [[nodiscard]] std::expected<tape_message, std::string> message_of(link_state& link, const tape_packet& packet);
  [[nodiscard]] std::expected<void, std::string> read_elements(link_state& link, const tape_packet& packet,
                                                               std::uint64_t signature, packet_reader& in,
                                                               tape_message& message);
  [[nodiscard]] std::expected<void, std::string> read_one(link_state& link, const tape_packet& packet,
                                                          packet_reader& in, tape_message& message,
                                                          tape_element& element);
  [[nodiscard]] frame claim(link_state& link, direction& by, const frame_descriptor& where, tape_message& message,
                            tape_element& element);
  [[nodiscard]] tape_mention mention_of(const link_state& link, const object_mention& described) const;
  [[nodiscard]] tape_actor actor_of(const link_state& link, tape_side exporter, std::uint64_t number) const;
  void match(tape_message& message);
  void end(std::uint64_t link);
  void drop_transfers(direction& of);

  const tape_limits bounds_;
  std::map<std::uint64_t, link_state> links_;
  std::uint64_t kept_bytes_ = 0; // Definitions and names of all links.
  std::uint64_t open_bytes_ = 0; // Of transfers.
  std::size_t open_transfers_ = 0;
  recorded_objects objects_{bounds_.object_bytes};
  std::map<question, asked> asked_;
  std::deque<question> asked_order_; // Oldest first; may contain some that were answered.
  std::uint64_t messages_ = 0;
};

} // namespace troupe::internal
