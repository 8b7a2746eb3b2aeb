#include <troupe/framework/internal/link/link_core.hpp>

#include <algorithm>
#include <array>
#include <cassert>
#include <chrono>
#include <iterator>
#include <string>
#include <utility>

#include <troupe/base/sizes.hpp>
#include <troupe/framework/internal/caf_port/actors/shared_helpers.hpp>
#include <troupe/framework/internal/caf_port/node_ids.hpp>
#include <troupe/framework/internal/link/admin_table.hpp>
#include <troupe/framework/internal/link/bounded_waits.hpp>
#include <troupe/framework/internal/link/link_flights.hpp>
#include <troupe/framework/internal/link/link_host.hpp>
#include <troupe/framework/internal/link/link_in_exchange.hpp>
#include <troupe/framework/internal/link/mention_reader.hpp>
#include <troupe/framework/internal/link/mention_writer.hpp>
#include <troupe/framework/internal/net/ring_memory.hpp>
#include <troupe/framework/internal/objects/store_reaper.hpp>
#include <troupe/framework/internal/threads/io_timer.hpp>
#include <troupe/framework/internal/watch/watched_events.hpp>
#include <troupe/framework/internal/wire/handle_wire.hpp>
#include <troupe/framework/internal/words/failing.hpp>
#include <troupe/framework/internal/words/text.hpp>
#include <troupe/framework/node_error.hpp>

