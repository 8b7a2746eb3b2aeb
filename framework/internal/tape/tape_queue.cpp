#include <troupe/framework/internal/tape/tape_queue.hpp>

#include <utility>

namespace troupe::internal {

namespace {

// The writing thread wakes up early if this much waits.
constexpr std::size_t early_bytes = 256 * 1024;
// Otherwise it gathers for this long, so that slow links cost few wake-ups.
constexpr std::chrono::milliseconds gathering_time{100};

} // namespace

tape_queue::tape_queue(std::size_t bytes_max, std::optional<std::chrono::nanoseconds> lease)
    : bytes_max_(bytes_max), lease_(lease) {
  records_.reserve(bytes_max); // So that recording allocates nothing. Pages are taken as they are filled.
}

std::uint64_t tape_queue::elapsed() const noexcept {
  const auto time = std::chrono::steady_clock::now() - began_;
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(time).count());
}

/// Wakes the thread if it waits for the first record, or if it has gathered enough. Requires: the lock is held.
void tape_queue::wake_if_needed(std::size_t before) {
  if (before == 0 || (before < early_bytes && records_.size() >= early_bytes))
    changed_.notify_one();
}

/// Says what was dropped before the next record. Requires: the lock is held.
void tape_queue::say_dropped() {
  if (dropped_.empty())
    return;
  dropped_.append(records_, tape_loss::too_slow, {});
  dropped_.clear();
}

/// Appends a record that messages need.
void tape_queue::append(const auto& record) noexcept {
  std::lock_guard guard{mutex_};
  const auto before = records_.size();
  if (is_closed_ || before > bytes_max_ + definition_room_bytes) // Messages will lack it, and reading says so.
    return;
  try {
    append_tape_record(records_, record);
  } catch (...) { // No memory. Likewise.
    records_.resize(before);
  }
  wake_if_needed(before);
}

std::uint64_t tape_queue::begin_link(tape_link_began what) {
  {
    std::lock_guard guard{mutex_};
    what.link = next_link_++;
  }
  what.at = elapsed();
  append(what);
  return what.link;
}

/// Requires: the lock is held.
bool tape_queue::is_abandoned(std::uint64_t now) {
  if (now - taken_at_ < static_cast<std::uint64_t>(lease_->count()))
    return false;
  is_closed_ = true;
  records_ = {};
  return true;
}

void tape_queue::packet(std::uint64_t link, tape_side writer, packet_kind kind, std::uint8_t detail, bytes_view begin,
                        bytes_view end) noexcept {
  tape_packet packet{.link = link, .writer = writer, .kind = kind, .detail = detail, .body = begin};
  std::lock_guard guard{mutex_};
  if (is_closed_)
    return;
  packet.at = elapsed(); // Under the lock, so that times ascend.
  if (lease_ && is_abandoned(packet.at))
    return;
  const auto body_bytes = begin.size() + end.size();
  const auto before = records_.size();
  const auto room = bytes_max_ + (is_definition(kind) ? definition_room_bytes : 0);
  try {
    if (before + body_bytes + tape_record_head_bytes_max > room) {
      dropped_.add(packet, body_bytes);
      ++figures_.dropped_packets;
      figures_.dropped_messages += is_message(kind) ? 1 : 0;
      return;
    }
    say_dropped();
    append_tape_record(records_, packet, end);
    ++figures_.packets;
  } catch (...) { // No memory. What was dropped is said later.
    records_.resize(before);
    ++figures_.dropped_packets;
  }
  wake_if_needed(before);
}

void tape_queue::name_actor(std::uint64_t link, tape_side exporter, std::uint64_t number,
                            std::string_view name) noexcept {
  append(tape_actor_named{.link = link, .exporter = exporter, .number = number, .name = name});
}

void tape_queue::end_link(std::uint64_t link, std::string_view reason) noexcept {
  append(tape_link_ended{.link = link, .at = elapsed(), .reason = reason});
}

void tape_queue::close() {
  std::lock_guard guard{mutex_};
  is_closed_ = true;
  changed_.notify_one();
}

bool tape_queue::take(byte_vector& into, std::chrono::steady_clock::time_point until) {
  into.clear();
  std::unique_lock held{mutex_};
  changed_.wait_until(held, until, [this] { return is_closed_ || !records_.empty(); });
  if (!records_.empty())
    changed_.wait_for(held, gathering_time, [this] { return is_closed_ || records_.size() >= early_bytes; });
  say_dropped(); // Now there is room.
  std::swap(into, records_);
  return is_closed_;
}

byte_vector tape_queue::take_now() {
  std::lock_guard guard{mutex_};
  taken_at_ = elapsed();
  say_dropped(); // Now there is room.
  return std::exchange(records_, {});
}

tape_queue::figures tape_queue::now() const {
  std::lock_guard guard{mutex_};
  auto result = figures_;
  result.waiting_bytes = records_.size();
  return result;
}

} // namespace troupe::internal
