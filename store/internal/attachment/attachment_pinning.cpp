// Views of objects: in the store's memory, in a file of their own, or, where memory and disk are full, on the disk.
#include <troupe/store/internal/attachment/attachment.hpp>

#include <troupe/store/internal/host/crash_point.hpp>

#include <chrono>
#include <optional>

namespace troupe::store::internal {

std::expected<mapping_ptr, store_error> attachment::pin(std::uint32_t index,
                                                        const std::optional<std::chrono::milliseconds>& within) {
  if (!usable())
    return std::unexpected(check_usable().error());
  retain_pin(index);
  // The bit is set before the state is read: who gives its memory up does the two in the other order.
  const auto& row = view_.object(index);
  const auto state = row.state.load();
  const auto is_here = state == object_state::sealed || state == object_state::spilling;
  if (is_here && row.place == 0)
    return nullptr;
  auto restored = is_here ? map_own_file(index) : restore(index, within);
  if (!restored)
    release_pin(index);
  return restored;
}

bool attachment::is_on_disk(std::uint32_t index) const noexcept {
  const auto state = view_.object(index).state.load();
  return state == object_state::spilled || state == object_state::restoring;
}

void attachment::retain_pin(std::uint32_t index) noexcept {
  if (forked())
    return;
  auto& row = view_.object(index);
  counts_.at(index).pins.increment([&] {
    if (!usable())
      return;
    set_bit(row.pinners, store_.self.slot);
    reach(crash_point::pin_marked);
  });
  if (row.used.load(std::memory_order_relaxed) == 0)
    row.used.store(1, std::memory_order_relaxed);
}

void attachment::release_pin(std::uint32_t index) noexcept {
  if (forked())
    return;
  counts_.at(index).pins.decrement([&] {
    if (!usable())
      return;
    clear_bit(view_.object(index).pinners, store_.self.slot);
    reach(crash_point::unpin_cleared);
  });
}

store_error attachment::error_of_object(std::uint32_t index, const store_error& why) const {
  const auto id = object_id{number(), index, view_.object(index).generation.load()};
  return {why.code(), "object " + to_string(id) + " cannot be had: " + why.message()};
}

/// A spilled object where it lies on the disk: nothing in the table says so, since its holder keeps the file. Another
/// process may bring it back meanwhile, which does no harm: the bytes are the same.
std::expected<mapping_ptr, store_error> attachment::map_copy(std::uint32_t index, const disk_pause& pause) const {
  const auto& row = view_.object(index);
  const auto file = row.spill_file.load();
  auto mapping = spills_.map_part(file, view_.spill_file(file).generation, row.spill_offset,
                                  extent_length(row.size_bytes.load(), row.metadata_bytes), row.spill_checksum, pause);
  if (!mapping)
    return std::unexpected(error_of_object(index, mapping.error()));
  return mapping;
}

attachment::object_bytes attachment::bytes_of(std::uint32_t index, const void* mapped) const {
  const auto& row = view_.object(index);
  const auto* const base = mapped == nullptr ? readable_ + row.offset : static_cast<const std::byte*>(mapped);
  return {{base + round_up(row.metadata_bytes, alignment_bytes), row.size_bytes.load()}, {base, row.metadata_bytes}};
}

} // namespace troupe::store::internal
