#include <troupe/framework/internal/objects/pending_objects.hpp>

#include <utility>

namespace troupe::internal {

/// Counts one message, whose copies cost nothing.
class pending_objects::mark final : public consumption {
public:
  mark(std::shared_ptr<pending_objects> of, std::list<message>::iterator at, receipt owed,
       std::shared_ptr<const void> keeps)
      : consumption(0, std::move(keeps)), of_(std::move(of)), at_(at), owed_(std::move(owed)) {}

  void consumed(std::uint64_t cost) noexcept override {
    if (cost == 0)
      return;
    std::list<message> gone;
    {
      const std::lock_guard alone{of_->mutex_};
      gone.splice(gone.begin(), of_->messages_, at_);
    }
    owed_ = {};
  }

private:
  const std::shared_ptr<pending_objects> of_;
  const std::list<message>::iterator at_;
  receipt owed_;
};

receipt pending_objects::note(std::vector<named_object> objects, receipt owed, std::shared_ptr<const void> keeps) {
  std::list<message> made(1);
  made.front().since = std::chrono::steady_clock::now();
  for (auto& each : objects)
    made.front().objects.push_back({each.stored, each.source});
  const auto at = made.begin();
  {
    const std::lock_guard alone{mutex_};
    messages_.splice(messages_.end(), made);
  }
  consumption_ptr<mark> marked{new mark{shared_from_this(), at, std::move(owed), std::move(keeps)}};
  return marked->issue(1);
}

std::vector<named_object> pending_objects::list() const {
  std::vector<named_object> result;
  const std::lock_guard alone{mutex_};
  for (const auto& each : messages_)
    for (const auto& object : each.objects)
      if (auto source = object.source.lock(); source || object.stored)
        result.push_back({object.stored, std::move(source), each.since});
  return result;
}

} // namespace troupe::internal
