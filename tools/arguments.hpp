// Validators for option values. Each refusal names the allowed values.
#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace troupe::tools {

/// A finite number from `least` to `most`.
[[nodiscard]] CLI::Validator is_within(double least, double most);

/// A whole number from `least` to `most`, in decimal digits.
[[nodiscard]] CLI::Validator is_whole_within(std::uint64_t least, std::uint64_t most);

/// Any text except the empty one.
[[nodiscard]] CLI::Validator is_not_empty();

/// One of these words.
[[nodiscard]] CLI::Validator is_one_of(std::vector<std::string> words);

/// One of these names, which is replaced by its value. The number itself is refused; CLI::CheckedTransformer would
/// accept it.
template <class Value>
[[nodiscard]] CLI::Validator by_name(std::vector<std::pair<std::string, Value>> names) {
  static_assert(std::is_enum_v<Value>);
  std::vector<std::string> words;
  for (const auto& [name, value] : names)
    words.push_back(name);
  return CLI::Validator{[names = std::move(names), known = is_one_of(std::move(words))](std::string& given) {
                          auto refusal = known(given);
                          if (refusal.empty())
                            for (const auto& [name, value] : names)
                              if (name == given) {
                                given = std::to_string(static_cast<std::underlying_type_t<Value>>(value));
                                break;
                              }
                          return refusal;
                        },
                        {}};
}

} // namespace troupe::tools
