// What a link needs of the node that it belongs to.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <troupe/framework/internal/caf_port/actor_pointers.hpp>
#include <troupe/framework/internal/caf_port/actor_systems.hpp>
#include <troupe/framework/internal/caf_port/encoding_cache.hpp>
#include <troupe/framework/internal/handles/messages.hpp>
#include <troupe/framework/internal/link/actor_recognition.hpp>
#include <troupe/framework/internal/link/late_figures.hpp>
#include <troupe/framework/internal/net/ring_budget.hpp>
#include <troupe/framework/internal/objects/handle_counter.hpp>
#include <troupe/framework/internal/objects/object_environment.hpp>
#include <troupe/framework/internal/threads/loop_seat.hpp>
#include <troupe/framework/internal/trust/authentication.hpp>
#include <troupe/framework/internal/wire/packet.hpp>
#include <troupe/framework/internal/words/limited_log.hpp>
#include <troupe/framework/link_stats.hpp>
#include <troupe/framework/options.hpp>
#include <troupe/serializers/family.hpp>
#include <troupe/serializers/type_entry.hpp>
#include <troupe/store/object_store.hpp>

namespace asio {
class io_context;
}

namespace troupe::internal {

class job_actor;
class known_peers;
class node_link;
class shared_helpers;
class store_reaper;

/// Where nodes are that peers name.
class whereabouts_book {
public:
  virtual ~whereabouts_book() = default;

  /// What a node has said of itself.
  struct own_words {
    std::vector<std::string> addresses;
    bool is_on_this_host = false;
  };
  /// Any thread.
  [[nodiscard]] virtual std::optional<own_words> of(const handles::node_name& who) const = 0;
  /// Any thread. The peer of that link has said where a node listens, itself or another.
  virtual void learn(const std::shared_ptr<node_link>& from, const handles::node_name& who,
                     std::vector<std::string> addresses) = 0;
  /// Any thread. The link of that node_link::serial has ended.
  virtual void forget(std::uint64_t link) = 0;
};

/// Finds the actors that this node has published by their names. Any thread.
class name_book {
public:
  virtual ~name_book() = default;

  /// Null when nothing has that name.
  [[nodiscard]] virtual caf::strong_actor_ptr find(std::string_view name) const = 0;
};

/// The links of the node. Any thread.
template <class Link>
class link_book : public actor_recognition, public late_figures {
public:
  virtual void note_opened() noexcept = 0;
  /// A peer has not come through the handshake.
  virtual void note_refused_peer() noexcept = 0;
  /// The link is no more. Nothing happens where it never was, or a second time.
  virtual void ended(Link* link) = 0;
};

/// Where peers come in to the node.
class entrance_book {
public:
  virtual ~entrance_book() = default;

  /// Where this node listens, with the ports that the system chose. Any thread.
  [[nodiscard]] virtual std::vector<std::string> addresses() const = 0;
  /// Any thread. Takes the link out of those whose peers have not proven their identity: its peer has, or the link has
  /// ended. If the link was not counted, the call does nothing.
  virtual void unproven_peer_is_gone(node_link* link) = 0;
};

/// Gives links what they need of their node.
///
/// Threads: every member from any thread; what it gives says its own.
/// Lifetime: held by its links.
class link_host {
public:
  link_host(const link_host&) = delete;
  link_host& operator=(const link_host&) = delete;
  virtual ~link_host() = default;

  // -- what does not change while there are links

  [[nodiscard]] caf::actor_system& system() const noexcept { return system_; }
  [[nodiscard]] const type_registry& types() const noexcept { return types_; }
  [[nodiscard]] const family_set& families() const noexcept { return families_; }
  [[nodiscard]] const node_options& options() const noexcept { return options_; }
  [[nodiscard]] const std::optional<store::object_store>& store() const noexcept { return store_; }
  /// With what objects that were put here are read again.
  [[nodiscard]] const std::shared_ptr<const object_environment>& objects() const noexcept { return objects_; }
  /// Null for a node without a store.
  [[nodiscard]] const std::shared_ptr<handle_counter>& exchange() const noexcept { return exchange_; }
  /// Of the main I/O loop, which does what concerns the whole node. A link has its own: loop_seat.
  [[nodiscard]] asio::io_context& io() noexcept { return *io_; }
  [[nodiscard]] encoding_cache& encodings() noexcept { return *encodings_; }
  /// What this node is known again by.
  [[nodiscard]] const node_key& key() const noexcept { return key_; }
  /// What all links together may say, since peers decide how many there are.
  [[nodiscard]] limited_log& lines() noexcept { return lines_; }

  // -- the parts of the node

  [[nodiscard]] virtual name_book& names() noexcept = 0;
  [[nodiscard]] virtual link_book<node_link>& links() noexcept = 0;
  [[nodiscard]] virtual entrance_book& entrances() noexcept = 0;
  /// The nodes that this one is linked to.
  [[nodiscard]] virtual known_peers& peers() noexcept = 0;
  [[nodiscard]] virtual shared_helpers& helpers() noexcept = 0;
  /// The memory for the rings of links.
  [[nodiscard]] ring_budget& rings() noexcept { return rings_; }
  /// Encodes what is large: few messages of the node's at a time, so that links take turns.
  [[nodiscard]] virtual job_actor& encoder() noexcept = 0;
  /// Requires: a node with a store. The main loop's thread.
  [[nodiscard]] virtual store_reaper& reaper() noexcept = 0;
  /// Requires: a node with a store.
  [[nodiscard]] virtual whereabouts_book& whereabouts() noexcept = 0;

protected:
  link_host(caf::actor_system& system, type_registry& types, const family_set& families, node_options options,
            std::shared_ptr<asio::io_context> io)
      : system_(system),
        types_(types),
        families_(families),
        options_(std::move(options)),
        io_(std::move(io)),
        encodings_(std::make_shared<encoding_cache>(*io_)),
        rings_(options_.ring_memory_bytes) {}

  caf::actor_system& system_;
  type_registry& types_;
  const family_set& families_;
  const node_options options_;                 // Without what is to be published.
  const std::shared_ptr<asio::io_context> io_; // Outlives the timers of what follows.
  const std::shared_ptr<encoding_cache> encodings_;
  ring_budget rings_;
  const node_key key_; // Tells this node from others that claim its id.
  limited_log lines_{"this node's links", 50};
  // Set before there are links.
  std::optional<store::object_store> store_;
  std::shared_ptr<const object_environment> objects_;
  std::shared_ptr<handle_counter> exchange_;
};

} // namespace troupe::internal
