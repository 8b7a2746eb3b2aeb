// Converts an object's value into an element of a CAF message, for any type.
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <type_traits>
#include <utility>

#include <caf/rtti_pair.hpp>
#include <caf/type_erased_value.hpp>

#include <troupe/base/export.hpp>
#include <troupe/framework/object_ref.hpp>

namespace troupe::internal {

struct value_kind {
  caf::rtti_pair type;
  std::expected<std::shared_ptr<void>, node_error> (*read)(const object_state& state, const frame& bytes);
  std::shared_ptr<void> (*copy)(const void* value);
};

template <class T>
[[nodiscard]] const value_kind& kind_of() {
  static_assert(std::is_copy_constructible_v<T>, "CAF copies messages, so their values must be copyable");
  static const value_kind kind{
      caf::make_rtti_pair<T>(),
      [](const object_state& state, const frame& bytes) -> std::expected<std::shared_ptr<void>, node_error> {
        auto value = value_of<T>(state, bytes);
        if (!value)
          return std::unexpected{std::move(value).error()};
        return std::make_shared<T>(*std::move(value));
      },
      [](const void* value) -> std::shared_ptr<void> { return std::make_shared<T>(*static_cast<const T*>(value)); }};
  return kind;
}

/// A copy of the value, in the form that CAF's message builder takes.
[[nodiscard]] TROUPE_EXPORT caf::type_erased_value_ptr copy_of(const value_kind& kind, const void* value);

/// The error that CAF's serialization gets for such a value.
[[nodiscard]] TROUPE_EXPORT caf::error value_of_object();

} // namespace troupe::internal
