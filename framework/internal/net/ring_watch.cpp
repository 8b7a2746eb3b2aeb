#include <troupe/framework/internal/net/ring_watch.hpp>

#include <utility>

#include <asio/io_context.hpp>

namespace troupe::internal {

namespace {

// A check costs a few nanoseconds. Waking a reader costs some thousand.
constexpr std::uint32_t vain_looks_max = 256;

} // namespace

ring_watch& ring_watch::of(asio::io_context& io) {
  return asio::use_service<ring_watch>(static_cast<asio::execution_context&>(io));
}

std::size_t ring_watch::look() {
  std::size_t found = 0;
  const auto count = looked_at_.size(); // A ring's handler may add rings.
  for (std::size_t i = 0; i < count; ++i) {
    if (!looked_at_[i].ring->look())
      continue;
    looked_at_[i].vain_looks = 0;
    ++found;
  }
  return found;
}

std::size_t ring_watch::look_in_passing() {
  const auto found = look();
  for (std::size_t i = 0; i < looked_at_.size();) {
    auto& each = looked_at_[i];
    if (++each.vain_looks > vain_looks_max && each.ring->sleep()) {
      std::swap(each, looked_at_.back());
      looked_at_.pop_back();
    } else {
      ++i;
    }
  }
  return found;
}

bool ring_watch::sleep() {
  while (!looked_at_.empty()) {
    if (!looked_at_.back().ring->sleep())
      return false;
    looked_at_.pop_back();
  }
  return true;
}

} // namespace troupe::internal
