// What a link reports on request: the objects that it keeps alive, and its counters.
#include <algorithm>
#include <string>
#include <utility>

#include <troupe/framework/internal/link/link_core.hpp>
#include <troupe/framework/internal/objects/exchanged_object.hpp>
#include <troupe/framework/internal/objects/pending_objects.hpp>

namespace troupe::internal {

namespace {

void add_queued(const packed_message& message, std::vector<named_object>& to) {
  for (const auto& object : message.claims.flights().objects())
    to.push_back({object.id()});
  for (const auto& mention : message.mentions)
    if (mention.counted)
      to.push_back({std::nullopt, mention.counted});
}

} // namespace

/// Looks up only the exports among `of`, a few for each time that it takes the lock, because there may be millions.
link_memory link_core::memory(std::span<const store::object_id> of) const {
  link_memory result{.channel = agreed().channel,
                     .serial = number_,
                     .peer = agreed().peer.name,
                     .exported = {},
                     .queued = {},
                     .pending = {}};
  result.pending = pending_objects_->list();
  constexpr std::size_t looks_max = 256;
  for (std::size_t at = 0; at < of.size(); at += looks_max) {
    const auto held = mutex_.lock();
    for (const auto& id : of.subspan(at, std::min(looks_max, of.size() - at)))
      if (const auto found = stored_.objects().find(held, id))
        result.exported.push_back({id, found->count, found->since});
  }
  const auto held = mutex_.lock();
  const auto add = [&](const packed_message& each) { add_queued(each, result.queued); };
  gate_.window(held).each_waiting(add);
  departures_.each(held, add);
  return result;
}

link_report link_core::report() const {
  link_report result;
  result.number = number_;
  result.peer = agreed().peer.name;
  result.transport = ring_move_.is_complete() ? "shm" : name_of(security_->kind);
  result.is_dialed = role_ == role::dialer;
  result.shares_store = agreed().shares_store;
  result.age_ms =
      std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - since_).count();
  result.serializers = effective_serializers();
  result.deserializers = changes_.accepted();
  result.stats = stats();
  result.compression = to_string(compression_in_force());
  result.address = addresses_.far;
  result.version = agreed().peer.version;
  result.features = peer_features();
  result.role = agreed().role;
  result.link_id = agreed().link_id;
  return result;
}

std::string link_core::peer_text() const {
  return agreed().peer.name + " (link " + std::to_string(number_) + ')';
}

std::vector<link_feature> link_core::peer_features() const {
  const auto& terms = agreed();
  std::vector<link_feature> result;
  for (const auto& each : terms.peer.features)
    result.push_back({.name = each.name, .version = each.version, .in_use = terms.features.has(each.name)});
  return result;
}

compression link_core::compression_in_force() const {
  const auto held = mutex_.lock();
  const auto& terms = terms_.now(held);
  return terms ? terms->context.compression : compression::none;
}

} // namespace troupe::internal
