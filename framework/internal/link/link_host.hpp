// What a link needs of the node that it belongs to.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <asio/io_context.hpp>

#include <caf/actor_control_block.hpp>
#include <caf/actor_system.hpp>

#include <troupe/framework/internal/caf_port/encoding_cache.hpp>
#include <troupe/framework/internal/handles/messages.hpp>
#include <troupe/framework/internal/objects/object_environment.hpp>
#include <troupe/framework/internal/objects/object_exchange.hpp>
#include <troupe/framework/internal/trust/authentication.hpp>
#include <troupe/framework/internal/wire/packet.hpp>
#include <troupe/framework/internal/words/limited_log.hpp>
#include <troupe/framework/link_stats.hpp>
#include <troupe/framework/options.hpp>
#include <troupe/serializers/family.hpp>
#include <troupe/serializers/type_entry.hpp>
#include <troupe/store/object_store.hpp>

namespace troupe::internal {

class link_core;

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
  /// I/O thread. The peer of that link has said where a node listens, itself or another.
  virtual void learn(const std::shared_ptr<link_core>& from, const handles::node_name& who,
                     std::vector<std::string> addresses) = 0;
};

/// Threads: every member from any thread, where none is named.
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
  [[nodiscard]] const std::shared_ptr<object_exchange>& exchange() const noexcept { return exchange_; }
  [[nodiscard]] asio::io_context& io() noexcept { return io_; }
  [[nodiscard]] encoding_cache& encodings() noexcept { return *encodings_; }
  /// What this node is known again by.
  [[nodiscard]] const node_key& key() const noexcept { return key_; }
  /// What all links together may say, since peers decide how many there are.
  [[nodiscard]] limited_log& lines() noexcept { return lines_; }
  /// Requires: a node with a store.
  [[nodiscard]] virtual whereabouts_book& whereabouts() = 0;
  /// Where this node listens, with the ports that the system chose.
  [[nodiscard]] virtual std::vector<std::string> addresses() const = 0;

  // -- who the peers are

  /// I/O thread. Counts one more link to `peer`; false when it is linked already and known by another token.
  [[nodiscard]] virtual bool know_peer(const caf::node_id& peer, bytes_view token) = 0;
  virtual void known_peer_is_gone(const caf::node_id& peer) = 0;
  /// I/O thread. The peer has proven who it is, or its link has ended. Nothing happens where it did not wait.
  virtual void unproven_peer_is_gone(link_core* link) = 0;
  virtual void note_refused_peer() noexcept = 0;
  /// The open link of that link_core::serial; null where there is none.
  [[nodiscard]] virtual std::shared_ptr<link_core> link_of(std::uint64_t serial) const = 0;

  // -- whom peers may address

  /// Null when nothing has that name.
  [[nodiscard]] virtual caf::strong_actor_ptr published(std::string_view name) const = 0;
  /// Runs what peers submit; made when it is first asked for.
  [[nodiscard]] virtual caf::strong_actor_ptr task_runner() = 0;
  /// The same for actors that peers spawn.
  [[nodiscard]] virtual caf::strong_actor_ptr spawner() = 0;
  /// The same for what they may ask about this node; null for nothing.
  [[nodiscard]] virtual caf::strong_actor_ptr inspector(const link_options& terms) = 0;
  /// Whether that is one of these: what runs tasks, spawns or looks does so for the peers of all links, so none of them
  /// ends it, however the peer came by it.
  [[nodiscard]] virtual bool serves_all_links(const caf::strong_actor_ptr& actor) const = 0;

  // -- what a link has begun, ended, or wants to be done

  virtual void note_opened_link() noexcept = 0;
  virtual void link_ended(link_core* link) = 0;
  /// For what a link counts after link_ended() has asked it for its totals.
  virtual void note_late(const link_stats& more) = 0;
  /// Has link_core::encode_next() called by an actor, on a thread of the system's scheduler. One message of the node's
  /// is encoded at a time, links take turns.
  virtual void encode_soon(std::weak_ptr<link_core> link) = 0;
  /// I/O thread. A peer that shared the store is gone, perhaps killed: clears up after it now and for a while, since a
  /// process that is dying closes its sockets before it is seen to be dead.
  virtual void reap_soon() = 0;

protected:
  link_host(caf::actor_system& system, type_registry& types, const family_set& families, node_options options,
            asio::io_context& io)
      : system_(system),
        types_(types),
        families_(families),
        options_(std::move(options)),
        io_(io),
        encodings_(std::make_shared<encoding_cache>(io)) {}

  caf::actor_system& system_;
  type_registry& types_;
  const family_set& families_;
  const node_options options_; // Without what is to be published.
  asio::io_context& io_;
  const std::shared_ptr<encoding_cache> encodings_;
  const node_key key_; // Tells this node from others that claim its id.
  limited_log lines_{"this node's links", 50};
  // Set before there are links.
  std::optional<store::object_store> store_;
  std::shared_ptr<const object_environment> objects_;
  std::shared_ptr<object_exchange> exchange_;
};

} // namespace troupe::internal
