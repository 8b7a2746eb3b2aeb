#include <troupe/framework/internal/caf_port/encoding_cache.hpp>

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

#include <troupe/framework/internal/threads/io_timer.hpp>

namespace troupe::internal {

bool encoding_cache::terms::are_those_of(const context& other) const {
  static_assert(std::has_unique_object_representations_v<limits>);
  return compression == other.compression && shared_store == other.shared_store && iterate == other.iterate
         && std::ranges::equal(families, other.families) && std::memcmp(&bounds, &other.limits, sizeof(limits)) == 0;
}

std::shared_ptr<const encoded_message> encoding_cache::find(const message_view& content,
                                                            const context& for_links) const {
  if (is_empty_.load(std::memory_order_relaxed))
    return nullptr;
  std::lock_guard guard{mutex_};
  for (const auto& each : entries_)
    if (content.is_of(each.message) && each.made_for.are_those_of(for_links)) {
      each.used = true;
      return each.encoded;
    }
  return nullptr;
}

void encoding_cache::put(caf::message message, const context& for_links,
                         std::shared_ptr<const encoded_message> encoded) {
  std::vector<entry> dropped; // Messages and frames are destroyed outside the lock.
  std::unique_lock guard{mutex_};
  if (closed_)
    return;
  const auto was_empty = entries_.empty();
  if (entries_.size() == entries_max) {
    dropped.push_back(std::move(entries_.front()));
    entries_.erase(entries_.begin());
  }
  entries_.push_back({.message = std::move(message), .made_for = terms(for_links), .encoded = std::move(encoded)});
  is_empty_.store(false, std::memory_order_relaxed);
  guard.unlock();
  if (was_empty)
    post_to(io_, [weak = weak_from_this()] {
      if (auto self = weak.lock())
        self->look_later();
    });
}

bool encoding_cache::begin(const void* place, std::function<void()> again) {
  std::lock_guard guard{turns_mutex_};
  const auto [turn, is_first] = turns_.try_emplace(place);
  if (!is_first)
    turn->second.push_back(std::move(again));
  return is_first;
}

void encoding_cache::done(const void* place) {
  std::unique_lock guard{turns_mutex_};
  const auto ended = turns_.extract(place);
  guard.unlock();
  if (ended)
    for (const auto& again : ended.mapped())
      again();
}

void encoding_cache::close() {
  std::unique_lock guard{mutex_};
  closed_ = true;
  is_empty_.store(true, std::memory_order_relaxed);
  auto dropped = std::exchange(entries_, {});
  guard.unlock();
}

void encoding_cache::look_later() {
  timer_.expires_after(patience);
  timer_.async_wait([weak = weak_from_this()](std::error_code error) {
    if (auto self = weak.lock(); self && !error)
      self->drop_unused();
  });
}

void encoding_cache::drop_unused() {
  std::vector<entry> dropped;
  std::unique_lock guard{mutex_};
  for (auto& each : entries_)
    if (!std::exchange(each.used, false))
      dropped.push_back(std::move(each));
  std::erase_if(entries_, [](const entry& each) { return each.encoded == nullptr; });
  const auto more = !entries_.empty();
  is_empty_.store(!more, std::memory_order_relaxed);
  guard.unlock();
  if (more)
    look_later();
}

} // namespace troupe::internal
