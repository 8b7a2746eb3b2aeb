#include <troupe/framework/pool.hpp>

#include <troupe/framework/internal/supervision/pool_actor.hpp>

namespace troupe {

pool_stats pool::stats() const {
  const auto* const actor = internal::as_pool(handle_);
  return actor != nullptr ? actor->stats() : pool_stats{};
}

} // namespace troupe
