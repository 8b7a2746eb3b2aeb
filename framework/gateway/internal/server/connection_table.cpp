#include <troupe/framework/gateway/internal/server/connection_table.hpp>

#include <utility>
#include <vector>

namespace troupe::web {

void connection_table::place::set_idle(bool is_idle) {
  const std::lock_guard guard{table_.mutex_};
  at_->is_idle = is_idle;
  at_->since = clock::now();
}

void connection_table::place::set_close(std::function<void()> close) {
  const std::lock_guard guard{table_.mutex_};
  at_->close.swap(close); // The old one is destroyed without the lock.
}

/// A connection that is to be closed keeps its place until it is gone. So for a moment there may be as many more as
/// connections are closing; it is no candidate again, because its function is taken.
std::unique_ptr<connection_table::place> connection_table::admit(const std::string& address,
                                                                 std::function<void()> close) {
  std::function<void()> make_room; // Called without the lock.
  std::unique_ptr<place> made;
  {
    const std::lock_guard guard{mutex_};
    ++accepted_;
    auto& of_address = by_address_[address];
    if (of_address >= limits_.per_address_max) {
      ++shed_;
      return nullptr;
    }
    if (open_.size() >= limits_.connections_max) {
      ++shed_;
      if (open_.size() < 2 * limits_.connections_max)
        make_room = take_longest_idle();
      if (!make_room) {
        if (of_address == 0)
          by_address_.erase(address);
        return nullptr;
      }
    }
    ++of_address;
    open_.push_back({.address = address, .close = std::move(close), .is_idle = true, .since = clock::now()});
    made = std::make_unique<place>(*this, std::prev(open_.end()));
  }
  if (make_room)
    make_room();
  return made;
}

bool connection_table::close_longest_idle() {
  std::function<void()> close; // Called without the lock.
  {
    const std::lock_guard guard{mutex_};
    close = take_longest_idle();
    if (close)
      ++shed_;
  }
  if (close)
    close();
  return close != nullptr;
}

void connection_table::close_idle() {
  std::vector<std::function<void()>> closing; // Called without the lock.
  {
    const std::lock_guard guard{mutex_};
    for (auto& each : open_)
      if (each.close)
        closing.push_back(std::exchange(each.close, nullptr));
  }
  for (const auto& close : closing)
    close();
}

std::size_t connection_table::wait_until_empty(clock::time_point limit) {
  std::unique_lock lock{mutex_};
  is_empty_.wait_until(lock, limit, [&] { return open_.empty(); });
  return open_.size();
}

/// The function that closes the connection; empty if none is idle. Requires the mutex.
std::function<void()> connection_table::take_longest_idle() {
  entry* longest = nullptr;
  for (auto& each : open_)
    if (each.is_idle && each.close && (longest == nullptr || each.since < longest->since))
      longest = &each;
  return longest != nullptr ? std::exchange(longest->close, nullptr) : nullptr;
}

void connection_table::remove(std::list<entry>::iterator at) {
  std::list<entry> removed; // Destroyed without the lock.
  const std::lock_guard guard{mutex_};
  if (const auto found = by_address_.find(at->address); --found->second == 0)
    by_address_.erase(found);
  removed.splice(removed.begin(), open_, at);
  if (open_.empty())
    is_empty_.notify_all();
}

std::uint64_t connection_table::open() const {
  const std::lock_guard guard{mutex_};
  return open_.size();
}

std::uint64_t connection_table::accepted() const {
  const std::lock_guard guard{mutex_};
  return accepted_;
}

std::uint64_t connection_table::shed() const {
  const std::lock_guard guard{mutex_};
  return shed_;
}

} // namespace troupe::web
