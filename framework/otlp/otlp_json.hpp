// Spans as OTLP's JSON, and what collectors answer.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <troupe/framework/span.hpp>

namespace troupe::otlp {

/// What the spans have in common.
struct resource {
  std::string service;  // service.name
  std::string instance; // service.instance.id
};

/// The body of a request: ids as lower-case hex, 64-bit integers as strings, enumerations as numbers. Texts from peers
/// that are no valid UTF-8 have replacement characters.
[[nodiscard]] std::string request_body(const resource& from, std::span<const troupe::span> spans);

/// What a successful answer says.
struct partial_success {
  std::uint64_t rejected = 0;
  std::string message;
};
/// An answer that is not OTLP's JSON counts as success.
[[nodiscard]] partial_success read_answer(std::string_view body);

} // namespace troupe::otlp
