#include <troupe/framework/node_version.hpp>

#include <troupe/framework/internal/words/text.hpp>

namespace troupe {

std::string to_string(const node_version& version) {
  return (version.troupe.empty() ? "an unstated version of Troupe" : "Troupe " + internal::one_line(version.troupe))
         + ", protocol " + std::to_string(version.protocol) + '.' + std::to_string(version.protocol_minor);
}

} // namespace troupe
