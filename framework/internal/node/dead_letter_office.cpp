#include <troupe/framework/internal/node/dead_letter_office.hpp>

#include <atomic>
#include <exception>
#include <utility>

#include <troupe/framework/internal/caf_port/counted_letter.hpp>
#include <troupe/serializers/serialize_calls.hpp>

namespace troupe::internal {

namespace {

std::uint64_t bytes_of(const dead_letter& letter) {
  std::uint64_t bytes = sizeof(letter) + letter.peer.size() + letter.peer_version.size() + letter.reason_text.size();
  for (const auto& each : letter.types)
    bytes += sizeof(each) + each.size();
  for (const auto& each : letter.values) {
    bytes += sizeof(each) + each.encoded().header.size_bytes();
    for (const auto& frame : each.encoded().frames)
      bytes += sizeof(frame) + frame.size_bytes();
  }
  return bytes;
}

/// Keeps no larger block of memory alive.
serialized copy_of(const payload& from) {
  payload copied{frame::copy_of(from.header.bytes()), {}};
  for (const auto& each : from.frames)
    copied.frames.push_back(frame::copy_of(each.bytes()));
  return serialized{std::move(copied)};
}

} // namespace

struct dead_letter_office::unhandled {
  std::atomic<std::uint64_t> letters{0};
  std::atomic<std::uint64_t> bytes{0};
};

dead_letter_office::dead_letter_office(const type_registry& types, const family_set& families,
                                       std::vector<std::string> serializers)
    : types_(types),
      families_(families),
      serializers_(std::move(serializers)),
      unhandled_(std::make_shared<unhandled>()) {}

dead_letter_office::~dead_letter_office() = default;

void dead_letter_office::send_to(caf::strong_actor_ptr whom) {
  std::unique_lock guard{mutex_};
  set_open(whom || watcher_);
  std::swap(whom_, whom);
  guard.unlock(); // The last reference to an actor may go.
}

void dead_letter_office::watch_by(std::shared_ptr<letter_watcher> watcher) {
  std::unique_lock guard{mutex_};
  set_open(whom_ || watcher);
  is_watched_.store(watcher != nullptr, std::memory_order_relaxed);
  std::swap(watcher_, watcher);
  guard.unlock();
}

bool dead_letter_office::has_receiver() const {
  const std::lock_guard guard{mutex_};
  return whom_ != nullptr;
}

bool dead_letter_office::has_room() const noexcept {
  if (is_watched_.load(std::memory_order_relaxed))
    return true;
  return unhandled_->letters.load(std::memory_order_relaxed) < dead_letters_max
         && unhandled_->bytes.load(std::memory_order_relaxed) < dead_letter_bytes_max;
}

void dead_letter_office::note_lost() noexcept {
  const std::lock_guard guard{mutex_};
  if (whom_)
    ++totals_.lost;
}

void dead_letter_office::put(dead_letter letter, const message_view& content, const caf::strong_actor_ptr& from) {
  for (std::size_t i = 0; i < content.size(); ++i) {
    const auto* const entry = content.type(i).entry_in(types_);
    letter.types.push_back(entry != nullptr ? entry->alias() : content.type(i).name());
  }
  if (has_receiver())
    add_values(letter, content);
  put(std::move(letter), from);
}

void dead_letter_office::put(dead_letter letter, const caf::strong_actor_ptr& from) {
  const auto bytes = bytes_of(letter);
  std::unique_lock guard{mutex_};
  if (const auto watcher = watcher_) {
    guard.unlock();
    watcher->see(letter);
    guard.lock();
  }
  if (!whom_)
    return;
  const auto whom = whom_;
  // Letters about letters would never end.
  if (whom == from || !admit(bytes)) {
    ++totals_.lost;
    return;
  }
  ++totals_.sent;
  guard.unlock();
  std::shared_ptr<const void> token{unhandled_.get(), [counts = unhandled_, bytes](const void*) {
                                      counts->letters.fetch_sub(1, std::memory_order_relaxed);
                                      counts->bytes.fetch_sub(bytes, std::memory_order_relaxed);
                                    }};
  send_counted(whom, std::move(letter), std::move(token));
}

/// Requires: mutex_ is held.
bool dead_letter_office::admit(std::uint64_t bytes) {
  if (unhandled_->letters.load(std::memory_order_relaxed) >= dead_letters_max
      || unhandled_->bytes.load(std::memory_order_relaxed) + bytes > dead_letter_bytes_max)
    return false;
  unhandled_->letters.fetch_add(1, std::memory_order_relaxed);
  unhandled_->bytes.fetch_add(bytes, std::memory_order_relaxed);
  return true;
}

dead_letter_office::totals dead_letter_office::so_far() const {
  const std::lock_guard guard{mutex_};
  return totals_;
}

void dead_letter_office::add_values(dead_letter& letter, const message_view& content) const {
  bool is_whole = true;
  std::uint64_t bytes = 0;
  std::uint64_t kept = 0;
  for (std::size_t i = 0; i < content.size(); ++i) {
    const auto* const entry = content.type(i).entry_in(types_);
    if (entry != nullptr) // What has its own codec cannot be weighed.
      bytes += entry->is_self_contained() ? entry->memory_bytes(content.value(i)) : entry->size_bytes();
    is_whole = is_whole && entry != nullptr && bytes <= dead_letter_values_max;
  }
  try {
    for (std::size_t i = 0; is_whole && i < content.size(); ++i) {
      const auto encoded = serialize_entry(*content.type(i).entry_in(types_), content.value(i),
                                           {.serializers = serializers_}, types_, families_);
      is_whole = encoded.has_value() && (kept += encoded->size_bytes()) <= dead_letter_values_max;
      if (is_whole)
        letter.values.push_back(copy_of(*encoded));
    }
  } catch (const std::exception&) { // A codec, or no memory.
    is_whole = false;
  }
  if (!is_whole)
    letter.values.clear();
}

} // namespace troupe::internal
