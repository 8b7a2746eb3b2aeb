// Objects that are larger than the store: each in a file of its own in the spill directory, mapped where it is used.
#include <troupe/store/internal/attachment/attachment.hpp>

#include <troupe/base/sizes.hpp>
#include <troupe/store/internal/host/crash_point.hpp>

#include <chrono>
#include <cstring>
#include <thread>

namespace troupe::store::internal {

namespace {

// More does not fit into any address space.
constexpr auto largest_bytes = std::uint64_t{1} << 46;

} // namespace

std::expected<new_object, store_error> attachment::create_in_own_file(const creation& wanted,
                                                                      std::span<const std::byte> metadata) {
  if (!spills_.is_there())
    return std::unexpected(full_error(wanted.size_bytes, "with a spill_directory it could lie there"));
  if (wanted.size_bytes > largest_bytes)
    return std::unexpected(full_error(wanted.size_bytes, "no file can have so many"));
  const auto index = create_row_with_file(wanted);
  if (!index)
    return std::unexpected(index.error());
  auto mapping = make_own_file(*index, wanted.grows);
  if (!mapping) {
    abort(*index);
    return std::unexpected(mapping.error());
  }
  auto* const base = static_cast<std::byte*>(const_cast<void*>(mapping->get())); // Ours to write until it is sealed.
  if (!metadata.empty())
    std::memcpy(base, metadata.data(), metadata.size());
  reach(crash_point::own_file_made);
  return new_object{*index,
                    view_.object(*index).generation.load(),
                    {base + round_up(metadata.size(), alignment_bytes), wanted.size_bytes},
                    *std::move(mapping)};
}

std::expected<std::uint32_t, store_error> attachment::create_row_with_file(const creation& wanted) {
  auto index = no_row;
  for (auto failures = 0;;) {
    auto what = outcome::done;
    {
      const auto guard = lock();
      if (!guard)
        return std::unexpected(guard.error());
      object_table(*guard).reclaim(reclaim_batch);
      what = object_table(*guard).create_in_own_file(wanted, store_.self, index,
                                                     [this](std::uint32_t row) { hold_new(row); });
    }
    if (what == outcome::done)
      return index;
    if (what == outcome::not_found || what == outcome::unsealed)
      return std::unexpected(error_of_captured(what, wanted.captured));
    if (what == outcome::origin_known)
      return std::unexpected(error_of(what, {}));
    if (auto grown = grow_or_reap(what, failures); !grown)
      return std::unexpected(grown.error());
  }
}

std::expected<mapping_ptr, store_error> attachment::make_own_file(std::uint32_t index, bool grows) const {
  const auto& row = view_.object(index);
  const auto file = row.spill_file.load();
  const auto pause = [](std::chrono::nanoseconds how_long) {
    std::this_thread::sleep_for(how_long);
    return true;
  };
  return spills_.create_mapped(file, view_.spill_file(file).generation, view_.spill_file(file).size_bytes, grows,
                               pause);
}

std::expected<mapping_ptr, store_error> attachment::map_own_file(std::uint32_t index) const {
  const auto& row = view_.object(index);
  const auto file = row.spill_file.load();
  auto mapping =
      spills_.map(file, view_.spill_file(file).generation, extent_length(row.size_bytes, row.metadata_bytes));
  if (!mapping)
    return std::unexpected(error_of_object(index, mapping.error()));
  return mapping;
}

/// What is left uncut costs only room on the disk.
void attachment::cut_own_file(std::uint32_t index) noexcept {
  const auto& row = view_.object(index);
  const auto file = row.spill_file.load();
  spills_.cut(file, view_.spill_file(file).generation, extent_length(row.size_bytes, row.metadata_bytes));
}

} // namespace troupe::store::internal
