#include <troupe/framework/internal/tape/tape_queue.hpp>

#include <algorithm>
#include <utility>

namespace troupe::internal {

namespace {

// The writing thread wakes up early if this much waits.
constexpr std::size_t early_bytes = 256 * 1024;
// Otherwise it gathers for this long, so that slow links cost few wake-ups.
constexpr std::chrono::milliseconds gathering_time{100};
// Objects that wait, beside the bound of their bytes.
constexpr std::size_t objects_max = 4096;

} // namespace

tape_queue::tape_queue(std::size_t bytes_max, std::optional<std::chrono::nanoseconds> lease)
    : bytes_max_(bytes_max), lease_(lease) {
  records_.reserve(bytes_max); // So that recording allocates nothing. Pages are taken as they are filled.
}

std::uint64_t tape_queue::elapsed() const noexcept {
  const auto time = std::chrono::steady_clock::now() - began_;
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(time).count());
}

/// Whether the writing thread has enough to do. Requires: the lock is held.
bool tape_queue::has_gathered(std::size_t record_bytes) const noexcept {
  return record_bytes >= early_bytes || object_bytes_ >= early_bytes;
}

/// Wakes the thread if it waits for the first record, or if it has gathered enough. Requires: the lock is held.
void tape_queue::wake_if_needed(std::size_t before) {
  if (before == 0 || (!has_gathered(before) && has_gathered(records_.size())))
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

bool tape_queue::close_if_abandoned() {
  std::lock_guard guard{mutex_};
  return is_closed_ || (lease_ && is_abandoned(elapsed()));
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

void tape_queue::object(const tape_object& what, std::uint64_t end, store::handle held) noexcept {
  auto record = what;
  record.size_bytes = held.size_bytes();
  std::unique_lock guard{mutex_};
  if (is_closed_)
    return;
  record.at = elapsed();
  const auto wanted_bytes = end - what.offset;
  const auto has_room =
      objects_.empty() || wanted_bytes <= bytes_max_ - std::min<std::uint64_t>(bytes_max_, object_bytes_);
  const auto before = records_.size();
  if (held.empty() || end < what.offset || end > held.size_bytes() || !has_room || objects_.size() >= objects_max) {
    guard.unlock(); // The handle may be the object's last.
    record.state = tape_object::how::gone;
    record.size_bytes = end;
    append(record);
    return;
  }
  try {
    objects_.push_back({.position = before, .what = record, .end = end, .held = std::move(held)});
    object_bytes_ += wanted_bytes;
    if (object_bytes_ >= early_bytes)
      changed_.notify_one();
  } catch (...) { // No memory: the message lacks the bytes, and reading says so.
    return;
  }
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

bool tape_queue::take(waiting_records& into, std::chrono::steady_clock::time_point until) {
  into.bytes.clear();
  into.objects.clear();
  std::unique_lock held{mutex_};
  changed_.wait_until(held, until, [this] { return is_closed_ || !records_.empty(); });
  if (!records_.empty())
    changed_.wait_for(held, gathering_time, [this] { return is_closed_ || has_gathered(records_.size()); });
  say_dropped(); // Now there is room.
  std::swap(into.bytes, records_);
  std::swap(into.objects, objects_);
  object_bytes_ = 0;
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
