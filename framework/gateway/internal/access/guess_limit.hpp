// Counts wrong tokens by the address from which they came.
#pragma once

#include <chrono>
#include <cstddef>
#include <list>
#include <string>
#include <unordered_map>

#include <troupe/framework/gateway/internal/access/rate_limit.hpp>

namespace troupe::web {

/// Tells which addresses have guessed too often. A right token is never refused because of the guesses of others, so
/// nobody can lock the tokens' owners out.
///
/// Threads: one at a time.
class guess_limit {
public:
  using clock = rate_limit::clock;

  /// Remembers at most that many addresses; the one that guessed longest ago is forgotten first.
  explicit guess_limit(std::size_t per_minute, std::size_t addresses_max = 4096)
      : per_minute_(static_cast<double>(per_minute)), addresses_max_(addresses_max) {}

  /// Notes a wrong token. Returns false if the address has used up its guesses.
  bool note(const std::string& address, clock::time_point now);
  [[nodiscard]] std::size_t addresses() const noexcept { return by_address_.size(); }

private:
  struct guesser {
    std::string address;
    rate_limit left;
  };

  const double per_minute_;
  const std::size_t addresses_max_;
  std::list<guesser> guessers_; // The latest first.
  std::unordered_map<std::string, std::list<guesser>::iterator> by_address_;
};

} // namespace troupe::web
