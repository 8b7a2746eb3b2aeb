// Objects in messages: how they are mentioned, and what the two nodes say about handles beside that. The protocol:
// framework/handle-protocol.md.
#include <array>
#include <string>
#include <utility>

#include <troupe/base/sizes.hpp>
#include <troupe/framework/internal/caf_port/node_ids.hpp>
#include <troupe/framework/internal/link/link_core.hpp>
#include <troupe/framework/internal/link/link_host.hpp>
#include <troupe/framework/internal/objects/exchanged_object.hpp>
#include <troupe/framework/internal/objects/lost_object.hpp>
#include <troupe/framework/internal/objects/stored_object.hpp>
#include <troupe/framework/internal/wire/handle_wire.hpp>
#include <troupe/framework/internal/words/failing.hpp>
#include <troupe/framework/object_ref.hpp>

namespace troupe::internal {

namespace {

// What stands in one packet of descriptions.
constexpr std::size_t mentions_bytes_max = packet_body_bytes_max - object_mention_bytes_max;

} // namespace

// -- the link's life

std::expected<void, node_error> link_core::count_handles() {
  const auto& exchange = node_->exchange();
  if (!agreed().counts_handles)
    return {};
  is_up_in_exchange_ = exchange->link_up(shared_from_this(), agreed().channel, agreed().peer.handles,
                                         agreed().peer.token, shared_channel());
  if (!is_up_in_exchange_)
    return violation("the peer has given this link the number of another");
  return {};
}

std::optional<exchange_channel> link_core::shared_channel() const {
  if (!agreed().shares_store)
    return std::nullopt;
  return exchange_channel{agreed().peer.process, agreed().send_channel(), agreed().receive_channel()};
}

void link_core::end_for_handles(const node_error& why) {
  connection_->close(why, std::chrono::milliseconds{0});
}

// -- out

void link_core::write_handles() {
  auto held = mutex_.lock();
  auto* out = is_open() ? connection_->open_outbox(held) : nullptr;
  if (out == nullptr)
    return;
  append_handle_messages(held, *out);
  if (node_->exchange()->has_piece(agreed().channel))
    connection_->write_refills(held);
  connection_->flush(held);
}

void link_core::append_handle_messages(const link_held& held, outbox& out) {
  for (const auto& each : node_->exchange()->take_messages(agreed().channel)) {
    if (const auto* head = std::get_if<handles::pull_head>(&each))
      whereabouts_.append(held, head->captured, out);
    else if (const auto* answer = std::get_if<handles::adopted>(&each))
      whereabouts_.append(held, {&answer->handle, 1}, out);
    const auto packet = encode_handle_message(each);
    out.append_packet(packet_kind::admin, static_cast<std::uint8_t>(packet.op), packet.body);
  }
}

/// Counts the objects of the message that comes next.
void link_core::append_mentions(const link_held& held, std::span<const outgoing_mention> mentions, outbox& out) {
  if (mentions.empty())
    return;
  std::vector<std::shared_ptr<exchanged_object>> objects;
  for (const auto& each : mentions)
    if (each.counted)
      objects.push_back(each.counted);
  std::vector<object_mention> counted;
  if (!objects.empty()) {
    append_handle_messages(held, out);
    counted = node_->exchange()->count_out(agreed().channel, objects);
    for (const auto& each : counted)
      whereabouts_.append(held, {&each.handle, 1}, out);
  }
  auto next = counted.begin();
  byte_vector body;
  for (const auto& each : mentions) {
    if (each.counted) {
      next->is_repeated = each.is_repeated;
      append_object_mention(body, *next++);
    } else {
      object_mention stored{.what = each.is_lost ? object_mention::kind::lost : object_mention::kind::stored,
                            .handle = {}};
      stored.handle.name = each.stored;
      stored.handle.size_bytes = each.size_bytes;
      stored.is_repeated = each.is_repeated;
      append_object_mention(body, stored);
    }
    if (body.size() > mentions_bytes_max) {
      out.append_packet(packet_kind::handles, 0, body);
      body.clear();
    }
  }
  if (!body.empty())
    out.append_packet(packet_kind::handles, 0, body);
}

bool link_core::append_piece(const link_held&, outbox& out) {
  if (!agreed().counts_handles)
    return false;
  auto piece = node_->exchange()->next_piece(agreed().channel);
  if (!piece)
    return false;
  add_alone(counters_.pulled_bytes_sent, piece->bytes.size_bytes());
  out.append_packet(packet_kind::object_chunk, 0, piece->start, std::move(piece->bytes));
  return true;
}

// -- in

/// They are received whatever becomes of their message.
std::expected<std::vector<object_source_ptr>, node_error>
link_core::receive_objects(const std::vector<object_mention>& described) {
  std::vector<object_source_ptr> sources(described.size());
  if (agreed().counts_handles) {
    auto received = node_->exchange()->receive(agreed().channel, described);
    if (!received)
      return std::unexpected{std::move(received).error()};
    sources = *std::move(received);
  }
  for (std::size_t i = 0; i < described.size(); ++i) {
    const auto& handle = described[i].handle;
    if (described[i].what == object_mention::kind::counted && !sources[i])
      return violation("a handle comes over a link that counts none");
    if (described[i].what == object_mention::kind::lost) {
      sources[i] = std::make_shared<lost_object>(handle.size_bytes);
    } else if (described[i].what == object_mention::kind::stored) {
      if (!agreed().shares_store || handle.name.store != node_->store()->number())
        return violation("an object lies in a store that this link does not share");
      auto imported = store_desk_.adopt(handle.name);
      if (!imported && imported.error().code() == node_errc::protocol_violation)
        return std::unexpected{std::move(imported).error()};
      if (!imported) {
        sources[i] = std::make_shared<lost_object>(handle.size_bytes);
        continue;
      }
      const auto object = (*imported)->object();
      counters_.handle_bytes_received.fetch_add(object.size_bytes(), std::memory_order_relaxed);
      sources[i] = std::make_shared<stored_object>(object, *std::move(imported));
    }
  }
  return sources;
}

std::expected<void, node_error> link_core::on_object_chunk(bytes_view body) {
  if (!is_up_in_exchange_)
    return violation("bytes of an object come over a link that counts no handles");
  packet_reader in{body};
  const auto head = read_object_chunk_head(in);
  if (!in.ok())
    return violation("a chunk of an object cannot be read");
  add_alone(counters_.pulled_bytes_received, head.what.size_bytes);
  return node_->exchange()->on_chunk(agreed().channel, head, in.rest());
}

std::expected<void, node_error> link_core::on_handle_message(admin_op op, bytes_view body) {
  if (!is_up_in_exchange_)
    return violation("a message about handles comes over a link that counts none");
  const auto what = decode_handle_message(op, body, options_.receive_limits);
  if (!what)
    return std::unexpected{what.error()};
  return node_->exchange()->on_message(agreed().channel, *what);
}

} // namespace troupe::internal
