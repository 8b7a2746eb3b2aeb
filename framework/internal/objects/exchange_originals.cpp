// What several nodes of a host need of the same exporter is pulled by one of them: the others find it in the store they
// share, or wait until it is there.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>

#include <troupe/framework/internal/objects/exchange_room.hpp>
#include <troupe/framework/internal/trust/authentication.hpp>
#include <troupe/framework/internal/wire/packet.hpp>

namespace troupe::internal {

using clock = std::chrono::steady_clock;

store::object_origin origin_of(const handles::original& what, std::uint64_t size_bytes) {
  constexpr std::string_view purpose = "troupe object";
  const auto text = std::as_bytes(std::span{purpose});
  byte_vector all{text.begin(), text.end()};
  for (const auto number : {what.exporter.node, what.exporter.incarnation, what.name.store,
                            std::uint64_t{what.name.index}, std::uint64_t{what.name.generation}, size_bytes}) {
    const auto bytes = std::as_bytes(std::span{&number, 1});
    all.insert(all.end(), bytes.begin(), bytes.end());
  }
  const auto sum = sha256(all);
  store::object_origin origin;
  std::memcpy(&origin.high, sum.data(), sizeof origin.high);
  std::memcpy(&origin.low, sum.data() + sizeof origin.high, sizeof origin.low);
  return origin;
}

/// Whether another one has what is wanted, or writes it: then there is nothing to be done here for now. Else, where
/// something was found, it is wanted without an origin from now on.
bool object_exchange::is_left_to_others(const std::shared_ptr<room>& wanted, store::object_of_origin found) {
  if (!found.sealed.empty() && found.sealed.size_bytes() == wanted->size_bytes) {
    take_found(*wanted, std::move(found.sealed));
    return true;
  }
  const auto is_written = found.being_written != store::object_id{};
  if (is_written && !wanted->waits_until)
    wanted->waits_until = clock::now() + others_patience_;
  if (is_written && *wanted->waits_until > clock::now()) {
    wait_for_writer(wanted, found);
    return true;
  }
  if (is_written || !found.sealed.empty())
    wanted->origin = {};
  return false;
}

void object_exchange::take_found(const room& wanted, store::handle found) {
  std::lock_guard guard{mutex_};
  if (!is_wanted(wanted))
    return;
  const auto id = wanted.id;
  const auto place = found.id();
  keep(std::move(found));
  rooms_.erase(id);
  if (!ledger_.room_found(id, place))
    drop(place);
  settle();
}

void object_exchange::wait_for_writer(const std::shared_ptr<room>& wanted, const store::object_of_origin& found) {
  const auto& written = found.being_written;
  std::unique_lock guard{mutex_};
  if (!is_wanted(*wanted))
    return;
  wanted->awaited = written;
  wanted->writer = found.writer;
  wanted->writers_progress = store_.progress_of(written).value_or(0);
  wanted->progressed = clock::now();
  waiting_rooms_.push_back(wanted);
  if (!std::exchange(is_waiting_, true))
    writer_watch_.add([self = shared_from_this()] { self->wait_for_writers(); });
  // Who waits already may have looked before this one was there to be seen.
  if (store_.is_being_written(written) || std::erase(waiting_rooms_, wanted) == 0)
    return;
  guard.unlock();
  room_maker_.add([self = shared_from_this(), wanted] { self->make_room(wanted); });
}

/// On the thread of the watch, as long as there are any.
void object_exchange::wait_for_writers() {
  std::unique_lock guard{mutex_};
  while (!is_ended_ && !waiting_rooms_.empty()) {
    auto until = clock::time_point::max();
    for (const auto& each : waiting_rooms_)
      until = std::min(until, *each->waits_until);
    guard.unlock();
    std::vector<std::shared_ptr<room>> over;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - clock::now());
    const auto waited = store_.wait_until(
        [&] {
          std::lock_guard look{mutex_};
          over = take_out_those_over();
          return is_ended_ || waiting_rooms_.empty() || !over.empty();
        },
        std::max(left, std::chrono::milliseconds{0}));
    guard.lock();
    if (!waited) { // The store cannot be asked: they wait no more.
      over = std::exchange(waiting_rooms_, {});
      for (auto& each : over)
        each->waits_until = clock::now();
    }
    for (auto& each : over)
      room_maker_.add([self = shared_from_this(), each] { self->make_room(each); });
  }
  is_waiting_ = false;
}

/// Whether who writes it has done nothing for long: then it is not waited for any more.
bool object_exchange::has_stalled(room& waiting, clock::time_point now) const {
  if (const auto seen = store_.progress_of(waiting.awaited); seen && *seen != waiting.writers_progress) {
    waiting.writers_progress = *seen;
    waiting.progressed = now;
  }
  if (now - waiting.progressed < others_stall_)
    return false;
  waiting.waits_until = now;
  return true;
}

/// Those for which nobody writes any more, and those that have waited long enough.
std::vector<std::shared_ptr<object_exchange::room>> object_exchange::take_out_those_over() {
  const auto now = clock::now();
  const auto over = std::ranges::stable_partition(waiting_rooms_, [&](const auto& each) {
    return store_.is_being_written(each->awaited) && now < *each->waits_until && !has_stalled(*each, now);
  });
  std::vector<std::shared_ptr<room>> result{over.begin(), over.end()};
  waiting_rooms_.erase(over.begin(), over.end());
  return result;
}

} // namespace troupe::internal
