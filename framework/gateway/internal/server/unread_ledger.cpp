#include <troupe/framework/gateway/internal/server/unread_ledger.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace troupe::web {

std::unique_ptr<unread_ledger::account> unread_ledger::open(std::function<void()> cut) {
  const std::lock_guard guard{mutex_};
  entries_.push_back({.cut = std::move(cut)});
  return std::make_unique<account>(*this, std::prev(entries_.end()));
}

std::size_t unread_ledger::bytes() const {
  const std::lock_guard guard{mutex_};
  return bytes_;
}

std::uint64_t unread_ledger::cut() const {
  const std::lock_guard guard{mutex_};
  return cut_;
}

bool unread_ledger::add(entry& to, std::size_t bytes) {
  std::vector<std::function<void()>> cuts; // Called without the lock.
  {
    const std::lock_guard guard{mutex_};
    while (!to.is_cut && bytes_ + bytes > bytes_max_) {
      const auto most = std::ranges::max_element(
          entries_, {}, [](const entry& each) { return each.is_cut ? std::size_t{0} : each.bytes; });
      if (most->is_cut || most->bytes <= to.bytes + bytes)
        break;
      most->is_cut = true;
      bytes_ -= most->bytes;
      ++cut_;
      cuts.push_back(std::exchange(most->cut, nullptr));
    }
    if (to.is_cut || bytes_ + bytes <= bytes_max_) {
      to.bytes += bytes;
      bytes_ += to.is_cut ? 0 : bytes;
      bytes = 0;
    }
  }
  for (const auto& cut : cuts)
    cut();
  return bytes == 0;
}

void unread_ledger::subtract(entry& from, std::size_t bytes) {
  const std::lock_guard guard{mutex_};
  from.bytes -= bytes;
  bytes_ -= from.is_cut ? 0 : bytes;
}

void unread_ledger::close(std::list<entry>::iterator at) {
  std::list<entry> closed; // Destroyed without the lock.
  const std::lock_guard guard{mutex_};
  bytes_ -= at->is_cut ? 0 : at->bytes;
  closed.splice(closed.begin(), entries_, at);
}

} // namespace troupe::web
