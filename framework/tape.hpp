// Reads tapes: recordings of the messages of links. framework/tape-format.md describes the files.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include <troupe/base/export.hpp>
#include <troupe/framework/node_errc.hpp>
#include <troupe/serializers/frame.hpp>
#include <troupe/serializers/payload.hpp>
#include <troupe/serializers/record.hpp>

namespace troupe {

/// One of the two ends of a recorded link.
enum class tape_side : std::uint8_t {
  recorder = 0, ///< The end that has recorded.
  peer = 1,
};

/// Who has made a tape, and when.
struct tape_info {
  std::string node = {};     ///< The name of the recording node. Empty if the beginning of the file is damaged.
  std::string software = {}; ///< Its version of Troupe.
  std::chrono::system_clock::time_point began = {}; ///< All times of the recording count from here.
  std::uint64_t recording = 0;                      ///< The same in all files of one recording.
  std::uint32_t file = 0;                           ///< The number of this file in the recording, from 0.
};

/// A recorded link.
struct tape_link {
  std::uint64_t number = 0; ///< In the recording; a link that is made again gets another number.
  std::chrono::nanoseconds at{0};
  bool is_repeated = false; ///< The link began in an earlier file.
  std::string recorder_name = {};
  std::string peer_name = {};
  std::string recorder_address = {};
  std::string peer_address = {};
  std::string transport = {};
  std::string compression = {};           ///< By which the recording end compressed when the link began.
  std::vector<std::string> sends = {};    ///< The families of the recording end.
  std::vector<std::string> accepts = {};  ///< Those that it accepted.
  std::vector<std::string> features = {}; ///< Those that both ends had.
};

/// An actor at one end of a link.
struct tape_actor {
  std::uint64_t number = 0;                 ///< On this link; 0: none.
  tape_side exporter = tape_side::recorder; ///< The end whose actor it is.
  std::string name = {};                    ///< Under which the actor was found; empty if that is not known.
};

/// Where the bytes of a frame travelled.
enum class tape_frame_place : std::uint8_t {
  message = 0, ///< Inside the message.
  chunks = 1,  ///< In chunks before the message.
  store = 2,   ///< They stayed in the store that both ends share. On the tape with recording_options::object_bytes_max.
};

/// A frame of a payload.
struct tape_frame {
  tape_frame_place place = tape_frame_place::message;
  std::uint64_t size_bytes = 0;
  bool is_recorded = true; ///< If false, the frame is empty in tape_element::content.
};

/// An object in a store that an element mentions.
struct tape_mention {
  std::string object = {}; ///< Its name, as `troupe store` shows it; empty if the sender had lost it.
  std::uint64_t size_bytes = 0;
  bool is_recorded = false;
  frame content = {}; ///< The object's bytes; empty if they are not on the tape.
};

/// One element of a message.
struct tape_element {
  std::string type = {};   ///< The alias. Empty if the message's signature is missing on the tape.
  std::string family = {}; ///< Empty if the header is missing on the tape.
  payload content = {};    ///< As it travelled.
  std::vector<tape_frame> frames = {};
  std::vector<tape_actor> actors = {};     ///< That the payload mentions.
  std::uint64_t objects = 0;               ///< How many objects it mentions.
  std::vector<tape_mention> mentions = {}; ///< These objects, as far as the tape describes them.
  std::string missing = {};                ///< Why `content` is not whole; empty: it is whole.
};

enum class tape_message_kind : std::uint8_t {
  plain = 0,
  request = 1,
  answer = 2,
};

/// A message that a link has carried.
struct tape_message {
  std::uint64_t number = 0; ///< Of the messages of this reading, from 1.
  std::chrono::nanoseconds at{0};
  std::uint64_t link = 0;
  tape_side writer = tape_side::recorder; ///< The end that sent it.
  tape_message_kind kind = tape_message_kind::plain;
  bool is_urgent = false;
  tape_actor from = {};
  tape_actor to = {};
  std::uint64_t request_number = 0; ///< Of requests and answers; the same for both.
  /// Of answers: when the request was sent or received, and tape_message::number of the request. nullopt and 0 if the
  /// request is not on the tape.
  std::optional<std::chrono::nanoseconds> asked_at = std::nullopt;
  std::uint64_t answers = 0;
  std::vector<tape_element> elements = {};
  std::uint64_t wire_bytes = 0; ///< On the link, with chunks and heads, without the bytes in the store.
  /// Of messages that a link within the process has passed as values: their memory. They have no elements on the tape.
  std::optional<std::uint64_t> value_bytes = std::nullopt;
  std::uint64_t place = 0;  ///< Where the block of the message begins in the file.
  std::string missing = {}; ///< Why elements are missing; empty: none are. tape_element::missing tells about parts.
};

/// What the link carried and the tape does not have.
struct tape_drop {
  std::uint64_t link = 0;
  tape_side writer = tape_side::recorder;
  std::chrono::nanoseconds first_at{0};
  std::chrono::nanoseconds last_at{0};
  std::uint64_t packets = 0;
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
  std::string why = {};
};

struct tape_link_end {
  std::uint64_t link = 0;
  std::chrono::nanoseconds at{0};
  std::string reason = {};
};

/// A part of the file that cannot be read, or contradicts what comes before it.
struct tape_damage {
  std::uint64_t begin = 0; ///< Its first byte in the file.
  std::uint64_t end = 0;   ///< The first byte behind it.
  std::string what = {};
};

/// The end of the file.
struct tape_end {
  enum class state : std::uint8_t {
    closed = 1,    ///< The recording was ended.
    continued = 2, ///< It goes on in the next file.
    full = 3,      ///< The tape had reached its bound.
    cut = 4,       ///< The file does not say that it ends here: the recorder was killed or still records.
  };
  state how = state::cut;
};

using tape_event = std::variant<tape_link, tape_message, tape_drop, tape_link_end, tape_damage, tape_end>;

/// Bounds on what reading a tape may keep in memory. A tape that needs more is read with gaps, which are reported.
struct tape_limits {
  std::size_t links = 4096;                      ///< That have begun and not ended.
  std::uint64_t definition_bytes = 256ULL << 20; ///< Signatures, headers and names of all these links.
  std::uint64_t frame_bytes = 1ULL << 30;        ///< One frame that came in chunks.
  std::uint64_t open_frame_bytes = 1ULL << 30;   ///< All frames in chunks whose message has not come yet.
  std::size_t open_requests = 65'536;            ///< Without an answer; the oldest are forgotten.
  std::size_t frames = 65'536;                   ///< Of one element; also the objects that one message mentions.
  std::uint64_t object_bytes = 1ULL << 30;       ///< Of objects in shared stores; the first ones are forgotten first.
};

/// Reads a tape from its beginning to its end.
///
/// Threads: one at a time.
class TROUPE_EXPORT tape {
public:
  /// Opens a file. Fails with `not_found`, with `version_mismatch` if the file is a tape of a later version, or with
  /// `unreadable` if it is none or its head is damaged. The text names the byte.
  [[nodiscard]] static std::expected<tape, node_error> open(const std::string& file, const tape_limits& bounds = {});
  /// As open(), from memory. Requires: `bytes` outlive the result.
  [[nodiscard]] static std::expected<tape, node_error> read(std::span<const std::byte> bytes,
                                                            const tape_limits& bounds = {});

  tape(tape&&) noexcept;
  tape& operator=(tape&&) noexcept;
  ~tape();

  /// Continues with the next file of the same recording. Frames, links and requests of the file before are known there.
  /// Fails as open(), and with `unreadable` if the file is not the next one of this recording; then nothing changes.
  [[nodiscard]] std::expected<void, node_error> go_on(const std::string& file);

  /// `node` and `software` are known once next() has returned.
  [[nodiscard]] const tape_info& info() const;

  /// The next event. Returns nullopt after tape_end. Damage never ends the reading before the end of the file: what
  /// follows it is read as far as it is whole.
  [[nodiscard]] std::optional<tape_event> next();

private:
  class impl;
  explicit tape(std::unique_ptr<impl> made);
  std::unique_ptr<impl> impl_;
};

/// The value of an element, without the C++ type: of the families `typed`, `msgpack` and `json`. Fails with
/// `undecodable` if the element is not whole or damaged, or if its family does not describe itself; the text then says
/// that it needs the program.
[[nodiscard]] TROUPE_EXPORT std::expected<record, node_error> to_record(const tape_element& of);

} // namespace troupe
