#include <troupe/framework/cluster/internal/entities/entity_office.hpp>

#include <algorithm>
#include <optional>
#include <thread>
#include <utility>

#include <troupe/base/sizes.hpp>
#include <troupe/framework/cluster/internal/entities/shard_map.hpp>
#include <troupe/framework/cluster/internal/membership/entry_keys.hpp>
#include <troupe/framework/cluster/internal/membership/member_record.hpp>

namespace troupe::membership {

namespace {

using namespace std::chrono_literals;

constexpr unsigned thread_count = 4;
// The longest wait for the answers to messages that are passed on to new owners when the member leaves.
constexpr std::chrono::milliseconds longest_passing{2'000};
constexpr auto passing_look = 5ms;

std::unexpected<directory_error> unusable_kind(std::string text) {
  return std::unexpected{directory_error{directory_errc::invalid_argument, std::move(text)}};
}

} // namespace

entity_office::entity_office(parts of) : of_(std::move(of)), threads_(thread_count) {}

void entity_office::close() {
  decltype(hosts_) hosts;
  std::vector<std::unique_ptr<shard_runner>> runners;
  std::vector<std::shared_ptr<entity_routes>> routes;
  {
    const std::lock_guard guard{mutex_};
    hosts = hosts_;
    for (const auto& one : routes_)
      if (auto known = one.lock())
        routes.push_back(std::move(known));
  }
  for (const auto& [kind, one] : hosts)
    of_.show(region_name(kind), nullptr); // Others place the shards among themselves now.
  {
    const std::lock_guard guard{mutex_};
    for (const auto& [kind, one] : hosts)
      if (one->runner)
        runners.push_back(std::move(one->runner));
  }
  for (const auto& one : runners)
    one->withdraw(true);
  runners.clear();
  const auto until = std::chrono::steady_clock::now() + std::min(of_.margin, longest_passing);
  for (const auto& [kind, one] : hosts) {
    one->region->close();
    while (one->elsewhere->under_way() > 0 && std::chrono::steady_clock::now() < until)
      std::this_thread::sleep_for(passing_look);
  }
  for (const auto& one : routes)
    one->stop();
  const std::lock_guard guard{mutex_};
  hosts_.clear();
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
  host->elsewhere = add_routes(kind, {}, std::move(dial), [weak = std::weak_ptr{host}](std::uint32_t shard) {
    if (const auto still = weak.lock(); still && still->region)
      still->region->is_drained(shard);
  });
  // The ways lead back to the region, so they must not be kept by it.
  const auto elsewhere = [weak = std::weak_ptr{host->elsewhere}](const entity_address& where, relayed_message what) {
    what.set_content(without_address(what.content()));
    if (const auto to = weak.lock())
      to->pass_on(where, std::move(what));
  };
  host->region = std::make_unique<entity_region>(of_.system, kind, options.shards, elsewhere,
                                                 [weak = std::weak_ptr{host->elsewhere}](std::uint32_t shard) {
                                                   if (const auto to = weak.lock())
                                                     to->drain(shard);
                                                 });
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
            });
            return seen;
          },
      .entities = {.kind = kind,
                   .make = std::move(make),
                   .options = std::move(options),
                   .run = [this](std::function<void()> what) { threads_.run(std::move(what)); },
                   .problem = [this,
                               kind](const std::string& key,
                                     std::string text) { of_.problem("entity " + kind + '/' + key, std::move(text)); }},
      .region = host->region.get(),
      .elsewhere = elsewhere,
      .on_change = [this, kind] { of_.between_batches([&](const auto& view) { lead(kind, view); }); },
      .problem = [this, kind](std::string text) { of_.problem("entities " + kind, std::move(text)); }});
  {
    const std::lock_guard guard{mutex_};
    if (is_withdrawn_)
      runner->withdraw(true);
    host->runner = std::move(runner);
  }
  of_.between_batches([&](const auto& view) { lead(kind, view); });
  of_.show(region_name(kind), host->region->handle());
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
  return add_routes(std::move(kind), std::move(pool), std::move(dial), {});
}

std::shared_ptr<entity_routes> entity_office::add_routes(std::string kind, pool_options pool, dialer dial,
                                                         std::function<void(std::uint32_t)> on_own) {
  auto made = entity_routes::make(
      {.system = of_.system,
       .kind = kind,
       .self = of_.self,
       .pool = std::move(pool),
       .dial = [dial = std::move(dial), name = region_name(kind)](
                   const cluster_member& to,
                   std::function<void(bool)> is_found) { return dial(to, name, std::move(is_found)); },
       .on_own = std::move(on_own)});
  {
    const std::lock_guard guard{mutex_};
    std::erase_if(routes_, [](const auto& one) { return one.expired(); });
    routes_.push_back(made);
  }
  of_.between_batches([&](const auto& view) { lead(kind, view); });
  return made;
}

void entity_office::lead(const std::string& kind, const cluster_view& view) {
  std::vector<std::shared_ptr<entity_routes>> led;
  caf::actor region;
  caf::actor early;
  std::shared_ptr<entity_routes> elsewhere;
  std::vector<bool> own;
  {
    const std::lock_guard guard{mutex_};
    for (const auto& one : routes_)
      if (auto known = one.lock(); known && known->kind() == kind)
        led.push_back(std::move(known));
    if (const auto host = hosts_.find(kind); host != hosts_.end() && host->second->runner) {
      region = host->second->region->handle();
      early = host->second->region->early_handle();
      elsewhere = host->second->elsewhere;
      own = host->second->runner->own();
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
  for (const auto& one : led)
    one->lead_to(owners, one == elsewhere ? early : region, own);
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
    for (const auto& one : routes_)
      if (const auto known = one.lock())
        kinds.insert(known->kind());
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
  std::map<std::string, caf::actor> shown;
  {
    const std::lock_guard guard{mutex_};
    is_withdrawn_ = is_wanted;
    for (const auto& [kind, one] : hosts_) {
      shown.emplace(region_name(kind), is_wanted ? caf::actor{} : one->region->handle());
      if (one->runner)
        one->runner->withdraw(is_wanted);
    }
  }
  for (const auto& [name, region] : shown)
    of_.show(name, region);
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
