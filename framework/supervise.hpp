// Supervisors: actors that start children and start them again when they end.
//
// The words and their meaning are Erlang/OTP's: supervisor, child, restart strategy, restart intensity, restart type
// (https://www.erlang.org/doc/system/sup_princ.html, module supervisor). guides/supervision.md explains their use.
#pragma once

#include <chrono>
#include <cstddef>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <caf/actor.hpp>
#include <caf/actor_cast.hpp>
#include <caf/actor_system.hpp>
#include <caf/blocking_actor.hpp>
#include <caf/local_actor.hpp>
#include <caf/scoped_actor.hpp>

#include <troupe/base/export.hpp>
#include <troupe/framework/link.hpp>
#include <troupe/framework/node_error.hpp>
#include <troupe/framework/pool.hpp>
#include <troupe/framework/spawn_request.hpp>
#include <troupe/framework/supervisor_options.hpp>
#include <troupe/framework/worker_process.hpp>

namespace troupe {

namespace internal {

class child_kind;
class roster;
struct supervisor_spec;

} // namespace internal

/// The actor of a worker process that a supervisor's users talk to. None by default.
class hosted_actor {
public:
  hosted_actor() = default;

  /// The actor's name, if the process publishes it.
  std::string published = {};
  /// Otherwise: spawns the actor. Empty: there is no actor.
  std::function<spawn_request<caf::actor>(const link&)> spawn = {};
};

/// An actor that the process publishes under that name.
struct published : hosted_actor {
  explicit published(std::string name) { hosted_actor::published = std::move(name); }
};

/// An actor that is spawned in the process, as by link::spawn. The arguments are used again for each restart.
struct spawned : hosted_actor {
  template <class... Arguments>
  explicit spawned(std::string type, Arguments... arguments) {
    spawn = [type = std::move(type), ... arguments = std::move(arguments)](const link& to) {
      return to.spawn<caf::actor>(type, arguments...);
    };
  }
};

/// A child of a supervisor at one moment.
struct child_status {
  std::string name;
  bool is_running = false;
  /// The child's actor. Null if the child is not running, or has no actor.
  caf::actor handle = {};
  std::size_t starts = 0;
  /// Since when it has been running, or not running.
  std::chrono::steady_clock::time_point since = {};
  /// Why its last run ended; `none` if it ended normally, or never.
  node_error last_reason = {node_errc::none, {}};
};

/// A reference to a running supervisor. Copies refer to the same supervisor.
///
/// Threads: any. Lifetime: may outlive the supervisor, but not the actor system. The supervisor lives as long as its
/// owner, whether it is referred to or not.
class TROUPE_EXPORT team {
public:
  team(caf::actor supervisor, std::shared_ptr<internal::roster> roster);

  /// The supervisor. It ends with `gave_up` if it gave up. An exit message ends it after its children: the last child
  /// is stopped first.
  [[nodiscard]] const caf::actor& handle() const noexcept { return supervisor_; }

  /// The children, in order.
  [[nodiscard]] std::vector<child_status> children() const;

  /// Makes an actor that spreads messages over the children (pool.hpp). Fails with `bad_option`: an option is out of
  /// its range, or no child has the name `options.children`.
  [[nodiscard]] std::expected<troupe::pool, node_error> pool(pool_options options = {}) const;

  /// Stops the children, the last one first, and then the supervisor. Does not wait; the supervisor ends without an
  /// error, so its owner lives on.
  void stop() const;

private:
  caf::actor supervisor_;
  std::shared_ptr<internal::roster> roster_;
};

/// The description of a supervisor, child by child. Nothing runs before start().
///
/// Every child has what starts it: a function and its arguments. They are kept and used again for each restart, so a
/// child always starts in the same state. `with` sets the options of the child that was named last.
///
///     auto team = troupe::supervise(self, {.strategy = troupe::restart::rest_for_one, .most = 5, .within = 1min})
///                     .function(cache).with({.name = "cache"})
///                     .function(squarer, 42).with({.copies = 4})
///                     .actor(link, "pricer", "EUR").with({.lifetime = troupe::lifetime::transient})
///                     .supervisor({.most = 2}, [](troupe::supervision& inner) { inner.function(clock); })
///                     .start();
///
/// Threads: one at a time.
class TROUPE_EXPORT supervision {
public:
  /// For supervise().
  supervision(caf::local_actor& owner, bool owner_blocks, supervisor_options options);
  supervision(supervision&&) noexcept;
  ~supervision();

