// How CAF's own inspectors treat object_refs: binary_serializer, BASP and texts. object_ref.hpp includes this file.
#pragma once

#include <expected>
#include <string>
#include <type_traits>

#include <caf/error.hpp>

#include <troupe/base/export.hpp>
#include <troupe/framework/object_ref.hpp>

namespace troupe {

namespace internal {

/// The bytes that a CAF serializer writes for a reference. This is outside of a message, so by default it fails with
/// `out_of_band_handle`.
[[nodiscard]] TROUPE_EXPORT std::expected<std::string, caf::error> out_of_band_text(const object_state_ptr& state);
[[nodiscard]] TROUPE_EXPORT std::expected<object_state_ptr, caf::error> found_by_text(const std::string& text);
/// A text for people.
[[nodiscard]] TROUPE_EXPORT std::string shown(const object_state_ptr& state);

} // namespace internal

/// For CAF, which serializes and deserializes outside of messages. Both directions fail with `out_of_band_handle`
/// unless the program has allowed references outside of messages (out_of_band.hpp). Links do not use this function.
template <class Inspector, class T>
typename Inspector::result_type inspect(Inspector& inspector, object_ref<T>& ref) {
  if constexpr (!std::is_same_v<typename Inspector::result_type, caf::error>) { // Prints or compares.
    auto text = internal::shown(internal::state_of(ref));
    return inspector(text);
  } else if constexpr (Inspector::reads_state) {
    auto text = internal::out_of_band_text(internal::state_of(ref));
    return text ? inspector(*text) : std::move(text).error();
  } else {
    std::string text;
    if (auto failed = inspector(text))
      return failed;
    auto state = internal::found_by_text(text);
    if (!state)
      return std::move(state).error();
    ref = internal::ref_to<T>(*std::move(state));
    return {};
  }
}

} // namespace troupe
