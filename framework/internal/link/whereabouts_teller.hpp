// What a link says of where nodes listen: this one, and those whose handles are passed on.
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

/// Passes on over a link where nodes listen.
class whereabouts_teller {
public:
  /// Of the node; all outlive this.
  struct surroundings {
    const entrance_book& entrances;
    whereabouts_book* book = nullptr; // Null for a node without a store.
    handles::node_name self = {};     // This node, where it has a store.
  };
  whereabouts_teller(const link_common& link, const surroundings& node) : link_(link), node_(node) {}

  /// Before anything is heard: the link that has this, by which the node knows who said it.
  void belong_to(std::weak_ptr<node_link> owner) { owner_ = std::move(owner); }
  /// Where the link leads to.
  void open(link_place place) { place_ = std::move(place); }

  // -- out. Once it is open

  /// I/O thread. Tells the peer where this node listens.
  void say_own();
  /// Of the nodes that offer what these handles are to.
  void append(const link_held& held, std::span<const handles::handle_descriptor> before, outbox& out);

  // -- in

  std::expected<void, node_error> on_whereabouts(const whereabouts& what);

private:
  const link_common& link_;
  const surroundings node_;
  std::weak_ptr<node_link> owner_;
  link_place place_;
  std::set<handles::node_name> told_; // Of these nodes, the peer was. Guarded by the link's lock.
};

} // namespace troupe::internal
