// What a peer defines for its messages, and what they name.
#include <string>
#include <utility>

#include <troupe/base/sizes.hpp>
#include <troupe/framework/internal/link/link_core.hpp>
#include <troupe/framework/internal/link/link_host.hpp>
#include <troupe/framework/internal/objects/imported_bytes.hpp>
#include <troupe/framework/internal/words/failing.hpp>
#include <troupe/framework/internal/words/text.hpp>
#include <troupe/framework/node_error.hpp>

namespace troupe::internal {

std::expected<void, node_error> link_core::on_signature(bytes_view body) {
  const auto added = received_words_.add_signature(body);
  if (!added)
    return std::unexpected{added.error()};
  if (logs(log_level::debug))
    log_received("signature", received_words_.signatures() - 1, bracketed((*added)->aliases));
  return {};
}

std::expected<void, node_error> link_core::on_header(bytes_view body) {
  const auto added = received_words_.add_header(body);
  if (!added)
    return std::unexpected{added.error()};
  if (logs(log_level::debug))
    log_received("header", received_words_.headers(),
                 '"' + std::string{(*added)->fields.type} + "\" by " + std::string{(*added)->by->name()});
  return {};
}

// -- what a message names

std::expected<caf::strong_actor_ptr, node_error> link_core::find_actor(const actor_mention& which) {
  return actors_.find({which.readers ? actor_name::side::yours : actor_name::side::mine, which.number});
}

std::expected<frame, node_error> link_core::receive_frame(const frame_descriptor& where) {
  if (!agreed().shares_store)
    return violation("a frame lies in a store that this link does not share");
  auto imported = store_desk_.adopt({node_->store()->number(), where.object_index, where.object_generation});
  if (!imported)
    return std::unexpected{std::move(imported).error()};
  auto pinned = (*imported)->object().pin();
  if (!pinned)
    return std::unexpected{node_error{node_errc::object_lost, pinned.error().message()}};
  auto owner = std::make_shared<const imported_bytes>(*std::move(pinned), *std::move(imported));
  auto bytes = owner->bytes();
  if (where.object_offset > bytes.size() || where.size_bytes > bytes.size() - where.object_offset)
    return violation("frame of " + grouped(where.size_bytes) + " bytes at " + grouped(where.object_offset)
                     + " reaches beyond its object of " + grouped(bytes.size()));
  counters_.handle_bytes_received.fetch_add(where.size_bytes, std::memory_order_relaxed);
  return frame{bytes.subspan(where.object_offset, where.size_bytes), std::move(owner)};
}

} // namespace troupe::internal
