#include <troupe/store/internal/attachment/object_views.hpp>

namespace troupe::store::internal {

std::expected<mapping_ptr, store_error> object_views::pin(std::uint32_t index,
                                                          const std::optional<std::chrono::milliseconds>& within) {
  if (auto valid = member_.check(); !valid)
    return std::unexpected(std::move(valid).error());
  holds_.retain_pin(index);
  // The pin bit is set before the state is read. An evicting process writes the state before it reads the bits.
  const auto& row = view_.object(index);
  const auto state = row.state.load();
  const auto is_here = state == object_state::sealed || state == object_state::spilling;
  if (is_here && row.place == 0)
    return nullptr;
  auto restored = is_here ? files_.map(index) : disk_.restore(index, within);
  if (!restored)
    holds_.release_pin(index);
  return restored;
}

} // namespace troupe::store::internal
