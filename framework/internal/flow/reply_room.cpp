#include <troupe/framework/internal/flow/reply_room.hpp>

namespace troupe::internal {

void reply_room::consumed_answers::consumed(std::uint64_t cost) noexcept {
  bytes.fetch_add(cost, std::memory_order_acq_rel);
  wake();
}

void reply_room::consumed_answers::wake() noexcept {
  if (wanted.exchange(false, std::memory_order_acq_rel))
    wake_();
}

std::uint64_t reply_room::reserve(std::uint64_t receiver) {
  if (last_ == nullptr || last_receiver_ != receiver) {
    last_ = &receivers_[receiver]; // The map keeps it in place.
    last_receiver_ = receiver;
  }
  auto& state = *last_;
  state.forgotten = false;
  const auto bytes = std::max(state.estimate, estimate_min);
  state.reserved += bytes;
  reserved_ += bytes;
  return bytes;
}

void reply_room::unreserve(std::uint64_t receiver, std::uint64_t reserved) {
  const auto found = reserved == 0 ? receivers_.end() : receivers_.find(receiver);
  if (found == receivers_.end())
    return;
  reserved_ -= reserved;
  found->second.reserved -= reserved;
  drop_if_idle(found);
}

void reply_room::answered(std::uint64_t receiver, std::uint64_t cost) {
  unconsumed_ += cost;
  if (const auto found = receivers_.find(receiver); found != receivers_.end()) {
    auto& estimate = found->second.estimate;
    estimate = std::max(cost, estimate - estimate / 8);
  }
}

void reply_room::settle() {
  if (const auto bytes = consumed_->bytes.exchange(0, std::memory_order_acq_rel); bytes > 0)
    unconsumed_ -= std::min(bytes, unconsumed_); // After clear() less is left.
}

/// Returns null for an unknown receiver.
const reply_room::receiver_state* reply_room::find(std::uint64_t receiver) const {
  if (last_ != nullptr && last_receiver_ == receiver)
    return last_;
  const auto found = receivers_.find(receiver);
  return found == receivers_.end() ? nullptr : &found->second;
}

bool reply_room::has_room(std::uint64_t receiver) const {
  const auto* found = find(receiver);
  const auto of_receiver = found == nullptr ? 0 : found->reserved;
  return (reserved_ == 0 || reserved_ + unconsumed_ < bounds_.all) && of_receiver < bounds_.of_receiver;
}

void reply_room::forget(std::uint64_t receiver) {
  const auto found = receivers_.find(receiver);
  if (found == receivers_.end())
    return;
  found->second.forgotten = true;
  drop_if_idle(found);
}

void reply_room::drop_if_idle(receiver_map::iterator at) {
  if (!at->second.forgotten || at->second.reserved > 0)
    return;
  last_ = nullptr;
  receivers_.erase(at);
}

void reply_room::clear() {
  last_ = nullptr;
  receivers_.clear();
  reserved_ = unconsumed_ = 0;
}

} // namespace troupe::internal
