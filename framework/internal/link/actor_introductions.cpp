#include <troupe/framework/internal/link/actor_introductions.hpp>

#include <string>

#include <troupe/base/sizes.hpp>
#include <troupe/framework/internal/link/actor_tables.hpp>
#include <troupe/framework/internal/words/failing.hpp>
#include <troupe/framework/internal/words/text.hpp>

namespace troupe::internal {

namespace {

// Each node on the way is one more point of failure, and copies each message.
constexpr std::uint32_t hops_max = 16;

constexpr std::size_t host_digits = 2 * caf::node_id::default_data::host_id_size;

/// Proves that its author knows the key, and so has received `actor` on the key's link, or learned of it from a
/// receiver.
digest proof_of_receipt(bytes_view key, std::uint64_t actor) {
  std::string text = "troupe introduction";
  for (unsigned i = 0; i < sizeof(actor); ++i)
    text.push_back(static_cast<char>(actor >> (8 * i) & 0xff));
  return hmac_sha256(key, std::as_bytes(std::span{text}));
}

} // namespace

bool actor_introductions::may_go_further(const proxy& actor) {
  return actor.introduction() == nullptr || actor.introduction()->hops < hops_max;
}

void actor_introductions::tell(const link_held& held, const proxy& actor, std::uint64_t number) {
  const auto* known = actor.introduction();
  auto what = known != nullptr ? *known : actor.link()->introduction_of(actor.number());
  if (known != nullptr)
    ++what.hops;
  what.number = number;
  link_.admin.send(held, admin_op::introduce, what);
}

void actor_introductions::withdraw(const link_held& held, std::uint64_t number) {
  link_.admin.send(held, admin_op::withdraw, internal::withdraw{number});
}

introduce actor_introductions::of_peers_actor(std::uint64_t number) const {
  const auto& peer = link_.agreed().peer;
  auto [process, host] = text_of(peer.node);
  const auto proof = proof_of_receipt(peer.introduction_key, number);
  return {.number = 0,
          .hops = 1,
          .process = process,
          .host = std::move(host),
          .link = peer.link,
          .actor = number,
          .proof = {proof.begin(), proof.end()}};
}

bool actor_introductions::proves_receipt(const introduce& what) const {
  return !actor_exports::is_foreign(what.actor) && same_digest(what.proof, proof_of_receipt(key_, what.actor));
}

const actor_introductions::introduced* actor_introductions::find(const link_held&, std::uint64_t number) const {
  if (!actor_exports::is_foreign(number))
    return nullptr;
  const auto found = introduced_.find(number);
  return found != introduced_.end() ? &found->second : nullptr;
}

std::expected<void, node_error> actor_introductions::on_introduce(const introduce& what) {
  if (!actor_exports::is_foreign(what.number) || what.proof.size() != sizeof(digest) || what.hops == 0
      || what.hops > hops_max)
    return violation("the peer introduces an actor that is its own, or " + std::to_string(what.hops)
                     + " nodes away, limit " + std::to_string(hops_max));
  if (what.host.size() != host_digits) // The text is kept as long as the introduction, so its size is bounded.
    return violation("the peer introduces an actor of a host of " + grouped(what.host.size()) + " digits instead of "
                     + grouped(host_digits));
  introduced entry{.how = std::make_shared<const introduce>(what), .own = nullptr};
  if (what.process == home_.process && what.host == home_.host)
    entry.own = own_actors_.recognize(what);
  auto held = link_.mutex.lock();
  if (introduced_.size() >= actors_max)
    return violation("the peer introduces more than " + grouped(actors_max) + " actors of other nodes");
  const auto is_new = introduced_.emplace(what.number, std::move(entry)).second;
  held.unlock();
  if (!is_new)
    return violation("the peer introduces two actors under one number");
  return {};
}

std::expected<void, node_error> actor_introductions::on_withdraw(const internal::withdraw& what) {
  auto held = link_.mutex.lock();
  const auto dropped = introduced_.extract(what.number);
  held.unlock();
  if (!dropped)
    return violation("the peer withdraws an actor that it has not introduced");
  return {};
}

void actor_introductions::end() {
  auto held = link_.mutex.lock();
  const auto dropped = std::exchange(introduced_, {});
  held.unlock(); // What the introductions refer to is released without the lock.
}

} // namespace troupe::internal
