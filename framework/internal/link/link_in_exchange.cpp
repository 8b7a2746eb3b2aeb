#include <troupe/framework/internal/link/link_in_exchange.hpp>

#include <chrono>
#include <cstddef>
#include <variant>

#include <troupe/framework/internal/link/link_common.hpp>
#include <troupe/framework/internal/link/traffic.hpp>
#include <troupe/framework/internal/link/whereabouts_teller.hpp>
#include <troupe/framework/internal/net/connection.hpp>
#include <troupe/framework/internal/wire/handle_wire.hpp>
#include <troupe/framework/internal/words/failing.hpp>

namespace troupe::internal {

std::expected<void, node_error> link_in_exchange::join(const std::shared_ptr<const void>& link, connection& over) {
  over_ = &over;
  const auto& agreed = of_.link.agreed();
  if (!agreed.counts_handles)
    return {};
  std::optional<exchange_channel> shared;
  if (agreed.shares_store)
    shared.emplace(agreed.peer.process, agreed.send_channel(), agreed.receive_channel());
  membership_ = exchange_membership::join(of_.exchange, std::shared_ptr<counted_link>{link, this}, agreed.channel,
                                          agreed.peer.handles, agreed.peer.token, shared);
  if (!membership_)
    return violation("the peer has given this link the number of another");
  return {};
}

const std::string& link_in_exchange::peer_name() const noexcept {
  return of_.link.peer_name();
}

bool link_in_exchange::is_used(const link_held&) const {
  return of_.link.agreed().counts_handles && of_.exchange->is_used(of_.link.agreed().channel);
}

void link_in_exchange::end_for_handles(const node_error& why) {
  over_->close(why, std::chrono::milliseconds{0});
}

// -- outgoing

void link_in_exchange::write_handles() {
  auto held = of_.link.mutex.lock();
  auto* out = of_.link.is_open() ? over_->open_outbox(held) : nullptr;
  if (out == nullptr)
    return;
  append_messages(held, *out);
  if (of_.exchange->has_piece(of_.link.agreed().channel))
    over_->write_refills(held);
  over_->flush(held);
}

void link_in_exchange::append_messages(const link_held& held, outbox& out) {
  for (const auto& each : of_.exchange->take_messages(of_.link.agreed().channel)) {
    if (const auto* head = std::get_if<handles::pull_head>(&each))
      of_.whereabouts.append(held, head->captured, out);
    else if (const auto* answer = std::get_if<handles::adopted>(&each))
      of_.whereabouts.append(held, {&answer->handle, 1}, out);
    const auto packet = encode_handle_message(each);
    out.append_packet(packet_kind::admin, static_cast<std::uint8_t>(packet.op), packet.body);
  }
}

std::vector<object_mention> link_in_exchange::count_out(const link_held& held,
                                                        std::span<const std::shared_ptr<exchanged_object>> objects,
                                                        outbox& out) {
  append_messages(held, out);
  auto counted = of_.exchange->count_out(of_.link.agreed().channel, objects);
  for (const auto& each : counted)
    of_.whereabouts.append(held, {&each.handle, 1}, out);
  return counted;
}

bool link_in_exchange::append_piece(const link_held&, outbox& out) {
  if (!membership_)
    return false;
  auto piece = of_.exchange->next_piece(of_.link.agreed().channel);
  if (!piece)
    return false;
  add_alone(of_.bytes_sent, piece->bytes.size_bytes());
  out.append_packet(packet_kind::object_chunk, 0, piece->start, std::move(piece->bytes));
  return true;
}

// -- incoming

std::expected<std::vector<object_source_ptr>, node_error>
link_in_exchange::receive(const std::vector<object_mention>& described) {
  if (!of_.link.agreed().counts_handles)
    return std::vector<object_source_ptr>(described.size());
  return of_.exchange->receive(of_.link.agreed().channel, described);
}

std::expected<void, node_error> link_in_exchange::on_chunk(bytes_view body) {
  if (!membership_)
    return violation("bytes of an object come over a link that counts no handles");
  packet_reader in{body};
  const auto head = read_object_chunk_head(in);
  if (!in.ok())
    return violation("a chunk of an object cannot be read");
  add_alone(of_.bytes_received, head.what.size_bytes);
  return of_.exchange->on_chunk(of_.link.agreed().channel, head, in.rest());
}

std::expected<void, node_error> link_in_exchange::on_message(admin_op op, bytes_view body) {
  if (!membership_)
    return violation("a message about handles comes over a link that counts none");
  const auto what = decode_handle_message(op, body, of_.bounds);
  if (!what)
    return std::unexpected{what.error()};
  return of_.exchange->on_message(of_.link.agreed().channel, *what);
}

} // namespace troupe::internal
