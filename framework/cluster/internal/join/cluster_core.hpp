// One node's membership in a cluster.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <expected>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <caf/actor.hpp>
#include <caf/actor_control_block.hpp>

#include <troupe/framework/cluster/cluster.hpp>
#include <troupe/framework/cluster/internal/entities/entity_office.hpp>
#include <troupe/framework/cluster/internal/inspection/account_actor.hpp>
#include <troupe/framework/cluster/internal/inspection/reach_probe.hpp>
#include <troupe/framework/cluster/internal/join/service_route.hpp>
#include <troupe/framework/cluster/internal/membership/counted_directory.hpp>
#include <troupe/framework/cluster/internal/membership/lease_keeper.hpp>
#include <troupe/framework/cluster/internal/membership/registrar.hpp>
#include <troupe/framework/cluster/internal/membership/view_follower.hpp>
#include <troupe/framework/cluster/internal/ownership/singleton_runner.hpp>

namespace troupe::membership {

/// Connects the parts of a membership: the registrar, the follower, the watchers and the routes of services.
///
/// Threads: any.
class cluster_core {
public:
  struct parts {
    node& home;
    caf::actor_system& system;
    std::shared_ptr<counted_directory> where;
    cluster_member self;
    cluster_options options;
  };

  /// Makes the handles of a service, and untyped ones to the tellers of its members' loads.
  struct handle_makers {
    service_route::handle_maker handle;
    service_route::handle_maker teller;
  };

  explicit cluster_core(parts of);
  cluster_core(const cluster_core&) = delete;
  cluster_core& operator=(const cluster_core&) = delete;
  ~cluster_core();

  /// Waits until this member is registered and the others are known.
  [[nodiscard]] std::expected<void, directory_error> wait_until_joined(std::chrono::steady_clock::time_point until);

  [[nodiscard]] std::expected<void, directory_error> publish(std::string name, caf::actor actor);
  bool unpublish(std::string_view name);
  [[nodiscard]] actor_pool add_service(std::string name, const service_options& options, handle_makers make);
  /// A handle to the owner of the singleton, whichever member that is.
  [[nodiscard]] actor_pool singleton(const std::string& name, const service_options& options, handle_makers make);
  /// From now on this process is ready to own the singleton. Fails with `read_only` or `invalid_argument`.
  [[nodiscard]] std::expected<void, directory_error> own(std::string name, singleton_runner::maker make);
  void watch(const caf::actor& receiver);
  /// The options of a pool for the messages of a service or of entities.
  [[nodiscard]] static pool_options pool_of(const service_options& options);
  /// Null if the directory is read-only.
  [[nodiscard]] entity_office* entities() const noexcept { return office_.get(); }

  /// Why a member withdraws from its work.
  enum class drain_reason : std::uint8_t { call, order };
  /// From now on there is this reason to drain, or there is not. The member drains while it has one.
  void drain_for(drain_reason why, bool is_so);
  [[nodiscard]] bool is_draining() const noexcept { return is_draining_; }

  [[nodiscard]] cluster_stats stats() const;
  [[nodiscard]] std::shared_ptr<const live_reference<cluster_core>> reference() const { return reference_; }

  [[nodiscard]] const parts& of() const noexcept { return of_; }
  /// Whether links are made on demand. A read-only directory has no names, so that each member must be asked.
  [[nodiscard]] bool is_on_demand() const noexcept { return is_writable_; }
  [[nodiscard]] std::chrono::milliseconds idle_close() const {
    return std::max(of_.options.idle_close, std::chrono::milliseconds{0});
  }
  [[nodiscard]] const view_follower& follower() const noexcept { return *follower_; }
  [[nodiscard]] std::vector<std::string> problems() const;
  /// An empty text: the problem is solved.
  void note_problem(const std::string& about, std::string text);

private:
  void take(const cluster_view::events& events, const cluster_view& view);
  void withdraw_ended(const std::string& name, const caf::actor_addr& actor);
  void tell_watchers(const cluster_event& event);
  void wake_runner();
  /// Requires: drain_turn_ is locked.
  void withdraw_from_work(bool is_so);
  void forget_orders_to_earlier_processes();
  void give_account(const std::function<void(member_account)>& to);
  /// Returns why that failed.
  [[nodiscard]] std::string dial(const cluster_member& of) const;
  struct leader {
    service_route route;
    std::optional<std::string> singleton; // Its name, if the route leads to one.
    actor_pool pool;                      // Kept for the messages that wait, although nobody may have its handle.

    [[nodiscard]] bool is_in_use() const;
  };

  [[nodiscard]] actor_pool add_route(std::string name, std::optional<std::string> singleton,
                                     const service_options& options, handle_makers make);
  void lead(leader& of, const cluster_view& view);
  void show(const std::string& name, const caf::actor& actor);
  [[nodiscard]] std::unique_ptr<entity_office> make_office();
  void lead_to_name(std::string_view name);
  void drop_unwanted_routes();
  [[nodiscard]] bool is_left_over(const directory_entry& entry) const;

  const parts of_;
  const bool is_writable_;
  std::atomic<bool> leaves_{false};

  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::map<std::string, caf::actor, std::less<>> published_;
  std::vector<caf::weak_actor_ptr> watchers_;
  std::map<std::string, std::string> problems_; // By what they are about.
  bool has_joined_ = false;
  singleton_runner* woken_ = nullptr; // Null before and after the runner's life.
  entity_office* woken_office_ = nullptr;

  caf::actor load_teller_; // Null if its name is taken.

  mutable std::mutex drain_turn_; // Held for each change of draining; before mutex_.
  // Guarded by drain_turn_.
  entity_office* drained_office_ = nullptr; // Null before and after the office's work.
  bool is_asked_to_drain_ = false;
  bool is_ordered_to_drain_ = false;
  std::atomic<bool> is_draining_{false}; // Changed under drain_turn_.

  // Used between batches of the follower.
  std::list<leader> routes_;
  entity_office* led_office_ = nullptr;

  std::unique_ptr<registrar> registrar_; // Null if the directory is read-only.
  std::unique_ptr<view_follower> follower_;
  std::unique_ptr<lease_keeper> keeper_;     // Null if the directory is read-only.
  std::unique_ptr<singleton_runner> runner_; // Null if the directory is read-only.
  std::unique_ptr<entity_office> office_;    // Null if the directory is read-only.

  const std::shared_ptr<live_reference<cluster_core>> reference_ = std::make_shared<live_reference<cluster_core>>(this);
  std::unique_ptr<reach_probe> probe_;
  caf::actor account_actor_;
  bool is_asked_for_account_ = false; // The node publishes the actor.
};

} // namespace troupe::membership
