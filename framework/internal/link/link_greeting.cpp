// A link until it is open: what the handshake needs of it, and what it makes of the agreed terms.
#include <algorithm>
#include <string>
#include <utility>

#include <asio/post.hpp>
#include <asio/steady_timer.hpp>

#include <troupe/framework/internal/caf_port/actors/shared_helpers.hpp>
#include <troupe/framework/internal/link/link_greeting.hpp>
#include <troupe/framework/internal/link/link_host.hpp>
#include <troupe/framework/internal/trust/known_peers.hpp>
#include <troupe/framework/internal/words/failing.hpp>
#include <troupe/framework/internal/words/text.hpp>

namespace troupe::internal {

namespace {

/// What this end lets lie behind handles: what its options say, and of its store half for one link and a quarter for
/// one actor, so that a slow actor leaves room for the others.
receive_bounds own_handle_windows(const link_options& options, const link_host& node) {
  receive_bounds result{.window = options.handle_window_bytes, .actor_window = options.actor_handle_window_bytes};
  if (!node.store())
    return result;
  if (const auto totals = node.store()->totals()) { // Else its lock is not to be had.
    const auto capacity = std::max<std::uint64_t>(totals->capacity_bytes, 4);
    result.window = std::min(result.window, capacity / 2);
    result.actor_window = std::min(result.actor_window, capacity / 4);
  }
  return result;
}

send_bounds bounds_of_sending(const agreed_terms& agreed, const link_options& options) {
  return {.window = agreed.windows.window,
          .actor_window = agreed.windows.actor_window,
          .queue = options.queue_bytes,
          .actor_queue = options.actor_queue_bytes,
          .handle_window = agreed.handle_windows.window,
          .actor_handle_window = agreed.handle_windows.actor_window,
          .handle_queue = std::max<std::uint64_t>(1, agreed.handle_windows.window / 4),
          .actor_handle_queue = std::max<std::uint64_t>(1, agreed.handle_windows.actor_window / 4)};
}

/// Of values that are sent; of those that are received, the two ends change places.
context context_of_sending(const agreed_terms& agreed, const link_host& node, const link_options& options,
                           transport_kind transport, const end_addresses& addresses) {
  return {.sender = node.options().name,
          .recipient = agreed.peer.name,
          .sender_address = addresses.near,
          .recipient_address = addresses.far,
          .sender_node = agreed.own_id,
          .recipient_node = agreed.peer.id,
          .sender_incarnation = node.exchange() ? node.exchange()->self().incarnation : 0,
          .recipient_incarnation = agreed.peer.handles.incarnation,
          .transport = name_of(transport),
          .same_host = stays_on_host(transport) || agreed.shares_store,
          .shared_store = agreed.shares_store,
          .compression = transport == transport_kind::inproc ? compression::none : options.compression,
          .limits = options.receive_limits,
          .extension = nullptr,
          .allow_cycles = options.allow_cycles,
          .types = &node.types(),
          .families = {},
          .value_owner = nullptr};
}

receive_terms terms_of_receiving(const agreed_terms& agreed, const link_options& options) {
  return {.windows = agreed.windows,
          .handle_windows = agreed.handle_windows,
          .counts_behind_handles = agreed.features.has(feature::handle_windows),
          .states_value_bytes = agreed.features.has(feature::value_bytes),
          .own_window_bytes = options.window_bytes,
          .own_handle_window_bytes = options.handle_window_bytes};
}

void swap_ends(context& of) {
  std::swap(of.sender, of.recipient);
  std::swap(of.sender_address, of.recipient_address);
  std::swap(of.sender_node, of.recipient_node);
  std::swap(of.sender_incarnation, of.recipient_incarnation);
}

} // namespace

own_end link_core::greeting::own_end_of(const link_core& link) {
  const auto& node = *link.node_;
  const auto& security = *link.security_;
  const auto shares = node.store() && link.options_.share_store.value_or(stays_on_host(security.kind));
  return {.side = link.role_,
          .name = node.options().name,
          .node = link.node_->system().node(),
          .secret = security.secret,
          .is_cookie = security.is_cookie,
          .key = node.key(),
          .families = link.names_,
          .serial = link.serial_,
          .introduction_key = link.introductions_.key(),
          .incarnation = node.exchange() ? node.exchange()->self().incarnation : 0,
          .store = shares ? node.store() : std::nullopt};
}

link_core::greeting::greeting(link_core& link, std::shared_ptr<refusal_log> refusals)
    : report(*link.node_, std::move(refusals), link.warnings_),
      talk(own_end_of(link), link.options_, *this, link.warnings_),
      limit(link.node_->io()),
      link_(link) {}

void link_core::greeting::write(const packet_head& head, bytes_view body) {
  link_.connection_->write([&](const link_held&, outbox& out) { out.append_packet(head.kind, head.detail, body); });
}

void link_core::greeting::admit_packets(std::size_t body_bytes_max) {
  link_.connection_->admit_packets(body_bytes_max);
}

byte_vector link_core::greeting::session_key() const {
  return link_.connection_->session_key();
}

const loopback_ends* link_core::greeting::loopback() const {
  return link_.connection_->loopback();
}

void link_core::greeting::peer_is_proven() {
  link_.node_->entrances().unproven_peer_is_gone(&link_);
}

bool link_core::greeting::know_peer(const caf::node_id& peer, bytes_view token) {
  if (!link_.node_->peers().enter(caf::to_string(peer), token))
    return false;
  link_.known_peer_ = peer;
  return true;
}

receive_bounds link_core::greeting::handle_windows() const {
  return own_handle_windows(link_.options_, *link_.node_);
}

helper_numbers link_core::greeting::export_helpers() {
  auto& helpers = link_.node_->helpers();
  const auto& options = link_.options_;
  return {.runner = options.allow_tasks ? number_of(helpers.task_runner()) : 0,
          .spawner = options.allow_spawn ? number_of(helpers.spawner()) : 0,
          .inspector = number_of(
              helpers.inspector({.memory = options.allow_memory_summary, .report = options.allow_inspection}))};
}

/// 0 for none.
std::uint64_t link_core::greeting::number_of(const caf::strong_actor_ptr& helper) {
  if (!helper)
    return 0;
  const auto held = link_.mutex_.lock();
  return link_.actors_.name(held, helper).number;
}

void link_core::start(std::shared_ptr<transport> bytes, std::chrono::milliseconds patience,
                      std::shared_ptr<refusal_log> refusals) {
  if (life_.now() != link_state::greeting) {
    on_closed({node_errc::link_down, "the link was closed before it was connected"}, 0);
    return;
  }
  addresses_ = bytes->addresses();
  {
    const auto held = mutex_.lock(); // Statistics are read meanwhile.
    connection_ = std::make_shared<connection>(node_->io(), std::move(bytes), shared_mutex_);
  }
  greeting_ = std::make_unique<greeting>(*this, std::move(refusals));
  greeting_->limit.expires_after(patience);
  greeting_->limit.async_wait([self = weak_from_this()](std::error_code error) {
    auto link = self.lock();
    if (!error && link && link->life_.now() == link_state::greeting)
      link->connection_->abort(
          {node_errc::timed_out,
           "the handshake took longer than " + std::to_string(link->options_.connect_timeout.count()) + " ms"});
  });
  connection_->start(shared_from_this());
  greeting_->talk.begin();
}

void link_core::displace() {
  greeting_->report.displaced();
  // Its descriptor is needed now: nothing waits for what it may still send.
  connection_->abort({node_errc::timed_out, "others have come, and this peer has not proven who it is"});
}

std::expected<void, node_error> link_core::on_greeting(const packet_head& head, bytes_view body) {
  const auto op = static_cast<admin_op>(head.detail);
  if (op == admin_op::refuse)
    return std::unexpected{greeting_->talk.read_refusal(body)};
  if (op == admin_op::goodbye)
    return std::unexpected{handshake::read_goodbye(body)};
  auto handled = greeting_->talk.on_packet(head, body);
  if (auto terms = greeting_->talk.take_terms(); handled && terms)
    handled = become_open(*std::move(terms));
  return handled ? handled : refuse_peer(std::move(handled).error());
}

std::expected<void, node_error> link_core::become_open(agreed_terms terms) {
  agreement_.reach(std::move(terms));
  const auto& agreed = agreement_.now();
  if (auto counts = count_handles(); !counts)
    return counts;
  {
    const auto held = mutex_.lock();
    if (life_.now() != link_state::greeting)
      return fail(node_errc::link_down, "this end closed the link in the handshake");
    gate_.open(held, *connection_, bounds_of_sending(agreed, options_));
    pump_.open(held, *connection_);
    headers_.open(held, *connection_);
    drafts_.open(held, *connection_);
    sender_.open(weak_from_this());
    replies_.set_bounds({.all = options_.window_bytes, .of_receiver = options_.actor_window_bytes});
    negotiation_.open(names_, agreed.peer.families);
    auto report = [weak = weak_from_this()] {
      if (auto link = weak.lock())
        asio::post(link->node_->io(), [weak] {
          if (auto alive = weak.lock(); alive && alive->is_open())
            alive->report_consumed();
        });
    };
    receiving_ = std::make_unique<receive_account>(terms_of_receiving(agreed, options_), report,
                                                   received_words_.signatures_kept());
    sending_terms first{.spill_bytes = options_.spill_bytes};
    first.context = context_of_sending(agreed, *node_, options_, security_->kind, addresses_);
    auto received = first.context;
    swap_ends(received);
    decoder_.open(received);
    if (agreed.shares_store)
      incoming_.share_store(node_->store()->number());
    delivery_.name_peer(agreed.peer.name);
    first.context.limits.header_bytes = agreed.peer.header_bytes;
    first.context.limits.frames = agreed.peer.frames;
    terms_ = std::make_shared<const sending_terms>(std::move(first));
    renew_terms(held);
    if (!options_.verify_serialization && !agreed.peer.verifies)
      values_ = connection_->values();
    departures_.open(held, values_, agreed.peer.message_bytes);
    receiver_.open({.account = *receiving_,
                    .values = values_,
                    .takes_extensions = agreed.features.has(feature::extensions),
                    .takes_repeated_frames = agreed.features.has(feature::handle_windows)});
    actors_.open(*receiving_);
    life_.enter(held, link_state::open);
  }
  if (auto imported = import_helpers(); !imported)
    return imported;
  greeting_.reset();
  start_heartbeat();
  connection_->admit_packets(packet_body_bytes_max);
  node_->links().note_opened();
  warnings_.say(log_level::info, [&] {
    return "link to " + agreed.peer.name + " is open; sends " + bracketed(effective_serializers()) + ", accepts "
           + bracketed(accepted_.names()) + (agreed.shares_store ? ", shares the store" : "");
  });
  say_whereabouts();
  life_.settle_opening({});
  return {};
}

std::expected<void, node_error> link_core::import_helpers() {
  auto runner = actors_.find_peers(agreed().peer.runner);
  auto spawner = runner ? actors_.find_peers(agreed().peer.spawner) : runner;
  auto inspector = spawner ? actors_.find_peers(agreed().peer.inspector) : spawner;
  if (!inspector)
    return std::unexpected{std::move(inspector).error()};
  const auto held = mutex_.lock();
  if (is_open()) {
    task_runner_ = *std::move(runner);
    spawner_ = *std::move(spawner);
    inspector_ = *std::move(inspector);
  }
  return {};
}

std::unexpected<node_error> link_core::refuse_peer(node_error reason) {
  greeting_->report.refused(reason);
  admin_.send(admin_op::refuse, refuse{static_cast<std::uint8_t>(reason.code()), cut(reason.message())});
  return std::unexpected{std::move(reason)};
}

/// The link has ended before it was open.
void link_core::end_greeting(const node_error& reason) {
  if (!greeting_)
    return;
  // Who only closes again has perhaps looked whether somebody listens; with TLS it has said that it means this node.
  const auto is_common = reason.code() == node_errc::link_down && security_->kind != transport_kind::tls;
  greeting_->report.unfinished(reason, is_common);
  greeting_.reset();
}

} // namespace troupe::internal
