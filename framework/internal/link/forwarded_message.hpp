// A message for an actor of another node, as the peer sent it. It is forwarded undecoded over the link to that node.
#pragma once

#include <span>
#include <vector>

#include <troupe/framework/internal/caf_port/actor_pointers.hpp>
#include <troupe/framework/internal/caf_port/decoded_message.hpp>
#include <troupe/framework/internal/objects/object_source.hpp>
#include <troupe/framework/internal/wire/packet.hpp>
#include <troupe/serializers/frame.hpp>
#include <troupe/serializers/payload.hpp>
#include <troupe/serializers/type_entry.hpp>

namespace troupe::internal {

/// Lifetime: views of memory that the incoming link keeps while it handles the packet.
struct forwarded_element {
  const header_fields* fields = nullptr;
  bytes_view header;
  bool comes_again = false; // The peer has numbered this header.
  std::span<const frame> frames;
  std::span<const caf::strong_actor_ptr> actors;
  std::span<const object_source_ptr> objects;
};

struct forwarded_message {
  const signature* types = nullptr; // May hold aliases that this node's registry does not have.
  std::vector<forwarded_element> elements;
  bytes_view extensions = {}; // Passed on unchanged.
};

} // namespace troupe::internal
