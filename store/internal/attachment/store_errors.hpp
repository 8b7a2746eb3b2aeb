// Errors with texts.
#pragma once

#include <troupe/store/internal/table/object_table.hpp>
#include <troupe/store/object_id.hpp>
#include <troupe/store/store_error.hpp>

#include <span>
#include <string>

namespace troupe::store::internal {

/// Makes errors whose texts name the store.
class store_errors {
public:
  /// `name` is the name of the store, and must outlive this object.
  store_errors(control_view view, const std::string& name) : view_(view), name_(name) {}

  /// The error of a call on the table that concerned object `id`.
  [[nodiscard]] store_error of(outcome what, const object_id& id) const;
  /// The error if one of `captured` cannot be captured.
  [[nodiscard]] store_error of_captured(outcome what, std::span<const object_id> captured) const;
  /// The error if the object's bytes cannot be read.
  [[nodiscard]] store_error of_bytes(std::uint32_t index, const store_error& why) const;

  [[nodiscard]] object_id id_of(std::uint32_t index) const {
    return {view_.header().store_number, index, view_.object(index).generation.load()};
  }

private:
  control_view view_;
  const std::string& name_;
};

/// The error for more ids than one object can capture.
[[nodiscard]] store_error too_many_captured(std::size_t count);

} // namespace troupe::store::internal
