// One process's end of the network. Owns the I/O threads, the links, the published names and the attachment to the
// store.
#pragma once

#include <atomic>
#include <expected>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <troupe/framework/fwd.hpp>
#include <troupe/framework/internal/caf_port/actor_pointers.hpp>
#include <troupe/framework/internal/caf_port/actor_systems.hpp>
#include <troupe/framework/internal/caf_port/actors/job_actor.hpp>
#include <troupe/framework/internal/caf_port/actors/shared_helpers.hpp>
#include <troupe/framework/internal/link/link_host.hpp>
#include <troupe/framework/internal/node/dead_letter_office.hpp>
#include <troupe/framework/internal/node/dials.hpp>
#include <troupe/framework/internal/node/entrances.hpp>
#include <troupe/framework/internal/node/introductions.hpp>
#include <troupe/framework/internal/node/link_registry.hpp>
#include <troupe/framework/internal/node/published_names.hpp>
#include <troupe/framework/internal/objects/object_environment.hpp>
#include <troupe/framework/internal/objects/store_reaper.hpp>
#include <troupe/framework/internal/trust/authentication.hpp>
#include <troupe/framework/internal/trust/known_peers.hpp>
#include <troupe/framework/internal/watch/asked_watch.hpp>
#include <troupe/framework/internal/watch/watched_events.hpp>
#include <troupe/framework/node_errc.hpp>
#include <troupe/framework/options.hpp>
#include <troupe/framework/weak_node.hpp>
#include <troupe/serializers/family.hpp>
#include <troupe/serializers/type_entry.hpp>
#include <troupe/store/object_store.hpp>

namespace troupe::internal {

class io_loops;
class lasting_office;
class object_exchange;

/// Runs the parts of a node through its life, from the options to the end of the last link.
///
/// Threads: any thread may call every member. Only the first call of `shut_down` has an effect.
/// Lifetime: the node and its links hold it. `shut_down` ends the links and the threads, so that only memory is left.
/// If a handler on an I/O thread calls it, it does not wait for the links to end.
class node_core final : public link_host, public entrance_owner, public std::enable_shared_from_this<node_core> {
public:
  node_core(caf::actor_system& system, type_registry& types, const family_set& families, node_options options);
  ~node_core() override;

  /// Opens the store, publishes the names of the options, listens, and starts the I/O threads.
  [[nodiscard]] std::expected<void, node_error> start();
  void shut_down();

  [[nodiscard]] std::expected<std::shared_ptr<node_link>, node_error> connect(std::string_view to,
                                                                              const link_options& options);
  /// Fails with `bad_option` for a configuration entry that could never make a link; the text names the entry's place.
  [[nodiscard]] std::expected<void, node_error> check_configuration();
  [[nodiscard]] node_stats stats() const;
  /// The number of links of each I/O loop, the main loop's first.
  [[nodiscard]] std::vector<std::size_t> links_by_loop() const;
  [[nodiscard]] std::chrono::steady_clock::time_point since() const noexcept { return since_; }

  [[nodiscard]] loop_seat seat_for_link() override;
  [[nodiscard]] published_names& names() noexcept override { return names_; }
  void name_changed_there(std::uint64_t link, const std::string& name) override;
  [[nodiscard]] link_registry<node_link>& links() noexcept override { return links_; }
  [[nodiscard]] const link_registry<node_link>& links() const noexcept { return links_; }
  /// Requires: start() has opened the entrances.
  [[nodiscard]] internal::entrances& entrances() noexcept override { return *entrances_; }
  [[nodiscard]] const internal::entrances& entrances() const noexcept { return *entrances_; }
  [[nodiscard]] internal::dials& dials() noexcept { return dials_; }
  /// Requires: start() has succeeded.
  [[nodiscard]] lasting_office& lasting() noexcept { return *lasting_; }
  [[nodiscard]] known_peers& peers() noexcept override { return known_peers_; }
  [[nodiscard]] shared_helpers& helpers() noexcept override { return helpers_; }
  [[nodiscard]] job_actor& encoder() noexcept override { return encoder_; }
  [[nodiscard]] dead_letter_office& letters() noexcept override { return letters_; }
  [[nodiscard]] const dead_letter_office& letters() const noexcept { return letters_; }
  [[nodiscard]] store_reaper& reaper() noexcept override { return *reaper_; }
  [[nodiscard]] whereabouts_book& whereabouts() noexcept override { return *introductions_; }
  /// The letters and spans that are kept while somebody asks for them.
  [[nodiscard]] asked_watch<watched_letters>& letter_watch() noexcept { return *letter_watch_; }
  [[nodiscard]] asked_watch<watched_spans>& span_watch() noexcept { return *span_watch_; }
  /// Null for a node without a store.
  [[nodiscard]] const std::shared_ptr<object_exchange>& counted_objects() const noexcept { return counted_objects_; }

private:
  node_core(caf::actor_system& system, type_registry& types, const family_set& families, node_options options,
            std::shared_ptr<io_loops> loops);

  [[nodiscard]] std::expected<void, node_error> check_entry(const configuration& from, const std::string& entry);
  [[nodiscard]] std::expected<void, node_error> check_surroundings();
  [[nodiscard]] std::expected<void, node_error> check_options();
  [[nodiscard]] std::expected<void, node_error> open_store();
  void use_store(store::object_store opened);
  void make_exchange();
  void flush_links();
  [[nodiscard]] query_answers answers_of(const query_rights& rights);
  [[nodiscard]] std::expected<void, node_error> publish_first();
  [[nodiscard]] std::shared_ptr<node_link>
  make_link(const link_options& options, const std::shared_ptr<const link_security>& security, loop_seat seat) override;
  void has_more_addresses() override;

  // Set by the constructor or by start(), then only read.
  std::vector<publication> publish_first_; // Emptied by start(): from then on the names hold the actors.
  const std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();
  const std::shared_ptr<io_loops> loops_;
  std::shared_ptr<class introductions> introductions_;
  internal::dials dials_;
  bool running_ = false; // Set by start().
  std::atomic<bool> is_shut_down_{false};
  std::shared_ptr<internal::entrances> entrances_; // Set by start().
  std::shared_ptr<lasting_office> lasting_;        // Set by start().
  known_peers known_peers_;

  published_names names_;
  link_registry<node_link> links_;
  std::shared_ptr<object_exchange> counted_objects_; // Null for a node without a store.
  std::shared_ptr<store_reaper> reaper_;             // Null for a node without a store.
  shared_helpers helpers_;
  job_actor encoder_; // Encodes large values.
  dead_letter_office letters_;
  const std::shared_ptr<asked_watch<watched_letters>> letter_watch_;
  const std::shared_ptr<asked_watch<watched_spans>> span_watch_;
};

} // namespace troupe::internal
