#include <troupe/framework/internal/node/node_core.hpp>

#include <algorithm>
#include <chrono>
#include <utility>

#include <asio/post.hpp>

#include <caf/all.hpp>

#include <troupe/framework/internal/caf_port/actor_dispatcher.hpp>
#include <troupe/framework/internal/caf_port/actors/inspector.hpp>
#include <troupe/framework/internal/caf_port/actors/spawner.hpp>
#include <troupe/framework/internal/caf_port/actors/task_runner.hpp>
#include <troupe/framework/internal/caf_port/builtin_types.hpp>
#include <troupe/framework/internal/caf_port/node_ids.hpp>
#include <troupe/framework/internal/caf_port/system_module.hpp>
#include <troupe/framework/internal/config/configuration.hpp>
#include <troupe/framework/internal/link/link_core.hpp>
#include <troupe/framework/internal/net/host_lookup.hpp>
#include <troupe/framework/internal/net/inspection_name.hpp>
#include <troupe/framework/internal/node/connecting.hpp>
#include <troupe/framework/internal/node/memory_survey.hpp>
#include <troupe/framework/internal/node/node_survey.hpp>
#include <troupe/framework/internal/objects/out_of_band.hpp>
#include <troupe/framework/internal/wire/handle_wire.hpp>
#include <troupe/framework/internal/words/log.hpp>

