#include <troupe/framework/internal/flow/behind_handles.hpp>

#include <troupe/framework/internal/flow/handle_account.hpp>

namespace troupe::internal {

void waiting_objects::add(const behind_handles& behind) {
  behind.each([this](const store::object_id& which, std::uint64_t) {
    if (is_named(which))
      ++counts_[which];
  });
}

void waiting_objects::remove(const behind_handles& behind) {
  behind.each([this](const store::object_id& which, std::uint64_t) {
    if (const auto found = counts_.find(which); found != counts_.end() && --found->second == 0)
      counts_.erase(found);
  });
}

} // namespace troupe::internal
