// What both ends send with and accept: how it changes on a live link, and which types the peer cannot read.
#include <algorithm>
#include <bit>
#include <span>
#include <string>
#include <utility>

#include <asio/post.hpp>

#include <troupe/base/sizes.hpp>
#include <troupe/framework/internal/link/link_core.hpp>
#include <troupe/framework/internal/link/link_host.hpp>
#include <troupe/framework/internal/words/failing.hpp>
#include <troupe/framework/internal/words/log.hpp>
#include <troupe/framework/internal/words/text.hpp>
#include <troupe/serializers/contract.hpp>

namespace troupe::internal {

namespace {

std::atomic<std::uint64_t> next_terms{1};

bool names_are_bounded(const std::vector<std::string>& names) {
  return names.size() <= families_max
         && std::ranges::all_of(names, [](const auto& name) { return name.size() <= alias_bytes_max; });
}

std::string hex_of(std::uint32_t fingerprint) {
  const auto highest_first = std::byteswap(fingerprint);
  static_assert(std::endian::native == std::endian::little);
  return hex(std::as_bytes(std::span{&highest_first, 1}));
}

} // namespace

// -- what this end sends by

/// What follows from the lists as they are now, and what else `change` says.
void link_core::renew_terms(const link_held&, const std::function<void(sending_terms&)>& change) {
  auto renewed = std::make_shared<sending_terms>(*terms_);
  renewed->number = next_terms.fetch_add(1, std::memory_order_relaxed);
  renewed->peer_epoch = negotiation_.peer_epoch();
  renewed->serializers = negotiation_.mine().serializers;
  renewed->peer_accepts = negotiation_.theirs().deserializers;
  renewed->families.clear();
  for (const auto& name : renewed->serializers)
    if (std::ranges::find(renewed->peer_accepts, name) != renewed->peer_accepts.end())
      renewed->families.push_back(node_->families().find(name));
  renewed->context.families = renewed->families;
  if (change)
    change(*renewed);
  // Who finds the new number takes the mutex to get at them.
  terms_number_.store(renewed->number, std::memory_order_release);
  terms_ = std::move(renewed);
}

/// What of a change concerns this end only.
void link_core::apply_locally(const link_held&, const link_changes& changes, sending_terms& terms) {
  if (changes.compression && security_->kind != transport_kind::inproc)
    terms.context.compression = *changes.compression;
  if (changes.spill_bytes)
    terms.spill_bytes = *changes.spill_bytes;
  if (changes.offload_bytes)
    offload_bytes_.store(*changes.offload_bytes, std::memory_order_relaxed);
}

// -- this end's changes

std::expected<void, node_error> link_core::reconfigure(const link_changes& changes, std::chrono::milliseconds timeout) {
  if (changes.serializers && changes.serializers->empty())
    return fail(node_errc::bad_option, "a link needs at least one family in `serializers`");
  for (const auto* list : {&changes.serializers, &changes.deserializers})
    if (*list)
      if (auto known = resolve_families(**list, node_->families(), options_.trusted_families); !known)
        return std::unexpected{std::move(known).error()};
  const auto deadline =
      std::chrono::steady_clock::now()
      + std::clamp<std::chrono::milliseconds>(timeout, std::chrono::milliseconds{0}, std::chrono::hours{24});
  auto held = mutex_.lock();
  if (!change_over_.wait_until(held.for_waiting(), deadline,
                               [this] { return !is_open() || !negotiation_.is_changing(); }))
    return fail(node_errc::timed_out, agreed().peer.name + " has not answered the change before within "
                                          + std::to_string(timeout.count()) + " ms; nothing of this one has happened");
  if (!is_open())
    return fail(node_errc::link_down, "the link to " + agreed().peer.name + " is down");
  auto wanted = negotiation_.mine();
  if (changes.serializers)
    wanted.serializers = *changes.serializers;
  if (changes.deserializers)
    wanted.deserializers = changes.deserializers->empty() ? wanted.serializers : *changes.deserializers;
  if (!have_in_common(wanted, negotiation_.theirs()))
    return fail(node_errc::nothing_in_common,
                nothing_in_common_text(node_->options().name, wanted, agreed().peer.name, negotiation_.theirs()));
  const auto concerns_peer = wanted != negotiation_.mine();
  std::future<std::expected<void, node_error>> answer;
  std::uint64_t number = 0;
  if (concerns_peer) {
    before_change_ = {.compression = terms_->context.compression,
                      .spill_bytes = terms_->spill_bytes,
                      .offload_bytes = offload_bytes_.load(std::memory_order_relaxed)};
    number = negotiation_.begin(std::move(wanted));
    answer = change_.emplace().get_future();
  }
  renew_terms(held, [&](sending_terms& terms) { apply_locally(held, changes, terms); });
  held.unlock();
  if (!concerns_peer)
    return {};
  asio::post(node_->io(), [self = shared_from_this(), number] { self->announce_change(number); });
  if (answer.wait_until(deadline) != std::future_status::ready)
    return fail(node_errc::timed_out,
                agreed().peer.name + " has not acknowledged within " + std::to_string(timeout.count())
                    + " ms; the change stands, and the older families are accepted until then. Something there "
                      "waits to be consumed, or the peer is slow");
  return answer.get();
}

/// I/O thread. From here on the peer may send with either list; then it is told.
void link_core::announce_change(std::uint64_t number) {
  auto held = mutex_.lock();
  if (!is_open() || !negotiation_.is_changing())
    return;
  auto names = negotiation_.mine();
  auto accepted = negotiation_.accepted();
  held.unlock();
  accept_now(std::move(accepted));
  admin_.send(admin_op::reconfigure, family_change{number, names.serializers, names.deserializers});
}

std::expected<void, node_error> link_core::on_reconfigured(const reconfigured& what) {
  const auto is_accepted = what.refusal.empty();
  auto held = mutex_.lock();
  if (!negotiation_.settle(what.number, is_accepted))
    return fail(node_errc::protocol_violation,
                "the peer answers change " + grouped(what.number) + " of the families, which it was not told");
  renew_terms(held, [&](sending_terms& terms) {
    if (is_accepted)
      return;
    terms.context.compression = before_change_.compression;
    terms.spill_bytes = before_change_.spill_bytes;
    offload_bytes_.store(before_change_.offload_bytes, std::memory_order_relaxed);
  });
  auto accepted = negotiation_.accepted();
  auto change = std::exchange(change_, std::nullopt);
  held.unlock();
  log(log_level::debug, "to " + agreed().peer.name + ": accepts " + bracketed(accepted)
                            + (is_accepted ? "" : "; a change was refused: " + one_line(cut(what.refusal))));
  accept_now(std::move(accepted)); // The peer has left the others behind.
  change_over_.notify_all();
  if (change)
    change->set_value(
        is_accepted ? std::expected<void, node_error>{}
                    : fail(node_errc::nothing_in_common,
                           agreed().peer.name + " refused, and nothing has changed: " + one_line(cut(what.refusal))));
  return {};
}

/// The link has ended.
void link_core::fail_change(const node_error& reason) {
  auto held = mutex_.lock();
  auto change = std::exchange(change_, std::nullopt);
  held.unlock();
  change_over_.notify_all();
  if (change)
    change->set_value(std::unexpected{reason});
}

/// I/O thread. Refuses all families but these from now on, in payloads within payloads and in objects, too.
void link_core::accept_now(std::vector<std::string> names) {
  accepted_.accept(std::move(names));
  received_words_.review();
}

// -- the peer's

std::expected<void, node_error> link_core::on_reconfigure(const family_change& what) {
  if (!names_are_bounded(what.serializers) || !names_are_bounded(what.deserializers))
    return fail(node_errc::protocol_violation,
                "the peer lists more than 64 families, or one of a name longer than 1,024 bytes");
  auto held = mutex_.lock();
  if (!negotiation_.is_in_turn(what.number))
    return fail(node_errc::protocol_violation, "the peer changes its families for the " + grouped(what.number)
                                                   + "th time out of turn, or before the last change is answered");
  auto* out = connection_->open_outbox(held);
  family_names theirs{what.serializers, what.deserializers};
  if (!negotiation_.change_peer(what.number, theirs)) {
    auto text = nothing_in_common_text(node_->options().name, negotiation_.mine(), agreed().peer.name, theirs);
    admin_.send(held, admin_op::reconfigured, reconfigured{what.number, cut(text)});
    return {};
  }
  renew_terms(held);
  acknowledge_if_due(held, out);
  return {};
}

/// Once nothing that was encoded by older lists can follow in `out`.
void link_core::acknowledge_if_due(const link_held& held, outbox* out) {
  const auto number = negotiation_.take_acknowledgement();
  if (!number || out == nullptr)
    return;
  out->append_packet(packet_kind::admin, static_cast<std::uint8_t>(admin_op::reconfigured),
                     encode_admin(reconfigured{*number, {}}));
  connection_->flush_soon(held);
}

// -- types

/// From now on values of the type fail where they are sent, unless this end finds that others of its values may pass.
std::expected<void, node_error> link_core::on_type_refused(const type_refused& what) {
  const auto* type = node_->types().find(std::string_view{what.alias});
  if (type == nullptr)
    return {}; // Then it is not sent either.
  const auto named = "type \"" + type->alias() + "\"";
  std::string text;
  if (!what.is_known) {
    text = agreed().peer.name + " has no " + named + " in its registry (fingerprint here " + hex_of(type->fingerprint())
           + "); add it there with types.add<T>(\"" + type->alias() + "\")";
  } else {
    if (what.contract.empty() || what.contract.size() > contract_bytes_max)
      return {};
    const auto obstacle = find_unreadable(contract_of(*type), what.contract);
    if (!obstacle || !*obstacle)
      return {}; // It was that value, not the type.
    text = agreed().peer.name + " has another version of " + named + " (fingerprint there " + hex_of(what.fingerprint)
           + ", here " + hex_of(type->fingerprint())
           + ") and cannot read this end's: " + one_line(cut((*obstacle)->place)) + ": "
           + one_line(cut((*obstacle)->what)) + "; build both ends from one version of it";
  }
  const auto held = mutex_.lock();
  if (!is_open()
      || (terms_->refused && (terms_->refused->size() >= refused_types_max || terms_->refused->contains(type))))
    return {};
  auto refused =
      terms_->refused ? std::make_shared<refused_types>(*terms_->refused) : std::make_shared<refused_types>();
  refused->emplace(type, std::move(text));
  renew_terms(held, [&](sending_terms& terms) { terms.refused = std::move(refused); });
  return {};
}

// -- readers

std::vector<std::string> link_core::effective_serializers() const {
  const auto held = mutex_.lock();
  std::vector<std::string> names;
  for (const auto* one : terms_->families)
    names.emplace_back(one->name());
  return names;
}

std::vector<std::string> link_core::deserializers() const {
  const auto held = mutex_.lock();
  return negotiation_.accepted();
}

} // namespace troupe::internal
