#include "bench/load/load_options.hpp"

#include "bench/families.hpp"

#include <algorithm>

namespace troupe::tools {

link_options link_options_of(const load_access& access, std::vector<std::string> families) {
  // The actors' own messages need "typed". The other end prefers any other family that both have, which is the asked
  // one.
  std::erase(families, "typed");
  families.emplace_back("typed");
  link_options made;
  made.trusted_families = std::ranges::any_of(families, trusts_input);
  made.serializers = std::move(families);
  made.share_store = false; // As between hosts: the payloads travel through the socket.
  made.compression = compression_of(access.compression);
  made.credentials = access.known_by;
  made.connect_timeout = access.timeout;
  return made;
}

} // namespace troupe::tools
