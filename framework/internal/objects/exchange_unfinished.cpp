// Objects of this node's own that wait for what they capture.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include <troupe/base/sizes.hpp>
#include <troupe/framework/internal/objects/exchange_room.hpp>
#include <troupe/framework/internal/objects/unfinished_object.hpp>

namespace troupe::internal {

namespace {

using clock = std::chrono::steady_clock;

// How long one try waits for the store to make room, and all of them.
constexpr std::chrono::milliseconds own_try_patience{200};
constexpr std::chrono::seconds own_room_patience{20};

} // namespace

// -- as the application has it

unfinished_object::~unfinished_object() {
  if (finishing_ != 0)
    counted_->cancel(finishing_);
}

void unfinished_object::finish() {
  const auto id = counted_->fetch(clock::time_point::max(), [weak = weak_from_this()](const auto& found) {
    const auto self = weak.lock();
    if (!self || !found)
      return; // Whoever fetches it later tries again.
    std::unique_lock guard{self->mutex_};
    const auto dropped = std::exchange(self->bytes_, std::nullopt);
    guard.unlock(); // What they capture ends outside of the lock.
  });
  std::lock_guard guard{mutex_};
  finishing_ = id;
}

std::optional<frame> unfinished_object::own_bytes() const {
  std::lock_guard guard{mutex_};
  return bytes_;
}

std::optional<frame> unfinished_object::here() const {
  auto own = own_bytes();
  return own ? std::move(own) : counted_->here();
}

std::optional<frame> unfinished_object::here_at_once() const {
  auto own = own_bytes();
  return own ? std::move(own) : counted_->here_at_once();
}

std::optional<node_error> unfinished_object::why_lost() const {
  return own_bytes() ? std::nullopt : counted_->why_lost();
}

object_source::fetch_id unfinished_object::fetch(clock::time_point until, answer then) {
  if (auto own = own_bytes()) {
    then(*std::move(own));
    return 0;
  }
  return counted_->fetch(until, std::move(then));
}

// -- as the exchange has it

std::expected<object_source_ptr, node_error>
object_exchange::put_unfinished(frame bytes, std::vector<std::byte> metadata,
                                std::span<const std::shared_ptr<exchanged_object>> captured) {
  const auto size_bytes = bytes.size_bytes();
  std::vector<handles::reference> parts;
  parts.reserve(captured.size());
  for (const auto& each : captured)
    parts.push_back(each->what());
  std::unique_lock guard{mutex_};
  if (is_ended_)
    return std::unexpected{node_error{node_errc::link_down, "the node has ended"}};
  // They take this process's memory, and will take the store's.
  const auto bytes_max = capacity_bytes_ / 2;
  if (size_bytes > capacity_bytes_
      || (unfinished_bytes_ > 0 && size_bytes > bytes_max - std::min(bytes_max, unfinished_bytes_)))
    return std::unexpected{node_error{
        node_errc::store_full,
        "an object of " + grouped(size_bytes) + " bytes refers to objects on other hosts, for which it has to wait, as "
            + grouped(unfinished_bytes_) + " bytes of other objects do; those may take " + grouped(bytes_max)
            + ", half of the store. Fetch the references with troupe::wait before putting them, or raise the store's "
              "capacity_bytes"}};
  const auto what = ledger_.add_unfinished(size_bytes, parts);
  unfinished_.emplace(what, std::make_shared<const unfinished>(unfinished{bytes, std::move(metadata)}));
  unfinished_bytes_ += size_bytes;
  settle();
  guard.unlock();
  auto made = std::make_shared<unfinished_object>(
      std::make_shared<exchanged_object>(shared_from_this(), what, size_bytes), std::move(bytes));
  made->finish();
  return made;
}

void object_exchange::act(const handles::forget_unfinished& what) {
  const auto found = unfinished_.find(what.what);
  if (found == unfinished_.end())
    return; // Since the end.
  unfinished_bytes_ -= found->second->bytes.size_bytes();
  work_.emplace_back([dropped = std::move(found->second)] {}); // What it captures ends outside of the lock.
  unfinished_.erase(found);
}

void object_exchange::finish(handles::seal_room& what) {
  const auto found = unfinished_.find(what.unfinished);
  if (found == unfinished_.end())
    return; // Since the end.
  const auto& from = found->second;
  auto made = std::make_shared<room>();
  made->id = what.room;
  made->size_bytes = from->bytes.size_bytes();
  made->is_sealing = true;
  rooms_.emplace(what.room, made);
  room_work_.emplace_back([self = shared_from_this(), made, from, captured = std::move(what.captured)] {
    self->write_finished(made, *from, captured);
  });
}

/// Waits for room as what comes from others does.
void object_exchange::write_finished(const std::shared_ptr<room>& made, const unfinished& from,
                                     const std::vector<store::object_id>& captured) {
  const auto attempt = [&]() -> std::expected<store::handle, store::store_error> {
    auto built = store_.create(from.bytes.size_bytes(), from.metadata, captured, own_try_patience);
    if (!built)
      return std::unexpected{std::move(built).error()};
    std::ranges::copy(from.bytes.bytes(), built->bytes().begin());
    return std::move(*built).seal();
  };
  const auto until = clock::now() + own_room_patience;
  auto sealed = attempt();
  std::unique_lock guard{mutex_};
  while (!sealed && sealed.error().code() == store::store_errc::full && is_wanted(*made) && clock::now() < until) {
    made->why_full = full_now_ = sealed.error().message();
    guard.unlock();
    sealed = attempt();
    guard.lock();
  }
  full_now_.clear();
  end_sealing(*made, std::move(sealed));
}

} // namespace troupe::internal