namespace troupe::internal {

namespace {

std::atomic<std::uint64_t> next_serial{1};

/// After such a packet the bytes take another way, even if this end has begun to close the link.
bool is_about_rings(const packet_head& head) {
  return head.kind == packet_kind::admin && head.detail >= static_cast<std::uint8_t>(admin_op::ring_offer)
         && head.detail <= static_cast<std::uint8_t>(admin_op::ring_decline);
}

bool is_credit(const packet_head& head) {
  return head.kind == packet_kind::admin && head.detail == static_cast<std::uint8_t>(admin_op::credit);
}

std::unexpected<node_error> unknown_detail(const packet_head& head) {
  return fail(node_errc::protocol_violation, "packet of kind " + std::to_string(static_cast<int>(head.kind))
                                                 + " has flags " + std::to_string(head.detail & binding_flags)
                                                 + ", which are mandatory; this version knows none");
}

} // namespace

// -- life

link_core::link_core(std::shared_ptr<link_host> node, const link_options& options, role side,
                     std::shared_ptr<const link_security> security, loop_seat seat)
    : number_(next_serial.fetch_add(1, std::memory_order_relaxed)),
      node_(std::move(node)),
      seat_(std::move(seat)),
      options_(with_bounded_waits(options)),
      role_(side),
      security_(std::move(security)),
      pending_objects_(std::make_shared<pending_objects>()),
      warnings_("this link", &node_->lines()),
      letters_(common_, number_, node_->letters()),
      traces_(common_, node_->spans(), node_->types(), number_, *options_.send_baggage),
      introductions_(common_, text_of(node_->system().node()), node_->links()),
      actors_(common_, node_->system(), introductions_),
      monitors_(common_, node_->system(), actors_),
      questions_(common_, node_->system(), actors_),
      answers_(common_, node_->names(), actors_),
      lookups_(common_, seat_.io(), node_->system(), questions_),
      helpers_(common_, node_->system(), node_->types(), actors_),
      whereabouts_(common_, {.entrances = node_->entrances(),
                             .book = node_->exchange() ? &node_->whereabouts() : nullptr,
                             .self = node_->exchange() ? node_->exchange()->self() : handles::node_name{}}),
      meters_(mutex_, node_->links(), node_->options().detailed_stats),
      terms_(common_, node_->types(), node_->families(), node_->options().name, options.offload_bytes),
      accepted_(node_->types(), node_->families(), options.receive_limits, options.allow_cycles, options.cycle_bytes),
      received_words_(accepted_, meters_.received()),
      changes_(common_,
               {.terms = terms_,
                .accepted = accepted_,
                .known = received_words_,
                .families = node_->families(),
                .io = seat_.io()},
               {.name = node_->options().name,
                .trusted_families = options.trusted_families,
                .may_compress = security_->kind != transport_kind::inproc}),
      flights_(std::make_unique<link_flights>(agreement_, node_->store(), admin_)),
      stored_(mutex_, *flights_, seat_.io()),
      in_exchange_(std::make_unique<link_in_exchange>(
          link_in_exchange::parts{.link = common_,
                                  .exchange = node_->exchange(),
                                  .whereabouts = whereabouts_,
                                  .bounds = options_.receive_limits,
                                  .io = &seat_.io(),
                                  .bytes_sent = counters_.pulled_bytes_sent,
                                  .bytes_received = counters_.pulled_bytes_received})),
      describer_(std::make_unique<mention_writer>(*in_exchange_)),
      claim_tables_{.mutex = mutex_,
                    .actors = actors_,
                    .objects = stored_.objects(),
                    .requests = pending_,
                    .epochs = changes_.lists(),
                    .changes = changes_},
      gate_({.link = common_,
             .options = options_,
             .replies = replies_,
             .asked = pending_,
             .leaving = departures_,
             .encoding = encoding_,
             .dropped = counters_.dropped,
             .letters = letters_,
             .waits = meters_.credit_waits()}),
      draft_sender_({.link = common_,
                     .actors = actors_,
                     .gate = gate_,
                     .leaving = departures_,
                     .words = sent_words_,
                     .lists = changes_.lists(),
                     .messages_sent = counters_.messages_sent,
                     .handle_bytes_sent = counters_.handle_bytes_sent}),
      plain_sender_({.link = common_,
                     .actors = actors_,
                     .gate = gate_,
                     .leaving = departures_,
                     .asked = pending_,
                     .words = sent_words_,
                     .lists = changes_.lists(),
                     .messages_sent = counters_.messages_sent}),
      sender_({.link = common_,
               .system = node_->system(),
               .terms = terms_.newest(number_),
               .drafts = {.claims = claim_tables_,
                          .mentions = {.link = common_,
                                       .actors = actors_,
                                       .exchange = node_->exchange(),
                                       .store = node_->store()},
                          .frames = {.link = common_,
                                     .store = node_->store(),
                                     .next_transfer = next_transfer_,
                                     .spilled_bytes = counters_.spilled_bytes,
                                     .store_fallbacks = counters_.store_fallbacks}},
               .encoding = encoding_parts(),
               .drafts_out = draft_sender_,
               .plain_out = plain_sender_,
               .gate = gate_,
               .peer_delay = peer_delay_,
               .traces = traces_,
               .encoder = node_->encoder(),
               .unsent = meters_,
               .letters = letters_},
              {.link = common_,
               .options = options_,
               .enough_bytes = terms_.offload_limit(),
               .types = encoding_parts(),
               .actors = actors_,
               .waiting = encoding_,
               .gate = gate_,
               .pump = pump_}),
      passed_counts_(node_->types(), meters_.received()),
      finder_(std::make_unique<mention_reader>(mention_reader::parts{.actors = actors_,
                                                                     .counted = *in_exchange_,
                                                                     .stored = stored_,
                                                                     .handle_bytes = counters_.handle_bytes_received})),
      incoming_frames_({.frame_bytes_max = options.message_bytes, .total_bytes_max = options.message_bytes}, *finder_),
      incoming_(options.receive_limits, incoming_frames_, *finder_),
      decoder_(*node_->options().name, accepted_, received_words_, meters_.received(), admin_),
      known_peer_(node_->peers()),
      peer_watch_(common_, peer_delay_, seat_.io(), options.heartbeat_interval, options.heartbeat_timeout),
      farewell_(
          seat_.io(), [this] { return anything_waits(); },
          [this](const std::string& reason, std::chrono::milliseconds left) { say_goodbye(reason, left); }),
      ring_move_(common_, node_->rings()),
      addresses_of_messages_(common_,
                             {.actors = actors_, .asked = pending_, .replies = replies_, .helpers = node_->helpers()}),
      routes_(addresses_of_messages_, warnings_),
      recent_sender_(seat_.io()),
      delivery_(addresses_of_messages_, node_->system(), false,
                {counters_.undelivered, counters_.undecodable, counters_.expired, meters_.is_detailed()}, warnings_),
      receiver_({.accepted = accepted_,
                 .known = received_words_,
                 .incoming = incoming_,
                 .decoder = decoder_,
                 .routes = routes_,
                 .deliveries = delivery_,
                 .pending = *pending_objects_,
                 .mutex = mutex_,
                 .asked = pending_,
                 .replies = replies_,
                 .passed_counts = passed_counts_,
                 .received = counters_.messages_received,
                 .forwarded = counters_.forwarded,
                 .letters = letters_,
                 .traces = traces_,
                 .answers = node_->answers(),
                 .round_trips = meters_.round_trips()}) {}

link_core::~link_core() = default;

message_encoder::parts link_core::encoding_parts() {
  return {.link = common_,
          .serial = number_,
          .own_name = node_->options().name,
          .types = node_->types(),
          .encodings = node_->encodings(),
          .headers = headers_,
          .counts = meters_.sent(),
          .values = values_,
          .takes_raw = raw_type(node_->types()) != nullptr};
}

namespace {

std::expected<void, node_error> check_durations(const link_options& options) {
  if (options.heartbeat_interval->count() <= 0 || *options.heartbeat_timeout < *options.heartbeat_interval)
    return fail(node_errc::bad_option,
                "heartbeat_interval is " + std::to_string(options.heartbeat_interval->count())
                    + " ms and heartbeat_timeout " + std::to_string(options.heartbeat_timeout->count())
                    + " ms; the interval is at least 1 ms, and the timeout at least the interval");
  if (options.connect_timeout->count() <= 0)
    return fail(node_errc::bad_option,
                "connect_timeout is " + std::to_string(options.connect_timeout->count()) + " ms, the minimum is 1 ms");
  if (options.block_timeout->count() < 0)
    return fail(node_errc::bad_option, "block_timeout is " + std::to_string(options.block_timeout->count())
                                           + " ms; the minimum is 0, which does not wait");
  return {};
}

std::expected<void, node_error> check_recording(const recording_options& options) {
  constexpr std::size_t queue_bytes_min = 512_KiB; // The largest packet fits.
  if (!is_wanted(options))
    return {};
  if (!options.file.empty() && !options.directory.empty())
    return fail(node_errc::bad_option, "recording has the file \"" + options.file + "\" and the directory \""
                                           + options.directory + "\"; set one of them");
  if (options.queue_bytes < queue_bytes_min)
    return fail(node_errc::bad_option, "recording.queue_bytes is " + grouped(options.queue_bytes) + "; the minimum is "
                                           + grouped(queue_bytes_min));
  if (options.file_bytes < tape_file_bytes_min)
    return fail(node_errc::bad_option, "recording.file_bytes is " + grouped(options.file_bytes) + "; the minimum is "
                                           + grouped(tape_file_bytes_min));
  return {};
}

const std::vector<std::string>& accepted_by(const link_options& options) {
  return options.deserializers->empty() ? *options.serializers : *options.deserializers;
}

} // namespace

std::expected<void, node_error> node_link::check(const link_options& options, const family_set& known) {
  if (options.serializers->empty())
    return fail(node_errc::bad_option, "a link needs at least one family in `serializers`");
  if (options.window_bytes == 0 || options.actor_window_bytes == 0 || options.handle_window_bytes == 0
      || options.actor_handle_window_bytes == 0 || options.queue_bytes == 0 || options.actor_queue_bytes == 0)
    return fail(node_errc::bad_option,
                "a window or queue of a link has 0 bytes; window_bytes, queue_bytes and the other "
                "options of that kind need at least 1");
  if (!is_ring_size(options.ring_bytes))
    return fail(node_errc::bad_option, "ring_bytes is " + grouped(options.ring_bytes)
                                           + "; a ring has a power of two between 4,096 and 16,777,216 bytes");
  if (options.receive_limits.depth == 0)
    return fail(node_errc::bad_option,
                "receive_limits.depth is 0, so that the handshake could not be read; set at least 1");
  if (auto good = check_recording(options.recording); !good)
    return good;
  if (auto good = check_durations(options); !good)
    return good;
  for (const auto* names : {&*options.serializers, &accepted_by(options)})
    if (auto found = resolve_families(*names, known, options.trusted_families); !found)
      return std::unexpected{std::move(found).error()};
  return {};
}

std::expected<std::shared_ptr<node_link>, node_error> node_link::make(std::shared_ptr<link_host> node,
                                                                      const link_options& options, link_side side,
                                                                      std::shared_ptr<const link_security> security,
                                                                      loop_seat seat) {
  return link_core::make(std::move(node), options, side, std::move(security), std::move(seat));
}

std::expected<std::shared_ptr<link_core>, node_error> link_core::make(std::shared_ptr<link_host> node,
                                                                      const link_options& options, role side,
                                                                      std::shared_ptr<const link_security> security,
                                                                      loop_seat seat) {
  if (auto good = check(options, node->families()); !good)
    return std::unexpected{std::move(good).error()};
  std::shared_ptr<tape_queue> recorder;
  if (is_wanted(options.recording)) {
    auto found = node->recorders().of(options.recording, *node->options().name);
    if (!found)
      return std::unexpected{std::move(found).error()};
    recorder = *std::move(found);
  }
  auto link =
      std::shared_ptr<link_core>{new link_core{std::move(node), options, side, std::move(security), std::move(seat)}};
  link->recorder_ = std::move(recorder);
  link->actors_.belong_to(link);
  link->monitors_.belong_to(link);
  link->lookups_.belong_to(link);
  link->whereabouts_.belong_to(link);
  link->changes_.belong_to(link);
  link->names_ = {options.serializers, accepted_by(options)};
  link->stored_.objects().live_in(link);
  link->replies_.count_consumed([weak = link->weak_from_this()] { pump_soon(weak); },
                                link->received_words_.signatures_kept());
  link->changes_.accept_only(link->names_.deserializers);
  return link;
}

void link_core::close(const std::string& reason, std::chrono::milliseconds patience) {
  encoding_.end([self = shared_from_this(), reason, patience] { self->close_now(reason, patience); });
  if (encoding_.is_idle())
    return;
  // The encoder may have no thread, or take long.
  post_to(seat_.io(), [self = shared_from_this(), reason, until = std::chrono::steady_clock::now() + patience] {
    self->await_encoding(reason, until);
  });
}

/// I/O thread. A message that is not encoded by then does not leave. The end of the node waits for the timer, which is
/// canceled as soon as nothing is being encoded.
void link_core::await_encoding(const std::string& reason, std::chrono::steady_clock::time_point until) {
  if (is_closed() || encoding_.is_idle()) // close_now() comes, or has come.
    return;
  farewell_.await_encoding(until, [this, reason] { close_now(reason, std::chrono::milliseconds{0}); });
}

void link_core::close_now(const std::string& reason, std::chrono::milliseconds patience) {
  {
    const auto held = mutex_.lock();
    if (!may_follow(life_.now(), link_state::closing))
      return;
    life_.enter(held, link_state::closing);
  }
  drain_soon(reason, patience);
}

bool link_core::is_unused() const {
  const auto held = mutex_.lock();
  return is_unused(held);
}

/// Whoever could send a message over the link refers to an actor of the other end, and is counted here.
bool link_core::is_unused(const link_held& held) const {
  const auto helpers = helpers_.unshared(held);
  return is_open() && helpers && actors_.imported(held) == *helpers
         && actors_.exports_only(held, [this](const auto& actor) { return node_->helpers().has(actor); })
         && !pending_.is_any_awaited() && unanswered() == 0 && questions_.is_idle(held) && encoding_.is_idle()
         && !gate_.window(held).anything_waits() && departures_.empty(held) && stored_.objects().is_unused(held)
         && !in_exchange_->is_used(held);
}

bool link_core::close_if_unused(const std::string& reason, std::chrono::milliseconds patience) {
  {
    const auto held = mutex_.lock();
    if (!is_unused(held))
      return false;
    life_.enter(held, link_state::closing);
  }
  drain_soon(reason, patience);
  return true;
}

/// The I/O thread may not have connected the link yet; start() then finds it closing.
void link_core::drain_soon(const std::string& reason, std::chrono::milliseconds patience) {
  post_to(seat_.io(), [self = shared_from_this(), reason, patience] {
    if (self->connection_)
      self->begin_to_drain(reason, patience);
  });
}

/// I/O thread. Messages that wait for credit still leave, if the credit comes in time.
void link_core::begin_to_drain(const std::string& reason, std::chrono::milliseconds patience) {
  incoming_.forget_described(); // Of a message that is not accepted any more.
  farewell_.begin(reason, patience);
}

bool link_core::anything_waits() const {
  const auto held = mutex_.lock();
  return gate_.window(held).anything_waits() || !departures_.empty(held);
}

/// Says goodbye. The peer ignores what comes after it.
void link_core::say_goodbye(const std::string& reason, std::chrono::milliseconds left) {
  admin_.send(admin_op::goodbye, goodbye{reason});
  connection_->close({node_errc::link_down, "this end closed the link: " + reason}, left);
}

void link_core::on_closed(const node_error& reason, std::uint64_t unwritten) {
  counters_.undelivered.fetch_add(unwritten, std::memory_order_relaxed);
  if (receiving_) { // The link was open.
    warnings_.say(log_level::info, [&] { return "link to " + agreed().peer.name + " is down: " + reason.message(); });
    note_lost(reason);
  }
  warnings_.settle();
  {
    const auto held = mutex_.lock();
    life_.enter(held, link_state::closed);
  }
  if (recording_)
    recording_->end(reason.message());
  peer_watch_.stop();
  farewell_.cancel();
  ring_move_.end();
  wait_wish_.end();
  end_greeting(reason);
  node_->entrances().unproven_peer_is_gone(this);
  known_peer_.leave();
  life_.finish_opening(std::unexpected{reason});
  sender_.end();
  const node_error down{node_errc::link_down, "the link to " + agreed().peer.name + " is down: " + reason.message()};
  changes_.end(down);
  fail_everything(down, unwritten);
  in_exchange_->leave(down.message());
  incoming_frames_.clear();
  incoming_.forget_described();
  routes_.forget();
  recent_sender_.end();
  received_words_.forget_headers();
  if (agreed().shares_store) {
    if (auto abandoned = stored_.abandon(); !abandoned)
      warnings_.warn([&] {
        return "the objects in flight from " + agreed().peer.name
               + " stay in the store for now: " + abandoned.error().message();
      });
    run_on(node_->io(), [node = node_] { node->reaper().reap_soon(); });
  }
  life_.tell_end(reason);
  if (node_->exchange())
    node_->whereabouts().forget(number_);
  node_->links().ended(this);
  seat_.leave();
}

/// Programs that only inspect this node come and go.
void link_core::note_lost(const node_error& reason) const {
  if (!answers_.hides_all())
    node_->lost().add({.number = number_,
                       .peer = watched_text(agreed().peer.name),
                       .address = watched_text(addresses_.far),
                       .at_ms = unix_ms(std::chrono::system_clock::now()),
                       .reason = to_string(reason.code()),
                       .text = watched_text(reason.message())});
}

void link_core::fail_everything(const node_error& reason, std::uint64_t unwritten) {
  auto held = mutex_.lock();
  auto requests = pending_.take_all();
  auto objects = stored_.objects().end(held);
  auto unsent = gate_.take_all(held);
  std::ranges::move(departures_.take_all(held), std::back_inserter(unsent));
  const auto told = gate_.take_ready(held);
  gate_.wake(held);
  held.unlock();
  counters_.undelivered.fetch_add(unsent.size(), std::memory_order_relaxed);
  if (const auto lost = unwritten + unsent.size(); lost > 0)
    warnings_.warn([&] {
      return grouped(lost) + (lost == 1 ? " message to " : " messages to ") + agreed().peer.name
             + (lost == 1 ? " was" : " were") + " not sent: " + reason.message();
    });
  // From here on nothing new enters the tables, because every path checks the state under the lock. The named actors
  // are kept until the end of this function, because some requesters, which are proxies of other links, are kept alive
  // only by them.
  auto named = actors_.end();
  if (letters_.is_wanted())
    for (const auto& each : unsent)
      letters_.not_sent(each, reason);
  unsent.clear(); // They give back what is in flight, which is not in the tables.
  for (const auto& each : told)
    each.tell();
  questions_.end(reason);
  lookups_.end(reason);
  helpers_.end();
  introductions_.end();
  monitors_.end(std::move(named.proxies));
  for (auto& [question, asker] : requests)
    asker.fail(question, reason);
}

void link_core::proxy_gone(std::uint64_t number, const caf::actor_control_block* control) {
  const auto held = mutex_.lock();
  if (actors_.proxy_gone(held, number, control))
    gate_.forget(held, number);
}

// -- packets

void link_core::on_all_handled() {
  recent_sender_.keep(routes_.last_sender());
  routes_.forget();
  monitors_.end_proxies();
  if (is_open())
    upkeep_.end_for_unread();
}

std::expected<void, node_error> link_core::on_packet(const packet_head& head, bytes_view body) {
  const auto state = life_.now();
  if (state == link_state::closing && !(farewell_.is_under_way() && is_credit(head)) && !is_about_rings(head))
    return {}; // This end closes the link and delivers nothing any more.
  std::expected<void, node_error> handled;
  if (state == link_state::greeting) {
    if (head.kind != packet_kind::admin)
      handled = fail(node_errc::protocol_violation, "a packet of kind " + std::to_string(static_cast<int>(head.kind))
                                                        + " came before the handshake was over");
    else
      return on_greeting(head, body); // Logs itself why it refuses.
  } else if (static_cast<std::uint8_t>(head.kind) >= first_skippable_number) {
    return {}; // Defined by a newer version; may be ignored.
  } else if (incoming_.is_described() && head.kind != packet_kind::message && head.kind != packet_kind::handles) {
    handled = fail(node_errc::protocol_violation, "a description of objects is not followed by its message");
  } else {
    if (recording_) [[unlikely]] {
      recording_->on_received(head.kind, head.detail, body);
      if (recording_->is_over())
        stop_recording();
    }
    switch (head.kind) {
    case packet_kind::message:
      handled = receiver_.on_message(head.detail, body);
      break;
    case packet_kind::value:
      handled = receiver_.on_value(head.detail, body);
      break;
    case packet_kind::chunk:
      handled = incoming_frames_.on_chunk(head.detail, body);
      break;
    case packet_kind::signature:
      handled = (head.detail & binding_flags) == 0 ? on_signature(body) : unknown_detail(head);
      break;
    case packet_kind::header:
      handled = (head.detail & binding_flags) == 0 ? on_header(body) : unknown_detail(head);
      break;
    case packet_kind::handles:
      handled = (head.detail & binding_flags) == 0 ? incoming_.describe(body) : unknown_detail(head);
      break;
    case packet_kind::object_chunk:
      handled = (head.detail & binding_flags) == 0 ? in_exchange_->on_chunk(body) : unknown_detail(head);
      break;
    case packet_kind::admin:
      handled = on_admin(static_cast<admin_op>(head.detail), body);
      break;
    default:
      handled = fail(node_errc::protocol_violation, "a packet of kind " + std::to_string(static_cast<int>(head.kind))
                                                        + " is mandatory, and this version does not know it");
    }
  }
  if (!handled)
    take_leave(handled.error());
  return handled;
}

std::expected<handled_packets, node_error> link_core::on_run(bytes_view bytes, int packets_max) {
  if (life_.now() != link_state::open || recording_) // A packet is recorded before its answer: one by one.
    return handled_packets{};
  auto handled = receiver_.on_run(bytes, packets_max);
  if (!handled)
    take_leave(handled.error());
  return handled;
}

std::expected<chunk_place, node_error> link_core::on_chunk_begin(const packet_head& head, bytes_view begin) {
  if (life_.now() != link_state::open || recording_ || incoming_.is_described()) // on_packet() records, or says why.
    return chunk_place{};
  auto place = incoming_frames_.on_chunk_begin(head.detail, begin, head.body_bytes);
  if (!place)
    take_leave(place.error());
  return place;
}

void link_core::on_bad_packet(const node_error& reason) {
  const auto state = life_.now();
  if (state == link_state::greeting)
    static_cast<void>(greeting_->refuse(reason));
  else if (state == link_state::open)
    take_leave(reason);
}

/// Logs why the link ends, and tells the peer.
void link_core::take_leave(const node_error& reason) {
  const auto expected_end = reason.code() == node_errc::link_down; // The peer has said goodbye.
  warnings_.say(expected_end ? log_level::info : log_level::warning,
                [&] { return "link to " + agreed().peer.name + " ends: " + reason.message(); });
  if (!expected_end) // A peer that has said goodbye reads nothing more.
    admin_.send(admin_op::goodbye, goodbye{cut(reason.message())});
}

std::expected<void, node_error> link_core::on_admin(admin_op op, bytes_view body) {
  routes_.forget(); // The message may be about one of the route's actors.
  using link = link_core;
  static constexpr std::array rows{
      handled_by_part<link, admin_op::find, &link::answers_, &name_answers::on_find>,
      handled_by_part<link, admin_op::found, &link::questions_, &name_questions::on_found>,
      handled_by_link<link, admin_op::name_changed, &link::on_name_changed>,
      handled_by_part<link, admin_op::monitor, &link::monitors_, &monitors::on_monitor>,
      handled_by_part<link, admin_op::demonitor, &link::monitors_, &monitors::on_demonitor>,
      handled_by_part<link, admin_op::down, &link::monitors_, &monitors::on_down>,
      handled_by_part<link, admin_op::introduce, &link::introductions_, &actor_introductions::on_introduce>,
      handled_by_part<link, admin_op::withdraw, &link::introductions_, &actor_introductions::on_withdraw>,
      handled_by_part<link, admin_op::release_actor, &link::actors_, &actor_names::on_release>,
      handled_by_part<link, admin_op::release_object, &link::stored_, &shared_store_objects::on_release>,
      handled_by_link<link, admin_op::credit, &link::on_credit>,
      handled_by_part<link, admin_op::type_refused, &link::terms_, &current_terms::on_type_refused>,
      handled_by_part<link, admin_op::reconfigure, &link::changes_, &family_changes::on_reconfigure>,
      handled_by_part<link, admin_op::reconfigured, &link::changes_, &family_changes::on_reconfigured>,
      handled_by_part<link, admin_op::whereabouts, &link::whereabouts_, &whereabouts_teller::on_whereabouts>,
      handled_by_part<link, admin_op::ring_offer, &link::ring_move_, &ring_move::on_offer>,
      handled_by_part<link, admin_op::ring_begin, &link::ring_move_, &ring_move::on_begin>,
      handled_by_part<link, admin_op::ring_decline, &link::ring_move_, &ring_move::on_decline>,
      handled_by_part<link, admin_op::ping, &link::peer_watch_, &peer_watch::on_ping>,
      handled_by_part<link, admin_op::pong, &link::peer_watch_, &peer_watch::on_pong>,
      handled_by_link<link, admin_op::goodbye, &link::on_goodbye>,
      handled_by_link<link, admin_op::refuse, &link::on_goodbye>,
  };
  if (const auto* row = row_of<link>(op, rows))
    return row->handle(*this, body, options_.receive_limits);
  if (is_about_handles(op))
    return in_exchange_->on_message(op, body);
  if (static_cast<std::uint8_t>(op) >= first_skippable_number)
    return {}; // Defined by a newer version; may be ignored.
  return violation("admin message " + std::to_string(static_cast<int>(op))
                   + (op <= last_admin_op ? " is out of place on an open link"
                                          : " is mandatory, and this version does not know it"));
}

void link_core::tell_name_change(const std::string& name) {
  post_to(seat_.io(), [self = shared_from_this(), name] {
    if (self->is_open())
      self->answers_.tell_change(name);
  });
}

std::expected<void, node_error> link_core::on_name_changed(const name_changed& what) {
  if (what.name.size() > alias_bytes_max)
    return violation("a changed name has " + grouped(what.name.size()) + " bytes, limit " + grouped(alias_bytes_max));
  node_->name_changed_there(number_, what.name);
  return {};
}

std::expected<void, node_error> link_core::on_goodbye(const goodbye& what) {
  return fail(node_errc::link_down, "the peer closed the link: " + one_line(cut(what.reason)));
}

// -- definitions of the peer

std::expected<void, node_error> link_core::on_signature(bytes_view body) {
  const auto added = received_words_.add_signature(body);
  if (!added)
    return std::unexpected{added.error()};
  if (logs(log_level::debug))
    log_received("signature", received_words_.signatures() - 1, bracketed((*added)->aliases));
  return {};
}

std::expected<void, node_error> link_core::on_header(bytes_view body) {
  const auto added = received_words_.add_header(body);
  if (!added)
    return std::unexpected{added.error()};
  if (logs(log_level::debug))
    log_received("header", received_words_.headers(),
                 '"' + std::string{(*added)->fields.type} + "\" by " + std::string{(*added)->by->name()});
  return {};
}

/// Limited, because the peer may define tens of thousands.
void link_core::log_received(std::string_view what, std::uint64_t number, std::string_view meaning) {
  warnings_.say(log_level::debug, [&] {
    return "from " + agreed().peer.name + ": " + std::string{what} + ' ' + grouped(number) + " is " + cut(meaning);
  });
}

} // namespace troupe::internal
