#include <troupe/framework/internal/supervision/placement.hpp>

#include <algorithm>

#include <troupe/base/fnv1a.hpp>

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

void placement::set_name(std::size_t child, std::string_view name) {
  children_[child].salt = detail::fnv1a(name);
}

std::size_t placement::available() const noexcept {
  return static_cast<std::size_t>(std::ranges::count(children_, true, &candidate::is_available));
}

std::optional<std::size_t> placement::choose(std::uint64_t key, std::span<const std::size_t> except) {
  if (how_ == spread::least_loaded && known_loads_ > 0)
    return better_of_two(except);
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

/// "Power of two choices" (Mitzenmacher, 1996).
std::optional<std::size_t> placement::better_of_two(std::span<const std::size_t> except) {
  std::size_t seen = 0;
  std::optional<std::size_t> one;
  std::optional<std::size_t> other;
  for (std::size_t i = 0; i < children_.size(); ++i) { // Keeps a random pair of those seen: reservoir sampling.
    if (!has_room(children_[i]) || std::ranges::find(except, i) != except.end())
      continue;
    ++seen;
    if (!one)
      one = i;
    else if (!other)
      other = i;
    else if (const auto at = random() % seen; at == 0)
      one = i;
    else if (at == 1)
      other = i;
  }
  if (!one || !other)
    return one;
  if (is_better(*one, *other, 0))
    return one;
  return is_better(*other, *one, 0) || random() % 2 == 0 ? other : one;
}

/// SplitMix64 (Steele, Lea and Flood).
std::uint64_t placement::random() {
  return mixed(random_ += 0x9e3779b97f4a7c15);
}

bool placement::is_better(std::size_t one, std::size_t other, std::uint64_t key) const {
  if (how_ == spread::least_loaded)
    return children_[one].load + children_[one].of_others.value_or(0)
           < children_[other].load + children_[other].of_others.value_or(0);
  return weight(key, children_[one].salt) > weight(key, children_[other].salt);
}

} // namespace troupe::internal
