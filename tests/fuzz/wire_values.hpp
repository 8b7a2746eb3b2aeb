// Values of the types that only links carry: handles of actors and objects, CAF's errors and atoms, messages of tasks
// and spawning.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace fuzz {

/// The aliases of these types. An input names them by position: append only.
[[nodiscard]] const std::vector<std::string>& wire_value_types();

/// Decodes what a message's element could hold: the first byte selects family and type, the rest is the body. Asserts
/// the same as decode(), and that objects can be read or are refused, whatever their layout is.
void wire_value(std::span<const std::byte> input);

/// Inputs for wire_value(), made from real values, each with a name.
[[nodiscard]] std::vector<std::pair<std::string, std::vector<std::byte>>> wire_value_seeds();

} // namespace fuzz
