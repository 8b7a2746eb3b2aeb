#include <troupe/framework/remote_recording.hpp>

#include <algorithm>
#include <optional>
#include <span>
#include <thread>
#include <utility>
#include <variant>

#include <troupe/base/sizes.hpp>
#include <troupe/framework/internal/tape/tape_format.hpp>
#include <troupe/framework/internal/tape/tape_recorders.hpp>
#include <troupe/framework/internal/tape/tape_writer.hpp>
#include <troupe/framework/internal/words/failing.hpp>
#include <troupe/framework/link.hpp>

namespace troupe {

namespace {

using std::chrono::steady_clock;

constexpr std::chrono::milliseconds poll_interval{100};
constexpr std::chrono::seconds flush_interval{1};
// If so much came at once, more waits.
constexpr std::size_t full_part_bytes = 1 << 20;
// A tape keeps definitions to repeat them. The peer may be hostile.
constexpr std::uint64_t definition_bytes_max = 256ULL << 20;

/// Writes what a peer has recorded.
class remote_tape {
public:
  remote_tape(internal::tape_writer to, remote_recording_report& report) : to_(std::move(to)), report_(report) {}

  /// Fails with the reason if the recording has to end.
  [[nodiscard]] std::expected<void, std::string> write(const recording_part& part) {
    internal::packet_reader in{std::as_bytes(std::span{part.records})};
    while (!in.rest().empty()) {
      const auto begin = in.rest();
      const auto record = internal::read_tape_record(in);
      if (!record)
        return std::unexpected{std::string{"the peer has sent a record that cannot be read"}};
      ++report_.records;
      const auto encoded = begin.first(begin.size() - in.rest().size());
      if (!belongs(*record)) {
        ++report_.refused;
        continue;
      }
      if (const auto* dropped = std::get_if<internal::tape_dropped>(&*record))
        report_.dropped_messages += dropped->messages;
      const auto* const packet = std::get_if<internal::tape_packet>(&*record);
      if (packet != nullptr && internal::is_message(packet->kind))
        ++report_.messages;
      if (packet == nullptr || internal::is_definition(packet->kind))
        definition_bytes_ += encoded.size();
      if (definition_bytes_ > definition_bytes_max)
        return std::unexpected{"the peer has sent more than " + grouped(definition_bytes_max)
                               + " bytes of definitions"};
      to_.add(*record, encoded, now());
    }
    if (steady_clock::now() >= next_flush_) {
      to_.flush(now());
      next_flush_ = steady_clock::now() + flush_interval;
    }
    return {};
  }

  void end() {
    to_.close(now());
    report_.lost_messages = to_.lost().messages;
  }

private:
  /// This node itself writes the records that name the recorder and that end the tape.
  static bool belongs(const internal::tape_record& record) {
    const auto* packet = std::get_if<internal::tape_packet>(&record);
    return packet != nullptr ? internal::is_recorded(packet->kind)
                             : !std::holds_alternative<internal::tape_recorder_named>(record)
                                   && !std::holds_alternative<internal::tape_ended>(record)
                                   && !std::holds_alternative<internal::tape_unknown>(record);
  }

  [[nodiscard]] std::uint64_t now() const {
    return static_cast<std::uint64_t>(std::chrono::nanoseconds{steady_clock::now() - began_}.count());
  }

  internal::tape_writer to_;
  remote_recording_report& report_;
  const steady_clock::time_point began_ = steady_clock::now();
  steady_clock::time_point next_flush_ = began_ + flush_interval;
  std::uint64_t definition_bytes_ = 0;
};

} // namespace

std::expected<remote_recording_report, node_error> record_peer(link& peer, const remote_recording_options& options) {
  if (!internal::is_wanted(options.to))
    return internal::bad_option("a recording needs a file or a directory");
  const auto begun =
      peer.record(options.answer_timeout, {.actors = options.actors, .queue_bytes = options.to.queue_bytes});
  if (!begun)
    return std::unexpected{begun.error()};
  const auto ask = [&](bool ends) {
    return peer.record(options.answer_timeout, {.recording = begun->recording, .ends = ends});
  };
  const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
  auto writer = internal::tape_writer::open(
      internal::place_of(options.to), {.node = peer.peer_name(),
                                       .software = peer.peer_version().troupe,
                                       .started_at = static_cast<std::uint64_t>(
                                           std::chrono::duration_cast<std::chrono::nanoseconds>(since_epoch).count())});
  if (!writer) {
    static_cast<void>(ask(true));
    return std::unexpected{std::move(writer).error()};
  }
  remote_recording_report report;
  remote_tape tape{*std::move(writer), report};
  const auto until =
      steady_clock::now() + std::min<std::chrono::milliseconds>(options.time, std::chrono::hours{24 * 365});
  for (auto is_last = false; !is_last && report.ended_early.empty();) {
    is_last = steady_clock::now() >= until || (options.is_enough && options.is_enough());
    const auto part = ask(is_last);
    if (!part) {
      report.ended_early = part.error().message();
    } else if (auto written = tape.write(*part); !written) {
      report.ended_early = std::move(written).error();
      static_cast<void>(ask(true));
    } else if (!is_last && part->records.size() < full_part_bytes) {
      std::this_thread::sleep_until(std::min(steady_clock::now() + poll_interval, until));
    }
  }
  tape.end();
  return report;
}

} // namespace troupe
