// Encoded values for hand-written peers to send: each type that a home knows, by each family.
#pragma once

#include <string>
#include <vector>

#include <troupe/serializers/payload.hpp>

#include "home.hpp"

namespace fuzz {

struct sample {
  std::string alias;
  std::string family;
  troupe::frame header;
  std::vector<troupe::frame> frames; // The body first.
  std::size_t mentions = 0;          // Actors that its element has to mention.
};

/// The same ones in the same order for each home.
[[nodiscard]] std::vector<sample> make_samples(home& at);

} // namespace fuzz