  /// A child in this process. `spawn` takes the actor system and `arguments`, and returns a handle. Or it is a function
  /// from which CAF can spawn an actor with these arguments: `caf::behavior squarer(caf::event_based_actor* self,
  /// int)`. It is called on the supervisor's thread, and must not block. If it throws, the start has failed
  /// (`spawn_failed`).
  template <class Function, class... Arguments>
  supervision& function(Function spawn, Arguments... arguments) {
    return add_local([spawn = std::move(spawn), ... arguments = std::move(arguments)](caf::actor_system& system) {
      if constexpr (std::is_invocable_v<const Function&, caf::actor_system&, const Arguments&...>)
        return caf::actor_cast<caf::actor>(spawn(system, arguments...));
      else
        return caf::actor_cast<caf::actor>(system.spawn(spawn, arguments...));
    });
  }

  /// A child in a peer, spawned by link::spawn. `over` is a link, or a function that returns the link that is open now
  /// (a std::optional<link>), such as `[kept] { return kept->current(); }` for a std::shared_ptr<reconnecting_link>.
  /// The function is called on the supervisor's thread, and must not block. A start fails with an error of link::spawn,
  /// or with `link_down` if no link is open. The peer's end of the link must have `allow_spawn`, and `allow_exit` so
  /// that the child can be stopped.
  template <class Link, class... Arguments>
  supervision& actor(Link over, std::string type, Arguments... arguments) {
    std::function<std::optional<link>()> current;
    if constexpr (std::is_convertible_v<Link, link>)
      current = [over = link{std::move(over)}] { return std::optional<link>{over}; };
    else
      current = std::move(over);
    return add_remote(std::move(current), type, [type, ... arguments = std::move(arguments)](const link& to) {
      return to.spawn<caf::actor>(type, arguments...);
    });
  }

  /// A child that is a process (worker_process.hpp), started anew each time, and the actor that it hosts for this
  /// supervisor, if any:
  ///
  ///     .process(*node, {.program = "./worker", .limits = {.niceness = 10}}, troupe::spawned{"squarer", 42})
  ///     .process(*node, {.program = "./worker"}, troupe::published{"squarer"})
  ///
  /// The child has started when the link is open and the actor is there. It ends when the process ends. If the actor
  /// ends, the process is stopped. A process that exits with status 0, and an actor that ends normally, end the child
  /// normally. The process has the name of the child. worker_options::start_timeout is at most
  /// child_options::start_within. If the node has ended, starts fail with `link_down`.
  supervision& process(node& with, worker_options options, hosted_actor hosts = {});

  /// A child that is a supervisor. `describe` is called once, with the description of that supervisor, and adds its
  /// children. If that supervisor gives up, this is an end of the child.
  supervision& supervisor(supervisor_options options, const std::function<void(supervision&)>& describe);

  /// Sets the options of the child that was named last.
  supervision& with(child_options options);

  /// Starts the supervisor and, one after another, its children. Does not wait for them. A child that cannot be started
  /// is an event, and counts like a child that ended. Call it on the thread of the owner.
  /// Fails with `bad_option`: there are no children, two have the same name, or an option is out of its range.
  [[nodiscard]] std::expected<team, node_error> start();

private:
  supervision(supervisor_options options);
  supervision& add(std::string name, std::shared_ptr<const internal::child_kind> kind);
  supervision& add_local(std::function<caf::actor(caf::actor_system&)> spawn);
  supervision& add_remote(std::function<std::optional<link>()> over, std::string type,
                          std::function<spawn_request<caf::actor>(const link&)> spawn);
  [[nodiscard]] std::expected<internal::supervisor_spec, node_error> finished_spec() const;

  struct parts;
  std::unique_ptr<parts> parts_;
};

/// Begins the description of a supervisor that belongs to the actor `self`.
///
/// If `self` ends, all children end, then the supervisor. If the supervisor gives up, `self` gets its reason: a
/// `gave_up` error whose text is the report. An event-based actor gets it as an exit message, because it is linked to
/// its supervisor, as in Erlang/OTP. So it ends as well, unless it has set an exit handler. A scoped actor gets a
/// caf::down_msg, because it monitors its supervisor.
template <class Self>
requires std::is_base_of_v<caf::local_actor, Self>
[[nodiscard]] supervision supervise(Self* self, supervisor_options options) {
  return {*self, std::is_base_of_v<caf::blocking_actor, Self>, std::move(options)};
}
[[nodiscard]] inline supervision supervise(const caf::scoped_actor& self, supervisor_options options) {
  return supervise(&*self, std::move(options));
}

} // namespace troupe
