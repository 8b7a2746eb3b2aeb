#include <troupe/framework/cluster/cluster.hpp>

#include <algorithm>
#include <string>
#include <thread>

#include <troupe/base/sizes.hpp>
#include <troupe/base/version.hpp>
#include <troupe/framework/cluster/internal/join/cluster_core.hpp>
#include <troupe/framework/cluster/internal/join/load_watch.hpp>
#include <troupe/framework/cluster/internal/membership/addresses.hpp>
#include <troupe/framework/cluster/internal/membership/contract_hash.hpp>
#include <troupe/framework/cluster/internal/membership/entry_keys.hpp>
#include <troupe/framework/cluster/internal/membership/member_record.hpp>
#include <troupe/framework/cluster/internal/membership/retry_pause.hpp>
#include <troupe/framework/node_report.hpp>

namespace troupe {

namespace {

constexpr std::size_t member_name_bytes_max = 200;
constexpr std::size_t roles_max = 64;
constexpr std::size_t role_bytes_max = 1'024;
// A message that reaches a handle just when its member is lost fails, or goes to another member, after this time. A
// member that is not found within this time after it was needed counts as unreachable.
constexpr std::chrono::milliseconds handle_patience{500};
// A handle may begin to rest, or be lost, just before a burst comes to it, which its pool would have kept otherwise.
constexpr std::size_t handle_queue{64_MiB};
constexpr std::chrono::milliseconds lease_min{1'000};
constexpr std::chrono::milliseconds lease_max{std::chrono::hours{1}};

std::unexpected<directory_error> unusable(std::string text) {
  return std::unexpected{directory_error{directory_errc::invalid_argument, std::move(text)}};
}

/// The error of a join that has waited for as long as it may.
directory_error waited_in_vain(const directory_error& why, std::chrono::milliseconds join_timeout) {
  const auto may_have_waited = why.code() == directory_errc::unavailable || why.code() == directory_errc::busy
                               || why.code() == directory_errc::name_taken;
  if (!may_have_waited)
    return why;
  return {why.code(), "not joined within " + grouped(static_cast<std::uint64_t>(std::max(join_timeout.count(), 0L)))
                          + " ms (cluster_options::join_timeout): " + why.message()};
}

/// A program may start before its directory.
template <class Call>
auto repeated_until(std::chrono::steady_clock::time_point until, Call call) {
  membership::retry_pause pause;
  for (;;) {
    auto result = call();
    const auto may_help =
        !result
        && (result.error().code() == directory_errc::unavailable || result.error().code() == directory_errc::busy);
    const auto next = std::chrono::steady_clock::now() + pause.next();
    if (!may_help || next >= until)
      return result;
    std::this_thread::sleep_until(next);
  }
}

} // namespace

cluster::cluster(std::shared_ptr<membership::cluster_core> core) : core_(std::move(core)) {}
cluster::cluster(cluster&&) noexcept = default;
cluster& cluster::operator=(cluster&&) noexcept = default;
cluster::~cluster() = default;

std::expected<cluster, directory_error> cluster::join(node& with, cluster_options options) {
  const auto until =
      std::chrono::steady_clock::now() + std::min<std::chrono::milliseconds>(options.join_timeout, lease_max);
  if (options.lease < lease_min || options.lease > lease_max)
    return unusable("cluster_options::lease is " + std::to_string(options.lease.count()) + " ms; it is 1 s to 1 h");
  auto name = options.name.empty() ? with.name() : options.name;
  if (name.empty() || name.size() > member_name_bytes_max)
    return unusable("a member's name has 1 to 200 bytes, this one " + grouped(name.size())
                    + ": set cluster_options::name or node_options::name");
  if (options.roles.size() > roles_max
      || std::ranges::any_of(options.roles, [](const auto& one) { return one.size() > role_bytes_max; }))
    return unusable("a member has at most 64 roles of at most 1,024 bytes each");
  auto where = options.opened;
  if (!where) {
    // Two tries within a third of the lease, so that one lost request does not cost the lease.
    options.access.timeout = std::min(options.access.timeout, options.lease / 6);
    auto opened = repeated_until(until, [&] { return open_directory(options.directory, options.access); });
    if (!opened)
      return std::unexpected{waited_in_vain(opened.error(), options.join_timeout)};
    where = *std::move(opened);
  }
  // Also lets an etcd that is wiped later be recognized.
  if (const auto identity = repeated_until(until, [&] { return where->identity(); }); !identity)
    return std::unexpected{waited_in_vain(identity.error(), options.join_timeout)};
  cluster_member self{.name = std::move(name),
                      .incarnation = with.identity(),
                      .addresses = {},
                      .roles = options.roles,
                      .host = membership::this_host(),
                      .version = "Troupe " + std::string{TROUPE_VERSION},
                      .features = {membership::load_feature},
                      .contract = membership::contract_hash(with.report({.links = false, .types = true}).contract)};
  if (where->is_writable()) {
    auto addresses = membership::advertised_addresses(options.advertise, with.addresses());
    if (!addresses)
      return unusable(std::move(addresses).error());
    self.addresses = *std::move(addresses);
    if (const auto bytes = membership::member_record(self).size(); bytes > directory::value_bytes_max)
      return unusable("this member's roles and addresses take " + grouped(bytes) + " bytes; an entry has at most "
                      + grouped(directory::value_bytes_max) + ": use fewer or shorter ones");
  }
  const auto join_timeout = options.join_timeout;
  auto core = std::make_shared<membership::cluster_core>(
      membership::cluster_core::parts{.home = with,
                                      .system = with.system(),
                                      .where = std::make_shared<membership::counted_directory>(std::move(where)),
                                      .self = std::move(self),
                                      .options = std::move(options)});
  if (const auto joined = core->wait_until_joined(until); !joined)
    return std::unexpected{waited_in_vain(joined.error(), join_timeout)};
  return cluster{std::move(core)};
}

std::expected<void, directory_error> cluster::publish_untyped(std::string name, caf::actor actor) {
  return core_->publish(name, actor);
}

bool cluster::unpublish(std::string_view name) {
  return core_->unpublish(name);
}

cluster::member_dialer cluster::dialing(handle_maker make) const {
  // The core outlives its routes.
  return [core = core_.get(), make = std::move(make)](
             const cluster_member& of, const std::string& name,
             std::function<void(lasting_event::kind)> tell) -> std::expected<caf::actor, node_error> {
    const auto& parts = core->of();
    const auto address = membership::best_address(of, parts.self.host);
    if (!address) {
      node_error why{node_errc::bad_address, "it has no address that leads from here to it"};
      core->note_problem("member " + of.name, why.message());
      return std::unexpected{std::move(why)};
    }
    auto link = parts.options.link;
    if (!of.incarnation.empty())
      link.peer_identity = of.incarnation;
    else if (parts.where->is_writable()) { // Otherwise any node would do.
      node_error why{node_errc::bad_address, "its entry does not say which node it is"};
      core->note_problem("member " + of.name, why.message());
      return std::unexpected{std::move(why)};
    }
    auto made =
        make(parts.home, {*address}, name,
             {.patience = handle_patience,
              .queue = handle_queue,
              .idle_close = core->is_on_demand() ? std::optional{core->idle_close()} : std::nullopt,
              .link = std::move(link),
              .events = {.callback = [tell = std::move(tell)](const lasting_event& event) { tell(event.what); }}});
    core->note_problem("member " + of.name, made ? std::string{} : made.error().message());
    if (made)
      core->handles().add(of.name, name, *made);
    return made;
  };
}

actor_pool cluster::service_of(std::string name, service_options options, handle_maker make,
                               std::set<std::string> interface) {
  return core_->add_route({.name = std::move(name), .interface = std::move(interface)}, options,
                          {dialing(std::move(make)), dialing(maker_of<caf::actor>())});
}

actor_pool cluster::singleton_of(std::string name, service_options options, handle_maker make,
                                 std::set<std::string> interface) {
  return core_->add_route(
      {.what = membership::sought::kind::singleton, .name = std::move(name), .interface = std::move(interface)},
      options, {dialing(std::move(make)), dialing(maker_of<caf::actor>())});
}

std::expected<void, directory_error> cluster::own(std::string name, std::function<caf::actor(const ownership&)> make) {
  return core_->own(std::move(name), std::move(make));
}

std::expected<void, directory_error>
cluster::host(const std::string& kind, std::function<caf::actor(const entity_context&)> make, entity_options options) {
  if (auto room = core_->room_for_kind(); !room)
    return room;
  if (auto* const office = core_->entities())
    return office->host(kind, std::move(make), std::move(options), dialing(maker_of<caf::actor>()));
  return read_only_failure("entities");
}

std::expected<std::shared_ptr<membership::entity_routes>, directory_error> cluster::routes_of(std::string kind,
                                                                                              service_options options) {
  if (auto* const office = core_->entities())
    return office->routes(kind, core_->pool_of({.what = membership::sought::kind::entities, .name = kind}, options),
                          dialing(maker_of<caf::actor>()));
  return read_only_failure("entities");
}

std::vector<std::pair<std::string, std::size_t>> cluster::hosted_entities() const {
  const auto* const office = core_->entities();
  return office == nullptr ? std::vector<std::pair<std::string, std::size_t>>{} : office->hosted();
}

std::unexpected<directory_error> cluster::read_only_failure(std::string_view for_what) const {
  return std::unexpected{directory_error{
      directory_errc::read_only, "the directory at " + core_->of().where->shown_address()
                                     + " finds members only: use etcd:// or host:// for " + std::string{for_what}}};
}

caf::actor_system& cluster::system() const {
  return core_->of().system;
}

std::vector<std::pair<std::string, std::string>> cluster::singletons() const {
  return core_->follower().with_view([](const auto& view) { return view.singletons(); });
}

void cluster::watch(const caf::actor& receiver) {
  core_->watch(receiver);
}

std::vector<cluster_member> cluster::members() const {
  return core_->follower().with_view([](const auto& view) { return view.members(); });
}

std::vector<std::pair<std::string, std::string>> cluster::names() const {
  auto all = core_->follower().with_view([](const auto& view) { return view.names(); });
  std::erase_if(all, [](const auto& one) { return one.first.starts_with(membership::region_names); }); // Kinds.
  return all;
}

std::vector<std::string> cluster::problems() const {
  return core_->problems();
}

std::expected<void, directory_error> cluster::drain() {
  if (!core_->of().where->is_writable())
    return read_only_failure("drains, and unpublish names until then");
  core_->drain_for(membership::drain_reason::call, true);
  return {};
}

void cluster::cancel_drain() {
  core_->drain_for(membership::drain_reason::call, false);
}

bool cluster::is_draining() const {
  return core_->is_draining();
}

cluster_stats cluster::stats() const {
  return core_->stats();
}

std::function<std::optional<cluster_stats>()> cluster::stats_reader() const {
  return [reference = core_->reference()] {
    std::optional<cluster_stats> stats;
    reference->with([&](const membership::cluster_core& core) { stats = core.stats(); });
    return stats;
  };
}

const cluster_member& cluster::self() const noexcept {
  return core_->of().self;
}

} // namespace troupe
