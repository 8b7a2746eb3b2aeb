// What every fuzz target asserts of a payload that may have come from anywhere.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "types.hpp"

namespace fuzz {

/// Ends the process, with the reason, when `holds` is false: that is how a fuzzer learns that an input is bad.
void expect(bool holds, std::string_view what, std::string_view details = {});

/// Small enough that every input is through within a millisecond or so, and that a budget overrun shows.
troupe::limits bounds();

/// Counts the bytes that are allocated while it lives. One at a time.
class allocations {
public:
  allocations();
  ~allocations();
  /// Gives their sum.
  [[nodiscard]] std::size_t stop();
};

/// Decodes, by these families. Asserts that this takes no more memory than bounds() grant, and that what came of it
/// travels again, by the same family and the others, and arrives as the same; then the same of payloads within it.
/// `check` asserts more of a value that was accepted.
void decode(const troupe::payload& received, const std::vector<std::string>& deserializers,
            const std::function<void(troupe::any_value&)>& check = nullptr, std::size_t depth = 0);

/// With types() and families().
std::expected<troupe::payload, troupe::serialize_error> serialize_as(const troupe::type_entry& entry, const void* value,
                                                                     const troupe::serialize_options& options);

/// The value as bytes: equal values have equal bytes.
std::string bytes_of(const troupe::type_entry& entry, void* value);

/// The header's bytes, and all frames' with their lengths.
std::string bytes_of(const troupe::payload& of);

const troupe::family_set& families();

/// The type that an input is for, of those that every target decodes; see chosen().
const troupe::type_entry& type_of_input(std::size_t number);
/// The number of a type for inputs.
std::size_t number_of(const troupe::type_entry& entry);

} // namespace fuzz
