// Results of functions that fail.
#pragma once

#include <troupe/framework/node_errc.hpp>

#include <expected>
#include <string>
#include <utility>

namespace troupe::internal {

[[nodiscard]] inline std::unexpected<node_error> fail(node_errc code, std::string text) {
  return std::unexpected{node_error{code, std::move(text)}};
}

/// For errors in the program or its configuration.
[[nodiscard]] inline std::unexpected<node_error> bad_option(std::string text) {
  return fail(node_errc::bad_option, std::move(text));
}

/// For a peer that breaks the protocol: the link ends.
[[nodiscard]] inline std::unexpected<node_error> violation(std::string text) {
  return fail(node_errc::protocol_violation, std::move(text));
}

} // namespace troupe::internal
