#include <algorithm>
#include <array>
#include <bit>
#include <string>
#include <utility>

#include <troupe/base/sizes.hpp>
#include <troupe/base/version.hpp>
#include <troupe/framework/internal/caf_port/node_ids.hpp>
#include <troupe/framework/internal/link/family_lists.hpp>
#include <troupe/framework/internal/link/handshake.hpp>
#include <troupe/framework/internal/wire/handle_wire.hpp>
#include <troupe/framework/internal/words/failing.hpp>
#include <troupe/framework/internal/words/text.hpp>

namespace troupe::internal {

namespace {

/// The limits for decoding packets of a peer that has proven nothing.
constexpr limits unproven_limits{.header_bytes = unproven_body_bytes_max,
                                 .frames = 0,
                                 .body_bytes = unproven_body_bytes_max,
                                 .frame_bytes = 0,
                                 .text_bytes = unproven_body_bytes_max,
                                 .elements = unproven_body_bytes_max,
                                 .depth = 8,
                                 .memory_bytes = 4 * unproven_body_bytes_max};

/// The longest text that a peer may state as its version of Troupe.
constexpr std::size_t version_bytes_max = 64;

authentication proofs_of(const own_end& mine) {
  const auto [process, host] = text_of(mine.node);
  std::vector<std::string> secrets;
  for (const auto& each : mine.secrets)
    secrets.push_back(each.secret);
  return {mine.side, process, host, std::move(secrets), random_digest()};
}

} // namespace

handshake::handshake(own_end mine, const link_options& options, handshake_host& host, limited_log& log)
    : mine_(std::move(mine)), options_(options), host_(host), log_(log), proofs_(proofs_of(mine_)) {
  terms_.side = mine_.side;
  terms_.own_id = caf::to_string(mine_.node);
}

void handshake::begin() {
  if (mine_.side != link_side::dialer)
    return;
  terms_.channel = random_number() & ~std::uint64_t{1};
  say(admin_op::greet, my_greet());
}

std::optional<agreed_terms> handshake::take_terms() {
  if (step_ != step::over)
    return std::nullopt;
  return std::move(terms_);
}

// -- sending and receiving

/// Sends an admin message and adds it to what the proofs cover.
template <class Admin>
void handshake::say(admin_op op, const Admin& what) {
  const auto body = encode_admin(what);
  const packet_head head{.body_bytes = static_cast<std::uint32_t>(body.size()),
                         .kind = packet_kind::admin,
                         .detail = static_cast<std::uint8_t>(op)};
  proofs_.said.add_packet(mine_.side, head, body);
  host_.write(head, body);
}

std::expected<void, node_error> handshake::on_packet(const packet_head& head, bytes_view body) {
  if (is_let_in() && head.detail >= first_skippable_number) {
    proofs_.said.add_packet(other(mine_.side), head, body);
    return {};
  }
  switch (step_) {
  case step::greet:
    return hear(admin_op::greet, head, body, unproven_limits, &handshake::on_greet);
  case step::prove:
    return hear(admin_op::prove, head, body, unproven_limits, &handshake::on_prove);
  case step::hello:
    return hear(admin_op::hello, head, body, options_.receive_limits, &handshake::on_hello);
  case step::agreement:
  case step::over:
    break;
  }
  return mine_.side == link_side::acceptor
             ? hear(admin_op::ready, head, body, options_.receive_limits, &handshake::on_ready)
             : hear(admin_op::opened, head, body, options_.receive_limits, &handshake::on_opened);
}

/// Reads the one admin message that is due and adds it to what the proofs cover.
template <class Admin>
std::expected<void, node_error> handshake::hear(admin_op due, const packet_head& head, bytes_view body,
                                                const limits& bounds,
                                                std::expected<void, node_error> (handshake::*handle)(const Admin&)) {
  if (head.detail != static_cast<std::uint8_t>(due))
    return violation("admin message " + std::to_string(head.detail) + " is out of place in the handshake");
  const auto what = decode_admin<Admin>(body, bounds);
  if (!what)
    return violation("admin message " + std::to_string(head.detail)
                     + " of the handshake cannot be read: " + what.error().message());
  said_before_ = proofs_.said;
  proofs_.said.add_packet(other(mine_.side), head, body);
  return (this->*handle)(*what);
}

node_error handshake::read_refusal(bytes_view body) const {
  const auto theirs = decode_admin<refuse>(body, unproven_limits);
  const auto reason = one_line(theirs ? theirs->reason : theirs.error().message(), quoted_bytes_max);
  // The refusal of an unproven peer never counts as final.
  const auto code = is_let_in() && theirs && theirs->code == static_cast<std::uint8_t>(node_errc::nothing_in_common)
                        ? node_errc::nothing_in_common
                        : node_errc::refused;
  return {code, "the peer refused: " + reason};
}

/// An unproven peer may say anything here, so the text is bounded and marked as the peer's words.
node_error handshake::read_goodbye(bytes_view body) {
  const auto theirs = decode_admin<goodbye>(body, unproven_limits);
  const auto reason = theirs && !theirs->reason.empty() ? ": " + one_line(theirs->reason, quoted_bytes_max) : "";
  return {node_errc::link_down, "the peer closed the link in the handshake" + reason};
}

// -- the identity of the peer

greet handshake::my_greet() const {
  auto result = proofs_.my_greet();
  if (const auto* ends = host_.loopback())
    result.connection = ends->sum(mine_.side);
  return result;
}

/// Fails if another user may stand in between. Over plain TCP within a host, any user could relay the bytes.
std::expected<void, node_error> handshake::check_nobody_between() const {
  const auto* ends = host_.loopback();
  if (ends == nullptr)
    return {};
  // The peer's sum is part of the transcript that is proven. So a relay cannot change it to what this end sees.
  const auto sum = ends->sum(mine_.side);
  if (!sum.empty() && same_digest(sum, theirs_.connection))
    return {};
  return check_forwarder(*ends);
}

std::expected<void, node_error> handshake::on_greet(const greet& theirs) {
  if (auto good = proofs_.check(theirs); !good)
    return good;
  terms_.peer.node = read_node_id(theirs.process, theirs.host);
  if (!terms_.peer.node)
    return violation("the greeting holds no node id");
  terms_.peer.id = caf::to_string(terms_.peer.node);
  theirs_ = theirs;
  if (mine_.side == link_side::acceptor)
    say(admin_op::greet, my_greet());
  proofs_.said.add_session(host_.session_key());
  if (!proofs_.asks_for_secret()) {
    if (auto given = give_role(); !given)
      return given;
    let_peer_in();
    return {};
  }
  step_ = step::prove;
  if (mine_.side == link_side::acceptor)
    return {};
  // The listener may be anybody, and must not get a proof that it could pass on.
  if (auto alone = check_nobody_between(); !alone)
    return alone;
  say(admin_op::prove, prove{proofs_.my_proof(proof_of::secret)});
  return {};
}

std::expected<void, node_error> handshake::on_prove(const prove& theirs) {
  if (auto proven = find_proven_secret(theirs.proof); !proven)
    return proven;
  // A peer with the cookie is this user, so its socket has to be this user's. A peer with a given secret may be another
  // user, so its socket is not checked.
  if (mine_.side == link_side::acceptor && mine_.is_cookie)
    if (auto alone = check_nobody_between(); !alone)
      return alone;
  if (auto given = give_role(); !given)
    return given;
  if (mine_.side == link_side::acceptor)
    say(admin_op::prove, prove{proofs_.my_proof(proof_of::secret)});
  let_peer_in();
  return {};
}

/// The dialer has proven one of the acceptor's secrets, and the acceptor proves the same one.
std::expected<void, node_error> handshake::find_proven_secret(bytes_view proof) {
  const auto wrong = [] {
    return fail(node_errc::refused,
                "the two ends do not have the same shared secret; give both the same (credentials.secret, secret_file "
                "or cookie_file)");
  };
  if (mine_.side == link_side::dialer)
    return proofs_.peer_proves(proof_of::secret, proof, said_before_) ? std::expected<void, node_error>{} : wrong();
  const auto which = proofs_.find_proven(proof, said_before_);
  if (!which)
    return wrong();
  role_of_secret_ = mine_.secrets[*which].role;
  return {};
}

/// Decides what the peer may do. A dialer has chosen its peer, so its options have no roles.
std::expected<void, node_error> handshake::give_role() {
  const peer_role* role = nullptr;
  if (mine_.side == link_side::acceptor && !options_.roles.empty()) {
    auto found = role_of({.is_same_user = mine_.is_local || mine_.is_cookie,
                          .role_of_secret = role_of_secret_,
                          .certificate_names = host_.certificate_names()},
                         options_.roles);
    if (!found)
      return std::unexpected{std::move(found).error()};
    role = *found;
  }
  terms_.role = role != nullptr ? role->name : std::string{};
  terms_.rights = rights_of(options_, role);
  return {};
}

/// From here on the peer learns names, and may send larger packets.
void handshake::let_peer_in() {
  step_ = step::hello;
  host_.admit_packets(greeting_body_bytes_max);
  host_.peer_is_proven();
  terms_.handle_windows = host_.handle_windows();
  if (mine_.side == link_side::dialer)
    send_hello();
}

// -- the hellos

void handshake::send_hello() {
  const auto helpers = host_.export_helpers(terms_.role, terms_.rights);
  hello mine{.version = protocol_version,
             .name = mine_.name,
             .token = {mine_.key.public_part().begin(), mine_.key.public_part().end()},
             .serializers = mine_.families.serializers,
             .deserializers = mine_.families.deserializers,
             .message_bytes = options_.message_bytes,
             .window_bytes = options_.window_bytes,
             .actor_window_bytes = options_.actor_window_bytes,
             .channel = terms_.channel,
             .shares_store = terms_.shares_store, // The acceptor has received the dialer's hello by now.
             .tasks = helpers.runner,
             .verifies = options_.verify_serialization,
             .spawner = helpers.spawner,
             .exits = terms_.rights.exits,
             .link = mine_.serial,
             .introduction_key = {mine_.introduction_key.begin(), mine_.introduction_key.end()},
             .header_bytes = options_.receive_limits.header_bytes,
             .frames = options_.receive_limits.frames,
             .incarnation = mine_.incarnation,
             .inspector = helpers.inspector,
             .features = offered_features(),
             .handle_window_bytes = terms_.handle_windows.window, // The acceptor has agreed on its windows by now.
             .actor_handle_window_bytes = terms_.handle_windows.actor_window,
             .minor = protocol_minor_version,
             .troupe = TROUPE_VERSION,
             .role = terms_.role};
  if (mine_.store) {
    const auto process = mine_.store->self();
    mine.store_number = mine_.store->number();
    mine.store_slot = process.slot;
    mine.store_nonce = process.nonce;
    const auto proof = make_store_proof(mine_.store->secret(), mine_.side, process.slot, process.nonce, proofs_.said);
    mine.store_proof = {proof.begin(), proof.end()};
  }
  say(admin_op::hello, mine);
}

std::expected<void, node_error> handshake::on_hello(const hello& theirs) {
  if (theirs.name.size() > alias_bytes_max)
    return violation("the peer's name is longer than 1,024 bytes");
  if (theirs.troupe.size() > version_bytes_max)
    return violation("the peer states a version of Troupe of " + grouped(theirs.troupe.size()) + " bytes, limit "
                     + grouped(version_bytes_max));
  const auto features = feature_set::agree(theirs.features);
  if (!features)
    return violation(features.error());
  terms_.features = *features;
  if (auto known = know_peer(theirs); !known)
    return known;
  note_peer(theirs);
  if (auto agreed = agree_on_windows(theirs); !agreed)
    return agreed;
  if (auto agreed = agree_on_families(theirs); !agreed)
    return agreed;
  step_ = step::agreement;
  if (mine_.side == link_side::acceptor) {
    terms_.channel = theirs.channel & ~std::uint64_t{1};
    terms_.shares_store = agrees_on_store(theirs);
    send_hello();
    return {};
  }
  terms_.shares_store = theirs.shares_store && agrees_on_store(theirs);
  say(admin_op::ready,
      ready{terms_.shares_store, proofs_.my_proof(proof_of::agreement), key_proof(mine_.side, proofs_.said)});
  return {};
}

std::expected<void, node_error> handshake::know_peer(const hello& theirs) {
  // A peer that proves its key is never taken for a peer that only states the public part.
  const auto has_key = terms_.features.has(feature::node_key);
  terms_.peer.token = theirs.token;
  terms_.peer.token.push_back(static_cast<std::byte>(has_key));
  if (theirs.token.size() != sizeof(digest) || !host_.know_peer(terms_.peer.node, terms_.peer.token))
    return fail(node_errc::refused,
                "the peer uses the id of a node that is linked already, without proof that it is that node");
  if (has_key && !(shared_key_ = mine_.key.shared_with(theirs.token)))
    return fail(node_errc::refused, "the peer's token is not a public key");
  if (const auto& wanted = *options_.peer_identity; !wanted.empty() && !(has_key && hex(theirs.token) == wanted))
    return fail(node_errc::another_peer, "the node " + cut(theirs.name) + " has the identity "
                                             + (has_key ? hex(theirs.token) : "of a version that proves none")
                                             + ", but this link is for " + cut(wanted)
                                             + " (link_options::peer_identity)");
  return {};
}

void handshake::note_peer(const hello& theirs) {
  auto& peer = terms_.peer;
  peer.name = theirs.name;
  peer.version = {.troupe = theirs.troupe, .protocol = protocol_version, .protocol_minor = theirs.minor};
  peer.features = theirs.features;
  peer.runner = theirs.tasks;
  peer.spawner = theirs.spawner;
  peer.inspector = theirs.inspector;
  peer.role_of_reader = theirs.role.substr(0, role_name_bytes_max);
  peer.takes_exits = theirs.exits;
  peer.verifies = theirs.verifies;
  peer.link = theirs.link;
  peer.introduction_key = theirs.introduction_key;
  peer.message_bytes = theirs.message_bytes;
  peer.header_bytes = theirs.header_bytes;
  peer.frames = theirs.frames;
  peer.handles = {handle_number_of(peer.node), theirs.incarnation};
  peer.process = {theirs.store_slot, theirs.store_nonce};
  terms_.counts_handles = mine_.incarnation != 0 && theirs.incarnation != 0;
}

/// Neither end has to keep more for the other, outgoing or incoming, than its own options say.
std::expected<void, node_error> handshake::agree_on_windows(const hello& theirs) {
  if (theirs.window_bytes == 0 || theirs.actor_window_bytes == 0 || theirs.handle_window_bytes == 0
      || theirs.actor_handle_window_bytes == 0)
    return violation("the peer takes no messages: one of its windows has 0 bytes");
  terms_.windows = {.window = std::min<std::uint64_t>(theirs.window_bytes, options_.window_bytes),
                    .actor_window = std::min<std::uint64_t>(theirs.actor_window_bytes, options_.actor_window_bytes)};
  auto& behind = terms_.handle_windows;
  behind = !terms_.features.has(feature::handle_windows)
               ? receive_bounds{UINT64_MAX, UINT64_MAX}
               : receive_bounds{.window = std::min(theirs.handle_window_bytes, behind.window),
                                .actor_window = std::min(theirs.actor_handle_window_bytes, behind.actor_window)};
  return {};
}

std::expected<void, node_error> handshake::agree_on_families(const hello& theirs) {
  if (theirs.serializers.size() > families_max || theirs.deserializers.size() > families_max)
    return violation("the peer lists more than 64 families");
  terms_.peer.families = {theirs.serializers, theirs.deserializers};
  if (!have_in_common(mine_.families, terms_.peer.families))
    return fail(node_errc::nothing_in_common,
                nothing_in_common_text(mine_.name, mine_.families, theirs.name, terms_.peer.families));
  log_.say(log_level::debug, [&] {
    return cut(theirs.name) + " says that it sends with " + cut(bracketed(theirs.serializers)) + " and accepts "
           + cut(bracketed(theirs.deserializers));
  });
  return {};
}

/// Returns true if both have opened the same store: the peer's nonce is in it at the peer's slot, and the peer knows
/// the store's secret. A peer that only learned slot and nonce on another link does not know the secret.
bool handshake::agrees_on_store(const hello& theirs) const {
  if (!mine_.store || theirs.store_nonce == 0)
    return false;
  const auto& store = *mine_.store;
  const auto proof =
      make_store_proof(store.secret(), other(mine_.side), theirs.store_slot, theirs.store_nonce, said_before_);
  return theirs.store_number == store.number() && same_digest(proof, theirs.store_proof)
         && store.shares_with({theirs.store_slot, theirs.store_nonce});
}

// -- whether both ends have seen the same handshake

/// Returns an empty proof if the two ends have no shared key.
byte_vector handshake::key_proof(link_side by, const transcript& seen) const {
  if (!shared_key_)
    return {};
  const auto proof = make_proof(bytes_view{*shared_key_}, by, proof_of::node_key, seen);
  return {proof.begin(), proof.end()};
}

std::expected<void, node_error> handshake::check_agreement(bytes_view proof, bytes_view proof_of_key) const {
  if (!proofs_.peer_proves(proof_of::agreement, proof, said_before_))
    return fail(node_errc::refused, "the handshake was changed in transit: the two ends did not see the same one");
  if (shared_key_ && !same_digest(key_proof(other(mine_.side), said_before_), proof_of_key))
    return fail(node_errc::refused,
                "the peer does not have the private key of its public key: it claims the id of another node");
  return {};
}

std::expected<void, node_error> handshake::on_ready(const ready& theirs) {
  if (auto same = check_agreement(theirs.proof, theirs.key_proof); !same)
    return same;
  terms_.shares_store = terms_.shares_store && theirs.shares_store;
  terms_.link_id = link_id_of(proofs_.said);
  say(admin_op::opened, opened{proofs_.my_proof(proof_of::agreement), key_proof(mine_.side, proofs_.said)});
  step_ = step::over;
  return {};
}

std::expected<void, node_error> handshake::on_opened(const opened& theirs) {
  if (auto same = check_agreement(theirs.proof, theirs.key_proof); !same)
    return same;
  terms_.link_id = link_id_of(said_before_);
  step_ = step::over;
  return {};
}

} // namespace troupe::internal
