#include <troupe/framework/internal/link/mention_reader.hpp>

#include <cstddef>
#include <memory>
#include <utility>

#include <troupe/base/sizes.hpp>
#include <troupe/framework/internal/link/actor_names.hpp>
#include <troupe/framework/internal/link/link_in_exchange.hpp>
#include <troupe/framework/internal/link/shared_store_objects.hpp>
#include <troupe/framework/internal/objects/imported_bytes.hpp>
#include <troupe/framework/internal/objects/lost_object.hpp>
#include <troupe/framework/internal/objects/stored_object.hpp>
#include <troupe/framework/internal/words/failing.hpp>
#include <troupe/framework/internal/words/text.hpp>

namespace troupe::internal {

std::expected<caf::strong_actor_ptr, node_error> mention_reader::find_actor(const actor_mention& which) {
  return of_.actors.find({which.readers ? actor_name::side::yours : actor_name::side::mine, which.number});
}

std::expected<std::vector<object_source_ptr>, node_error>
mention_reader::receive_objects(const std::vector<object_mention>& described) {
  auto received = of_.counted.receive(described);
  if (!received)
    return received;
  auto& sources = *received;
  for (std::size_t i = 0; i < described.size(); ++i) {
    switch (described[i].what) {
    case object_mention::kind::counted:
      if (!sources[i])
        return violation("a handle comes over a link that counts none");
      break;
    case object_mention::kind::lost:
      sources[i] = std::make_shared<lost_object>(described[i].handle.size_bytes);
      break;
    case object_mention::kind::stored:
      if (auto stored = receive_stored(described[i]); stored)
        sources[i] = *std::move(stored);
      else
        return std::unexpected{std::move(stored).error()};
      break;
    }
  }
  return received;
}

/// A lost object becomes a source that reports the loss.
std::expected<object_source_ptr, node_error> mention_reader::receive_stored(const object_mention& described) {
  const auto& handle = described.handle;
  if (handle.name.store != of_.stored.shared_store())
    return violation("an object lies in a store that this link does not share");
  auto imported = of_.stored.adopt(handle.name);
  if (!imported && imported.error().code() == node_errc::protocol_violation)
    return std::unexpected{std::move(imported).error()};
  if (!imported)
    return std::make_shared<lost_object>(handle.size_bytes);
  const auto object = (*imported)->object();
  of_.handle_bytes.fetch_add(object.size_bytes(), std::memory_order_relaxed);
  return std::make_shared<stored_object>(object, *std::move(imported));
}

std::expected<frame, node_error> mention_reader::receive_frame(const frame_descriptor& where) {
  const auto store = of_.stored.shared_store();
  if (!store)
    return violation("a frame lies in a store that this link does not share");
  auto imported = of_.stored.adopt({*store, where.object_index, where.object_generation});
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
  of_.handle_bytes.fetch_add(where.size_bytes, std::memory_order_relaxed);
  return frame{bytes.subspan(where.object_offset, where.size_bytes), std::move(owner)};
}

} // namespace troupe::internal
