#include <troupe/framework/internal/node/node_core.hpp>

#include <algorithm>
#include <chrono>
#include <utility>

#include <troupe/framework/internal/caf_port/actor_dispatcher.hpp>
#include <troupe/framework/internal/caf_port/builtin_types.hpp>
#include <troupe/framework/internal/caf_port/node_ids.hpp>
#include <troupe/framework/internal/caf_port/system_module.hpp>
#include <troupe/framework/internal/config/configuration.hpp>
#include <troupe/framework/internal/lasting/lasting_office.hpp>
#include <troupe/framework/internal/link/bounded_waits.hpp>
#include <troupe/framework/internal/link/node_link.hpp>
#include <troupe/framework/internal/net/io_loops.hpp>
#include <troupe/framework/internal/node/activity_survey.hpp>
#include <troupe/framework/internal/node/connecting.hpp>
#include <troupe/framework/internal/node/lasting_links.hpp>
#include <troupe/framework/internal/node/memory_survey.hpp>
#include <troupe/framework/internal/node/node_orders.hpp>
#include <troupe/framework/internal/node/node_survey.hpp>
#include <troupe/framework/internal/objects/object_exchange.hpp>
#include <troupe/framework/internal/objects/out_of_band.hpp>
#include <troupe/framework/internal/threads/io_timer.hpp>
#include <troupe/framework/internal/wire/handle_wire.hpp>
#include <troupe/framework/internal/words/failing.hpp>
#include <troupe/framework/internal/words/log.hpp>
#include <troupe/framework/system_config.hpp>

