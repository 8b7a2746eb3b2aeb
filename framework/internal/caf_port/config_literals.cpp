#include <troupe/framework/internal/caf_port/config_literals.hpp>

#include <caf/config_value.hpp>
#include <caf/expected.hpp>

namespace troupe::internal {

namespace {

template <class T>
std::optional<T> read(std::string_view source) {
  auto value = caf::config_value::parse(caf::string_view{source.data(), source.size()});
  if (!value)
    return std::nullopt;
  if (const auto* found = caf::get_if<T>(&*value))
    return *found;
  return std::nullopt;
}

} // namespace

std::optional<std::string> read_text_literal(std::string_view source) {
  if (!source.starts_with('"')) // CAF takes everything else that it cannot read for a text.
    return std::nullopt;
  return read<std::string>(source);
}

std::optional<std::int64_t> read_integer_literal(std::string_view source) {
  return read<std::int64_t>(source);
}

std::optional<double> read_number_literal(std::string_view source) {
  if (auto whole = read_integer_literal(source))
    return static_cast<double>(*whole);
  return read<double>(source);
}

} // namespace troupe::internal
