// Assertions of all fuzz targets about payloads of unknown origin.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "types.hpp"

namespace fuzz {

/// If `holds` is false, prints the reason and ends the process: a fuzzer takes this as a bad input.
void expect(bool holds, std::string_view what, std::string_view details = {});

/// Limits so small that an input takes about a millisecond, and that exceeding a budget shows.
troupe::limits bounds();

/// Counts the bytes allocated during its lifetime. Requires: no other instance exists.
class allocations {
public:
  allocations();
  ~allocations();
  /// Stops counting, and returns the sum.
  [[nodiscard]] std::size_t stop();
};

/// Decodes the payload, accepting these families. Asserts that this takes no more memory than bounds() grant, and that
/// the decoded value, sent again with its own and every other family, arrives unchanged. Repeats this for the payloads
/// within it. `check` asserts more of an accepted value.
void decode(const troupe::payload& received, const std::vector<std::string>& deserializers,
            const std::function<void(troupe::any_value&)>& check = nullptr, std::size_t depth = 0);

/// Encodes with types() and families().
std::expected<troupe::payload, troupe::serialize_error> serialize_as(const troupe::type_entry& entry, const void* value,
                                                                     const troupe::serialize_options& options);

/// The value as bytes. Equal values have equal bytes.
std::string bytes_of(const troupe::type_entry& entry, void* value);

/// The bytes of the header and of all frames, each frame with its length.
std::string bytes_of(const troupe::payload& of);

const troupe::family_set& families();

/// The type that an input's number selects, of the types that every target decodes; see chosen().
const troupe::type_entry& type_of_input(std::size_t number);
/// The number that selects the type in an input.
std::size_t number_of(const troupe::type_entry& entry);

} // namespace fuzz
