// A link from its start until it is open, and how it applies the agreed terms.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <troupe/framework/internal/link/link_core.hpp>
#include <troupe/framework/internal/link/link_host.hpp>
#include <troupe/framework/internal/link/link_in_exchange.hpp>
#include <troupe/framework/internal/threads/io_timer.hpp>
#include <troupe/framework/internal/words/failing.hpp>
#include <troupe/framework/internal/words/text.hpp>

namespace troupe::internal {

namespace {

// The least memory of a waiting message: itself, its packet, and the stand-in of its receiver.
constexpr std::uint64_t waiting_message_bytes = 640;

send_bounds bounds_of_sending(const agreed_terms& agreed, const link_options& options) {
  return {.window = agreed.windows.window,
          .actor_window = agreed.windows.actor_window,
          .queue = options.queue_bytes,
          .actor_queue = options.actor_queue_bytes,
          .handle_window = agreed.handle_windows.window,
          .actor_handle_window = agreed.handle_windows.actor_window,
          .handle_queue = std::max<std::uint64_t>(1, agreed.handle_windows.window / 4),
          .actor_handle_queue = std::max<std::uint64_t>(1, agreed.handle_windows.actor_window / 4),
          .waiting_least = waiting_message_bytes};
}

/// The context for sent values. For received values, the two ends change places.
context context_of_sending(const agreed_terms& agreed, const link_host& node, const link_options& options,
                           transport_kind transport, const end_addresses& addresses) {
  return {.sender = *node.options().name,
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
          .compression = transport == transport_kind::inproc ? compression::none : *options.compression,
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

/// The secrets that an acceptor accepts now, or the one that a dialer proves.
std::vector<known_secret> secrets_of(const link_security& security, link_side side) {
  if (!security.secrets || security.secrets->is_empty())
    return {};
  if (side == link_side::dialer && !security.chosen.empty())
    return {{.secret = security.chosen}};
  auto known = security.secrets->now();
  if (side == link_side::dialer)
    known.resize(1);
  return known;
}

own_end own_end_of(const link_host& node, const link_security& security, const link_options& options,
                   const family_names& families, link_side side) {
  const auto shares = node.store() && options.share_store->value_or(stays_on_host(security.kind));
  own_end result;
  result.name = node.options().name;
  result.node = node.system().node();
  result.side = side;
  result.secrets = secrets_of(security, side);
  result.is_cookie = security.is_cookie;
  result.is_local = security.kind == transport_kind::unix_socket || security.kind == transport_kind::inproc;
  result.key = node.key();
  result.families = families;
  result.incarnation = node.exchange() ? node.exchange()->self().incarnation : 0;
  result.store = shares ? node.store() : std::nullopt;
  return result;
}

} // namespace

void link_core::start(std::shared_ptr<transport> bytes, std::chrono::milliseconds patience,
                      std::shared_ptr<refusal_log> refusals) {
  run_on(seat_.io(),
         [self = shared_from_this(), bytes = std::move(bytes), patience, refusals = std::move(refusals)]() mutable {
           self->begin(std::move(bytes), patience, std::move(refusals));
         });
}

void link_core::begin(std::shared_ptr<transport> bytes, std::chrono::milliseconds patience,
                      std::shared_ptr<refusal_log> refusals) {
  if (life_.now() != link_state::greeting) {
    on_closed({node_errc::link_down, "the link was closed before it was connected"}, 0);
    return;
  }
  addresses_ = bytes->addresses();
  near_host_ = bytes->near_host();
  {
    const auto held = mutex_.lock(); // Another thread may read the statistics.
    connection_ = std::make_shared<connection>(seat_.io(), std::move(bytes), shared_mutex_);
  }
  auto mine = own_end_of(*node_, *security_, options_, names_, role_);
  mine.serial = number_;
  mine.introduction_key = introductions_.key();
  greeting_ = std::make_unique<greeting>(greeting::parts{.node = *node_,
                                                         .link = this,
                                                         .io = seat_.io(),
                                                         .options = options_,
                                                         .life = life_,
                                                         .over = *connection_,
                                                         .actors = actors_,
                                                         .peer = known_peer_,
                                                         .log = warnings_},
                                         std::move(mine), std::move(refusals));
  connection_->start(shared_from_this());
  greeting_->begin(patience, weak_from_this());
}

std::expected<void, node_error> link_core::on_greeting(const packet_head& head, bytes_view body) {
  auto terms = greeting_->on_packet(head, body);
  if (!terms) {
    secret_is_refused_ = greeting_->secret_is_refused();
    return std::unexpected{std::move(terms).error()};
  }
  if (!*terms)
    return {};
  auto opened = become_open(**std::move(terms));
  return opened ? opened : greeting_->refuse(std::move(opened).error());
}

std::expected<void, node_error> link_core::become_open(agreed_terms terms) {
  agreement_.reach(std::move(terms));
  const auto& agreed = agreement_.now();
  if (auto joined = in_exchange_->join(shared_from_this(), *connection_); !joined)
    return joined;
  {
    const auto held = mutex_.lock();
    if (life_.now() != link_state::greeting)
      return fail(node_errc::link_down, "this end closed the link in the handshake");
    gate_.open(held, *connection_, bounds_of_sending(agreed, options_));
    pump_.open(held, *connection_);
    headers_.open(held, *connection_);
    draft_sender_.open(held, *connection_);
    plain_sender_.open(held, *connection_);
    sender_.open(weak_from_this());
    replies_.set_bounds({.all = options_.window_bytes, .of_receiver = options_.actor_window_bytes});
    auto report = [weak = weak_from_this()] {
      if (auto link = weak.lock())
        post_to(link->seat_.io(), [weak] {
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
    if (agreed.shares_store) {
      stored_.share(node_->store()->number());
      incoming_.share_store(node_->store()->number());
    }
    routes_.name_peer(agreed.peer.name);
    delivery_.name_peer(agreed.peer.name);
    delivery_.allow_exits(agreed.rights.exits);
    first.context.limits.header_bytes = agreed.peer.header_bytes;
    first.context.limits.frames = agreed.peer.frames;
    changes_.open(held, names_, agreed.peer.families, std::move(first));
    whereabouts_.open(place());
    if (!options_.verify_serialization && !agreed.peer.verifies)
      values_ = connection_->values();
    departures_.open(held, values_, agreed.peer.message_bytes);
    receiver_.open({.account = *receiving_,
                    .values = values_,
                    .takes_extensions = agreed.features.has(feature::extensions),
                    .takes_repeated_frames = agreed.features.has(feature::handle_windows),
                    .takes_identities = agreed.features.has(feature::repeats)});
    actors_.open(*receiving_);
    begin_to_record(held);
    life_.enter(held, link_state::open);
  }
  if (auto imported = helpers_.open(); !imported)
    return imported;
  greeting_.reset();
  upkeep_.open(*connection_);
  peer_watch_.start(std::make_unique<connected_peer>(connection_), upkeep_, weak_from_this());
  connection_->admit_packets(packet_body_bytes_max);
  node_->links().note_opened();
  warnings_.say(log_level::info, [&] {
    const auto compresses = compression_in_force();
    return "link to " + agreed.peer.name + (addresses_.far.empty() ? "" : " at " + addresses_.far) + " is open; sends "
           + bracketed(effective_serializers()) + ", accepts " + bracketed(accepted_.names())
           + (compresses == compression::none ? "" : ", compresses by " + std::string{to_string(compresses)})
           + (agreed.shares_store ? ", shares the store" : "")
           + (agreed.role.empty() ? "" : ", has the role \"" + agreed.role + '"');
  });
  warnings_.say(log_level::debug, [&] {
    std::vector<std::string> names;
    for (const auto& each : agreed.peer.features)
      names.push_back(each.name);
    return agreed.peer.name + " runs " + to_string(agreed.peer.version) + ", with the features "
           + cut(bracketed(names));
  });
  say_whereabouts();
  wait_wish_.begin(seat_.io(), options_.wait);
  ring_move_.open(*connection_, {.wanted = options_.use_rings->value_or(agreed.shares_store || security_->wants_rings),
                                 .ring_bytes = options_.ring_bytes});
  life_.finish_opening({});
  return {};
}

recording_target link_core::recording_of_options() const {
  recording_target target{.to = recorder_};
  const auto object_bytes_max = options_.recording.object_bytes_max;
  if (object_bytes_max > 0 && agreement_.now().shares_store && node_->store()) {
    target.store = node_->store();
    target.object_bytes_max = object_bytes_max;
  }
  return target;
}

void link_core::begin_to_record(const link_held& held) {
  if (recorder_)
    add_recording(held, recording_of_options(), {}, false);
  for (const auto& each : node_->observers().targets())
    if (each.wants_link_to(agreed().peer.name))
      add_recording(held, each, {}, false);
}

/// `is_late`: the link has carried messages before.
void link_core::add_recording(const link_held& held, const recording_target& target, const known_words& known,
                              bool is_late) {
  const auto& agreed = agreement_.now();
  tape_link_began link{
      .is_repeated = is_late,
      .recorder_name = *node_->options().name,
      .peer_name = agreed.peer.name,
      .recorder_address = addresses_.near,
      .peer_address = addresses_.far,
      .transport = name_of(security_->kind),
      .compression = to_string(security_->kind == transport_kind::inproc ? compression::none : *options_.compression)};
  link.sends.assign(names_.serializers.begin(), names_.serializers.end());
  link.accepts.assign(names_.deserializers.begin(), names_.deserializers.end());
  for (const auto& [name, version] : known_features)
    if (agreed.features.has(name))
      link.features.push_back(name);
  if (!recording_)
    recording_ = std::make_unique<link_recording>();
  recording_->add(target, link, known);
  connection_->tap(held, recording_.get());
}

void link_core::record_to(const recording_target& target) {
  run_on(seat_.io(), [self = shared_from_this(), target] {
    const auto names = self->node_->names().all(); // Released after the lock.
    known_words known;
    self->received_words_.each([&](packet_kind kind, byte_vector body) {
      known.definitions.push_back({tape_side::peer, kind, std::move(body)});
    });
    const auto held = self->mutex_.lock();
    const auto is_wanted = self->life_.now() == link_state::open && target.wants_link_to(self->agreed().peer.name);
    if (!is_wanted || (self->recording_ && self->recording_->has(target.to.get())))
      return;
    self->sent_words_.each(held, [&](packet_kind kind, byte_vector body) {
      known.definitions.push_back({tape_side::recorder, kind, std::move(body)});
    });
    for (const auto& [name, actor] : names)
      if (const auto number = self->actors_.number_of_own(held, actor); number != 0)
        known.names.push_back({tape_side::recorder, number, name});
    self->add_recording(held, target, known, true);
  });
}

/// On the I/O thread.
void link_core::stop_recording() {
  std::unique_ptr<link_recording> ended;
  const auto held = mutex_.lock();
  connection_->tap(held, nullptr);
  ended = std::move(recording_);
}

void link_core::displace() {
  run_on(seat_.io(), [self = shared_from_this()] {
    if (self->greeting_)
      self->greeting_->displace();
  });
}

/// Reports that the link has ended before it was open.
void link_core::end_greeting(const node_error& reason) {
  if (!greeting_)
    return;
  // A peer that only connects and closes may have probed whether the port is open. With TLS it meant this node.
  const auto is_common = reason.code() == node_errc::link_down && security_->kind != transport_kind::tls;
  greeting_->end(reason, is_common);
  greeting_.reset();
}

} // namespace troupe::internal
