#include <troupe/framework/internal/flow/consumption.hpp>

#include <troupe/framework/internal/flow/consumed_batch.hpp>

namespace troupe::internal {

consumption::~consumption() = default;

void consumption::let_go(std::uint64_t uses) noexcept {
  if (uses_.fetch_sub(uses, std::memory_order_acq_rel) == uses)
    delete this;
}

namespace {

class two_receipts final : public consumption {
public:
  two_receipts(receipt one, receipt other, std::shared_ptr<const void> keeps)
      : consumption(0, std::move(keeps)), one_(std::move(one)), other_(std::move(other)) {}

  void consumed(std::uint64_t cost) noexcept override {
    if (cost == 0) // The receipt of a copy.
      return;
    one_ = {};
    other_ = {};
  }

private:
  receipt one_;
  receipt other_;
};

} // namespace

receipt joint(receipt one, receipt other, std::shared_ptr<const void> keeps) {
  consumption_ptr<two_receipts> both{new two_receipts{std::move(one), std::move(other), std::move(keeps)}};
  return both->issue(1);
}

receipt receipt::of_copy() const {
  if (to_ != nullptr)
    to_->use();
  return {to_, 0};
}

void receipt::settle_now() noexcept {
  auto* to = std::exchange(to_, nullptr);
  if (auto* batch = consumed_batch::current()) {
    batch->gather(*to, cost_);
    return;
  }
  to->consumed(cost_);
  to->let_go(1);
}

} // namespace troupe::internal
