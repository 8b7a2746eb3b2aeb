// The handshake: who the peer is and whether it may come in, what each end sends and accepts, whether a store is
// shared.
#include <algorithm>
#include <array>
#include <bit>
#include <string>
#include <utility>

#include <asio/post.hpp>
#include <asio/steady_timer.hpp>

#include <troupe/framework/internal/caf_port/node_ids.hpp>
#include <troupe/framework/internal/link/link_core.hpp>
#include <troupe/framework/internal/link/link_host.hpp>
#include <troupe/framework/internal/link/send_admin.hpp>
#include <troupe/framework/internal/net/loopback_ends.hpp>
#include <troupe/framework/internal/wire/handle_wire.hpp>
#include <troupe/framework/internal/words/text.hpp>

namespace troupe::internal {

namespace {

std::uint64_t random_number() {
  std::array<std::byte, sizeof(std::uint64_t)> bytes;
  fill_randomly(bytes);
  return std::bit_cast<std::uint64_t>(bytes);
}

/// What anybody may make this node decode.
constexpr limits unproven_limits{.header_bytes = unproven_body_bytes_max,
                                 .frames = 0,
                                 .body_bytes = unproven_body_bytes_max,
                                 .frame_bytes = 0,
                                 .text_bytes = unproven_body_bytes_max,
                                 .elements = unproven_body_bytes_max,
                                 .depth = 8,
                                 .memory_bytes = 4 * unproven_body_bytes_max};

greet my_greet_over(const connection& over, link_side mine, const authentication& proofs) {
  auto result = proofs.my_greet();
  if (const auto* ends = over.loopback())
    result.connection = ends->sum(mine);
  return result;
}

/// Empty where the two ends have not agreed on it.
byte_vector key_proof_of(const link_handshake& between, link_side by, const transcript& seen) {
  if (!between.shared_key)
    return {};
  const auto proof = make_proof(bytes_view{*between.shared_key}, by, proof_of::node_key, seen);
  return {proof.begin(), proof.end()};
}

std::expected<void, node_error> check_key(const link_handshake& between, link_side peer, bytes_view proof) {
  if (!between.shared_key || same_digest(key_proof_of(between, peer, between.said_before), proof))
    return {};
  return std::unexpected{node_error{node_errc::refused,
                                    "the peer does not have the key whose public part it tells: it claims the id of "
                                    "another node"}};
}

/// Fails where somebody is in between who may not be: over plain TCP within a host any user could be.
std::expected<void, node_error> check_nobody_between(const connection& over, link_side mine, const greet& theirs) {
  const auto* ends = over.loopback();
  if (ends == nullptr)
    return {};
  // What the peer says is proven with the rest of the transcript: a relay cannot make it what this end sees.
  const auto sum = ends->sum(mine);
  if (!sum.empty() && same_digest(sum, theirs.connection))
    return {};
  return check_forwarder(*ends);
}

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

} // namespace

void link_core::start(std::shared_ptr<transport> bytes, std::chrono::milliseconds patience,
                      std::shared_ptr<refusal_log> refusals) {
  auto self = shared_from_this();
  if (state_.load(std::memory_order_relaxed) != link_state::greeting) {
    on_closed({node_errc::link_down, "the link was closed before it was connected"}, 0);
    return;
  }
  addresses_ = bytes->addresses();
  {
    const auto held = mutex_.lock(); // Statistics are read meanwhile.
    connection_ = std::make_shared<connection>(node_->io(), std::move(bytes), shared_mutex_);
  }
  // The member owns it alone, so that dropping it cancels it.
  auto timer = std::make_shared<asio::steady_timer>(node_->io(), patience);
  timer->async_wait([self = weak_from_this()](std::error_code error) {
    auto link = self.lock();
    if (!error && link && link->state_.load(std::memory_order_relaxed) == link_state::greeting)
      link->connection_->abort(
          {node_errc::timed_out,
           "the handshake took longer than " + std::to_string(link->options_.connect_timeout.count()) + " ms"});
  });
  handshake_timer_ = std::move(timer);
  auto id = node_->system().node();
  const auto& data = static_cast<const caf::node_id::default_data&>(*id);
  handshake_ = std::make_unique<link_handshake>(link_handshake{
      {role_, data.process_id(), hex(std::as_bytes(std::span{data.host_id()})), security_->secret, random_digest()}});
  handshake_->refusals = std::move(refusals);
  connection_->start(self);
  if (role_ == role::dialer) {
    channel_ = random_number() & ~std::uint64_t{1};
    say(admin_op::greet, my_greet_over(*connection_, role_, handshake_->proofs));
  }
}

void link_core::displace() {
  node_->note_refused_peer();
  handshake_->is_noted = true; // By who displaces it.
  // Its descriptor is needed now: nothing waits for what it may still send.
  connection_->abort({node_errc::timed_out, "others have come, and this peer has not proven who it is"});
}

/// Sends a part of the handshake, which counts among what was said.
template <class Admin>
void link_core::say(admin_op op, const Admin& what) {
  auto body = encode_admin(what);
  packet_head head{.body_bytes = static_cast<std::uint32_t>(body.size()),
                   .kind = packet_kind::admin,
                   .detail = static_cast<std::uint8_t>(op)};
  handshake_->proofs.said.add_packet(role_, head, body);
  connection_->write([&](const link_held&, outbox& out) { out.append_packet(head.kind, head.detail, body); });
}

std::expected<void, node_error> link_core::wait_until_open() {
  // Bounded: start() arms a timer, and the end of the link settles it whatever happens.
  return opened_.get_future().get();
}

void link_core::settle_opening(std::expected<void, node_error> result) {
  if (std::exchange(opened_settled_, true))
    return;
  if (auto tell = std::exchange(life_events_.opened, nullptr))
    tell(result);
  opened_.set_value(std::move(result));
}

void link_core::send_hello(bool shares_store) {
  hello mine{.version = protocol_version,
             .name = node_->options().name,
             .token = {node_->key().public_part().begin(), node_->key().public_part().end()},
             .serializers = names_.serializers,
             .deserializers = names_.deserializers,
             .message_bytes = options_.message_bytes,
             .window_bytes = options_.window_bytes,
             .actor_window_bytes = options_.actor_window_bytes,
             .channel = channel_,
             .shares_store = shares_store,
             .tasks = 0,
             .verifies = options_.verify_serialization,
             .spawner = 0,
             .exits = options_.allow_exit,
             .link = serial_,
             .introduction_key = {introduction_key_.begin(), introduction_key_.end()},
             .header_bytes = options_.receive_limits.header_bytes,
             .frames = options_.receive_limits.frames,
             .incarnation = node_->exchange() ? node_->exchange()->self().incarnation : 0,
             .inspector = 0,
             .features = offered_features(),
             .handle_window_bytes = handle_windows_.window, // An acceptor's are agreed by now.
             .actor_handle_window_bytes = handle_windows_.actor_window};
  if (options_.allow_tasks) {
    auto runner = node_->task_runner();
    const auto held = mutex_.lock();
    mine.tasks = actor_exports_.add(runner);
  }
  if (options_.allow_spawn) {
    auto spawner = node_->spawner();
    const auto held = mutex_.lock();
    mine.spawner = actor_exports_.add(spawner);
  }
  if (auto inspector = node_->inspector(options_)) {
    const auto held = mutex_.lock();
    mine.inspector = actor_exports_.add(inspector);
  }
  if (wants_to_share_store()) {
    auto process = node_->store()->self();
    mine.store_number = node_->store()->number();
    mine.store_slot = process.slot;
    mine.store_nonce = process.nonce;
    const auto proof =
        make_store_proof(node_->store()->secret(), role_, process.slot, process.nonce, handshake_->proofs.said);
    mine.store_proof = {proof.begin(), proof.end()};
  }
  say(admin_op::hello, mine);
}

std::expected<void, node_error> link_core::on_greeting(const packet_head& head, bytes_view body) {
  auto op = static_cast<admin_op>(head.detail);
  if (op == admin_op::refuse)
    return on_refuse(body);
  if (op == admin_op::goodbye)
    return on_early_goodbye(body);
  auto handled = on_expected(head, body);
  return handled ? handled : refuse_peer(std::move(handled).error());
}

std::expected<void, node_error> link_core::on_refuse(bytes_view body) const {
  auto theirs = decode_admin<refuse>(body, unproven_limits);
  auto reason = one_line(theirs ? theirs->reason : theirs.error().message(), quoted_bytes_max);
  // Whoever has not proven itself says nothing that is for good.
  const auto is_proven = handshake_->step == handshake_step::hello || handshake_->step == handshake_step::agreement;
  auto code = is_proven && theirs && theirs->code == static_cast<std::uint8_t>(node_errc::nothing_in_common)
                  ? node_errc::nothing_in_common
                  : node_errc::refused;
  return std::unexpected{node_error{code, "the peer refused: " + reason}};
}

/// Whoever has not proven itself may say anything here: it is bounded, and shown as the peer's words.
std::expected<void, node_error> link_core::on_early_goodbye(bytes_view body) const {
  const auto theirs = decode_admin<goodbye>(body, unproven_limits);
  const auto reason = theirs && !theirs->reason.empty() ? ": " + one_line(theirs->reason, quoted_bytes_max) : "";
  return std::unexpected{node_error{node_errc::link_down, "the peer closed the link in the handshake" + reason}};
}

std::expected<void, node_error> link_core::on_expected(const packet_head& head, bytes_view body) {
  const auto is_let_in = handshake_->step == handshake_step::hello || handshake_->step == handshake_step::agreement;
  if (is_let_in && head.detail >= first_skippable_number) {
    handshake_->proofs.said.add_packet(other(role_), head, body);
    return {};
  }
  switch (handshake_->step) {
  case handshake_step::greet:
    return hear(admin_op::greet, head, body, unproven_limits, &link_core::on_greet);
  case handshake_step::prove:
    return hear(admin_op::prove, head, body, unproven_limits, &link_core::on_prove);
  case handshake_step::hello:
    return hear(admin_op::hello, head, body, options_.receive_limits, &link_core::on_hello);
  case handshake_step::agreement:
    break;
  }
  return role_ == role::acceptor ? hear(admin_op::ready, head, body, options_.receive_limits, &link_core::on_ready)
                                 : hear(admin_op::opened, head, body, options_.receive_limits, &link_core::on_opened);
}

/// Reads the one admin message that is due, and counts it among what was said.
template <class Admin>
std::expected<void, node_error> link_core::hear(admin_op due, const packet_head& head, bytes_view body,
                                                const limits& bounds,
                                                std::expected<void, node_error> (link_core::*handle)(const Admin&)) {
  if (head.detail != static_cast<std::uint8_t>(due))
    return std::unexpected{node_error{node_errc::protocol_violation, "admin message " + std::to_string(head.detail)
                                                                         + " is out of place in the handshake"}};
  auto what = decode_admin<Admin>(body, bounds);
  if (!what)
    return std::unexpected{
        node_error{node_errc::protocol_violation, "admin message " + std::to_string(head.detail)
                                                      + " of the handshake cannot be read: " + what.error().message()}};
  handshake_->said_before = handshake_->proofs.said;
  handshake_->proofs.said.add_packet(other(role_), head, body);
  return (this->*handle)(*what);
}

std::expected<void, node_error> link_core::on_greet(const greet& theirs) {
  auto& proofs = handshake_->proofs;
  if (auto good = proofs.check(theirs); !good)
    return good;
  peer_node_ = read_node_id(theirs.process, theirs.host);
  if (!peer_node_)
    return std::unexpected{node_error{node_errc::protocol_violation, "the greeting holds no node id"}};
  handshake_->theirs = theirs;
  if (role_ == role::acceptor)
    say(admin_op::greet, my_greet_over(*connection_, role_, proofs));
  proofs.said.add_session(connection_->session_key());
  if (!proofs.asks_for_secret()) {
    let_peer_in();
    return {};
  }
  handshake_->step = handshake_step::prove;
  // Who listens may be anybody, and must not get a proof to pass on.
  if (role_ == role::dialer)
    if (auto alone = check_nobody_between(*connection_, role_, theirs); !alone)
      return alone;
  if (role_ == role::dialer)
    say(admin_op::prove, prove{proofs.my_proof(proof_of::secret)});
  return {};
}

std::expected<void, node_error> link_core::on_prove(const prove& theirs) {
  auto& proofs = handshake_->proofs;
  if (!proofs.peer_proves(proof_of::secret, theirs.proof, handshake_->said_before))
    return std::unexpected{node_error{node_errc::refused, "the two ends do not have the same shared secret"}};
  // Who has the cookie is this user, on whichever way. A given secret may be another user's, who is in nobody's way.
  if (role_ == role::acceptor && security_->is_cookie)
    if (auto alone = check_nobody_between(*connection_, role_, handshake_->theirs); !alone)
      return alone;
  if (role_ == role::acceptor)
    say(admin_op::prove, prove{proofs.my_proof(proof_of::secret)});
  let_peer_in();
  return {};
}

/// From here on it is told names, and may send more than a few bytes.
void link_core::let_peer_in() {
  handshake_->step = handshake_step::hello;
  connection_->admit_packets(greeting_body_bytes_max);
  node_->unproven_peer_is_gone(this);
  const auto own = own_handle_windows(options_, *node_);
  {
    const auto held = mutex_.lock(); // Statistics are read meanwhile.
    handle_windows_ = own;
  }
  if (role_ == role::dialer)
    send_hello(false);
}

std::expected<void, node_error> link_core::on_hello(const hello& theirs) {
  if (theirs.name.size() > alias_bytes_max)
    return std::unexpected{node_error{node_errc::protocol_violation, "the peer's name is longer than 1,024 bytes"}};
  auto features = feature_set::agree(theirs.features);
  if (!features)
    return std::unexpected{node_error{node_errc::protocol_violation, std::move(features).error()}};
  features_ = *features;
  // A peer that proves its key is never taken for one that only says its public part.
  peer_token_ = theirs.token;
  peer_token_.push_back(static_cast<std::byte>(features_.has(feature::node_key)));
  peer_is_known_ = theirs.token.size() == sizeof(digest) && node_->know_peer(peer_node_, peer_token_);
  if (!peer_is_known_)
    return std::unexpected{node_error{node_errc::refused, "the peer has the id of a node that is linked already, and "
                                                          "does not prove to be the same"}};
  if (features_.has(feature::node_key)) {
    handshake_->shared_key = node_->key().shared_with(theirs.token);
    if (!handshake_->shared_key)
      return std::unexpected{node_error{node_errc::refused, "the peer's token is not the public part of a key"}};
  }
  peer_name_ = theirs.name;
  peer_runner_ = theirs.tasks;
  peer_spawner_ = theirs.spawner;
  peer_inspector_ = theirs.inspector;
  peer_takes_exits_ = theirs.exits;
  peer_link_ = theirs.link;
  peer_introduction_key_ = theirs.introduction_key;
  peer_message_bytes_ = theirs.message_bytes;
  peer_header_bytes_ = theirs.header_bytes;
  peer_frames_ = theirs.frames;
  peer_handles_ = {handle_number_of(peer_node_), theirs.incarnation};
  if (theirs.window_bytes == 0 || theirs.actor_window_bytes == 0 || theirs.handle_window_bytes == 0
      || theirs.actor_handle_window_bytes == 0)
    return std::unexpected{
        node_error{node_errc::protocol_violation, "the peer takes no messages: its window is empty"}};
  {
    const auto held = mutex_.lock(); // As above.
    // Neither end is made to keep more for the other, on its way out or in, than its own options say.
    windows_ = {.window = std::min<std::uint64_t>(theirs.window_bytes, options_.window_bytes),
                .actor_window = std::min<std::uint64_t>(theirs.actor_window_bytes, options_.actor_window_bytes)};
    if (features_.has(feature::handle_windows))
      handle_windows_ = {.window = std::min(theirs.handle_window_bytes, handle_windows_.window),
                         .actor_window = std::min(theirs.actor_handle_window_bytes, handle_windows_.actor_window)};
    else
      handle_windows_ = {UINT64_MAX, UINT64_MAX};
    sending_.set_bounds({.window = windows_.window,
                         .actor_window = windows_.actor_window,
                         .queue = options_.queue_bytes,
                         .actor_queue = options_.actor_queue_bytes,
                         .replies = options_.window_bytes,
                         .actor_replies = options_.actor_window_bytes,
                         .handle_window = handle_windows_.window,
                         .actor_handle_window = handle_windows_.actor_window,
                         .handle_queue = std::max<std::uint64_t>(1, handle_windows_.window / 4),
                         .actor_handle_queue = std::max<std::uint64_t>(1, handle_windows_.actor_window / 4)});
    bulk_.set_open_bytes_max(theirs.message_bytes);
  }
  peer_verifies_ = theirs.verifies;
  peer_process_ = {theirs.store_slot, theirs.store_nonce};
  if (auto agreed = agree_on_families(theirs); !agreed)
    return agreed;
  handshake_->step = handshake_step::agreement;
  if (role_ == role::acceptor) {
    channel_ = theirs.channel & ~std::uint64_t{1};
    shares_store_ = agrees_on_store(theirs);
    send_hello(shares_store_);
    return {};
  }
  if (theirs.shares_store)
    shares_store_ = agrees_on_store(theirs);
  say(admin_op::ready, ready{shares_store_, handshake_->proofs.my_proof(proof_of::agreement),
                             key_proof_of(*handshake_, role_, handshake_->proofs.said)});
  return {};
}

std::expected<void, node_error> link_core::on_ready(const ready& theirs) {
  auto& proofs = handshake_->proofs;
  if (!proofs.peer_proves(proof_of::agreement, theirs.proof, handshake_->said_before))
    return std::unexpected{node_error{node_errc::refused, "the peer has not seen the same handshake: somebody in "
                                                          "between has changed it"}};
  if (auto same = check_key(*handshake_, other(role_), theirs.key_proof); !same)
    return same;
  shares_store_ = shares_store_ && theirs.shares_store;
  say(admin_op::opened, opened{proofs.my_proof(proof_of::agreement), key_proof_of(*handshake_, role_, proofs.said)});
  return become_open();
}

std::expected<void, node_error> link_core::on_opened(const opened& theirs) {
  if (!handshake_->proofs.peer_proves(proof_of::agreement, theirs.proof, handshake_->said_before))
    return std::unexpected{node_error{node_errc::refused, "the peer has not seen the same handshake: somebody in "
                                                          "between has changed it"}};
  if (auto same = check_key(*handshake_, other(role_), theirs.key_proof); !same)
    return same;
  return become_open();
}

std::expected<void, node_error> link_core::agree_on_families(const hello& theirs) {
  if (theirs.serializers.size() > families_max || theirs.deserializers.size() > families_max)
    return std::unexpected{node_error{node_errc::protocol_violation, "the peer lists more than 64 families"}};
  family_names peers{theirs.serializers, theirs.deserializers};
  if (!have_in_common(names_, peers))
    return std::unexpected{node_error{node_errc::nothing_in_common,
                                      nothing_in_common_text(node_->options().name, names_, theirs.name, peers)}};
  warnings_.say(log_level::debug, [&] {
    return cut(theirs.name) + " says that it sends with " + cut(bracketed(theirs.serializers)) + " and accepts "
           + cut(bracketed(theirs.deserializers));
  });
  const auto held = mutex_.lock();
  negotiation_.open(names_, std::move(peers));
  return {};
}

bool link_core::wants_to_share_store() const {
  return node_->store() && options_.share_store.value_or(stays_on_host(security_->kind));
}

/// Both must have opened the same store: the peer's nonce stands in it at the peer's slot, and the peer knows the
/// store's secret. Whoever was only told slot and nonce, on another link, does not.
bool link_core::agrees_on_store(const hello& theirs) const {
  if (!wants_to_share_store() || theirs.store_nonce == 0)
    return false;
  const auto& store = *node_->store();
  const auto proof =
      make_store_proof(store.secret(), other(role_), theirs.store_slot, theirs.store_nonce, handshake_->said_before);
  return theirs.store_number == store.number() && same_digest(proof, theirs.store_proof)
         && store.shares_with({theirs.store_slot, theirs.store_nonce});
}

std::expected<void, node_error> link_core::become_open() {
  if (auto counts = count_handles(); !counts)
    return counts;
  own_id_ = caf::to_string(node_->system().node());
  peer_id_ = caf::to_string(peer_node_);
  {
    const auto held = mutex_.lock();
    if (state_.load(std::memory_order_relaxed) != link_state::greeting)
      return std::unexpected{node_error{node_errc::link_down, "this end closed the link in the handshake"}};
    auto report = [weak = weak_from_this()] {
      if (auto link = weak.lock())
        asio::post(link->node_->io(), [weak] {
          if (auto alive = weak.lock(); alive && alive->is_open())
            alive->report_consumed();
        });
    };
    // What several actors are told of counts for each of them, and for the writer's window of the link once.
    const receive_bounds of_actors{
        .window = handle_windows_.window, .actor_window = handle_windows_.actor_window, .holds_link = false};
    receiving_handles_ = std::make_unique<receive_window>(of_actors, report, received_signatures_);
    receiving_ = std::make_unique<receive_window>(windows_, std::move(report), received_signatures_);
    understated_ = std::make_unique<understated_memory>(understated_windows * windows_.window);
    sending_terms first{.spill_bytes = options_.spill_bytes};
    first.context = {.sender = node_->options().name,
                     .recipient = peer_name_,
                     .sender_address = addresses_.near,
                     .recipient_address = addresses_.far,
                     .sender_node = own_id_,
                     .recipient_node = peer_id_,
                     .sender_incarnation = node_->exchange() ? node_->exchange()->self().incarnation : 0,
                     .recipient_incarnation = peer_handles_.incarnation,
                     .transport = name_of(security_->kind),
                     .same_host = stays_on_host(security_->kind) || shares_store_,
                     .shared_store = shares_store_,
                     .compression =
                         security_->kind == transport_kind::inproc ? compression::none : options_.compression,
                     .limits = options_.receive_limits,
                     .extension = nullptr,
                     .allow_cycles = options_.allow_cycles,
                     .types = &node_->types(),
                     .families = {},
                     .value_owner = nullptr};
    received_context_ = first.context;
    received_context_.families = accepted_.families;
    received_context_.circles = received_objects_->circles.get();
    std::swap(received_context_.sender, received_context_.recipient);
    std::swap(received_context_.sender_address, received_context_.recipient_address);
    std::swap(received_context_.sender_node, received_context_.recipient_node);
    std::swap(received_context_.sender_incarnation, received_context_.recipient_incarnation);
    first.context.limits.header_bytes = peer_header_bytes_;
    first.context.limits.frames = peer_frames_;
    terms_ = std::make_shared<const sending_terms>(std::move(first));
    renew_terms(held);
    if (!options_.verify_serialization && !peer_verifies_)
      values_ = connection_->values();
    enter(held, link_state::open);
  }
  handshake_timer_.reset();
  handshake_.reset();
  auto runner = import_helper(peer_runner_);
  auto spawner = runner ? import_helper(peer_spawner_) : runner;
  auto inspector = spawner ? import_helper(peer_inspector_) : spawner;
  if (!inspector)
    return std::unexpected{std::move(inspector).error()};
  {
    const auto held = mutex_.lock();
    if (is_open()) {
      task_runner_ = *std::move(runner);
      spawner_ = *std::move(spawner);
      inspector_ = *std::move(inspector);
    }
  }
  start_heartbeat();
  connection_->admit_packets(packet_body_bytes_max);
  node_->note_opened_link();
  warnings_.say(log_level::info, [&] {
    return "link to " + peer_name_ + " is open; sends " + bracketed(effective_serializers()) + ", accepts "
           + bracketed(accepted_.names) + (shares_store_ ? ", shares the store" : "");
  });
  say_whereabouts();
  settle_opening({});
  return {};
}

/// Null for the number 0.
std::expected<caf::strong_actor_ptr, node_error> link_core::import_helper(std::uint64_t number) {
  if (number == 0)
    return nullptr;
  return import_actor({actor_name::side::mine, number});
}

/// A peer that came, and has ended before the link was open. Who only closes again has perhaps looked whether somebody
/// listens.
void link_core::note_unfinished_handshake(const node_error& reason) {
  if (!handshake_ || !handshake_->refusals || std::exchange(handshake_->is_noted, true))
    return;
  node_->note_refused_peer();
  const auto is_telling = reason.code() != node_errc::link_down || security_->kind == transport_kind::tls;
  handshake_->refusals->note(is_telling ? log_level::warning : log_level::info,
                             "a peer has not finished the handshake: " + reason.message());
}

std::unexpected<node_error> link_core::refuse_peer(node_error reason) {
  node_->note_refused_peer();
  handshake_->is_noted = true;
  auto text = "a peer was refused in the handshake: " + reason.message();
  if (handshake_->refusals)
    handshake_->refusals->note(log_level::warning, text);
  else
    warnings_.warn(text);
  send_admin(admin_op::refuse, refuse{static_cast<std::uint8_t>(reason.code()), cut(reason.message())});
  return std::unexpected{std::move(reason)};
}

} // namespace troupe::internal
