// Records one link.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <troupe/framework/internal/tape/tape_queue.hpp>
#include <troupe/framework/internal/tape/waiting_chunks.hpp>
#include <troupe/framework/internal/wire/packet_tap.hpp>
#include <troupe/store/object_store.hpp>

namespace troupe::internal {

/// Where links are recorded, and what of them.
struct recording_target {
  std::shared_ptr<tape_queue> to;
  std::vector<std::string> actors = {}; // Only messages from or to actors of these names. Empty: all.
  std::string observer = {};            // Links to the node of this name are not recorded. Empty: all are.
  // Of links whose ends share this store, frames and objects of at most this size are recorded with their bytes. Not
  // for a recording that wants some actors only.
  std::optional<store::object_store> store = std::nullopt;
  std::size_t object_bytes_max = 0;

  [[nodiscard]] bool wants_link_to(const std::string& peer) const { return observer.empty() || observer != peer; }
};

/// What a link has defined before its recording began.
struct known_words {
  struct packet {
    tape_side writer = tape_side::recorder;
    packet_kind kind = packet_kind::signature;
    byte_vector body;
  };
  struct name {
    tape_side exporter = tape_side::recorder;
    std::uint64_t number = 0;
    std::string name;
  };
  std::vector<packet> definitions = {};
  std::vector<name> names = {};
};

/// Passes the packets of messages to all that record the link. Of admin packets it learns only under which names actors
/// were found.
///
/// Threads: add() and the received packets on the link's I/O thread, sent ones under the link's lock. add() needs both.
class link_recording final : public packet_tap {
public:
  /// Begins the link on that tape.
  void add(const recording_target& target, const tape_link_began& link, const known_words& known);

  void on_sent(packet_kind kind, std::uint8_t detail, bytes_view begin, bytes_view end) noexcept override;
  void on_received(packet_kind kind, std::uint8_t detail, bytes_view body) noexcept override;
  /// To be called once. No packet follows.
  void end(std::string_view reason) noexcept;

  [[nodiscard]] bool has(const tape_queue* to) const noexcept;
  /// Whether nobody records the link any more.
  [[nodiscard]] bool is_over() const noexcept;

private:
  // Of each end, for a recording that wants some actors only.
  static constexpr std::uint64_t waiting_chunk_bytes = 8 * 1024 * 1024;
  using questions = std::map<std::uint64_t, std::string>; // Names that one end has asked for.
  using actor_key = std::pair<tape_side, std::uint64_t>;
  struct described {
    std::uint8_t detail = 0;
    byte_vector body;
  };
  /// One tape. The members behind `link` are used only if it wants some actors only.
  struct track {
    recording_target target;
    std::uint64_t link = 0;
    std::set<actor_key> actors = {};         // Guarded by mutex_.
    std::vector<described> by_recorder = {}; // Descriptions that belong to the next message of that end.
    std::vector<described> by_peer = {};
    waiting_chunks chunks_by_recorder{waiting_chunk_bytes};
    waiting_chunks chunks_by_peer{waiting_chunk_bytes};
  };

  void record(tape_side writer, packet_kind kind, std::uint8_t detail, bytes_view begin, bytes_view end) noexcept;
  void record_objects(track& of, packet_kind kind, std::uint8_t detail, bytes_view begin, bytes_view end) noexcept;
  void record_some(track& of, tape_side writer, packet_kind kind, std::uint8_t detail, bytes_view begin,
                   bytes_view end) noexcept;
  [[nodiscard]] bool is_wanted(const track& of, tape_side writer, std::uint8_t detail, bytes_view begin);
  void name(track& of, const actor_key& actor, const std::string& name) noexcept;
  void learn(tape_side writer, std::uint8_t operation, bytes_view body) noexcept;

  std::vector<std::unique_ptr<track>> tracks_;
  std::mutex mutex_; // Both directions of a link run at once.
  // Guarded by mutex_.
  questions of_recorder_;
  questions of_peer_;
};

} // namespace troupe::internal
