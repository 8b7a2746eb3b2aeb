// Values of the types that only links carry: handles of actors and objects, CAF's errors and atoms, what tasks and
// spawning say.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace fuzz {

/// Their aliases; an input names them by their place. Append only.
[[nodiscard]] const std::vector<std::string>& wire_value_types();

/// Decodes what a message's element could hold: the first byte chooses family and type, the rest is the body. Asserts
/// what decode() does, and that objects can be read, or refused, whatever their layout says.
void wire_value(std::span<const std::byte> input);

/// Inputs of that kind, made from real values; each with a name.
[[nodiscard]] std::vector<std::pair<std::string, std::vector<std::byte>>> wire_value_seeds();

} // namespace fuzz
