#include <troupe/framework/internal/consumption.hpp>

#include <troupe/framework/internal/io_batch.hpp>

namespace troupe::internal {

consumption::~consumption() = default;

void consumption::let_go(std::uint64_t uses) noexcept {
  if (uses_.fetch_sub(uses, std::memory_order_acq_rel) == uses)
    delete this;
}

receipt receipt::of_copy() const {
  if (to_ != nullptr)
    to_->use();
  return {to_, 0};
}

void receipt::settle_now() noexcept {
  auto* to = std::exchange(to_, nullptr);
  if (auto* batch = io_batch::current()) {
    batch->gather(*to, cost_);
    return;
  }
  to->consumed(cost_);
  to->let_go(1);
}

} // namespace troupe::internal
