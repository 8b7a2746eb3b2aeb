#include "peer.hpp"

#include <algorithm>
#include <utility>

#include <troupe/framework/internal/wire/message_extensions.hpp>

#include "decoding.hpp"

namespace fuzz {

using namespace troupe;
using namespace troupe::internal;

namespace {

constexpr element_limits any_element{
    .header_bytes_max = UINT32_MAX, .frames_max = UINT32_MAX, .actors_max = UINT32_MAX, .frame_bytes_max = UINT64_MAX};

/// Nonces need no randomness here.
digest nonce_of(char host) {
  digest nonce{};
  nonce.fill(static_cast<std::byte>(host));
  return nonce;
}

/// The token by which a peer is recognized, likewise derived from `host`.
byte_vector token_of(char host) {
  const auto part = node_key{nonce_of(host)}.public_part();
  return {part.begin(), part.end()};
}

/// The sum, or UINT64_MAX on overflow.
std::uint64_t sum_of(std::uint64_t one, std::uint64_t other) {
  return other < UINT64_MAX - one ? one + other : UINT64_MAX;
}

} // namespace

hello character::honest_hello(char host) {
  return {.version = protocol_version,
          .name = std::string{"peer "} + host,
          .token = token_of(host),
          .serializers = {"typed", "msgpack", "json"},
          .deserializers = {"typed", "msgpack", "json"},
          .message_bytes = 1 << 18,
          .window_bytes = 1 << 15,
          .actor_window_bytes = 1 << 13,
          .channel = 2,
          .exits = true,
          .link = 77,
          .introduction_key = byte_vector(32, std::byte{3}),
          .features = offered_features()};
}

peer::peer(home& at, const link_options& options, character self)
    : self_(std::move(self)),
      pipe_(std::make_shared<pipe>(at.node().io())),
      link_(at.start(options, other(self_.side), self_.secret, pipe_)),
      proofs_(self_.side, 1, std::string(40, self_.host), self_.secret, nonce_of(self_.host)),
      key_(nonce_of(self_.host)) {}

// -- writing

void peer::write(packet_kind kind, std::uint8_t detail, bytes_view body) {
  byte_vector packet;
  const auto head =
      packet_head_of({.body_bytes = static_cast<std::uint32_t>(body.size()), .kind = kind, .detail = detail});
  packet.insert(packet.end(), head.begin(), head.end());
  packet.insert(packet.end(), body.begin(), body.end());
  pipe_->feed(packet);
}

void peer::write_raw(bytes_view bytes) {
  is_lax_ = true;
  pipe_->feed(bytes);
}

void peer::give_credit(std::uint64_t actor, std::uint64_t bytes) {
  if (auto found = outstanding_.find(actor); found != outstanding_.end())
    found->second -= std::min(found->second, bytes);
  write_admin(admin_op::credit, credit{actor, bytes});
}

void peer::owe(const price& of) {
  sent_cost_ = sum_of(sent_cost_, of.bytes);
  sent_handle_bytes_ = sum_of(sent_handle_bytes_, of.handle_bytes);
}

// -- the handshake

void peer::say_preamble() {
  pipe_->feed(make_preamble());
}

void peer::say_greet(const greet& what) {
  say(admin_op::greet, what);
}

/// Returns false once the node has closed and all that it wrote has been read.
bool peer::wait_for_packet() {
  const auto has_packet = [this] {
    const auto more = pipe_->take_written();
    unread_.insert(unread_.end(), more.begin(), more.end());
    const auto begin = read_ + (preamble_has_come_ ? 0 : preamble_bytes);
    if (unread_.size() < begin + packet_head_bytes)
      return false;
    const auto head = read_packet_head(bytes_view{unread_}.subspan(begin).first<packet_head_bytes>());
    return unread_.size() >= begin + packet_head_bytes + head.body_bytes;
  };
  expect(pipe_->wait_until_closed(has_packet), "the node says nothing");
  return has_packet();
}

template <class Admin>
std::optional<Admin> peer::hear(admin_op due) {
  packet_head head{};
  byte_vector body;
  if (!wait_for_packet() || !take_packet(head, body))
    return std::nullopt;
  if (head.kind != packet_kind::admin || head.detail != static_cast<std::uint8_t>(due)) {
    on_packet(head, body);
    return std::nullopt;
  }
  note_word(other(self_.side), head, body);
  auto what = msgpack::decode_described<Admin>(body);
  expect(what.has_value(), "the node says what cannot be read");
  return *std::move(what);
}

void peer::overhear() {
  packet_head head{};
  byte_vector body;
  while (take_packet(head, body)) {
    note_word(other(self_.side), head, body);
    if (head.kind == packet_kind::admin && head.detail == static_cast<std::uint8_t>(admin_op::hello))
      if (auto greeting = msgpack::decode_described<hello>(body))
        theirs_ = *std::move(greeting);
    on_packet(head, body);
  }
}

/// The session is added after both greetings.
void peer::note_word(link_side from, const packet_head& head, bytes_view body) {
  proofs_.said.add_packet(from, head, body);
  if (static_cast<admin_op>(head.detail) == admin_op::greet && ++greetings_ == 2)
    proofs_.said.add_session({});
}

byte_vector peer::own_key_proof() const {
  const auto shared = key_.shared_with(theirs_.token);
  if (!shared)
    return {};
  const auto proof = make_proof(bytes_view{*shared}, self_.side, proof_of::node_key, proofs_.said);
  return {proof.begin(), proof.end()};
}

bool peer::shake_hands() {
  const auto dials = self_.side == link_side::dialer;
  say_preamble();
  if (dials)
    say_greet(own_greet());
  if (!hear<greet>(admin_op::greet))
    return false;
  if (!dials)
    say_greet(own_greet());
  if (proofs_.asks_for_secret()) {
    if (dials)
      say(admin_op::prove, prove{own_proof(proof_of::secret)});
    if (!hear<prove>(admin_op::prove))
      return false;
    if (!dials)
      say(admin_op::prove, prove{own_proof(proof_of::secret)});
  }
  if (dials)
    say(admin_op::hello, self_.greeting);
  auto theirs = hear<hello>(admin_op::hello);
  if (!theirs)
    return false;
  theirs_ = *std::move(theirs);
  if (!dials)
    say(admin_op::hello, self_.greeting);
  if (dials)
    say(admin_op::ready, ready{false, own_proof(proof_of::agreement), own_key_proof()});
  else if (!hear<ready>(admin_op::ready))
    return false;
  if (!dials)
    say(admin_op::opened, opened{own_proof(proof_of::agreement), own_key_proof()});
  else if (!hear<opened>(admin_op::opened))
    return false;
  for (const auto helper : {theirs_.tasks, theirs_.spawner})
    if (helper != 0)
      name(helper);
  for (const auto helper : {self_.greeting.tasks, self_.greeting.spawner})
    if (helper != 0)
      mention(helper);
  pipe_->wait_until_handled();
  return true;
}

// -- reading

bool peer::take_packet(packet_head& head, byte_vector& body) {
  const auto more = pipe_->take_written();
  unread_.insert(unread_.end(), more.begin(), more.end());
  auto left = bytes_view{unread_}.subspan(read_);
  if (!preamble_has_come_) {
    if (left.size() < preamble_bytes)
      return false;
    expect(std::ranges::equal(left.first(preamble_bytes), make_preamble()), "the node writes no preamble");
    preamble_has_come_ = true;
    read_ += preamble_bytes;
    left = left.subspan(preamble_bytes);
  }
  if (left.size() < packet_head_bytes)
    return false;
  head = read_packet_head(left.first<packet_head_bytes>());
  expect(head.reserved == 0 && head.body_bytes <= packet_body_bytes_max, "the node writes a packet too large");
  if (left.size() < packet_head_bytes + head.body_bytes)
    return false;
  const auto bytes = left.subspan(packet_head_bytes, head.body_bytes);
  body.assign(bytes.begin(), bytes.end());
  read_ += packet_head_bytes + head.body_bytes;
  if (read_ == unread_.size()) {
    unread_.clear();
    read_ = 0;
  }
  return true;
}

void peer::listen() {
  packet_head head{};
  byte_vector body;
  while (take_packet(head, body))
    on_packet(head, body);
}

void peer::expect_alive() {
  const auto before = pongs_;
  write_admin(admin_op::ping, ping{});
  const auto answered = pipe_->wait_until_closed([this, before] {
    listen();
    return pongs_ > before;
  });
  expect(answered, "the node does not answer");
  listen();
}

void peer::on_packet(const packet_head& head, bytes_view body) {
  switch (head.kind) {
  case packet_kind::admin:
    return on_admin(static_cast<admin_op>(head.detail), body);
  case packet_kind::message:
    return on_message(head.detail, body);
  case packet_kind::chunk:
    return on_chunk(head.detail, body);
  case packet_kind::signature: {
    const auto definition = read_signature(body);
    expect(definition && definition->number == signatures_.size(), "the node defines a signature wrongly");
    signatures_.push_back(definition->aliases.size());
    return;
  }
  case packet_kind::header: {
    const auto definition = read_header(body);
    expect(definition && definition->number == ++headers_, "the node defines a header wrongly");
    expect(parse_header(definition->header).has_value(), "the node defines a header that cannot be read");
    return;
  }
  default:
    expect(false, "the node writes a packet of no kind");
  }
}

void peer::on_admin(admin_op op, bytes_view body) {
  const auto with = [&]<class Admin>(auto handle) {
    const auto what = msgpack::decode_described<Admin>(body);
    expect(what.has_value(), "the node says what cannot be read", std::to_string(static_cast<int>(op)));
    handle(*what);
  };
  const auto is_mentioned = [this](std::uint64_t number) { return is_lax_ || mentioned_.contains(number); };
  switch (op) {
  case admin_op::find:
    return with.operator()<find_query>([this](const auto& what) { queries_.push_back(what.query); });
  case admin_op::found:
    return with.operator()<found>([&](const auto& what) {
      expect(!what.readers || is_mentioned(what.actor), "the node has found an actor that it does not know");
      if (what.actor != 0 && !what.readers)
        name(what.actor);
    });
  case admin_op::monitor:
  case admin_op::demonitor:
    return with.operator()<monitor>(
        [&](const auto& what) { expect(is_mentioned(what.actor), "the node monitors what it was never given"); });
  case admin_op::release_actor:
    return with.operator()<release_actor>([&](const auto& what) {
      expect(what.count > 0, "the node releases nothing");
      if (is_lax_)
        return;
      expect(mentioned_[what.actor] >= what.count, "the node releases more than it was given",
             std::to_string(what.actor));
      if ((mentioned_[what.actor] -= what.count) == 0)
        mentioned_.erase(what.actor);
    });
  case admin_op::credit:
    return with.operator()<credit>([this](const auto& what) {
      expect(is_lax_ || what.bytes <= sent_cost_, "the node has consumed more than it was sent");
      expect(is_lax_ || what.handle_bytes <= sent_handle_bytes_, "the node has consumed more handles than it was sent");
      sent_cost_ -= std::min(sent_cost_, what.bytes);
      sent_handle_bytes_ -= std::min(sent_handle_bytes_, what.handle_bytes);
    });
  case admin_op::introduce:
    return with.operator()<introduce>([this](const auto& what) {
      expect(actor_exports::is_foreign(what.number) && what.hops > 0 && introduced_.insert(what.number).second,
             "the node introduces an actor wrongly");
    });
  case admin_op::withdraw:
    return with.operator()<withdraw>([this](const auto& what) {
      expect(introduced_.erase(what.number) == 1, "the node withdraws what it has not introduced");
    });
  case admin_op::reconfigure:
    return with.operator()<family_change>([this](const auto& what) { change_ = what.number; });
  case admin_op::pong:
    ++pongs_;
    return;
  case admin_op::refuse:
    return with.operator()<refuse>([this](const auto& what) { farewell_ = "refused: " + what.reason; });
  case admin_op::goodbye:
    return with.operator()<goodbye>([this](const auto& what) { farewell_ = what.reason; });
  default:
    return;
  }
}

void peer::on_message(std::uint8_t flags, bytes_view body) {
  packet_reader in{body};
  const auto head = read_message_head(in, flags);
  expect(in.ok() && head.signature < signatures_.size(), "the node writes a message that cannot be read");
  expect(is_lax_ || mentioned_.contains(head.receiver), "the node sends to an actor that it does not know",
         std::to_string(head.receiver));
  const auto is_answer = (flags & message_flags::response) != 0;
  if (head.sender != 0 && (flags & message_flags::returned) == 0)
    name(head.sender);
  if ((flags & message_flags::request) != 0)
    questions_.push_back({head.receiver, head.sender, head.request_number});
  std::uint64_t cost = body.size() + message_cost_bytes;
  for (std::size_t i = 0; i < signatures_[head.signature]; ++i)
    cost += read_element(in);
  expect(in.finished(), "the node writes a message that is too long");
  if (is_answer) {
    ++answers_;
    return;
  }
  std::uint64_t all = 0;
  for (const auto& [actor, bytes] : outstanding_)
    all += bytes;
  auto& of_actor = outstanding_[head.receiver];
  expect(all < self_.greeting.window_bytes && of_actor < self_.greeting.actor_window_bytes,
         "the node sends without credit", std::to_string(of_actor) + " of " + std::to_string(all));
  of_actor += std::max(cost, value_bytes_of(head.extensions));
}

/// Returns the cost of the element besides its packet.
std::uint64_t peer::read_element(packet_reader& in) {
  element_descriptor element;
  internal::read_element(in, element, any_element);
  expect(in.ok() && element.header_number <= headers_, "the node writes an element that cannot be read");
  std::uint64_t cost = 0;
  for (const auto& frame : element.frames) {
    expect(frame.place != frame_place::stored, "the node names an object of a store that is not shared");
    if (frame.place == frame_place::inline_) {
      static_cast<void>(in.take(frame.size_bytes));
      continue;
    }
    const auto come = transfers_.extract(frame.transfer);
    expect(!come.empty() && come.mapped() == std::pair{frame.size_bytes, frame.size_bytes},
           "the node names a transfer that has not come");
    cost += frame.size_bytes;
  }
  for (const auto& actor : element.actors) {
    expect(!actor.readers || is_lax_ || mentioned_.contains(actor.number), "the node mentions what it does not know");
    if (actor.readers)
      continue;
    name(actor.number);
    cost += mention_cost_bytes;
  }
  return cost;
}

void peer::on_chunk(std::uint8_t flags, bytes_view body) {
  packet_reader in{body};
  const auto first = (flags & chunk_flags::first) != 0;
  const auto head = read_chunk_head(in, first);
  expect(in.ok() && transfers_.contains(head.transfer) != first, "the node writes a chunk of no transfer");
  auto& [come, all] = transfers_[head.transfer];
  if (first)
    all = head.total_bytes;
  come += in.rest().size();
  expect(come <= all, "the node writes too many chunks");
}

void peer::name(std::uint64_t actor) {
  expect(!actor_exports::is_foreign(actor) || introduced_.contains(actor), "the node names whom it has not introduced");
  ++named_[actor];
  if (std::ranges::find(actors_, actor) == actors_.end())
    actors_.push_back(actor);
}

std::uint64_t peer::times_named(std::uint64_t actor) const {
  const auto found = named_.find(actor);
  return found == named_.end() ? 0 : found->second;
}

std::weak_ptr<link_core> peer::let_go() {
  std::weak_ptr<link_core> weak = link_;
  link_.reset();
  return weak;
}

} // namespace fuzz
