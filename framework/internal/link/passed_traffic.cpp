#include <troupe/framework/internal/link/passed_traffic.hpp>

namespace troupe::internal {

void passed_traffic::count(const message_view& content, std::uint64_t size_bytes) {
  if (counts_ == nullptr)
    return;
  for (std::size_t i = 0; i < content.size(); ++i) {
    auto [at, is_new] = rows_.try_emplace(content.type(i));
    if (is_new)
      if (const auto* type = content.type(i).entry_in(types_))
        at->second = {&counts_->of(no_family, type->alias()), type->shared_from_this()};
    const auto& [counted_as, type] = at->second;
    if (counted_as != nullptr)
      counted_as->count(content.size() == 1 ? size_bytes : type->memory_bytes(content.value(i)));
  }
}

} // namespace troupe::internal
