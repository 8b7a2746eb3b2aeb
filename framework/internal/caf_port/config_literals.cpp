#include <troupe/framework/internal/caf_port/config_literals.hpp>

#include <type_traits>

#include <caf/config_value.hpp>
#include <caf/expected.hpp>

namespace troupe::internal {

template <class T>
std::optional<T> read_literal(std::string_view source) {
  if (std::is_same_v<T, std::string> && !source.starts_with('"')) // CAF takes all else that it cannot read for a text.
    return std::nullopt;
  auto value = caf::config_value::parse(caf::string_view{source.data(), source.size()});
  const auto* const found = value ? caf::get_if<T>(&*value) : nullptr;
  return found != nullptr ? std::optional{*found} : std::nullopt;
}

template std::optional<std::string> read_literal(std::string_view source);
template std::optional<std::int64_t> read_literal(std::string_view source);
template std::optional<double> read_literal(std::string_view source);

} // namespace troupe::internal
