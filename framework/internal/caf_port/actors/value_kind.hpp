// How the value of an object becomes an element of a CAF message, whatever its type.
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

/// A copy on its own, as CAF's message builder takes it.
[[nodiscard]] TROUPE_EXPORT caf::type_erased_value_ptr copy_of(const value_kind& kind, const void* value);

/// What CAF's serialization is answered.
[[nodiscard]] TROUPE_EXPORT caf::error value_of_object();

} // namespace troupe::internal
