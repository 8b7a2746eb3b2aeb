// How a service chooses the member that gets a message.
#pragma once

#include <cstddef>
#include <functional>
#include <utility>

#include <caf/message.hpp>

#include <troupe/framework/pool.hpp>

namespace troupe {

/// One of `nearest`, `round_robin`, `least_loaded` and `by_key(function)`.
class pick {
public:
  /// Without a key, spread::by_key is taken for spread::round_robin.
  pick(spread how, bool prefers_near)
      : how_(how == spread::by_key ? spread::round_robin : how), prefers_near_(prefers_near) {}
  explicit pick(std::function<std::size_t(const caf::message&)> key)
      : how_(key ? spread::by_key : spread::round_robin), key_(std::move(key)) {}

  [[nodiscard]] spread how() const noexcept { return how_; }
  [[nodiscard]] bool prefers_near() const noexcept { return prefers_near_; }
  [[nodiscard]] const std::function<std::size_t(const caf::message&)>& key() const noexcept { return key_; }

private:
  spread how_;
  bool prefers_near_ = false;
  std::function<std::size_t(const caf::message&)> key_;
};

/// This process if it has published the name; else the members on this host, in turns; else all of them, in turns.
inline const pick nearest{spread::round_robin, true};
/// All members that have published the name, in turns.
inline const pick round_robin{spread::round_robin, false};
/// The member with the fewest unanswered requests of this service.
inline const pick least_loaded{spread::least_loaded, false};
/// The same member for the same key, in all processes of the cluster, as long as it has published the name. The
/// key is computed on the sender's thread. If it throws, the request fails with `bad_option`. An empty function:
/// round_robin.
[[nodiscard]] inline pick by_key(std::function<std::size_t(const caf::message&)> key) {
  return pick{std::move(key)};
}

} // namespace troupe
