#include <troupe/framework/internal/supervision/placement.hpp>

#include <algorithm>

namespace troupe::internal {

namespace {

/// The finalizer of MurmurHash3 (Appleby), with Stafford's constants ("Mix13"): every bit of the input changes each bit
/// of the output with a probability near one half.
std::uint64_t mixed(std::uint64_t bits) {
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
  return bits ^ (bits >> 31);
}

std::uint64_t weight(std::uint64_t key, std::size_t child) {
  return mixed(mixed(key) + 0x9e3779b97f4a7c15 * (child + 1));
}

} // namespace

std::size_t placement::available() const noexcept {
  return static_cast<std::size_t>(std::ranges::count(children_, true, &candidate::is_available));
}

std::optional<std::size_t> placement::choose(std::uint64_t key, std::span<const std::size_t> except) {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < children_.size(); ++i) {
    const auto at = (next_ + i) % children_.size();
    if (!has_room(children_[at]) || std::ranges::find(except, at) != except.end())
      continue;
    if (!best || is_better(at, *best, key))
      best = at;
    if (how_ == spread::round_robin)
      break;
  }
  if (best)
    next_ = (*best + 1) % children_.size();
  return best;
}

bool placement::is_better(std::size_t one, std::size_t other, std::uint64_t key) const {
  if (how_ == spread::least_loaded)
    return children_[one].load < children_[other].load;
  return weight(key, one) > weight(key, other);
}

} // namespace troupe::internal
