#include <troupe/store/internal/attachment/object_writer.hpp>

#include <troupe/base/sizes.hpp>
#include <troupe/store/internal/host/crash_point.hpp>

#include <atomic>
#include <cassert>
#include <cstring>
#include <utility>

namespace troupe::store::internal {

namespace {

constexpr auto metadata_bytes_max = std::size_t{1} << 30;

/// Copies the metadata to the beginning of the object. Returns the position of the payload.
[[nodiscard]] std::byte* begin_with(std::span<const std::byte> metadata, std::byte* object) {
  if (!metadata.empty())
    std::memcpy(object, metadata.data(), metadata.size());
  return object + round_up(metadata.size(), alignment_bytes);
}

} // namespace

std::expected<new_object, store_error> object_writer::create(const request& what, std::chrono::milliseconds grace,
                                                             const std::source_location& where) {
  if (what.captured.size() > captured_max)
    return std::unexpected(too_many_captured(what.captured.size()));
  if (what.metadata.size() > metadata_bytes_max)
    return std::unexpected(
        store_error{store_errc::invalid_argument,
                    "metadata of " + grouped(what.metadata.size()) + " bytes, limit " + grouped(metadata_bytes_max)});
  const auto wanted = creation{what.size_bytes,    static_cast<std::uint32_t>(what.metadata.size()),
                               what.captured,      uses_.member.self().slot,
                               uses_.member.pid(), call_sites_.number_of(where),
                               what.origin,        what.grows};
  const auto capacity = view_.header().capacity_bytes;
  if (what.size_bytes > capacity || extent_length(what.size_bytes, what.metadata.size()) > capacity)
    return create_in_own_file(wanted, what.metadata);
  return create_in_memory(wanted, what.metadata, grace);
}

std::expected<new_object, store_error> object_writer::create_in_memory(const creation& wanted,
                                                                       std::span<const std::byte> metadata,
                                                                       std::chrono::milliseconds grace) {
  auto index = no_row;
  if (auto made = uses_.room.make(std::span{&wanted, 1}, std::span{&index, 1}, grace); !made)
    return std::unexpected(made.error());
  const auto& row = view_.object(index);
  auto* const bytes = begin_with(metadata, uses_.memory.writable(row.offset));
  reach(crash_point::create_finished);
  return new_object{index, row.generation.load(), {bytes, wanted.size_bytes}, nullptr};
}

std::expected<new_object, store_error> object_writer::create_in_own_file(const creation& wanted,
                                                                         std::span<const std::byte> metadata) {
  if (!uses_.files.are_possible())
    return std::unexpected(uses_.report.full_error(wanted.size_bytes, "set a spill_directory to keep it in a file"));
  if (wanted.size_bytes > own_files::largest_bytes)
    return std::unexpected(uses_.report.full_error(wanted.size_bytes, "a file cannot hold so many bytes"));
  const auto index = uses_.room.make_row_with_file(wanted);
  if (!index)
    return std::unexpected(index.error());
  auto mapping = uses_.files.make(*index, wanted.grows);
  if (!mapping) {
    (void)uses_.holds.abort(*index); // Never the last user: the caller is one.
    return std::unexpected(mapping.error());
  }
  // Only this process writes the file until the object is sealed.
  auto* const bytes = begin_with(metadata, static_cast<std::byte*>(const_cast<void*>(mapping->get())));
  reach(crash_point::own_file_made);
  return new_object{*index, view_.object(*index).generation.load(), {bytes, wanted.size_bytes}, *std::move(mapping)};
}

std::expected<std::vector<new_object>, store_error> object_writer::create_all(std::span<const std::size_t> sizes_bytes,
                                                                              std::chrono::milliseconds grace,
                                                                              const std::source_location& where) {
  auto wanted = std::vector<creation>{};
  auto left = view_.header().capacity_bytes;
  const auto call_site = call_sites_.number_of(where);
  const auto pid = uses_.member.pid();
  for (const auto size_bytes : sizes_bytes) {
    if (size_bytes > left || extent_length(size_bytes, 0) > left)
      return std::unexpected(uses_.report.full_error(size_bytes, "it is one of " + grouped(sizes_bytes.size())
                                                                     + " objects that do not fit together"));
    left -= extent_length(size_bytes, 0);
    wanted.push_back({size_bytes, 0, {}, uses_.member.self().slot, pid, call_site, {}});
  }
  auto indexes = std::vector<std::uint32_t>(wanted.size());
  auto result = std::vector<new_object>{};
  result.reserve(wanted.size());
  if (auto made = uses_.room.make(wanted, indexes, grace); !made)
    return std::unexpected(made.error());
  for (auto at = std::size_t{0}; at < indexes.size(); ++at) {
    const auto& row = view_.object(indexes[at]);
    result.push_back(
        {indexes[at], row.generation.load(), {uses_.memory.writable(row.offset), sizes_bytes[at]}, nullptr});
  }
  return result;
}

std::expected<origin_found, store_error>
object_writer::create_once(const request& what, std::chrono::milliseconds grace, const std::source_location& where) {
  constexpr auto tries_max = 16;
  for (auto tries = 1;; ++tries) {
    auto found = uses_.finder.find_origin(what.origin);
    if (!found || found->sealed || found->being_written != object_id{})
      return found;
    auto made = create(what, grace, where);
    if (made) {
      found->made = std::move(*made);
      return found;
    }
    if (made.error().code() != store_errc::unsealed)
      return std::unexpected(made.error());
    if (tries == tries_max)
      return std::unexpected(store_error{store_errc::busy, made.error().message()});
  }
}

std::expected<void, store_error> object_writer::commit(std::uint32_t index, std::size_t from, std::size_t until) {
  if (auto valid = uses_.member.check(); !valid)
    return valid;
  const auto& row = view_.object(index);
  const auto before = round_up(row.metadata_bytes, alignment_bytes);
  if (row.place == 0)
    return uses_.pages.commit_exactly(row.offset + before + from, row.offset + before + until);
  return uses_.files.commit(index, before + from, before + until);
}

std::expected<void, store_error> object_writer::capture(std::uint32_t index, std::span<const object_id> ids) {
  for (auto failures = 0;;) {
    auto what = outcome::done;
    auto count = std::size_t{0};
    {
      const auto guard = uses_.access.lock();
      if (!guard)
        return std::unexpected(guard.error());
      count = object_table(*guard).count_captured(index) + ids.size();
      if (count <= captured_max)
        what = object_table(*guard).capture(index, ids);
    }
    if (count > captured_max)
      return std::unexpected(too_many_captured(count));
    if (what == outcome::done)
      return {};
    if (what != outcome::need_edges)
      return std::unexpected(uses_.errors.of_captured(what, ids));
    if (auto grown = uses_.growth.grow_or_reap(what, failures); !grown)
      return grown;
  }
}

void object_writer::note_progress(std::uint32_t index) noexcept {
  if (!uses_.member.is_valid())
    return;
  const auto signs = std::atomic_ref{view_.object(index).spill_checksum};
  signs.store(signs.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

std::expected<void, store_error> object_writer::seal(std::uint32_t index, std::size_t size_bytes, bool shrunk) {
  if (auto valid = uses_.member.check(); !valid)
    return valid;
  if (shrunk) {
    const auto guard = uses_.access.lock();
    if (!guard)
      return std::unexpected(guard.error());
    object_table(*guard).shrink(index, size_bytes);
  }
  auto& row = view_.object(index);
  if (shrunk && row.place != 0)
    uses_.files.cut(index);
  assert(row.state.load() == object_state::writing);
  if (row.place == 0)
    uses_.memory.protect(index);
  std::atomic_ref{row.spill_checksum}.store(0, std::memory_order_relaxed);
  row.state.store(object_state::sealed); // Release order: a reader that sees `sealed` sees all bytes.
  uses_.holds.recount(index, hold_reason::unfinished, hold_reason::reference);
  reach(crash_point::seal_published);
  uses_.changes.announce();
  return {};
}

} // namespace troupe::store::internal
