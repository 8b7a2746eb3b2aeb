#include <troupe/framework/pool.hpp>

#include <troupe/framework/internal/supervision/pool_actor.hpp>

namespace troupe {

pool_stats pool::stats() const {
  const auto* const actor = internal::as_pool(handle_);
  return actor != nullptr ? actor->stats() : pool_stats{};
}

std::expected<actor_pool, node_error> actor_pool::open(caf::actor_system& system, pool_options options) {
  auto good = internal::checked(std::move(options));
  if (!good)
    return std::unexpected{std::move(good).error()};
  return actor_pool{internal::make_actor_pool(system, *std::move(good))};
}

void actor_pool::assign(std::vector<pool_member> members) const {
  internal::as_pool(handle_)->assign(std::move(members));
}

void actor_pool::note_load(const std::string& name, std::optional<std::uint64_t> requests) const {
  if (auto* const pool = internal::as_pool(handle_))
    pool->note_load(name, requests);
}

pool_stats actor_pool::stats() const {
  return internal::as_pool(handle_)->stats();
}

} // namespace troupe
