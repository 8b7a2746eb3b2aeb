#include <troupe/framework/internal/tape/remote_recordings.hpp>

#include <algorithm>
#include <string>

#include <troupe/base/salted_hash.hpp>
#include <troupe/framework/internal/words/failing.hpp>

namespace troupe::internal {

namespace {

recording_part part_of(std::uint64_t number, tape_queue& from) {
  recording_part result{.recording = number, .records = {}};
  const auto records = from.take_now();
  result.records.resize(records.size());
  std::ranges::transform(records, result.records.begin(),
                         [](std::byte each) { return std::to_integer<std::uint8_t>(each); });
  return result;
}

std::unexpected<node_error> no_such_recording() {
  return fail(node_errc::not_found, "there is no such recording; one from which nothing is taken for "
                                        + std::to_string(remote_recordings::lease.count()) + " s has ended");
}

} // namespace

/// Requires: the lock is held.
void remote_recordings::drop_ended() {
  std::erase_if(open_, [](const auto& each) { return each.second.to->close_if_abandoned(); });
}

std::expected<remote_recordings::begun, node_error> remote_recordings::begin(const recording_query& query) {
  const auto bytes = std::clamp(query.queue_bytes, queue_bytes_min, queue_bytes_max);
  const std::lock_guard guard{mutex_};
  drop_ended();
  if (open_.size() >= recordings_max)
    return fail(node_errc::link_busy, "this node is recorded " + std::to_string(recordings_max) + " times already");
  auto number = detail::random_salt(); // Nobody guesses the number of another observer's recording.
  while (number == 0 || open_.contains(number))
    number = detail::random_salt();
  recording_target target{.to = std::make_shared<tape_queue>(static_cast<std::size_t>(bytes), lease_),
                          .actors = query.actors,
                          .observer = query.observer};
  open_.emplace(number, target);
  return begun{.number = number, .target = std::move(target)};
}

std::expected<recording_part, node_error> remote_recordings::take(std::uint64_t number) {
  std::unique_lock held{mutex_};
  drop_ended();
  const auto found = open_.find(number);
  if (found == open_.end())
    return no_such_recording();
  const auto from = found->second.to;
  held.unlock();
  return part_of(number, *from);
}

std::expected<recording_part, node_error> remote_recordings::end(std::uint64_t number) {
  std::unique_lock held{mutex_};
  const auto found = open_.extract(number);
  if (!found)
    return no_such_recording();
  held.unlock();
  found.mapped().to->close();
  return part_of(number, *found.mapped().to);
}

std::vector<recording_target> remote_recordings::targets() const {
  std::vector<recording_target> result;
  const std::lock_guard guard{mutex_};
  for (const auto& [number, target] : open_)
    if (!target.to->is_closed())
      result.push_back(target);
  return result;
}

void remote_recordings::end() {
  const std::lock_guard guard{mutex_};
  for (const auto& [number, target] : open_)
    target.to->close();
  open_.clear();
}

} // namespace troupe::internal
