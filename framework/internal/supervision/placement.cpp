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

std::uint64_t weight(std::uint64_t key, std::uint64_t salt) {
  return mixed(mixed(key) + salt);
}

} // namespace

std::size_t placement::add() {
  children_.push_back({.salt = 0x9e3779b97f4a7c15 * (children_.size() + 1)});
  return children_.size() - 1;
}

/// FNV-1a (Fowler, Noll and Vo).
void placement::set_name(std::size_t child, std::string_view name) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const auto each : name)
    hash = (hash ^ static_cast<unsigned char>(each)) * 0x100000001b3;
  children_[child].salt = hash;
}

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
  return weight(key, children_[one].salt) > weight(key, children_[other].salt);
}

} // namespace troupe::internal
