#include "worker.hpp"

#include <unistd.h>

#include <troupe/troupe.hpp>

#include "filters.hpp"

namespace images {

namespace {

/// Runs the filter, which writes its output into memory of the store, so that the values need no further copy.
template <class T, class Filter>
std::expected<troupe::object_ref<troupe::array<T>>, troupe::node_error>
write(troupe::node& node, std::vector<std::size_t> shape, const Filter& filter) {
  auto room = node.make_array<T>(std::move(shape));
  if (!room)
    return std::unexpected{room.error()};
  filter(room->values());
  return std::move(*room).seal();
}

std::expected<filtered_tile, troupe::node_error> filtered(troupe::node& node, const tile& asked) {
  const auto picture = asked.picture.get(); // A view of the shared memory.
  if (!picture)
    return std::unexpected{picture.error()};
  const auto& where = asked.where;
  filtered_tile result;
  const auto read = [&](std::size_t reach) {
    const auto seen = grown(where, reach, *picture);
    result.bytes_read = seen.height * seen.width * picture->shape()[2];
  };
  const auto into = [&](auto& target, auto made) -> std::expected<filtered_tile, troupe::node_error> {
    if (!made)
      return std::unexpected{made.error()};
    target = *std::move(made);
    return result;
  };
  switch (asked.what) {
  case filter::blur:
    read(blur_reach);
    return into(result.image, write<std::uint8_t>(node, {where.height, where.width, picture->shape()[2]},
                                                  [&](auto values) { blur(*picture, where, values); }));
  case filter::edges:
    read(edges_reach);
    return into(result.image, write<std::uint8_t>(node, {where.height, where.width, 1},
                                                  [&](auto values) { edges(*picture, where, values); }));
  case filter::histogram:
    read(0);
    return into(result.histogram, write<std::uint64_t>(node, {picture->shape()[2], 256},
                                                       [&](auto values) { histogram(*picture, where, values); }));
  }
  return std::unexpected{troupe::node_error{troupe::node_errc::unsupported, "there is no such filter"}};
}

caf::behavior worker(caf::event_based_actor* self, troupe::node* node, const caf::actor& coordinator) {
  self->monitor(coordinator);
  self->set_down_handler([self](const caf::down_msg&) { self->quit(); });
  self->send(coordinator, registration{::getpid(), caf::actor{self}});
  return {[node](const tile& asked) -> caf::result<filtered_tile> {
    auto result = filtered(*node, asked);
    if (!result)
      return troupe::to_caf_error(result.error());
    return *std::move(result);
  }};
}

} // namespace

void set_up_worker(troupe::worker_setup& with) {
  add_message_types(with.types);
  with.run = [](caf::actor_system& system, troupe::node& node, troupe::link& link) {
    const auto working = system.spawn(worker, &node, troupe::value_or_throw(link.find("coordinator")));
    caf::scoped_actor self{system};
    self->wait_for(working);
    return 0;
  };
}

} // namespace images
