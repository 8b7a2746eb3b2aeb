// Everything that a gateway has.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <troupe/framework/gateway/gateway.hpp>
#include <troupe/framework/gateway/internal/access/doorkeeper.hpp>
#include <troupe/framework/gateway/internal/access/message_quota.hpp>
#include <troupe/framework/gateway/internal/access/site_check.hpp>
#include <troupe/framework/gateway/internal/messages/actor_shelf.hpp>
#include <troupe/framework/gateway/internal/messages/json_messages.hpp>
#include <troupe/framework/gateway/internal/objects/object_shelf.hpp>
#include <troupe/framework/gateway/internal/server/boost_net.hpp>
#include <troupe/framework/gateway/internal/server/connection_table.hpp>
#include <troupe/framework/gateway/internal/server/loop_door.hpp>
#include <troupe/framework/gateway/internal/server/unread_ledger.hpp>
#include <troupe/framework/gateway/internal/view/view_desk.hpp>

namespace troupe::web {

/// The length from which on other connections of a thread should not wait until a text of JSON is read.
inline constexpr std::size_t long_text_bytes = 32 * 1024;

/// Joins the parts of a gateway, and runs them on its threads until it is stopped.
///
/// Threads: any. Connections refer to it, and run on its threads only.
class gateway_core {
public:
  gateway_core(node& of, gateway_options options, token_book tokens);
  ~gateway_core();
  gateway_core(const gateway_core&) = delete;
  gateway_core& operator=(const gateway_core&) = delete;

  /// Listens, and starts the threads. Fails as gateway::open does.
  [[nodiscard]] std::expected<void, node_error> start();
  /// Accepts no connection any more, and closes those that serve no request. The others end after their answers. Waits
  /// for them until `limit`. Returns how many are left.
  [[nodiscard]] std::size_t drain(std::chrono::steady_clock::time_point limit);
  /// Whether drain() has been called: a connection ends after the answer.
  [[nodiscard]] bool is_draining() const noexcept { return is_draining_.load(std::memory_order_relaxed); }
  /// Closes all connections and ends the threads.
  void stop();

  [[nodiscard]] node& home() noexcept { return home_; }
  [[nodiscard]] const gateway_options& options() const noexcept { return options_; }
  [[nodiscard]] web::doorkeeper& doorkeeper() noexcept { return doorkeeper_; }
  /// Requires: start() has succeeded.
  [[nodiscard]] const site_check& sites() const noexcept { return *sites_; }
  [[nodiscard]] message_quota& unconsumed() noexcept { return unconsumed_; }
  [[nodiscard]] actor_shelf& actors() noexcept { return actors_; }
  [[nodiscard]] object_shelf& objects() noexcept { return objects_; }
  [[nodiscard]] const json_messages& messages() const noexcept { return messages_; }
  [[nodiscard]] const std::shared_ptr<loop_door>& door() const noexcept { return door_; }
  /// Threads for what waits for the store.
  [[nodiscard]] net::thread_pool& workers() noexcept { return workers_; }
  /// A thread for texts of more than `long_text_bytes`, which take long to read.
  [[nodiscard]] net::thread_pool& readers() noexcept { return readers_; }
  /// Shows that source from now on. The view has a thread of its own, because its source may block.
  void serve_view(std::shared_ptr<view_source> source);
  /// Null if there is none. Only to be used on the view's thread.
  [[nodiscard]] std::shared_ptr<view_desk> view() const;
  /// Requires: there is a view.
  [[nodiscard]] net::thread_pool& view_thread() noexcept { return *view_thread_; }
  [[nodiscard]] connection_table& connections() noexcept { return connections_; }
  [[nodiscard]] unread_ledger& unread() noexcept { return unread_; }

  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  [[nodiscard]] const std::string& url() const noexcept { return url_; }
  [[nodiscard]] gateway_stats stats() const;

  /// Counts an answered request.
  void note_answer(unsigned status) noexcept;
  void note_socket(bool is_open) noexcept;

private:
  [[nodiscard]] std::expected<void, node_error> load_certificate();
  [[nodiscard]] std::expected<void, node_error> listen();
  [[nodiscard]] net::any_io_executor executor_for_connection();
  /// Warns if the process may open too few files for all connections.
  void check_descriptors() const;
  net::awaitable<void> accept_all();
  /// The process has no descriptor for a connection that waits. Returns false if nothing could be closed.
  bool free_descriptor();
  net::awaitable<void> expire_objects();
  void begin(net::ip::tcp::socket socket);

  node& home_;
  const gateway_options options_;
  web::doorkeeper doorkeeper_;
  std::optional<site_check> sites_; // Set by start().
  message_quota unconsumed_;
  actor_shelf actors_;
  object_shelf objects_;
  const json_messages messages_;
  connection_table connections_;
  unread_ledger unread_;
  const std::shared_ptr<loop_door> door_ = std::make_shared<loop_door>();
  std::uint16_t port_ = 0;
  std::string url_;
  std::optional<net::ssl::context> tls_; // Set if there is a certificate.

  std::atomic<std::uint64_t> requests_{0};
  std::atomic<std::uint64_t> refused_{0};
  std::atomic<std::uint64_t> sockets_{0};

  // Destroyed first, with the connections that wait in it.
  net::io_context loop_;
  std::optional<net::ip::tcp::acceptor> acceptor_;
  std::optional<connection_table::clock::time_point> told_of_descriptors_; // Only used by accept_all().
  std::atomic<bool> is_draining_{false};
  net::thread_pool workers_{2};
  net::thread_pool readers_{1};
  mutable std::mutex view_mutex_;
  std::shared_ptr<view_desk> view_;             // Guarded by view_mutex_.
  std::optional<net::thread_pool> view_thread_; // Set with the first view, and not changed then.
  std::vector<std::thread> threads_;
};

} // namespace troupe::web
