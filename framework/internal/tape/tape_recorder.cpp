#include <troupe/framework/internal/tape/tape_recorder.hpp>

#include <utility>

#include <troupe/base/sizes.hpp>
#include <troupe/framework/internal/threads/new_thread.hpp>

namespace troupe::internal {

namespace {

// The thread wakes up early if this much waits.
constexpr std::size_t early_bytes = 256 * 1024;
// Otherwise it gathers for this long, so that slow links cost few wake-ups.
constexpr std::chrono::milliseconds gathering_time{100};
// A killed process loses at most what came in this time.
constexpr std::chrono::seconds flush_interval{1};

} // namespace

std::expected<std::shared_ptr<tape_recorder>, node_error> tape_recorder::open(options how) {
  const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
  auto writer =
      tape_writer::open(how.place, {.node = how.node,
                                    .software = how.software,
                                    .started_at = static_cast<std::uint64_t>(
                                        std::chrono::duration_cast<std::chrono::nanoseconds>(since_epoch).count())});
  if (!writer)
    return std::unexpected{std::move(writer).error()};
  auto made = std::make_shared<tape_recorder>(std::move(how), *std::move(writer));
  auto thread = new_thread("a recording needs a thread", [self = made.get()] { self->run(); });
  if (!thread)
    return std::unexpected{std::move(thread).error()};
  made->thread_ = *std::move(thread);
  return made;
}

tape_recorder::tape_recorder(options how, tape_writer writer)
    : how_(std::move(how)), began_(std::chrono::steady_clock::now()), writer_(std::move(writer)) {
  queue_.reserve(how_.queue_bytes); // So that recording allocates nothing. Pages are taken as they are filled.
}

std::uint64_t tape_recorder::elapsed() const noexcept {
  const auto time = std::chrono::steady_clock::now() - began_;
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(time).count());
}

// -- recording

/// Wakes the thread if it waits for the first record, or if it has gathered enough. Requires: the lock is held.
void tape_recorder::wake_if_needed(std::size_t before) {
  if (before == 0 || (before < early_bytes && queue_.size() >= early_bytes))
    changed_.notify_one();
}

/// Says what was dropped before the next record. Requires: the lock is held.
void tape_recorder::say_dropped() {
  if (dropped_.empty())
    return;
  dropped_.append(queue_, tape_loss::too_slow, {});
  dropped_.clear();
}

/// Appends a record that is never dropped.
void tape_recorder::append(const auto& record) noexcept {
  std::lock_guard guard{mutex_};
  if (is_ending_)
    return;
  const auto before = queue_.size();
  try {
    append_tape_record(queue_, record);
  } catch (...) { // No memory: messages will lack it, and reading says so.
    queue_.resize(before);
  }
  wake_if_needed(before);
}

std::uint64_t tape_recorder::begin_link(tape_link_began what) {
  {
    std::lock_guard guard{mutex_};
    what.link = next_link_++;
  }
  what.at = elapsed();
  append(what);
  return what.link;
}

void tape_recorder::packet(std::uint64_t link, tape_side writer, packet_kind kind, std::uint8_t detail,
                           bytes_view begin, bytes_view end) noexcept {
  tape_packet packet{.link = link, .writer = writer, .kind = kind, .detail = detail, .body = begin};
  std::lock_guard guard{mutex_};
  if (is_ending_)
    return;
  packet.at = elapsed(); // Under the lock, so that times ascend.
  const auto body_bytes = begin.size() + end.size();
  const auto before = queue_.size();
  try {
    if (!is_definition(kind) && before + body_bytes + tape_record_head_bytes_max > how_.queue_bytes) {
      dropped_.add(packet, body_bytes);
      ++figures_.dropped_packets;
      figures_.dropped_messages += is_message(kind) ? 1 : 0;
      return;
    }
    say_dropped();
    append_tape_record(queue_, packet, end);
    ++figures_.packets;
  } catch (...) { // No memory. What was dropped is said later.
    queue_.resize(before);
    ++figures_.dropped_packets;
  }
  wake_if_needed(before);
}

void tape_recorder::name_actor(std::uint64_t link, tape_side exporter, std::uint64_t number,
                               std::string_view name) noexcept {
  append(tape_actor_named{.link = link, .exporter = exporter, .number = number, .name = name});
}

void tape_recorder::end_link(std::uint64_t link, std::string_view reason) noexcept {
  append(tape_link_ended{.link = link, .at = elapsed(), .reason = reason});
}

void tape_recorder::end() {
  {
    std::lock_guard guard{mutex_};
    is_ending_ = true;
    changed_.notify_one();
  }
  if (thread_.joinable())
    thread_.join();
}

tape_recorder::figures tape_recorder::now() const {
  std::lock_guard guard{mutex_};
  return figures_;
}

// -- on the recorder's thread

void tape_recorder::run() {
  byte_vector records;
  records.reserve(how_.queue_bytes);
  auto next_flush = std::chrono::steady_clock::now() + flush_interval;
  auto has_unwritten = false; // The writer has records that are not in the file.
  std::unique_lock held{mutex_};
  for (;;) {
    const auto is_due = [this] { return is_ending_ || !queue_.empty(); };
    if (has_unwritten)
      changed_.wait_until(held, next_flush, is_due);
    else
      changed_.wait(held, is_due);
    if (!queue_.empty())
      changed_.wait_for(held, gathering_time, [this] { return is_ending_ || queue_.size() >= early_bytes; });
    say_dropped(); // Now there is room.
    const auto is_last = is_ending_;
    const auto is_empty = queue_.empty();
    std::swap(records, queue_);
    held.unlock();
    if (how_.before_writing && !is_empty)
      how_.before_writing();
    write(records);
    records.clear();
    has_unwritten = has_unwritten || !is_empty;
    const auto now = std::chrono::steady_clock::now();
    if (is_last) {
      writer_.close(elapsed());
    } else if (now >= next_flush) {
      writer_.flush(elapsed());
      has_unwritten = false;
      next_flush = now + flush_interval;
    }
    if (const auto news = writer_.take_news(); news && how_.tell)
      how_.tell(*news);
    const auto lost = writer_.lost();
    held.lock();
    figures_.lost_packets = lost.packets;
    figures_.lost_messages = lost.messages;
    figures_.written_bytes = writer_.written_bytes();
    figures_.files = writer_.files();
    if (is_last)
      return;
  }
}

void tape_recorder::write(const byte_vector& records) {
  packet_reader in{records};
  while (!in.rest().empty()) {
    const auto begin = in.rest();
    const auto record = read_tape_record(in);
    if (!record) // Never: this process has written it.
      return;
    writer_.add(*record, begin.first(begin.size() - in.rest().size()), elapsed());
  }
}

} // namespace troupe::internal
