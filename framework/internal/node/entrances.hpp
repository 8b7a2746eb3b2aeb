// The addresses at which a node accepts peers.
#pragma once

#include <expected>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include <troupe/framework/internal/link/link_host.hpp>
#include <troupe/framework/internal/net/address.hpp>
#include <troupe/framework/internal/net/inproc.hpp>
#include <troupe/framework/internal/net/link_security.hpp>
#include <troupe/framework/internal/net/listener.hpp>
#include <troupe/framework/internal/net/stream_socket.hpp>
#include <troupe/framework/internal/node/unproven_links.hpp>
#include <troupe/framework/internal/threads/loop_seat.hpp>
#include <troupe/framework/internal/trust/handshake_turns.hpp>
#include <troupe/framework/internal/words/refusal_log.hpp>
#include <troupe/framework/node_errc.hpp>
#include <troupe/framework/options.hpp>
#include <troupe/serializers/family.hpp>

namespace asio {
class io_context;
}

namespace troupe::internal {

class node_link;

/// The interface of entrances to their node. Called on the main loop's I/O thread.
class entrance_owner {
public:
  virtual ~entrance_owner() = default;

  /// An I/O loop's seat for the next link.
  [[nodiscard]] virtual loop_seat seat_for_link() = 0;
  /// A link of the node, which is to get its connection. Null if the node is ending.
  [[nodiscard]] virtual std::shared_ptr<node_link>
  make_link(const link_options& options, const std::shared_ptr<const link_security>& security, loop_seat seat) = 0;
  /// The node accepts peers at more addresses.
  virtual void has_more_addresses() = 0;
};

/// Accepts peers. A connection is handed to the I/O loop of its link before a byte of it is read.
///
/// Threads: any, unless one is named. "I/O thread" is the main loop's.
class entrances final : public entrance_book, public std::enable_shared_from_this<entrances> {
public:
  /// `options` and `families` must outlive this.
  entrances(asio::io_context& io, const node_options& options, const family_set& families,
            std::weak_ptr<entrance_owner> owner);

  /// Listens at all of `addresses`. If one of them fails, listens at none. Fails with `unsupported` on I/O threads.
  [[nodiscard]] std::expected<void, node_error> listen(std::span<const std::string> addresses);
  /// Called before the I/O thread runs. Listens at the addresses of the options, and at the address where this user's
  /// processes may inspect the node.
  [[nodiscard]] std::expected<void, node_error> open_first();
  [[nodiscard]] std::vector<std::string> addresses() const override;

  void unproven_peer_is_gone(node_link* link) override;
  /// Disconnects a peer that has not proven its identity, at once or soon. Returns false if there is none.
  bool displace_unproven_peer();

  /// As end(), and close() a moment later.
  void stop_accepting();
  /// Makes `listen` fail from now on.
  void end();
  /// Stops accepting peers. Called on the I/O thread, or while it does not run.
  void close();

private:
  /// The listeners for some addresses.
  struct open_doors {
    std::vector<std::string> addresses;
    std::vector<std::shared_ptr<listener>> listeners;
    std::vector<std::unique_ptr<inproc_listener>> inproc_listeners;
  };
  /// The terms on which peers are accepted.
  struct terms {
    link_options options;
    link_security security;
    bool hides_names = false;
  };

  [[nodiscard]] std::expected<void, node_error> open_all(std::span<const std::string> addresses, open_doors& doors);
  [[nodiscard]] std::expected<void, node_error> announce(std::span<const std::string> more);
  [[nodiscard]] std::expected<void, node_error> open_at(const std::string& text, open_doors& doors);
  [[nodiscard]] std::expected<void, node_error> open_in_process(const address& at, open_doors& doors);
  [[nodiscard]] std::expected<std::shared_ptr<listener>, node_error>
  open_socket(const address& at, const stream_endpoint& endpoint, terms on);
  void open_query_socket();
  [[nodiscard]] std::expected<std::shared_ptr<listener>, node_error> made_query_socket();
  void keep(open_doors doors);
  void on_accept(stream_socket socket, const terms& on, const std::shared_ptr<const link_security>& security,
                 const std::shared_ptr<refusal_log>& refusals);
  [[nodiscard]] bool has_room_for_query();
  [[nodiscard]] const std::shared_ptr<handshake_turns>& turns_on(asio::io_context& io);

  asio::io_context& io_;
  const node_options& options_;
  const family_set& families_;
  const std::weak_ptr<entrance_owner> owner_;

  // Used by the I/O thread once it runs.
  std::vector<std::shared_ptr<listener>> listeners_;
  std::vector<std::unique_ptr<inproc_listener>> inproc_listeners_;
  bool is_closed_ = false;
  std::map<asio::io_context*, std::shared_ptr<handshake_turns>> handshake_turns_; // By loop.
  std::vector<std::weak_ptr<node_link>> query_links_;

  unproven_links<node_link> unproven_;

  mutable std::mutex mutex_;
  std::vector<std::string> addresses_; // Guarded by mutex_.
  bool has_ended_ = false;             // Guarded by mutex_.
};

} // namespace troupe::internal
