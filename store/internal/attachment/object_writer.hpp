// Objects from their first byte to their seal.
#pragma once

#include <troupe/store/internal/attachment/call_sites.hpp>
#include <troupe/store/internal/attachment/given_objects.hpp>
#include <troupe/store/internal/attachment/object_finder.hpp>
#include <troupe/store/internal/attachment/own_files.hpp>
#include <troupe/store/internal/attachment/room_maker.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <source_location>
#include <span>
#include <vector>

namespace troupe::store::internal {

/// Creates objects.
///
/// Threads: any.
class object_writer {
public:
  struct needs {
    const membership& member;
    const table_access& access;
    held_objects& holds;
    const object_memory& memory;
    data_pages& pages;
    const own_files& files;
    room_maker& room;
    const room_report& report;
    table_growth& growth;
    object_finder& finder;
    change_signal& changes;
    const store_errors& errors;
  };
  object_writer(control_view view, const needs& uses)
      : view_(view), uses_(uses), call_sites_(uses.access, uses.growth) {}

  struct request {
    std::size_t size_bytes = 0;
    std::span<const std::byte> metadata;
    std::span<const object_id> captured;
    object_origin origin{};
    bool grows = false; // The pages are committed as the bytes arrive.
  };
  [[nodiscard]] std::expected<new_object, store_error> create(const request& what, std::chrono::milliseconds grace,
                                                              const std::source_location& where);
  /// Creates all objects or none.
  [[nodiscard]] std::expected<std::vector<new_object>, store_error> create_all(std::span<const std::size_t> sizes_bytes,
                                                                               std::chrono::milliseconds grace,
                                                                               const std::source_location& where);
  /// Creates the object unless an object of that origin exists. The check is repeated under the lock that creates the
  /// object. If another writer was faster, looks up its object. Fails with `busy` only if 16 writers in turn begin and
  /// give up.
  [[nodiscard]] std::expected<origin_found, store_error>
  create_once(const request& what, std::chrono::milliseconds grace, const std::source_location& where);

  // Requires: this process is writing the object.

  /// Gives pages to the bytes [from, until) of the object. Requires: the object grows.
  [[nodiscard]] std::expected<void, store_error> commit(std::uint32_t index, std::size_t from, std::size_t until);
  [[nodiscard]] std::expected<void, store_error> capture(std::uint32_t index, std::span<const object_id> ids);
  /// Counts one sign of progress. Only the writer changes this field before the object is sealed.
  void note_progress(std::uint32_t index) noexcept;
  [[nodiscard]] std::expected<void, store_error> seal(std::uint32_t index, std::size_t size_bytes, bool shrunk);

private:
  [[nodiscard]] std::expected<new_object, store_error>
  create_in_memory(const creation& wanted, std::span<const std::byte> metadata, std::chrono::milliseconds grace);
  [[nodiscard]] std::expected<new_object, store_error> create_in_own_file(const creation& wanted,
                                                                          std::span<const std::byte> metadata);

  control_view view_;
  const needs uses_;
  call_sites call_sites_;
};

} // namespace troupe::store::internal
