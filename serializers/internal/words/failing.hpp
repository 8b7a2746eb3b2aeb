// The error results of functions that fail.
#pragma once

#include <troupe/serializers/serialize_error.hpp>

#include <expected>
#include <string>
#include <string_view>
#include <utility>

namespace troupe::detail {

[[nodiscard]] inline std::unexpected<serialize_error> failure(serialize_errc code, std::string text) {
  return std::unexpected(serialize_error(code, std::move(text)));
}

/// The failure of a family with a type.
[[nodiscard]] inline std::unexpected<serialize_error> failure(serialize_errc code, std::string_view family,
                                                              std::string_view alias, std::string_view reason) {
  return failure(code, std::string(family) + ": " + std::string(alias) + ": " + std::string(reason));
}

} // namespace troupe::detail
