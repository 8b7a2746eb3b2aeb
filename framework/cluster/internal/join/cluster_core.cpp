#include <troupe/framework/cluster/internal/join/cluster_core.hpp>

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>

#include <caf/actor_cast.hpp>
#include <caf/exit_reason.hpp>
#include <caf/send.hpp>

#include <troupe/base/sizes.hpp>
#include <troupe/framework/cluster/drain_order.hpp>
#include <troupe/framework/cluster/internal/join/load_watch.hpp>
#include <troupe/framework/cluster/internal/membership/addresses.hpp>
#include <troupe/framework/cluster/internal/membership/entry_keys.hpp>
#include <troupe/framework/cluster/internal/membership/member_record.hpp>
#include <troupe/framework/node_error.hpp>

namespace troupe::membership {

namespace {

// The longest wait for entities to end and for messages to be passed on when the cluster is left.
constexpr std::chrono::milliseconds longest_leaving{5'000};
constexpr std::chrono::milliseconds probe_timeout{2'000};

std::string about_own(std::string_view name) {
  return "this process's \"" + std::string{name} + '"';
}

} // namespace

cluster_core::cluster_core(parts of)
    : of_(std::move(of)),
      is_writable_(of_.where->is_writable()),
      names_({.home = of_.home,
              .self = of_.self.name,
              .announce = [this](const auto& name, bool is_there) { announce(name, is_there); },
              .most = is_writable_ ? view_bounds{}.names : std::numeric_limits<std::size_t>::max(),
              .elsewhere = [this] { return office_ ? office_->hosted().size() : 0; }}),
      reasons_({.system = of_.system,
                .self = of_.self.name,
                .where = *of_.where,
                .own = names_,
                .handles = handles_,
                .problems = problems_}),
      routes_({.system = of_.system,
               .self = {of_.self.name, of_.self.host},
               .is_on_demand = is_writable_,
               .own = [this](const sought& what) { return own_actor(what); },
               .is_draining = [this] { return is_draining(); }}) {
  // A program may have published another actor under this name; then that one answers otherwise.
  if (auto teller = spawn_load_teller(of_.system, of_.home.weak()); of_.home.publish(load_teller_name, teller))
    load_teller_ = std::move(teller);
  else
    caf::anon_send_exit(teller, caf::exit_reason::user_shutdown);
  if (is_writable_)
    registrar_ = std::make_unique<registrar>(
        of_.where,
        registrar::exclusive_entry{.key = member_key(of_.self.name),
                                   .value = member_record(of_.self),
                                   .is_left_over = [this](const auto& entry) { return is_left_over(entry); }},
        of_.options.lease / 10);
  drained_entries_.emplace(drainer_, [this](bool withdraws) { withdraw_entries(withdraws); });
  follower_ = std::make_unique<view_follower>(
      of_.where, [this](const auto& events, const auto& view) { take(events, view); }, of_.self.name);
  probe_ = std::make_unique<reach_probe>(
      reach_probe::parts{.members =
                             [this] {
                               auto all = follower_->with_view([](const auto& view) { return view.members(); });
                               std::erase_if(all, [this](const auto& one) { return one.name == of_.self.name; });
                               return all;
                             },
                         .dial = [this](const auto& member) { return dial(member); }});
  account_actor_ = spawn_account_actor(
      of_.system, [reference = std::weak_ptr{reference_}](const std::function<void(member_account)>& give) {
        if (const auto to = reference.lock())
          to->with([&](cluster_core& core) { core.give_account(give); });
      });
  // If the node is a member of two clusters, the first one answers.
  is_asked_for_account_ = of_.home.publish(std::string{account_name}, account_actor_).has_value();
  if (!registrar_)
    return;
  keeper_ = std::make_unique<lease_keeper>(
      of_.where, of_.options.lease, [this](const held_lease& now, const std::optional<directory_error>& trouble) {
        registrar_->use_lease(now.id);
        if (!leaves_)
          follower_->note_outage(trouble && trouble->code() != directory_errc::lease_gone ? trouble : std::nullopt);
        wake_runner();
      });
  runner_ = std::make_unique<singleton_runner>(singleton_runner::parts{
      .where = of_.where,
      .value = of_.self.name,
      .lease = keeper_->reader(),
      .margin = of_.options.lease / 4,
      .look =
          [this](const std::string& name) {
            return follower_->with_view([&](const cluster_view& view) {
              return singleton_runner::sighting{view.singleton_revision(name), view.revision()};
            });
          },
      .show = [this](const auto& name, const auto& actor) { show(name, actor); },
      .problem = [this](const auto& name, auto text) { note_problem("singleton " + name, std::move(text)); }});
  office_ = make_office();
  follower_->between_batches([this](const cluster_view&) { led_office_ = office_.get(); });
  {
    const std::lock_guard guard{mutex_};
    woken_ = runner_.get();
    woken_office_ = office_.get();
  }
  drained_runner_.emplace(drainer_, [this](bool withdraws) { runner_->stand_back(withdraws); });
  drained_office_.emplace(drainer_, [this](bool withdraws) { office_->withdraw(withdraws); });
}

std::unique_ptr<entity_office> cluster_core::make_office() {
  return std::make_unique<entity_office>(entity_office::parts{
      .system = of_.system,
      .where = of_.where,
      .self = of_.self.name,
      .roles = of_.self.roles,
      .lease = keeper_->reader(),
      .margin = of_.options.lease / 4,
      .between_batches = [this](const auto& call) { follower_->between_batches(call); },
      .with_view = [this](const auto& call) { follower_->with_view(call); },
      .publish = [this](const auto& name, const auto& region) { return of_.home.publish(name, region); },
      .unpublish = [this](const auto& name) { of_.home.unpublish(name); },
      .announce = [this](const auto& name, bool is_host) { announce(name, is_host); },
      .problem = [this](const auto& about, auto text) { note_problem(about, std::move(text)); }});
}

cluster_core::~cluster_core() {
  reference_->end();
  probe_.reset();
  if (is_asked_for_account_)
    of_.home.unpublish(account_name);
  caf::anon_send_exit(account_actor_, caf::exit_reason::kill);
  {
    const std::lock_guard guard{mutex_};
    woken_ = nullptr;
  }
  drained_runner_.reset();
  runner_.reset();
  if (office_) {
    drained_office_.reset();
    office_->close(std::chrono::steady_clock::now() + std::min(of_.options.lease / 4, longest_leaving));
    follower_->between_batches([this](const cluster_view&) { led_office_ = nullptr; });
    const std::lock_guard guard{mutex_};
    woken_office_ = nullptr;
  }
  leaves_ = true;
  follower_->between_batches([](const cluster_view&) {}); // What is told now comes back.
  if (load_teller_) {
    of_.home.unpublish(load_teller_name);
    caf::anon_send_exit(load_teller_, caf::exit_reason::user_shutdown);
  }
  const auto answers = keeper_ && !keeper_->trouble();
  keeper_.reset(); // Revokes the lease, and with it every entry.
  office_.reset();
  drained_entries_.reset();
  registrar_.reset();
  if (drainer_.has(drain_reason::order) && answers) // If it fails, the order does not count for the next process.
    static_cast<void>(cancel_drain(*of_.where, of_.self.name));
  if (!of_.options.opened)
    of_.where->close();
  follower_.reset();
}

/// Must not block.
void cluster_core::announce(const std::string& name, bool is_there) {
  if (!registrar_)
    return;
  const auto key = name_key(of_.self.name, name);
  if (is_there)
    registrar_->set(key, "{}");
  else
    registrar_->remove(key);
}

void cluster_core::wake_runner() {
  const std::lock_guard guard{mutex_};
  if (woken_ != nullptr)
    woken_->wake();
  if (woken_office_ != nullptr)
    woken_office_->wake();
}

/// An earlier process has left the entry if it said an address at which this one listens now. Only at the beginning:
/// two nodes that claim one address would otherwise replace each other for ever.
bool cluster_core::is_left_over(const directory_entry& entry) const {
  {
    const std::lock_guard guard{mutex_};
    if (has_joined_)
      return false;
  }
  const auto found = read_member_record(of_.self.name, entry.value);
  if (!found || found->incarnation == of_.self.incarnation) // This node has joined already.
    return false;
  const auto is_same_host = found->host.empty() || found->host == of_.self.host;
  return std::ranges::any_of(found->addresses, [&](const auto& each) {
    return (is_same_host || !is_within_host(each))
           && std::ranges::find(of_.self.addresses, each) != of_.self.addresses.end();
  });
}

std::expected<void, directory_error> cluster_core::wait_until_joined(std::chrono::steady_clock::time_point until) {
  const auto failed = [](std::string_view what, const directory_error& why) {
    return std::unexpected{directory_error{why.code(), std::string{what} + ": " + why.message()}};
  };
  if (const auto read = follower_->wait_until_read(until); !read)
    return failed("the entries of the members could not be read", read.error());
  if (!registrar_)
    return {};
  if (const auto settled = registrar_->settle(until); !settled) {
    if (settled.error().code() == directory_errc::name_taken)
      return std::unexpected{directory_error{directory_errc::name_taken, taken_text()}};
    return failed("this member's entry could not be written", keeper_->trouble().value_or(settled.error()));
  }
  const auto is_there = [this](const cluster_view& view) {
    const auto found = view.member(of_.self.name);
    return found && found->incarnation == of_.self.incarnation;
  };
  if (!follower_->wait_until(is_there, until))
    return std::unexpected{
        directory_error{directory_errc::unavailable, "the directory at " + of_.where->shown_address()
                                                         + " took this member's entry, but did not show it in time"}};
  {
    const std::lock_guard guard{mutex_};
    has_joined_ = true;
  }
  forget_orders_to_earlier_processes();
  return {};
}

std::string cluster_core::taken_text() const {
  constexpr std::size_t shown_bytes_max = 200;
  auto text = "the name \"" + of_.self.name + "\" is taken: another node has the entry " + member_key(of_.self.name)
              + " in " + of_.where->shown_address();
  if (const auto holder = follower_->with_view([this](const auto& view) { return view.member(of_.self.name); });
      holder && holder->incarnation != of_.self.incarnation) {
    text += ": the node " + one_line(holder->incarnation, shown_bytes_max) + " at";
    for (const auto& each : holder->addresses)
      text += ' ' + one_line(each, shown_bytes_max);
  }
  return text
         + ". Give this node another name (cluster_options::name), or end that one. The entry of a node that has "
           "crashed goes when its lease ends: set join_timeout above that lease";
}

void cluster_core::forget_orders_to_earlier_processes() {
  const auto has_one = follower_->with_view(
      [this](const cluster_view& view) { return view.left_over().contains(order_key(of_.self.name)); });
  if (has_one) // If it fails, `troupe cluster doctor` shows it.
    static_cast<void>(cancel_drain(*of_.where, of_.self.name));
}

std::expected<void, directory_error> cluster_core::publish(const std::string& name, const caf::actor& actor) {
  if (auto added = names_.add(name, actor); !added)
    return added;
  // Its messages would only fail.
  caf::actor_cast<caf::abstract_actor*>(actor)->attach_functor(
      [reference = std::weak_ptr{reference_}, name, ended = actor.address()](const caf::error&) {
        if (const auto to = reference.lock())
          to->with([&](cluster_core& core) { core.remove_name(name, &ended); });
      });
  lead_to_name(name);
  return registrar_ ? registrar_->settle(std::chrono::steady_clock::now() + of_.options.access.timeout)
                    : std::expected<void, directory_error>{};
}

bool cluster_core::unpublish(std::string_view name) {
  return remove_name(name);
}

bool cluster_core::remove_name(std::string_view name, const caf::actor_addr* only) {
  if (!names_.remove(name, only))
    return false;
  note_problem(about_own(name), {});
  lead_to_name(name);
  return true;
}

std::expected<void, directory_error> cluster_core::own(std::string name, singleton_runner::maker make) {
  if (!runner_)
    return std::unexpected{
        directory_error{directory_errc::read_only, "the directory at " + of_.where->shown_address()
                                                       + " finds members only: use etcd:// or host:// for singletons"}};
  if (name.empty() || singleton_key(name).size() > directory::key_bytes_max || name.size() > singleton_bytes_max())
    return std::unexpected{directory_error{
        directory_errc::invalid_argument, "a singleton's name has 1 to " + grouped(singleton_bytes_max())
                                              + " bytes, counting / and % as 3; this one has " + grouped(name.size())}};
  if (!runner_->add(name, std::move(make)))
    return std::unexpected{directory_error{directory_errc::invalid_argument,
                                           "this process is ready to own the singleton " + name + " already"}};
  return {};
}

pool_options cluster_core::pool_of(const sought& what, const service_options& options) const {
  auto with = membership::pool_of(options, what.what == sought::kind::entities);
  with.name = absence_reasons::title_of(what);
  with.why_none = [reference = reference_, what] {
    std::string text = "this process has left the cluster";
    reference->with([&](const cluster_core& core) { text = core.reasons_.of(what, *core.follower_); });
    return text;
  };
  return with;
}

/// Until the name is withdrawn, an actor of another interface is a problem.
std::optional<caf::actor> cluster_core::own_actor(const sought& what) {
  const auto published = what.published_name();
  auto own = names_.find(published);
  if (!own)
    return own;
  auto why = reasons_.against_own(*own, what);
  if (why.empty())
    return own;
  note_problem(about_own(published), std::move(why));
  return std::nullopt;
}

actor_pool cluster_core::add_route(sought what, const service_options& options, service_routes::handle_makers make) {
  auto with = pool_of(what, options);
  with.placement = options.pick.how();
  with.key = options.pick.key();
  auto pool = actor_pool::open(of_.system, std::move(with));
  follower_->between_batches(
      [&](const cluster_view& view) { routes_.add(std::move(what), options, std::move(make), *pool, view); });
  return *pool;
}

/// The actor is known before the others learn of its entry, or a moment later: their handles look for the name until
/// they find it.
void cluster_core::show(const std::string& name, const caf::actor& actor) {
  const auto published = published_singleton(name);
  if (!actor) {
    remove_name(published);
    return;
  }
  if (const auto done = names_.add_unannounced(published, actor); !done)
    note_problem("singleton " + name, done.error().message());
  else
    note_problem("singleton " + name, {});
  lead_to_name(published);
}

/// Leads the routes of this name anew, since this process's own actor has changed.
void cluster_core::lead_to_name(std::string_view name) {
  follower_->between_batches([&](const cluster_view& view) { routes_.lead_to_name(name, view); });
}

void cluster_core::watch(const caf::actor& receiver) {
  follower_->between_batches([&](const cluster_view& view) {
    for (auto& one : view.members()) {
      const auto names = view.names_of(one.name);
      caf::anon_send(receiver, cluster_event{.what = cluster_event::kind::member_up, .member = one});
      for (const auto& name : names)
        caf::anon_send(receiver, cluster_event{.what = cluster_event::kind::name_added, .member = one, .name = name});
    }
    for (const auto& [name, member] : view.singletons())
      caf::anon_send(receiver, cluster_event{.what = cluster_event::kind::singleton_moved,
                                             .member = view.owner(name).value_or(cluster_member{}),
                                             .name = name});
    watchers_.add(receiver);
    if (is_draining()) // After it has become a watcher, so that it rather learns it twice than never.
      caf::anon_send(receiver, cluster_event{.what = cluster_event::kind::drain_ordered, .member = of_.self});
  });
}

/// Withdraws what others find of this member, or shows it again. Must not block.
void cluster_core::withdraw_entries(bool withdraws) {
  auto self = of_.self;
  self.is_draining = withdraws;
  if (registrar_)
    registrar_->set_exclusive(member_record(self));
  names_.withdraw(withdraws);
  watchers_.tell({.what = withdraws ? cluster_event::kind::drain_ordered : cluster_event::kind::drain_cancelled,
                  .member = std::move(self)});
}

std::string cluster_core::dial(const cluster_member& of) const {
  const auto address = best_address(of, of_.self.host);
  if (!address)
    return "it has no address that leads from here to it";
  auto options = of_.options.link;
  options.connect_timeout = probe_timeout;
  if (!of.incarnation.empty())
    options.peer_identity = of.incarnation;
  else if (is_writable_)
    return "its entry does not say which node it is";
  auto link = of_.home.connect(*address, options);
  if (!link)
    return link.error().message();
  link->close();
  return {};
}

void cluster_core::give_account(const std::function<void(member_account)>& to) {
  probe_->ask([this, to](const std::vector<member_reach>& reaches) {
    to({.member = of_.self.name,
        .is_draining = is_draining(),
        .clock = std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now()),
        .problems = problems(),
        .reaches = reaches});
  });
}

cluster_stats cluster_core::stats() const {
  auto stats = follower_->with_view([this](const cluster_view& view) {
    const auto is_mine = [this](const auto& row) { return row.second == of_.self.name; };
    const auto members = view.members();
    auto names = view.names();
    std::erase_if(names, [](const auto& one) { return one.first.starts_with(region_names); });
    const auto singletons = view.singletons();
    const auto shards = view.owned_shards();
    const auto count = [](const auto& rows, const auto& which) {
      return static_cast<std::size_t>(std::ranges::count_if(rows, which));
    };
    return cluster_stats{.members = members.size(),
                         .members_draining = count(members, [](const auto& one) { return one.is_draining; }),
                         .names = names.size(),
                         .singletons = singletons.size(),
                         .shards = shards.size(),
                         .names_published = count(names, is_mine),
                         .singletons_owned = count(singletons, is_mine),
                         .shards_owned = count(shards, is_mine)};
  });
  stats.is_draining = is_draining();
  stats.directory_is_up = !follower_->trouble();
  if (keeper_)
    if (const auto held = keeper_->current(); held.id != 0)
      stats.lease_left = std::chrono::duration_cast<std::chrono::milliseconds>(
          std::max<boot_clock::duration>(held.sure_until - boot_clock::now(), {}));
  stats.requests = of_.where->counts();
  stats.problems = problems().size();
  return stats;
}

void cluster_core::take(const cluster_view::events& events, const cluster_view& view) {
  if (leaves_)
    return; // What comes now is of this member's own leaving.
  for (const auto& event : events) {
    using enum cluster_event::kind;
    if (event.what != drain_ordered && event.what != drain_cancelled)
      watchers_.tell(event);
    else if (event.member.incarnation == of_.self.incarnation) // Orders to others are theirs.
      drainer_.drain_for(drain_reason::order, event.what == drain_ordered);
  }
  if (registrar_)
    for (const auto& event : events) {
      using enum cluster_event::kind;
      if (event.member.incarnation != of_.self.incarnation)
        continue;
      if (event.what == member_down)
        registrar_->write_again(member_key(of_.self.name));
      else if (event.what == name_gone)
        registrar_->write_again(name_key(of_.self.name, event.name));
    }
  const auto has_moved = [](const auto& event) { return event.what == cluster_event::kind::singleton_moved; };
  if (std::ranges::any_of(events, has_moved))
    wake_runner();
  if (led_office_ != nullptr)
    led_office_->take(events, view);
  routes_.take(events, view);
}

std::vector<std::string> cluster_core::problems() const {
  std::vector<std::string> all;
  follower_->with_view([&](const cluster_view& view) {
    for (const auto& [key, why] : view.unreadable())
      all.push_back("the entry " + key + " cannot be read: " + why);
    for (const auto& one : view.members())
      if (!one.contract.empty() && one.contract != of_.self.contract)
        all.push_back("member " + one.name + " has another contract of types and functions than this one");
  });
  if (const auto trouble = follower_->trouble())
    all.push_back("the directory: " + trouble->message());
  if (const auto trouble = of_.where->trouble())
    all.push_back("the directory: " + trouble->message());
  std::ranges::copy(handles_.problems(), std::back_inserter(all));
  if (registrar_)
    if (const auto trouble = registrar_->trouble())
      all.push_back("this member's entries: "
                    + (trouble->code() == directory_errc::name_taken ? taken_text() : trouble->message()));
  problems_.add_to(all);
  return all;
}

} // namespace troupe::membership
