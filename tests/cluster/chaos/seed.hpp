// The seed of a test that acts at random.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <random>

namespace troupe::tests {

/// Random numbers of a seed that is printed. TROUPE_SEED=<n> repeats them, but not how processes
/// interleave.
class seeded_choice {
public:
  seeded_choice() {
    const auto* given = std::getenv("TROUPE_SEED");
    const auto seed =
        given != nullptr ? static_cast<std::uint32_t>(std::strtoul(given, nullptr, 10)) : std::random_device{}();
    std::cout << "TROUPE_SEED=" << seed << std::endl;
    random_.seed(seed);
  }

  std::size_t any(std::size_t below) { return random_() % below; }
  template <class Range>
  const auto& any_of(const Range& all) {
    return all[any(all.size())];
  }

private:
  std::mt19937 random_;
};

} // namespace troupe::tests