namespace troupe::internal {

namespace {

// Each may have `unread_answer_bytes` unread.
constexpr std::size_t inspecting_links_max = 64;

// Of a node's objects a peer is told of so many at most, the largest: about 40 MB.
constexpr std::uint64_t told_objects_max = 100'000;

std::unexpected<node_error> ended() {
  return std::unexpected{node_error{node_errc::link_down, "the node has ended"}};
}

/// A number below `count`, which nobody can foresee.
std::size_t random_below(std::size_t count) {
  std::uint64_t number = 0;
  fill_randomly(std::as_writable_bytes(std::span{&number, 1}));
  return number % count; // Counts are small: the bias is.
}

/// Whether other options are the only cure.
bool is_of_the_options(const store::store_error& why) {
  return why.code() == store::store_errc::invalid_argument || why.code() == store::store_errc::options_differ
         || why.code() == store::store_errc::not_found;
}

std::shared_ptr<io_loop> make_loop(caf::actor_system& system, const node_options& options) {
  return std::make_shared<io_loop>(make_loop_host(system), options.name, dispatch_budget{.enabled = options.dispatch});
}

node_options without_publications(node_options options) {
  options.publish.clear();
  return options;
}

} // namespace

node_core::node_core(caf::actor_system& system, type_registry& types, const family_set& families, node_options options)
    : node_core(system, types, families, options, make_loop(system, options)) {}

node_core::node_core(caf::actor_system& system, type_registry& types, const family_set& families, node_options options,
                     std::shared_ptr<io_loop> loop)
    : link_host(system, types, families, without_publications(options), loop->context()),
      publish_first_(std::move(options.publish)),
      loop_(std::move(loop)),
      handshake_turns_(std::make_shared<handshake_turns>(loop_->context())),
      unproven_peers_(options_.unproven_peers_max, random_below),
      helpers_(system, types, [this](const inspection_rights& rights) { return answers_of(rights); }),
      encoder_(system) {}

node_core::~node_core() = default;

std::expected<void, node_error> node_core::start() {
  if (options_.name.empty() || options_.name.size() > alias_bytes_max)
    return std::unexpected{node_error{node_errc::bad_option,
                                      "a node's name has 1 to 1,024 bytes, this one " + grouped(options_.name.size())}};
  if (!system_.node() || !has_system_module(system_))
    return std::unexpected{node_error{node_errc::bad_option, "the actor system has no node id: build it from a "
                                                             "troupe::system_config"}};
  add_builtin_types(types_);
  if (auto problems = types_.errors(); !problems.empty())
    return std::unexpected{
        node_error{node_errc::bad_option, "the type registry has errors: " + problems.front().message()}};
  if (auto problems = families_.errors(); !problems.empty())
    return std::unexpected{
        node_error{node_errc::bad_option, "the families have errors: " + problems.front().message()}};
  if (auto known = families_.resolve(options_.store_families); !known)
    return std::unexpected{node_error{node_errc::bad_option, "store_families: " + known.error().message()}};
  objects_ = std::make_shared<object_environment>(object_environment{types_, families_, options_.store_families, {}});
  if (options_.store) {
    auto opened = store::object_store::open(*options_.store);
    if (!opened && (options_.store_required || is_of_the_options(opened.error())))
      return std::unexpected{
          node_error{node_errc::bad_option, "the node's store cannot be opened: " + opened.error().message()}};
    if (opened)
      use_store(*std::move(opened));
    else
      log(log_level::warning, "node " + options_.name + " has no store, so that large frames go through sockets: "
                                  + opened.error().message());
  }
  // A policy that could never make a link is an error now, not when the first peer dials.
  if (auto good = link_core::check(options_.accepted_links, families_); !good)
    return good;
  for (const auto& [name, value] : {std::pair{"handle_grace", options_.handle_grace}, //
                                    std::pair{"drain_timeout", options_.drain_timeout}})
    if (value.count() < 0)
      return std::unexpected{
          node_error{node_errc::bad_option,
                     std::string{name} + " is " + std::to_string(value.count()) + " ms; the shortest is 0"}};
  if (options_.unproven_peers_max == 0)
    return std::unexpected{node_error{node_errc::bad_option, "unproven_peers_max is 0: nobody could ever come in"}};
  if (auto published = publish_first(); !published)
    return published;
  open_doors doors;
  for (const auto& text : options_.listen)
    if (auto listens = listen_at(text, doors); !listens)
      return listens;
  addresses_ = std::move(doors.addresses);
  keep_open(std::move(doors));
  open_inspection();
  if (exchange_)
    if (auto started = exchange_->start(options_.name); !started)
      return started;
  auto started = loop_->start([weak = weak_from_this()] {
    if (auto self = weak.lock())
      self->flush_links();
  });
  if (!started)
    return started;
  running_ = true;
  open_out_of_band(this, store_, objects_, options_.allow_out_of_band_handles);
  return {};
}

void node_core::use_store(store::object_store opened) {
  store_ = std::move(opened);
  if (const auto notice = store_->notice(); !notice.empty())
    log(log_level::warning, notice);
  reaper_ = std::make_shared<store_reaper>(io(), [store = *store_]() mutable { store.reap(); });
  make_exchange();
}

void node_core::make_exchange() {
  const auto summary = store_->summary();
  std::uint64_t incarnation = 0;
  while (incarnation == 0) // Which would say that this node counts no handles.
    fill_randomly(std::as_writable_bytes(std::span{&incarnation, 1}));
  introductions_ = std::make_shared<class introductions>(weak_from_this());
  exchange_ = std::make_shared<object_exchange>(
      io(), *store_,
      object_exchange::options{.self = {handle_number_of(system_.node()), incarnation},
                               .capacity_bytes = summary ? summary->capacity_bytes : UINT64_MAX,
                               .grace = options_.handle_grace,
                               .dial = [known = introductions_](const handles::node_name& who) { known->seek(who); }});
}

/// Before anybody can dial, so that no peer comes too early.
std::expected<void, node_error> node_core::publish_first() {
  for (auto& each : std::exchange(publish_first_, {})) {
    caf::strong_actor_ptr actor;
    try {
      actor = each.make(system_);
    } catch (const std::exception& failure) {
      return std::unexpected{
          node_error{node_errc::bad_option, "the actor to publish as \"" + each.name()
                                                + "\" could not be made: " + std::string{exception_text(failure)}}};
    } catch (...) {
      return std::unexpected{node_error{node_errc::bad_option, "the actor to publish as \"" + each.name()
                                                                   + "\" could not be made: something was thrown"}};
    }
    if (auto published = names_.publish(each.name(), std::move(actor)); !published)
      return published;
  }
  return {};
}

std::expected<void, node_error> node_core::listen(std::span<const std::string> addresses) {
  if (!io_loop::may_wait())
    return std::unexpected{node_error{node_errc::unsupported,
                                      "listen may wait until a host's name is looked up, here on the very thread that "
                                      "all links need: call it elsewhere, in an actor for instance"}};
  open_doors doors;
  std::expected<void, node_error> result;
  for (const auto& text : addresses)
    if (result = listen_at(text, doors); !result)
      break;
  std::lock_guard guard{mutex_};
  if (result && links_.is_closed())
    result = std::unexpected{node_error{node_errc::link_down, "the node is closing"}};
  if (result)
    addresses_.insert(addresses_.end(), doors.addresses.begin(), doors.addresses.end());
  // Peers may be coming in already, so all of this belongs to the I/O thread.
  asio::post(io(), [self = shared_from_this(), doors = std::move(doors), stay = result.has_value()]() mutable {
    if (stay && !self->ending_)
      self->keep_open(std::move(doors));
  });
  return result;
}

void node_core::keep_open(open_doors doors) {
  std::ranges::move(doors.listeners, std::back_inserter(listeners_));
  std::ranges::move(doors.inproc_listeners, std::back_inserter(inproc_listeners_));
  for (const auto& link : links_.open())
    link->say_whereabouts();
}

std::vector<std::string> node_core::addresses() const {
  std::lock_guard guard{mutex_};
  return addresses_;
}

std::expected<void, node_error> node_core::listen_at(const std::string& text, open_doors& doors) {
  auto at = parse_address(text);
  if (!at)
    return std::unexpected{std::move(at).error()};
  if (at->kind == transport_kind::inproc)
    return listen_in_process(*at, doors);
  auto endpoints = resolve(*at, options_.accepted_links.connect_timeout);
  if (!endpoints)
    return std::unexpected{std::move(endpoints).error()};
  auto security = security_for_listening(*at, *endpoints, options_.accepted_links.credentials);
  if (!security)
    return std::unexpected{std::move(security).error()};
  if (!security->caution.empty())
    log(log_level::warning, security->caution);
  const entrance terms{options_.accepted_links, *std::move(security)};
  auto opened = listen_at_all(*at, *endpoints, [&](const address& text, const stream_endpoint& endpoint) {
    return open_entrance(text, endpoint, terms);
  });
  if (!opened)
    return std::unexpected{std::move(opened).error()};
  doors.addresses.push_back(opened->front()->text());
  std::ranges::move(*opened, std::back_inserter(doors.listeners));
  return {};
}

std::expected<std::shared_ptr<listener>, node_error>
node_core::open_entrance(const address& at, const stream_endpoint& endpoint, entrance terms) {
  auto shared = std::make_shared<const entrance>(std::move(terms));
  const std::shared_ptr<const link_security> security{shared, &shared->security};
  return listener::open(
      io(), at, endpoint,
      [weak = weak_from_this(), shared, security](stream_socket socket, const std::shared_ptr<refusal_log>& refusals) {
        if (auto self = weak.lock())
          self->on_accept(std::move(socket), *shared, security, refusals);
      },
      [weak = weak_from_this()] {
        const auto self = weak.lock();
        return self && self->displace_unproven_peer();
      });
}

/// Where this user's processes on this host may ask what the node keeps. A node that cannot be asked is a node
/// nevertheless.
void node_core::open_inspection() {
  if (!options_.local_inspection)
    return;
  link_options terms{.serializers = {"msgpack"},
                     .share_store = false,
                     .allow_memory_summary = true,
                     .allow_inspection = true,
                     .message_bytes = 64_KiB,
                     .window_bytes = 1_MiB,
                     .actor_window_bytes = 1_MiB,
                     .unread_answer_bytes = 8_MiB};
  const auto opened = [&]() -> std::expected<std::shared_ptr<listener>, node_error> {
    if (auto good = link_core::check(terms, families_); !good)
      return std::unexpected{std::move(good).error()};
    const auto at = parse_address(fresh_inspection_address());
    if (!at)
      return std::unexpected{at.error()};
    const auto endpoints = resolve(*at, terms.connect_timeout);
    if (!endpoints)
      return std::unexpected{endpoints.error()};
    auto security = security_for_listening(*at, *endpoints, terms.credentials);
    if (!security)
      return std::unexpected{std::move(security).error()};
    return open_entrance(*at, endpoints->front(), {terms, *std::move(security), true});
  }();
  if (opened)
    listeners_.push_back(*opened);
  else
    log(log_level::info, "`troupe memory` cannot ask node " + options_.name + ": " + opened.error().message());
}

std::expected<void, node_error> node_core::listen_in_process(const address& at, open_doors& doors) {
  if (auto good = check_listening(options_.accepted_links.credentials); !good)
    return good;
  auto terms =
      std::make_shared<const link_security>(link_security{.kind = at.kind, .secret = {}, .tls = {}, .tls_server = {}});
  auto opened =
      inproc_listener::open(io(), at.path, [weak = weak_from_this(), terms](std::shared_ptr<transport> bytes) {
        auto self = weak.lock();
        if (!self)
          return;
        const auto& options = self->options_.accepted_links;
        auto link = link_core::make(self, options, link_core::role::acceptor, terms);
        if (link && self->links_.add(*link))
          (*link)->start(std::move(bytes), options.connect_timeout);
      });
  if (!opened)
    return std::unexpected{std::move(opened).error()};
  doors.addresses.push_back(at.text);
  doors.inproc_listeners.push_back(*std::move(opened));
  return {};
}

void node_core::shut_down() {
  if (!running_) {
    stop_listening();
    if (exchange_)
      exchange_->end();
    return;
  }
  asio::post(io(), [self = shared_from_this()] {
    self->stop_listening();
    if (self->introductions_)
      self->introductions_->end();
    self->ending_ = true;
    if (self->reaper_)
      self->reaper_->end();
  });
  auto left = links_.close();
  dials_.end();
  for (const auto& link : left)
    link->close("the node ends", options_.drain_timeout);
  left.clear();
  encodings_->close();
  // Every link ends by itself: the drain timeout bounds its writing. Where that is this thread's own work, it goes on
  // after this call.
  if (io_loop::may_wait())
    links_.wait_for_all();
  names_.clear();
  helpers_.end();
  if (exchange_)
    exchange_->end();
  loop_->stop();
  close_out_of_band(this);
}

void node_core::stop_listening() {
  listeners_.clear();
  inproc_listeners_.clear();
}

/// After a takeover: the thread that is stuck in a handler may have appended something before.
void node_core::flush_links() {
  for (const auto& link : links_.all())
    link->flush_batch();
}

void node_core::encode_soon(std::weak_ptr<link_core> link) {
  encoder_.run_soon([weak = std::move(link)] {
    if (const auto one = weak.lock())
      one->encode_next();
  });
}

caf::strong_actor_ptr node_core::inspector(const link_options& terms) {
  return helpers_.inspector({.memory = terms.allow_memory_summary, .report = terms.allow_inspection});
}

inspection_answers node_core::answers_of(const inspection_rights& rights) {
  inspection_answers result;
  if (rights.memory)
    result.memory = [of = weak_from_this()](const memory_query& query) -> std::expected<memory_summary, node_error> {
      const auto node = of.lock();
      auto bounded = query;
      bounded.objects_max = std::min(query.objects_max, told_objects_max);
      return node ? survey_memory(*node, bounded) : ended();
    };
  if (rights.report)
    result.report = [of = weak_from_this()](const report_query& query) -> std::expected<node_report, node_error> {
      const auto node = of.lock();
      if (!node)
        return ended();
      return report_of(*node, query);
    };
  return result;
}

node_stats node_core::stats() const {
  auto totals = links_.totals();
  return {.name = options_.name,
          .links = std::move(totals.sums),
          .links_open = totals.links_open,
          .links_opened = totals.links_opened,
          .peers_refused = totals.peers_refused,
          .names_published = names_.size()};
}

std::expected<std::shared_ptr<link_core>, node_error> node_core::connect(std::string_view to,
                                                                         const link_options& options) {
  if (!io_loop::may_wait())
    return std::unexpected{node_error{node_errc::unsupported,
                                      "connect waits, here for the very thread that calls it: call it elsewhere, in an "
                                      "actor for instance, or use keep_connected, which does not wait"}};
  auto where = destination::make(to, options, families_);
  if (!where)
    return std::unexpected{std::move(where).error()};
  const auto attempt = std::make_shared<awaited_link>(shared_from_this(), *std::move(where));
  if (auto kept = dials_.keep(attempt); !kept)
    return std::unexpected{std::move(kept).error()};
  auto connected = attempt->wait();
  dials_.let_go(attempt);
  return connected;
}

void node_core::on_accept(stream_socket socket, const entrance& by,
                          const std::shared_ptr<const link_security>& security,
                          const std::shared_ptr<refusal_log>& refusals) {
  auto source = source_of(socket);
  auto bytes = make_transport(std::move(socket), *security, handshake_turns_);
  if (!bytes) {
    refusals->note(log_level::warning, "a connection was refused: " + bytes.error().message());
    return;
  }
  std::erase_if(inspecting_links_, [](const auto& each) { return each.expired(); });
  if (by.hides_names && inspecting_links_.size() >= inspecting_links_max) {
    refusals->note(log_level::info, "a connection was refused: " + grouped(inspecting_links_max)
                                        + " ask already what this node keeps, which is the limit");
    return;
  }
  auto link = link_core::make(shared_from_this(), by.options, link_core::role::acceptor, security);
  if (!link)
    return;
  if (!links_.add(*link))
    return;
  if (by.hides_names) {
    (*link)->hide_names();
    inspecting_links_.push_back(*link);
  }
  if (auto displaced = unproven_peers_.enter(link->get(), std::move(source))) {
    refusals->note(log_level::info, "one of too many peers that have not proven who they are is disconnected");
    (*displaced)->displace();
  }
  (*link)->start(*std::move(bytes), by.options.connect_timeout, refusals);
}

bool node_core::know_peer(const caf::node_id& peer, bytes_view token) {
  return known_peers_.enter(caf::to_string(peer), token);
}

void node_core::known_peer_is_gone(const caf::node_id& peer) {
  known_peers_.leave(caf::to_string(peer));
}

void node_core::unproven_peer_is_gone(link_core* link) {
  unproven_peers_.leave(link);
}

bool node_core::displace_unproven_peer() {
  const auto displaced = unproven_peers_.displace();
  if (displaced)
    (*displaced)->displace();
  return displaced.has_value();
}

std::shared_ptr<link_core> node_core::link_of(std::uint64_t serial) const {
  return links_.find(serial);
}

void node_core::link_ended(link_core* link) {
  if (introductions_)
    introductions_->forget(link->serial());
  links_.ended(link);
}

const system_config* node_core::config_of(const caf::actor_system& system) {
  return dynamic_cast<const system_config*>(&system.config());
}

std::expected<void, node_error> node_core::check_configuration() {
  const auto* configuration = config() ? config()->configuration() : nullptr;
  if (configuration == nullptr)
    return {};
  for (const auto& entry : configuration->entries())
    if (auto checked = check_entry(*configuration, entry); !checked)
      return std::unexpected{node_error{node_errc::bad_option, configuration->place_of(entry) + ": "
                                                                   + dotted({"links", entry}) + ": "
                                                                   + checked.error().message()}};
  return {};
}

std::expected<void, node_error> node_core::check_entry(const configuration& from, const std::string& entry) {
  const auto options = from.link(entry).options;
  if (auto good = link_core::check(options, families_); !good)
    return good;
  if (entry == configuration::accepted_entry)
    return check_listening(options.credentials);
  if (entry == configuration::default_entry)
    return check_credentials(options.credentials);
  const auto to = parse_address(entry);
  if (!to)
    return std::unexpected{to.error()};
  return check_dialing(*to, options.credentials, from.own_link(entry).options.credentials);
}

} // namespace troupe::internal
