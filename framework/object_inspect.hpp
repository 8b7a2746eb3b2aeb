// How CAF's own inspectors see object_refs: streams of binary_serializer, BASP, texts. object_ref.hpp includes this.
#pragma once

#include <expected>
#include <string>
#include <type_traits>

#include <caf/error.hpp>

#include <troupe/base/export.hpp>
#include <troupe/framework/object_ref.hpp>

namespace troupe {

namespace internal {

/// What a CAF serializer writes for a reference: outside of a message, so refused by default.
[[nodiscard]] TROUPE_EXPORT std::expected<std::string, caf::error> out_of_band_text(const object_state_ptr& state);
[[nodiscard]] TROUPE_EXPORT std::expected<object_state_ptr, caf::error> found_by_text(const std::string& text);
/// For people.
[[nodiscard]] TROUPE_EXPORT std::string shown(const object_state_ptr& state);

} // namespace internal

/// For CAF. Serializing and deserializing are out of band (out_of_band.hpp): refused with the error
/// `out_of_band_handle` where nobody has allowed it. Links do not use it.
template <class Inspector, class T>
typename Inspector::result_type inspect(Inspector& inspector, object_ref<T>& ref) {
  if constexpr (!std::is_same_v<typename Inspector::result_type, caf::error>) { // Prints, or compares.
    auto text = internal::shown(ref.state());
    return inspector(text);
  } else if constexpr (Inspector::reads_state) {
    auto text = internal::out_of_band_text(ref.state());
    return text ? inspector(*text) : std::move(text).error();
  } else {
    std::string text;
    if (auto failed = inspector(text))
      return failed;
    auto state = internal::found_by_text(text);
    if (!state)
      return std::move(state).error();
    ref = object_ref<T>{*std::move(state)};
    return {};
  }
}

} // namespace troupe
