#include <troupe/framework/internal/flow/consumed_batch.hpp>

#include <utility>

#include <troupe/framework/internal/flow/consumption.hpp>

namespace troupe::internal {

namespace {

thread_local consumed_batch* gathering_batch = nullptr;

} // namespace

consumed_batch* consumed_batch::current() noexcept {
  return gathering_batch != nullptr && !gathering_batch->is_deposed() ? gathering_batch : nullptr;
}

consumed_batch::scope::scope(consumed_batch& batch) noexcept {
  gathering_batch = &batch;
}

consumed_batch::scope::~scope() {
  gathering_batch = nullptr;
}

void consumed_batch::gather(consumption& to, std::uint64_t cost) noexcept {
  while (of_ != nullptr && of_ != &to)
    settle(); // This may gather another message.
  of_ = &to;
  bytes_ += cost;
  ++messages_;
  if (bytes_ >= to.gathered_max())
    settle();
}

void consumed_batch::settle() noexcept {
  auto* to = std::exchange(of_, nullptr);
  if (to == nullptr)
    return;
  const auto bytes = std::exchange(bytes_, 0);
  const auto messages = std::exchange(messages_, 0);
  to->consumed(bytes); // May gather another message.
  to->let_go(messages);
}

} // namespace troupe::internal
