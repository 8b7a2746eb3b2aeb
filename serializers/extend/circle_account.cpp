#include <troupe/serializers/extend/circle_account.hpp>

#include <algorithm>
#include <utility>

namespace troupe {

namespace {

// The smallest size at which a payload counts. It limits the number of payloads, so that a walk over all of them stays
// cheap.
constexpr std::size_t payload_bytes_min = 4096;

} // namespace

std::size_t circle_account::room() {
  return bytes_max_ - std::min(bytes_max_, kept_bytes());
}

std::size_t circle_account::kept_bytes() {
  const std::lock_guard guard(mutex_);
  forget_ended();
  return kept_bytes_;
}

void circle_account::keep(std::vector<std::weak_ptr<void>> circles, std::size_t bytes) {
  bytes = std::max(bytes, payload_bytes_min);
  const std::lock_guard guard(mutex_);
  kept_.push_back({std::move(circles), bytes});
  kept_bytes_ += bytes;
}

void circle_account::forget_ended() {
  std::erase_if(kept_, [&](const payload_kept& each) {
    const bool has_ended = std::ranges::all_of(each.circles, [](const auto& circle) { return circle.expired(); });
    if (has_ended)
      kept_bytes_ -= each.bytes;
    return has_ended;
  });
}

} // namespace troupe
