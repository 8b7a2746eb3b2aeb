// What functions return that fail.
#pragma once

#include <troupe/serializers/serialize_error.hpp>

#include <expected>
#include <string>
#include <utility>

namespace troupe::detail {

[[nodiscard]] inline std::unexpected<serialize_error> failure(serialize_errc code, std::string text) {
  return std::unexpected(serialize_error(code, std::move(text)));
}

} // namespace troupe::detail
