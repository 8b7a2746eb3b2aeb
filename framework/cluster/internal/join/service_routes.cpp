#include <troupe/framework/cluster/internal/join/service_routes.hpp>

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>
#include <vector>

#include <caf/actor_cast.hpp>
#include <caf/actor_control_block.hpp>

namespace troupe::membership {

pool_options pool_of(const service_options& options, bool is_counted) {
  using namespace std::chrono_literals;
  const auto counts =
      is_counted || options.answer_within || options.retry_idempotent || options.pick.how() == spread::least_loaded;
  return {.waiting_most = options.waiting_most,
          .patience = std::max(options.patience, 0ms),
          .answer_within = std::max(options.answer_within.value_or(10min), 10ms),
          .retry_idempotent = options.retry_idempotent,
          .repeats_most = options.repeats_most,
          .forward_requests = !counts};
}

bool service_routes::leader::is_in_use() const {
  const auto itself = caf::actor_cast<caf::strong_actor_ptr>(pool.handle());
  const auto counts = pool.stats();
  return itself->strong_refs > 2 || counts.waiting > 0 || counts.unanswered > 0; // The pool's and this one.
}

void service_routes::drop_unwanted() {
  std::erase_if(all_, [](const leader& one) { return !one.is_in_use(); });
}

void service_routes::add(sought what, const service_options& options, handle_makers make, const actor_pool& pool,
                         const cluster_view& view) {
  drop_unwanted();
  const auto asks_load = of_.is_on_demand && options.pick.how() == spread::least_loaded;
  const auto may_be_subset = of_.is_on_demand && options.pick.how() != spread::by_key;
  all_.push_back({.route = {of_.system,
                            {.name = what.published_name(),
                             .prefers_near = options.pick.prefers_near(),
                             .is_on_demand = of_.is_on_demand,
                             .members_most = may_be_subset ? options.members_most : 0,
                             .self = of_.self,
                             .make = std::move(make.handle),
                             .make_teller = asks_load ? std::move(make.teller) : nullptr},
                            pool},
                  .what = std::move(what),
                  .pool = pool});
  lead(all_.back(), view);
}

void service_routes::lead(leader& of, const cluster_view& view) const {
  auto own = of_.own(of.what);
  if (of.what.what == sought::kind::singleton) {
    const auto owner = view.owner(of.what.name);
    return of.route.lead_to(owner ? std::vector{*owner} : std::vector<cluster_member>{}, own);
  }
  // A read-only directory has no names: every member may have published it.
  const auto providers = of_.is_on_demand ? view.providers(of.route.name()) : view.members();
  const auto is_other = [this](const auto& one) { return one.name != of_.self.member; };
  if (of_.is_draining() && std::ranges::any_of(providers, is_other))
    own.reset(); // Others do its work.
  of.route.lead_to(providers, own);
}

void service_routes::lead_to_name(std::string_view name, const cluster_view& view) {
  drop_unwanted();
  for (auto& one : all_)
    if (one.route.name() == name)
      lead(one, view);
}

void service_routes::take(const cluster_view::events& events, const cluster_view& view) {
  std::set<std::string> names;
  std::set<std::string> singletons;
  auto all = false;
  for (const auto& event : events) {
    using enum cluster_event::kind;
    if (event.what == name_added || event.what == name_gone)
      names.insert(event.name);
    else if (event.what == singleton_moved)
      singletons.insert(event.name);
    else if (event.what == member_changed || !of_.is_on_demand)
      all = true;
  }
  drop_unwanted();
  for (auto& one : all_)
    if (all
        || (one.what.what == sought::kind::singleton ? singletons.contains(one.what.name)
                                                     : names.contains(one.route.name())))
      lead(one, view);
}

} // namespace troupe::membership