namespace troupe::internal {

namespace {

// The most objects that a peer's query returns, largest first: about 40 MB.
constexpr std::uint64_t told_objects_max = 100'000;

std::unexpected<node_error> ended() {
  return fail(node_errc::link_down, "the node has ended");
}

/// Whether only other options can help.
bool is_of_the_options(const store::store_error& why) {
  return why.code() == store::store_errc::invalid_argument || why.code() == store::store_errc::options_differ
         || why.code() == store::store_errc::not_found;
}

std::shared_ptr<io_loops> make_loops(caf::actor_system& system, const node_options& options) {
  return std::make_shared<io_loops>(make_loop_host(system), options.name, dispatch_budget{.enabled = options.dispatch},
                                    loops_for(options.io_threads));
}

/// Warns of each registered type that cannot travel, for example because of a member without a description. The program
/// may still register a serializer for it. A collection may travel by its elements.
void warn_of_types(const type_registry& types, const family_set& families) {
  const auto names = families.names();
  for (const auto* type : types.entries()) {
    const auto carries = [&](const std::string& name) { return families.find(name)->unsupported(*type).empty(); };
    if (type->parts() == nullptr && std::ranges::none_of(names, carries))
      log(log_level::warning, "type \"" + one_line(type->alias(), 256)
                                  + "\" is registered, but no family of this node can carry it: "
                                  + families.find(names.front())->unsupported(*type));
  }
}

node_options without_publications(node_options options) {
  options.publish = {};
  return with_bounded_waits(std::move(options));
}

} // namespace

node_core::node_core(caf::actor_system& system, type_registry& types, const family_set& families, node_options options)
    : node_core(system, types, families, options, make_loops(system, options)) {}

node_core::node_core(caf::actor_system& system, type_registry& types, const family_set& families, node_options options,
                     std::shared_ptr<io_loops> loops)
    : link_host(system, types, families, without_publications(options), {loops, &loops->main()}),
      publish_first_(std::move(options.publish)),
      loops_(std::move(loops)),
      dials_(loops_->main()),
      names_([this](const std::string& name) {
        for (const auto& link : links_.open())
          link->tell_name_change(name);
      }),
      helpers_(system, types, [this](const query_rights& rights) { return answers_of(rights); }),
      encoder_(system, loops_for(options_.io_threads)),
      letters_(types, families, options_.store_families),
      letter_watch_(std::make_shared<asked_watch<watched_letters>>(
          io_, [this](std::shared_ptr<watched_letters> watcher) { letters_.watch_by(std::move(watcher)); })),
      span_watch_(std::make_shared<asked_watch<watched_spans>>(
          io_, [spans = spans_](std::shared_ptr<watched_spans> watcher) { spans->watch_by(std::move(watcher)); })) {}

node_core::~node_core() = default;

std::expected<void, node_error> node_core::start() {
  if (auto good = check_surroundings(); !good)
    return good;
  objects_ = std::make_shared<object_environment>(object_environment{types_, families_, options_.store_families, {}});
  if (auto opened = open_store(); !opened)
    return opened;
  if (auto good = check_options(); !good)
    return good;
  if (auto published = publish_first(); !published)
    return published;
  lasting_ = std::make_shared<lasting_office>(lasting_office::parts{
      .io = io_, .system = system_, .node = weak_from_this(), .keep = lasting_links_of(weak_from_this())});
  entrances_ = std::make_shared<internal::entrances>(io(), options_, families_, weak_from_this());
  if (auto opened = entrances_->open_first(); !opened)
    return opened;
  if (counted_objects_)
    if (auto started = counted_objects_->start(options_.name); !started)
      return started;
  auto started = loops_->start([weak = weak_from_this()] {
    if (auto self = weak.lock())
      self->flush_links();
  });
  if (!started)
    return started;
  running_ = true;
  open_out_of_band(this, store_, objects_, options_.allow_out_of_band_handles);
  return {};
}

std::expected<void, node_error> node_core::check_surroundings() {
  if (options_.name->empty() || options_.name->size() > alias_bytes_max)
    return bad_option("a node's name has 1 to 1,024 bytes, this one " + grouped(options_.name->size()));
  if (!system_.node() || !has_system_module(system_))
    return bad_option("the actor system has no node id: build it from a troupe::system_config");
  try {
    add_builtin_types(types_);
  } catch (const registration_error& clash) {
    return bad_option("the types of CAF that cross links cannot be added to the type registry: "
                      + std::string{clash.what()});
  }
  warn_of_types(types_, families_);
  if (auto known = families_.resolve(*options_.store_families); !known)
    return bad_option("store_families: " + known.error().message());
  return {};
}

/// Reports a policy that could never make a link at once, not when the first peer dials.
std::expected<void, node_error> node_core::check_options() {
  if (auto good = node_link::check(options_.accepted_links, families_); !good)
    return good;
  if (is_wanted(options_.accepted_links.recording))
    if (auto made = recorders_.of(options_.accepted_links.recording, options_.name); !made)
      return std::unexpected{std::move(made).error()};
  for (const auto& [name, value] : {std::pair{"handle_grace", *options_.handle_grace}, //
                                    std::pair{"answer_memory_time", *options_.answer_memory_time},
                                    std::pair{"drain_timeout", *options_.drain_timeout}})
    if (value.count() < 0)
      return bad_option(std::string{name} + " is " + std::to_string(value.count()) + " ms; the minimum is 0");
  if (options_.io_threads > io_loops::loops_max)
    return bad_option("io_threads is " + grouped(options_.io_threads) + ", limit " + grouped(io_loops::loops_max));
  if (options_.unproven_peers_max == 0)
    return bad_option("unproven_peers_max is 0: no peer could ever connect");
  return {};
}

std::expected<void, node_error> node_core::open_store() {
  if (!*options_.store)
    return {};
  auto opened = store::object_store::open(**options_.store);
  if (!opened && (options_.store_required || is_of_the_options(opened.error())))
    return bad_option("the node's store cannot be opened: " + opened.error().message());
  if (opened)
    use_store(*std::move(opened));
  else
    log(log_level::warning,
        "node " + *options_.name + " has no store; large frames go through sockets: " + opened.error().message());
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
  while (incarnation == 0) // 0 means that a node counts no handles.
    incarnation = random_number();
  introductions_ = std::make_shared<class introductions>(weak_from_this());
  counted_objects_ = std::make_shared<object_exchange>(
      io(), *store_,
      object_exchange::options{.self = {handle_number_of(system_.node()), incarnation},
                               .capacity_bytes = summary ? summary->capacity_bytes : UINT64_MAX,
                               .grace = *options_.handle_grace,
                               .dial = [known = introductions_](const handles::node_name& who) { known->seek(who); }});
  exchange_ = counted_objects_;
}

/// Runs before listening, so that no peer looks up a name too early.
std::expected<void, node_error> node_core::publish_first() {
  for (auto& each : std::exchange(publish_first_, {})) {
    caf::strong_actor_ptr actor;
    try {
      actor = each.make(system_);
    } catch (const std::exception& failure) {
      return bad_option("the actor to publish as \"" + each.name()
                        + "\" could not be made: " + std::string{exception_text(failure)});
    } catch (...) {
      return bad_option("the actor to publish as \"" + each.name()
                        + "\" could not be made: an object was thrown that is not a std::exception");
    }
    if (auto published = names_.publish(each.name(), std::move(actor)); !published)
      return published;
  }
  return {};
}

std::shared_ptr<node_link> node_core::make_link(const link_options& options,
                                                const std::shared_ptr<const link_security>& security, loop_seat seat) {
  auto link = node_link::make(shared_from_this(), options, link_side::acceptor, security, std::move(seat));
  return link && links_.add(*link) ? *std::move(link) : nullptr;
}

loop_seat node_core::seat_for_link() {
  return loops_->seat_for_link();
}

std::vector<std::size_t> node_core::links_by_loop() const {
  return loops_->links();
}

void node_core::name_changed_there(std::uint64_t link, const std::string& name) {
  lasting_->name_changed(link, name);
}

void node_core::has_more_addresses() {
  for (const auto& link : links_.open())
    link->say_whereabouts();
}

void node_core::shut_down() {
  if (is_shut_down_.exchange(true))
    return;
  if (!running_) {
    if (entrances_)
      entrances_->close();
    if (counted_objects_)
      counted_objects_->end();
    return;
  }
  post_to(io(), [self = shared_from_this()] {
    self->entrances_->close();
    if (self->introductions_)
      self->introductions_->end();
    if (self->reaper_)
      self->reaper_->end();
  });
  lasting_->end();
  entrances_->end();
  auto left = links_.close();
  dials_.end();
  for (const auto& link : left)
    link->close("the node ends", options_.drain_timeout);
  left.clear();
  encodings_->close();
  // Every link ends by itself, because the drain timeout bounds its writing. On an I/O thread that is this thread's own
  // work, which continues after this call.
  if (io_loop::may_wait()) {
    links_.wait_for_all();
    observers_.end();
    recorders_.end(); // Else with the last link, which keeps this node.
  }
  names_.clear();
  letter_watch_->end();
  span_watch_->end();
  letters_.send_to(nullptr);
  spans_->record_to(nullptr, 0);
  helpers_.end();
  if (counted_objects_)
    counted_objects_->end();
  loops_->stop();
  close_out_of_band(this);
}

/// Called after a takeover of the I/O loop, because the thread that is stuck in a handler may have appended data to
/// links of any loop.
void node_core::flush_links() {
  for (const auto& link : links_.all())
    link->flush_batch();
}

query_answers node_core::answers_of(const query_rights& rights) {
  query_answers result;
  result.role = rights.role;
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
  if (rights.report)
    result.activity = [of = weak_from_this()](const activity_query& query) -> std::expected<node_activity, node_error> {
      const auto node = of.lock();
      if (!node)
        return ended();
      return activity_of(*node, query);
    };
  if (rights.orders)
    result.order = [of = weak_from_this()](const node_order& order,
                                           const std::string& by) -> std::expected<order_receipt, node_error> {
      const auto node = of.lock();
      if (!node)
        return ended();
      return carry_out(*node, order, by, order_time_max);
    };
  if (rights.recording)
    result.recording =
        [of = weak_from_this()](const recording_query& query) -> std::expected<recording_part, node_error> {
      const auto node = of.lock();
      if (!node)
        return ended();
      if (query.recording != 0)
        return query.ends ? node->observers().end(query.recording) : node->observers().take(query.recording);
      const auto begun = node->observers().begin(query);
      if (!begun)
        return std::unexpected{begun.error()};
      for (const auto& link : node->links().open())
        link->record_to(begun->target);
      return recording_part{.recording = begun->number, .records = {}};
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
          .dead_letters = letters_.so_far().sent,
          .dead_letters_lost = letters_.so_far().lost,
          .names_published = names_.size()};
}

std::expected<std::shared_ptr<node_link>, node_error> node_core::connect(std::string_view to,
                                                                         const link_options& options) {
  if (!io_loop::may_wait())
    return fail(node_errc::unsupported, "connect would block a node's I/O thread: call it on another thread, for "
                                        "example in an actor, or use keep_connected, which does not wait");
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

std::expected<void, node_error> node_core::check_configuration() {
  const auto* const config = config_of(system_);
  const auto* const configuration = config != nullptr ? config->configuration() : nullptr;
  if (configuration == nullptr)
    return {};
  for (const auto& entry : configuration->entries())
    if (auto checked = check_entry(*configuration, entry); !checked)
      return bad_option(configuration->place_of(entry) + ": " + dotted({"links", entry}) + ": "
                        + checked.error().message());
  return {};
}

std::expected<void, node_error> node_core::check_entry(const configuration& from, const std::string& entry) {
  const auto options = from.link(entry).options;
  if (auto good = node_link::check(options, families_); !good)
    return good;
  if (entry == configuration::accepted_entry)
    return check_listening(options);
  if (entry == configuration::default_entry)
    return check_credentials(options.credentials);
  const auto to = parse_address(entry);
  if (!to)
    return std::unexpected{to.error()};
  return check_dialing(*to, options.credentials, from.own_link(entry).options.credentials);
}

} // namespace troupe::internal
