// Tells the peer where nodes listen: this node, and the exporters of handles that are forwarded.
#pragma once

#include <expected>
#include <memory>
#include <set>
#include <span>
#include <utility>

#include <troupe/framework/internal/handles/messages.hpp>
#include <troupe/framework/internal/link/link_common.hpp>
#include <troupe/framework/internal/net/whereabouts.hpp>
#include <troupe/framework/internal/wire/admin.hpp>
#include <troupe/framework/internal/wire/outbox.hpp>
#include <troupe/framework/node_errc.hpp>

namespace troupe::internal {

class entrance_book;
class node_link;
class whereabouts_book;

/// Tells the peer where nodes listen, and learns it from the peer.
class whereabouts_teller {
public:
  /// Parts of the node; all must outlive this object.
  struct surroundings {
    const entrance_book& entrances;
    whereabouts_book* book = nullptr; // Null if the node has no store.
    handles::node_name self = {};     // This node, if it has a store.
  };
  whereabouts_teller(const link_common& link, const surroundings& node) : link_(link), node_(node) {}

  /// To be called before anything arrives. `owner` owns this object. It tells the node which link has said something.
  void belong_to(std::weak_ptr<node_link> owner) { owner_ = std::move(owner); }
  /// Sets where the link leads to.
  void open(link_place place) { place_ = std::move(place); }

  // -- outgoing, once the link is open

  /// Tells the peer where this node listens. I/O thread.
  void say_own();
  /// Appends where the nodes listen that offer the objects of these handles. This must precede the handles.
  void append(const link_held& held, std::span<const handles::handle_descriptor> before, outbox& out);

  // -- incoming

  std::expected<void, node_error> on_whereabouts(const whereabouts& what);

private:
  const link_common& link_;
  const surroundings node_;
  std::weak_ptr<node_link> owner_;
  link_place place_;
  std::set<handles::node_name> told_; // The nodes that the peer was told of. Guarded by the link's lock.
};

} // namespace troupe::internal
