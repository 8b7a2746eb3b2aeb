// Objects by id, origin or row.
#pragma once

#include <troupe/store/internal/attachment/given_objects.hpp>
#include <troupe/store/internal/attachment/held_objects.hpp>
#include <troupe/store/internal/attachment/store_errors.hpp>
#include <troupe/store/internal/attachment/table_access.hpp>
#include <troupe/store/internal/table/lru_list.hpp>
#include <troupe/store/store_error.hpp>

#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <vector>

namespace troupe::store::internal {

/// Finds objects.
///
/// Threads: any.
class object_finder {
public:
  object_finder(control_view view, const membership& member, const table_access& access, held_objects& holds,
                const store_errors& errors)
      : view_(view), member_(member), access_(access), holds_(holds), errors_(errors) {}

  [[nodiscard]] std::expected<held_object, store_error> find(const object_id& id);
  [[nodiscard]] std::vector<std::expected<held_object, store_error>> find_all(std::span<const object_id> ids);
  [[nodiscard]] std::expected<origin_found, store_error> find_origin(const object_origin& origin);

  // Without the lock.
  [[nodiscard]] bool contains(const object_id& id) const {
    return member_.is_valid() && table_reader(view_).look_up(id) == outcome::done;
  }
  [[nodiscard]] bool is_being_written(const object_id& id) const {
    return member_.is_valid() && table_reader(view_).look_up(id) == outcome::unsealed;
  }
  /// How many times the writer has reported progress; nullopt if the object is not being written.
  [[nodiscard]] std::optional<std::uint32_t> progress_of(const object_id& id) const noexcept;

  // Requires: this process holds the object.
  [[nodiscard]] std::size_t size_of(std::uint32_t index) const { return view_.object(index).size_bytes.load(); }
  [[nodiscard]] bool is_on_disk(std::uint32_t index) const noexcept {
    return is_spilled(view_.object(index).state.load());
  }
  [[nodiscard]] std::expected<std::vector<object_id>, store_error> captured(std::uint32_t index);

private:
  [[nodiscard]] std::expected<held_object, store_error> find(table_held held, const object_id& id);

  control_view view_;
  const membership& member_;
  const table_access& access_;
  held_objects& holds_;
  const store_errors& errors_;
};

} // namespace troupe::store::internal
