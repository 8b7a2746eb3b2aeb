#include <troupe/framework/internal/link/greeting.hpp>

#include <algorithm>
#include <string>
#include <utility>

#include <troupe/framework/internal/caf_port/actors/shared_helpers.hpp>
#include <troupe/framework/internal/link/link_host.hpp>
#include <troupe/framework/internal/trust/known_peers.hpp>
#include <troupe/framework/internal/words/text.hpp>

namespace troupe::internal {

namespace {

/// How many bytes this end permits behind handles: as the options say, but at most half of the store for one link and a
/// quarter for one actor. So a slow actor leaves room for the others.
receive_bounds own_handle_windows(const link_options& options, const link_host& node) {
  receive_bounds result{.window = options.handle_window_bytes, .actor_window = options.actor_handle_window_bytes};
  if (!node.store())
    return result;
  if (const auto totals = node.store()->totals()) { // Otherwise the store's lock could not be taken.
    const auto capacity = std::max<std::uint64_t>(totals->capacity_bytes, 4);
    result.window = std::min(result.window, capacity / 2);
    result.actor_window = std::min(result.actor_window, capacity / 4);
  }
  return result;
}

} // namespace

// -- the known peer

bool known_peer::enter(const caf::node_id& peer, bytes_view token) {
  if (!all_.enter(caf::to_string(peer), token))
    return false;
  entered_ = peer;
  return true;
}

void known_peer::leave() {
  if (const auto left = std::exchange(entered_, {}))
    all_.leave(caf::to_string(left));
}

// -- the greeting

greeting::greeting(const parts& of, own_end mine, std::shared_ptr<refusal_log> refusals)
    : of_(of),
      report_(of.node, std::move(refusals), of.log),
      talk_(std::move(mine), of.options, *this, of.log),
      limit_(of.io) {}

void greeting::begin(std::chrono::milliseconds patience, std::weak_ptr<void> owner) {
  limit_.expires_after(patience);
  limit_.async_wait([of = of_, owner = std::move(owner)](std::error_code cancelled) { // This object may be gone.
    const auto alive = owner.lock();
    if (!cancelled && alive && of.life.now() == link_state::greeting)
      of.over.abort({node_errc::timed_out,
                     "the handshake took longer than " + std::to_string(of.options.connect_timeout->count()) + " ms"});
  });
  talk_.begin();
}

std::expected<std::optional<agreed_terms>, node_error> greeting::on_packet(const packet_head& head, bytes_view body) {
  const auto op = static_cast<admin_op>(head.detail);
  if (op == admin_op::refuse) {
    secret_is_refused_ = talk_.awaits_proof();
    return std::unexpected{talk_.read_refusal(body)};
  }
  if (op == admin_op::goodbye)
    return std::unexpected{handshake::read_goodbye(body)};
  if (auto handled = talk_.on_packet(head, body); !handled)
    return refuse(std::move(handled).error());
  return talk_.take_terms();
}

std::unexpected<node_error> greeting::refuse(node_error reason) {
  report_.refused(reason);
  const auto body = encode_admin(internal::refuse{static_cast<std::uint8_t>(reason.code()), cut(reason.message())});
  write({.body_bytes = 0, .kind = packet_kind::admin, .detail = static_cast<std::uint8_t>(admin_op::refuse)}, body);
  return std::unexpected{std::move(reason)};
}

void greeting::displace() {
  if (is_proven_)
    return;
  report_.displaced();
  // Its descriptor is needed now, so this end does not wait for what the peer may still send.
  of_.over.abort(
      {node_errc::timed_out, "the link was dropped for newer peers, because this peer has not proven who it is"});
}

// -- for the handshake

void greeting::write(const packet_head& head, bytes_view body) {
  of_.over.write([&](const link_held&, outbox& out) { out.append_packet(head.kind, head.detail, body); });
}

void greeting::admit_packets(std::size_t body_bytes_max) {
  of_.over.admit_packets(body_bytes_max);
}

byte_vector greeting::session_key() const {
  return of_.over.session_key();
}

std::vector<std::string> greeting::certificate_names() const {
  return of_.over.certificate_names();
}

const loopback_ends* greeting::loopback() const {
  return of_.over.loopback();
}

void greeting::peer_is_proven() {
  is_proven_ = true;
  of_.node.entrances().unproven_peer_is_gone(of_.link);
}

bool greeting::know_peer(const caf::node_id& peer, bytes_view token) {
  return of_.peer.enter(peer, token);
}

receive_bounds greeting::handle_windows() const {
  return own_handle_windows(of_.options, of_.node);
}

helper_numbers greeting::export_helpers(const std::string& role, const peer_rights& rights) {
  auto& helpers = of_.node.helpers();
  return {.runner = rights.tasks ? number_of(helpers.task_runner()) : 0,
          .spawner = rights.spawn ? number_of(helpers.spawner()) : 0,
          .inspector = number_of(helpers.inspector({.memory = rights.memory_summary,
                                                    .report = rights.report,
                                                    .recording = rights.recording,
                                                    .orders = rights.orders,
                                                    .role = role}))};
}

/// Returns 0 if there is no helper.
std::uint64_t greeting::number_of(const caf::strong_actor_ptr& helper) {
  return helper ? of_.actors.name(helper).number : 0;
}

} // namespace troupe::internal
