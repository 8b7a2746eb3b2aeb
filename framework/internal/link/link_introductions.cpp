// Actors of third nodes: the reader of a handle is told whose actor it is, so that the actor's own node knows it again
// by whatever way it comes home.
#include <algorithm>
#include <string>
#include <utility>

#include <troupe/framework/internal/caf_port/node_ids.hpp>
#include <troupe/framework/internal/link/link_core.hpp>
#include <troupe/framework/internal/link/link_host.hpp>
#include <troupe/framework/internal/link/send_admin.hpp>
#include <troupe/framework/internal/trust/authentication.hpp>
#include <troupe/framework/internal/words/failing.hpp>
#include <troupe/framework/internal/words/text.hpp>

namespace troupe::internal {

namespace {

// Each node on the way is one more that can be lost, and that copies each message.
constexpr std::uint32_t hops_max = 16;

// Actors of third nodes that are named on a link at a time.
constexpr std::size_t introduced_max = 131'072;

constexpr std::size_t host_digits = 2 * caf::node_id::default_data::host_id_size;

/// Who knows the key has got the actor of that number on the key's link, or was told so.
digest proof_of_receipt(bytes_view key, std::uint64_t actor) {
  std::string text = "troupe introduction";
  for (unsigned i = 0; i < sizeof(actor); ++i)
    text.push_back(static_cast<char>(actor >> (8 * i) & 0xff));
  return hmac_sha256(key, std::as_bytes(std::span{text}));
}

} // namespace

introduce link_core::introduction_of(std::uint64_t number) const {
  auto [process, host] = text_of(agreed().peer.node);
  auto proof = proof_of_receipt(agreed().peer.introduction_key, number);
  return {.number = 0,
          .hops = 1,
          .process = process,
          .host = std::move(host),
          .link = agreed().peer.link,
          .actor = number,
          .proof = {proof.begin(), proof.end()}};
}

void link_core::introduce_actor(const link_held& held, const caf::strong_actor_ptr& actor, std::uint64_t number) {
  const auto* remote = as_proxy(actor);
  if (remote == nullptr)
    return; // Of another network of CAF's.
  const auto* known = remote->introduction();
  auto what = known != nullptr ? *known : remote->link()->introduction_of(remote->number());
  if (known != nullptr)
    ++what.hops;
  what.number = number;
  send_admin_locked(held, admin_op::introduce, what);
}

bool link_core::can_name(const caf::strong_actor_ptr& actor) const {
  const auto* remote = as_proxy(actor);
  if (remote == nullptr || remote->link() == this)
    return true;
  if (remote->introduction() != nullptr && remote->introduction()->hops >= hops_max)
    return false;
  const auto held = mutex_.lock();
  return actor_exports_.has(actor) || actor_exports_.foreign_size() < introduced_max;
}

std::string link_core::why_not_named() {
  return "it has come through 16 nodes, or " + grouped(introduced_max)
         + " actors of other nodes are named on the link already; a node that is nearer to it can send it";
}

caf::strong_actor_ptr link_core::recognize(const introduce& what) const {
  if (actor_exports::is_foreign(what.actor)
      || !same_digest(what.proof, proof_of_receipt(introduction_key_, what.actor)))
    return nullptr;
  const auto held = mutex_.lock();
  return actor_exports_.find(what.actor);
}

std::expected<void, node_error> link_core::on_introduce(const introduce& what) {
  if (!actor_exports::is_foreign(what.number) || what.proof.size() != sizeof(digest) || what.hops == 0
      || what.hops > hops_max)
    return violation("the peer introduces an actor that is its own, or " + std::to_string(what.hops)
                     + " nodes away, limit " + std::to_string(hops_max));
  if (what.host.size() != host_digits) // It is kept as long as the introduction.
    return violation("the peer introduces an actor of a host of " + grouped(what.host.size()) + " digits instead of "
                     + grouped(host_digits));
  introduced entry{.how = std::make_shared<const introduce>(what), .own = nullptr};
  if (auto [process, host] = text_of(node_->system().node()); what.process == process && what.host == host)
    if (auto by = node_->links().find(what.link))
      entry.own = by->recognize(what);
  auto held = mutex_.lock();
  if (introduced_.size() >= introduced_max)
    return violation("the peer introduces more than " + grouped(introduced_max) + " actors of other nodes");
  auto is_new = introduced_.emplace(what.number, std::move(entry)).second;
  held.unlock();
  if (!is_new)
    return violation("the peer introduces two actors under one number");
  return {};
}

std::expected<void, node_error> link_core::on_withdraw(const withdraw& what) {
  auto held = mutex_.lock();
  auto dropped = introduced_.extract(what.number);
  held.unlock();
  if (!dropped)
    return violation("the peer withdraws an actor that it has not introduced");
  return {};
}

} // namespace troupe::internal
