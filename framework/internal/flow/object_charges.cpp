#include <troupe/framework/internal/flow/object_charges.hpp>

#include <algorithm>
#include <utility>

namespace troupe::internal {

namespace {

using shared_receipt = std::shared_ptr<const receipt>;

class message_share final : public consumption {
public:
  explicit message_share(std::vector<shared_receipt> parts) : consumption(0, nullptr), parts_(std::move(parts)) {}

  void consumed(std::uint64_t cost) noexcept override {
    if (cost > 0) // Otherwise the receipt of a copy.
      parts_.clear();
  }

private:
  std::vector<shared_receipt> parts_;
};

} // namespace

receipt object_charges::share(std::uint64_t actor, receipt charge, const std::vector<store::object_id>& first,
                              const std::vector<store::object_id>& again) {
  if (first.empty() && again.empty())
    return charge;
  std::vector<shared_receipt> parts;
  for (const auto& each : again)
    if (const auto known = living_.find({actor, each}); known != living_.end())
      if (auto living = known->second.lock(); living && std::ranges::find(parts, living) == parts.end())
        parts.push_back(std::move(living));
  if (living_.size() >= forget_at_)
    forget_settled();
  const auto own = std::make_shared<const receipt>(std::move(charge));
  for (const auto& each : first)
    living_[{actor, each}] = own;
  parts.push_back(own);
  consumption_ptr<message_share> share{new message_share{std::move(parts)}};
  return share->issue(1);
}

void object_charges::forget_settled() {
  std::erase_if(living_, [](const auto& each) { return each.second.expired(); });
  constexpr std::size_t least = 64;
  forget_at_ = std::max(least, 2 * living_.size());
}

} // namespace troupe::internal
