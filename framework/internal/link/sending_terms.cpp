#include <troupe/framework/internal/link/sending_terms.hpp>

#include <utility>

#include <troupe/framework/internal/words/text.hpp>

namespace troupe::internal {

std::string lists_text(std::string_view near, std::string_view far, const sending_terms& terms) {
  return std::string{near} + " sends with " + bracketed(terms.serializers) + ", " + std::string{far} + " accepts "
         + bracketed(terms.peer_accepts);
}

node_error failure_of_encoding(const serialize_error& error, std::string_view near, std::string_view far,
                               const sending_terms& terms) {
  if (error.code() != serialize_errc::not_supported)
    return {node_errc::unserializable, error.message()};
  return {node_errc::refused_family, error.message() + "; " + lists_text(near, far, terms)};
}

} // namespace troupe::internal
