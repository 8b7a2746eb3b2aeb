// For programs that cannot continue after a failure.
#pragma once

#include <expected>
#include <stdexcept>
#include <type_traits>
#include <utility>

namespace troupe {

/// Returns the value of `result`. If there is none, throws `std::runtime_error` with the text of the error.
template <class Value, class Error>
Value value_or_throw(std::expected<Value, Error> result) {
  if (!result)
    throw std::runtime_error(result.error().message());
  if constexpr (!std::is_void_v<Value>)
    return *std::move(result);
}

} // namespace troupe
