// Encoded values that the peers of a fuzzer send: each type that a home knows, with each family.
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
  std::size_t mentions = 0;          // Number of actors that its element must mention.
};

/// Returns the same samples in the same order for each home.
[[nodiscard]] std::vector<sample> make_samples(home& at);

} // namespace fuzz
