// One node's membership in a cluster.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <caf/actor.hpp>

#include <troupe/framework/cluster/cluster.hpp>
#include <troupe/framework/cluster/internal/draining/drainer.hpp>
#include <troupe/framework/cluster/internal/entities/entity_office.hpp>
#include <troupe/framework/cluster/internal/inspection/account_actor.hpp>
#include <troupe/framework/cluster/internal/inspection/reach_probe.hpp>
#include <troupe/framework/cluster/internal/join/absence_reasons.hpp>
#include <troupe/framework/cluster/internal/join/event_watchers.hpp>
#include <troupe/framework/cluster/internal/join/member_handles.hpp>
#include <troupe/framework/cluster/internal/join/problem_list.hpp>
#include <troupe/framework/cluster/internal/join/published_names.hpp>
#include <troupe/framework/cluster/internal/join/service_routes.hpp>
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

  explicit cluster_core(parts of);
  cluster_core(const cluster_core&) = delete;
  cluster_core& operator=(const cluster_core&) = delete;
  ~cluster_core();

  /// Waits until this member is registered and the others are known.
  [[nodiscard]] std::expected<void, directory_error> wait_until_joined(std::chrono::steady_clock::time_point until);
  /// Who has this member's name, and what to do.
  [[nodiscard]] std::string taken_text() const;

  [[nodiscard]] std::expected<void, directory_error> publish(const std::string& name, const caf::actor& actor);
  bool unpublish(std::string_view name);
  /// A pool that follows the members of a service, or the owner of a singleton.
  [[nodiscard]] actor_pool add_route(sought what, const service_options& options, service_routes::handle_makers make);
  /// The options of a pool for the messages to what is sought. It may outlive this object.
  [[nodiscard]] pool_options pool_of(const sought& what, const service_options& options) const;
  /// From now on this process is ready to own the singleton. Fails with `read_only` or `invalid_argument`.
  [[nodiscard]] std::expected<void, directory_error> own(std::string name, singleton_runner::maker make);
  /// Fails with `full` if the others would not read the name of one more kind of entities.
  [[nodiscard]] std::expected<void, directory_error> room_for_kind() const { return names_.check_room(); }
  void watch(const caf::actor& receiver);
  /// Null if the directory is read-only.
  [[nodiscard]] entity_office* entities() const noexcept { return office_.get(); }

  /// As drainer::drain_for().
  void drain_for(drain_reason why, bool is_so) { drainer_.drain_for(why, is_so); }
  [[nodiscard]] bool is_draining() const noexcept { return drainer_.is_draining(); }

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
  [[nodiscard]] member_handles& handles() noexcept { return handles_; }
  /// As problem_list::note().
  void note_problem(const std::string& about, std::string text) { problems_.note(about, std::move(text)); }

private:
  void take(const cluster_view::events& events, const cluster_view& view);
  void announce(const std::string& name, bool is_there);
  void wake_runner();
  void withdraw_entries(bool withdraws);
  void forget_orders_to_earlier_processes();
  void give_account(const std::function<void(member_account)>& to);
  /// Returns why that failed.
  [[nodiscard]] std::string dial(const cluster_member& of) const;
  bool remove_name(std::string_view name, const caf::actor_addr* only = nullptr);
  [[nodiscard]] std::optional<caf::actor> own_actor(const sought& what);
  void show(const std::string& name, const caf::actor& actor);
  [[nodiscard]] std::unique_ptr<entity_office> make_office();
  void lead_to_name(std::string_view name);
  [[nodiscard]] bool is_left_over(const directory_entry& entry) const;

  const parts of_;
  const bool is_writable_;
  std::atomic<bool> leaves_{false};

  mutable std::mutex mutex_;
  // Guarded by mutex_.
  bool has_joined_ = false;
  singleton_runner* woken_ = nullptr; // Null before and after the runner's life.
  entity_office* woken_office_ = nullptr;

  caf::actor load_teller_; // Null if its name is taken.

  published_names names_;
  event_watchers watchers_;
  member_handles handles_;
  problem_list problems_;
  const absence_reasons reasons_;

  // Used between batches of the follower.
  service_routes routes_;
  entity_office* led_office_ = nullptr;

  drainer drainer_;
  std::unique_ptr<registrar> registrar_; // Null if the directory is read-only.
  std::unique_ptr<view_follower> follower_;
  std::unique_ptr<lease_keeper> keeper_;     // Null if the directory is read-only.
  std::unique_ptr<singleton_runner> runner_; // Null if the directory is read-only.
  std::unique_ptr<entity_office> office_;    // Null if the directory is read-only.
  // While these parts are there.
  std::optional<drainer::enrolment> drained_entries_;
  std::optional<drainer::enrolment> drained_runner_;
  std::optional<drainer::enrolment> drained_office_;

  const std::shared_ptr<live_reference<cluster_core>> reference_ = std::make_shared<live_reference<cluster_core>>(this);
  std::unique_ptr<reach_probe> probe_;
  caf::actor account_actor_;
  bool is_asked_for_account_ = false; // The node publishes the actor.
};

} // namespace troupe::membership
