#include <troupe/framework/internal/objects/originals.hpp>

#include <algorithm>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>

#include <troupe/framework/internal/objects/replica_rooms.hpp>
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

bool originals::has_time(replica& which) const {
  const auto now = clock::now();
  if (!which.waits_until)
    which.waits_until = now + std::chrono::duration_cast<clock::duration>(patience_.whole);
  return *which.waits_until > now;
}

void originals::wait_for(const std::shared_ptr<replica>& which, const store::object_id& written) {
  std::unique_lock guard{mutex_};
  if (is_ended_)
    return;
  waiting_.push_back({which, written, store_.progress_of(written).value_or(0), clock::now()});
  if (!std::exchange(is_watching_, true))
    watch_.add([this] { watch(); });
  // A watch that already runs may have checked before this entry was added, so check once here.
  const auto is_it = [&](const waiting& each) { return each.what == which; };
  if (store_.is_being_written(written) || std::erase_if(waiting_, is_it) == 0)
    return;
  guard.unlock();
  maker_.try_again(which);
}

void originals::forget(const std::shared_ptr<replica>& which) {
  std::lock_guard guard{mutex_};
  std::erase_if(waiting_, [&](const waiting& each) { return each.what == which; });
}

void originals::end() {
  std::unique_lock guard{mutex_};
  is_ended_ = true;
  const auto dropped = std::exchange(waiting_, {});
  guard.unlock();
  watch_.end();
}

/// On the watch's thread. Runs until the list is empty.
void originals::watch() {
  std::unique_lock guard{mutex_};
  while (!is_ended_ && !waiting_.empty()) {
    auto until = clock::time_point::max();
    for (const auto& each : waiting_)
      until = std::min(until, *each.what->waits_until);
    guard.unlock();
    std::vector<waiting> over;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - clock::now());
    const auto waited = store_.wait_until(
        [&] {
          std::lock_guard look{mutex_};
          over = take_out_those_over();
          return is_ended_ || waiting_.empty() || !over.empty();
        },
        std::max(left, std::chrono::milliseconds{0}));
    guard.lock();
    if (!waited) { // The store cannot be asked: end all waits.
      over = std::exchange(waiting_, {});
      for (auto& each : over)
        each.what->waits_until = clock::now();
    }
    guard.unlock();
    for (auto& each : over)
      maker_.try_again(each.what);
    over.clear();
    guard.lock();
  }
  is_watching_ = false;
}

/// True if no process writes the object any more, if its deadline has passed, or if the writer has made no progress for
/// `stall`.
bool originals::is_over(waiting& each, clock::time_point now) const {
  if (!store_.is_being_written(each.written) || now >= *each.what->waits_until)
    return true;
  if (const auto seen = store_.progress_of(each.written); seen && *seen != each.progress) {
    each.progress = *seen;
    each.progressed = now;
  }
  if (now - each.progressed < patience_.stall)
    return false;
  each.what->waits_until = now;
  return true;
}

std::vector<originals::waiting> originals::take_out_those_over() {
  const auto now = clock::now();
  std::vector<waiting> over;
  std::vector<waiting> left;
  for (auto& each : waiting_)
    (is_over(each, now) ? over : left).push_back(std::move(each));
  waiting_ = std::move(left);
  return over;
}

} // namespace troupe::internal
