#include <troupe/framework/cluster/internal/entities/entity_office.hpp>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include <troupe/base/sizes.hpp>
#include <troupe/framework/cluster/internal/entities/shard_map.hpp>
#include <troupe/framework/cluster/internal/membership/entry_keys.hpp>
#include <troupe/framework/cluster/internal/membership/member_record.hpp>

namespace troupe::membership {

namespace {

using namespace std::chrono_literals;

constexpr auto quiet_time = 250ms;
constexpr std::chrono::milliseconds longest_time{std::chrono::hours{24 * 365}};

/// What is passed on was bounded by its senders, in number and time.
pool_options unbounded() {
  return {.waiting_most = std::numeric_limits<std::size_t>::max(),
          .patience = std::chrono::hours{1},
          .answer_within = std::chrono::hours{24}};
}

std::unexpected<directory_error> unusable_kind(std::string text) {
  return std::unexpected{directory_error{directory_errc::invalid_argument, std::move(text)}};
}

} // namespace

void entity_office::outlet::tell(const std::string& about, std::string text) {
  const std::lock_guard guard{mutex};
  if (problem)
    problem(about, std::move(text));
}

entity_office::entity_office(parts of) : of_(std::move(of)) {
  outlet_->problem = of_.problem;
}

void entity_office::close(std::chrono::steady_clock::time_point until) {
  decltype(hosts_) hosts;
  std::vector<std::unique_ptr<shard_runner>> runners;
  {
    const std::lock_guard guard{mutex_};
    hosts = hosts_;
    for (const auto& [kind, one] : hosts)
      if (one->runner)
        runners.push_back(std::move(one->runner));
  }
  for (const auto& [kind, one] : hosts)
    of_.announce(region_name(kind), false); // Others place the shards among themselves now.
  for (const auto& one : runners)
    one->withdraw(true);
  for (const auto& one : runners)
    one->end(until);
  runners.clear();
  outlet_->making.end(); // While the lease lasts, so that no successor is made before a state is saved.
  outlet_->saving.end();
  for (const auto& [kind, one] : hosts)
    one->region->close();
  pass_late_messages(hosts, until);
  for (const auto& [kind, one] : hosts)
    of_.unpublish(region_name(kind));
  decltype(routes_) routes;
  decltype(passing_) passing;
  {
    const std::lock_guard guard{mutex_};
    hosts_.clear();
    routes.swap(routes_);
    passing.swap(passing_);
  }
  for (const auto& [which, one] : routes)
    one->stop();
  for (const auto& one : passing)
    one->stop();
  const std::lock_guard guard{outlet_->mutex};
  outlet_->problem = nullptr;
}

/// The others learn only a moment later that this member has no shards any more. Until then their messages come here.
void entity_office::pass_late_messages(const std::map<std::string, std::shared_ptr<host_of_kind>>& of,
                                       std::chrono::steady_clock::time_point until) const {
  if (of.empty())
    return;
  const auto is_under_way = [&] {
    return std::ranges::any_of(of, [](const auto& row) { return row.second->passing->under_way() > 0; });
  };
  late_->wait(quiet_time, is_under_way, std::max(until, std::chrono::steady_clock::now() + quiet_time));
}

std::expected<void, directory_error> entity_office::host(const std::string& kind,
                                                         std::function<caf::actor(const entity_context&)> make,
                                                         entity_options options, dialer dial) {
  if (kind.empty() || region_name(kind).size() > 200)
    return unusable_kind("a kind of entities has a name of 1 to 180 bytes; this one has " + grouped(kind.size()));
  if (options.shards < 1 || options.shards > shards_max)
    return unusable_kind("entity_options::shards is " + grouped(options.shards) + "; it is 1 to 4,096");
  if (options.idle_after < 0ms || options.end_within < 0ms)
    return unusable_kind("entity_options::idle_after or end_within is negative");
  if (options.waiting_most == 0 || options.entities_most == 0)
    return unusable_kind("entity_options::waiting_most or entities_most is 0; it is at least 1");
  options.idle_after = std::min(options.idle_after, longest_time);
  options.end_within = std::min(options.end_within, longest_time);
  if (!options.role.empty() && std::ranges::find(of_.roles, options.role) == of_.roles.end())
    return {};
  {
    const std::lock_guard guard{mutex_};
    if (hosts_.contains(kind))
      return unusable_kind("this process hosts the kind of entities " + kind + " already");
  }
  if (auto settled = settle_shards(kind, options.shards); !settled)
    return settled;
  auto host = std::make_shared<host_of_kind>();
  host->passing = add_routes(kind, unbounded(), std::move(dial), [weak = std::weak_ptr{host}](std::uint32_t shard) {
    if (const auto still = weak.lock(); still && still->region)
      still->region->note_drained(shard);
  });
  // The ways lead back to the region, so they must not be kept by it.
  const auto pass_on = [weak = std::weak_ptr{host->passing}](const entity_address& where, relayed_message what) {
    what.set_content(without_address(what.content()));
    if (const auto to = weak.lock())
      to->pass_on(where, std::move(what));
  };
  host->region = std::make_unique<entity_region>(
      of_.system, kind, options.shards, pass_on,
      [weak = std::weak_ptr{host->passing}](std::uint32_t shard) {
        if (const auto to = weak.lock())
          to->ask_drained(shard);
      },
      late_);
  {
    const std::lock_guard guard{mutex_};
    if (!hosts_.emplace(kind, host).second)
      return unusable_kind("this process hosts the kind of entities " + kind + " already");
  }
  const auto shards = options.shards;
  auto runner = std::make_unique<shard_runner>(shard_runner::parts{
      .where = of_.where,
      .self = of_.self,
      .kind = kind,
      .shards = shards,
      .lease = of_.lease,
      .margin = of_.margin,
      .look =
          [this, kind] {
            shard_runner::picture seen;
            of_.with_view([&](const cluster_view& view) {
              for (auto& one : view.providers(region_name(kind)))
                seen.hosts.push_back(std::move(one.name));
              seen.owners = view.shard_owners(kind);
              seen.pasts = view.shard_pasts(kind);
              seen.revision = view.revision();
            });
            return seen;
          },
      .entities = {.kind = kind,
                   .make = std::move(make),
                   .options = std::move(options),
                   .run_making = [to = outlet_](auto what) { to->making.run(std::move(what)); },
                   .run_saving = [to = outlet_](auto what) { to->saving.run(std::move(what)); },
                   .problem =
                       [to = outlet_, kind](const std::string& what, std::string text) {
                         to->tell("entities " + kind + ", " + what, std::move(text));
                       }},
      .region = host->region.get(),
      .pass_on = pass_on,
      .leads_here = [to = host->passing](std::uint32_t shard) { return to->leads_here(shard); },
      .on_change = [this, kind] { of_.between_batches([&](const auto& view) { lead(kind, view); }); },
      .problem = [this, kind](std::string text) { of_.problem("entities " + kind, std::move(text)); }});
  auto is_announced = true;
  {
    const std::lock_guard guard{mutex_};
    is_announced = !is_withdrawn_;
    if (is_withdrawn_)
      runner->withdraw(true);
    host->runner = std::move(runner);
  }
  of_.between_batches([&](const auto& view) { lead(kind, view); });
  if (const auto published = of_.publish(region_name(kind), host->region->handle()); !published)
    return unusable_kind(published.error().message());
  if (is_announced)
    of_.announce(region_name(kind), true);
  return {};
}

/// The first host of the kind says the number of its shards, for ever.
std::expected<void, directory_error> entity_office::settle_shards(const std::string& kind, std::size_t shards) {
  const directory_condition is_new{.key = kind_key(kind)};
  const directory_write says{.key = is_new.key, .value = kind_record(shards)};
  const auto said = of_.where->commit({&is_new, 1}, {&says, 1});
  if (!said)
    return std::unexpected{said.error()};
  if (said->is_applied || said->found.empty())
    return {};
  const auto known = read_kind_record(said->found.front().value);
  if (!known)
    return unusable_kind("the entry " + is_new.key + " cannot be read: " + known.error());
  if (*known != shards)
    return unusable_kind("the kind of entities " + kind + " has " + grouped(*known)
                         + " shards in this cluster, and "
                           "entity_options::shards is "
                         + grouped(shards)
                         + ": use the same number, or stop every host and "
                           "remove the entry "
                         + is_new.key);
  return {};
}

std::shared_ptr<entity_routes> entity_office::routes(std::string kind, pool_options pool, dialer dial) {
  const std::pair which{kind, route_options{pool.waiting_most, pool.patience, pool.answer_within, pool.retry_idempotent,
                                            pool.repeats_most}};
  const std::lock_guard one_at_a_time{adding_};
  {
    const std::lock_guard guard{mutex_};
    if (const auto known = routes_.find(which); known != routes_.end())
      return known->second;
  }
  return add_routes(std::move(kind), std::move(pool), std::move(dial), {});
}

/// Routes live as long as the office, because messages may wait in them although nobody has a handle any more.
std::shared_ptr<entity_routes> entity_office::add_routes(std::string kind, pool_options pool, dialer dial,
                                                         std::function<void(std::uint32_t)> on_drained) {
  const route_options which{pool.waiting_most, pool.patience, pool.answer_within, pool.retry_idempotent,
                            pool.repeats_most};
  auto made = entity_routes::make(
      {.system = of_.system,
       .kind = kind,
       .self = of_.self,
       .pool = std::move(pool),
       .dial = [dial = std::move(dial), name = region_name(kind)](
                   const cluster_member& to,
                   std::function<void(lasting_event::kind)> tell) { return dial(to, name, std::move(tell)); },
       .on_drained = on_drained});
  {
    const std::lock_guard guard{mutex_};
    if (on_drained)
      passing_.push_back(made);
    else
      routes_.emplace(std::pair{kind, which}, made);
  }
  of_.between_batches([&](const auto& view) { lead(kind, view); });
  return made;
}

void entity_office::lead(const std::string& kind, const cluster_view& view) {
  std::vector<std::shared_ptr<entity_routes>> led;
  caf::actor region;
  caf::actor early;
  std::shared_ptr<entity_routes> passing;
  std::vector<std::uint64_t> fences;
  {
    const std::lock_guard guard{mutex_};
    for (const auto& [which, one] : routes_)
      if (one->kind() == kind)
        led.push_back(one);
    for (const auto& one : passing_)
      if (one->kind() == kind)
        led.push_back(one);
    if (const auto host = hosts_.find(kind); host != hosts_.end() && host->second->runner) {
      region = host->second->region->handle();
      early = host->second->region->early_handle();
      passing = host->second->passing;
      fences = host->second->runner->fences();
    }
  }
  if (led.empty())
    return;
  auto owners = std::make_shared<shard_owners>();
  std::map<std::string, std::uint16_t> indices;
  for (auto& one : view.members())
    owners->present.insert(std::move(one.name));
  for (const auto& owner : view.shard_owners(kind)) {
    auto index = shard_owners::none;
    if (!owner.empty()) {
      const auto [at, is_new] = indices.try_emplace(owner, static_cast<std::uint16_t>(owners->members.size()));
      if (is_new)
        owners->members.push_back(*view.member(owner));
      index = at->second;
    }
    owners->owner.push_back(index);
  }
  for (const auto& past : view.shard_pasts(kind))
    owners->fence.push_back(past.last);
  for (const auto& one : led)
    one->lead_to(owners, one == passing ? early : region, fences);
}

void entity_office::take(const cluster_view::events& events, const cluster_view& view) {
  std::set<std::string> kinds;
  auto all = false;
  for (const auto& event : events) {
    if (event.what == cluster_event::kind::entities_moved)
      kinds.insert(event.name);
    else
      all |= event.what == cluster_event::kind::member_changed || event.what == cluster_event::kind::member_down
             || event.name.starts_with(region_names);
  }
  if (all || !kinds.empty())
    wake();
  if (all) {
    const std::lock_guard guard{mutex_};
    for (const auto& [which, one] : routes_)
      kinds.insert(one->kind());
    for (const auto& one : passing_)
      kinds.insert(one->kind());
  }
  for (const auto& kind : kinds)
    lead(kind, view);
}

void entity_office::wake() {
  const std::lock_guard guard{mutex_};
  for (const auto& [kind, one] : hosts_)
    if (one->runner)
      one->runner->wake();
}

void entity_office::withdraw(bool is_wanted) {
  std::vector<std::string> names;
  {
    const std::lock_guard guard{mutex_};
    is_withdrawn_ = is_wanted;
    for (const auto& [kind, one] : hosts_) {
      names.push_back(region_name(kind));
      if (one->runner)
        one->runner->withdraw(is_wanted);
    }
  }
  for (const auto& name : names)
    of_.announce(name, !is_wanted);
}

std::vector<std::pair<std::string, std::size_t>> entity_office::hosted() const {
  std::vector<std::pair<std::string, std::size_t>> all;
  const std::lock_guard guard{mutex_};
  for (const auto& [kind, one] : hosts_)
    if (one->runner)
      all.emplace_back(kind, one->runner->entities());
  return all;
}

} // namespace troupe::membership
