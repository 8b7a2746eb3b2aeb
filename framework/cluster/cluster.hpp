// Nodes that find each other: cluster::join.
#pragma once

#include <chrono>
#include <cstddef>
#include <expected>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <caf/actor.hpp>
#include <caf/actor_cast.hpp>

#include <troupe/framework/cluster/cluster_member.hpp>
#include <troupe/framework/cluster/cluster_stats.hpp>
#include <troupe/framework/cluster/directory.hpp>
#include <troupe/framework/cluster/entity.hpp>
#include <troupe/framework/cluster/ownership.hpp>
#include <troupe/framework/cluster/pick.hpp>
#include <troupe/framework/lasting.hpp>
#include <troupe/framework/node.hpp>
#include <troupe/framework/pool.hpp>

namespace troupe {

namespace membership {

class cluster_core;

} // namespace membership

/// One address or several.
class address_list : public std::vector<std::string> {
public:
  address_list() = default;
  address_list(const char* one) : std::vector<std::string>{one} {}
  address_list(std::string one) : std::vector<std::string>{std::move(one)} {}
  address_list(std::initializer_list<std::string> all) : std::vector<std::string>{all} {}
};

struct cluster_options {
  /// The address of the directory: see open_directory().
  std::string directory = {};
  /// How the directory is opened. `timeout` is at most a sixth of `lease` (1.67 s by default), so that one lost request
  /// does not cost the lease. With `opened`, only `timeout` is used: how long publish() waits.
  directory_options access = {};
  /// A directory that the program has opened, instead of `directory`. The cluster does not close it.
  std::shared_ptr<troupe::directory> opened = {};

  /// This member's name, unique in the cluster. Empty: the node's name.
  std::string name = {};
  /// Addresses at which the other members reach this node and no other one; at most 64, each at most 1,024 bytes.
  /// Empty: the addresses at which it listens. In a container or behind address translation: the outer address. Never a
  /// load balancer: links that arrive at another node fail with `another_peer`.
  address_list advertise = {};
  /// Free text that the others read in cluster_member::roles; at most 64, each at most 1,024 bytes. No rights depend on
  /// it: any member can claim any text. Rights come from link_options::roles of each node, by the secret or the
  /// certificate that a peer proves.
  std::vector<std::string> roles = {};

  /// How long the directory keeps this member after its last keep-alive; 1 s to 1 h. Keep-alives are sent every third
  /// of it. etcd rounds it up to whole seconds, at least 2 s with its default election timeout. Lower: a lost member is
  /// noticed sooner, but a member that cannot reach the directory for that long is taken for lost. Singletons end a
  /// quarter of it earlier.
  std::chrono::milliseconds lease{10'000};
  /// How long join() waits for the directory, for the end of an earlier member of the same name, and until this
  /// member's entry is visible. Set it longer than the lease: a node that starts elsewhere after a crash waits up to a
  /// lease.
  std::chrono::milliseconds join_timeout{15'000};

  /// The options of the links to other members. `peer_identity` is set for each member.
  link_options link = {};
  /// A link to a member is made when there is a message for one of its services, singletons or entities, and closed if
  /// there has been none for this time, and at most half as long again. It stays open while one end still refers to an
  /// actor or an object of the other, or waits for an answer. 0: it is never closed; negative: 0. With read-only
  /// directories, links are made at once and kept, because the members have to be asked for their names.
  std::chrono::milliseconds idle_close{60'000};
};

struct service_options {
  troupe::pick pick = nearest;
  /// While no member has published the name, at most this number of messages wait, each for at most this time.
  std::size_t waiting_most = 10'000;
  std::chrono::milliseconds patience{30'000}; // Negative: 0.
  /// Set: a request that is not answered within this time fails with `timed_out`, and one that is lost with
  /// `child_lost`. Less than 10 ms: 10 ms. The handle then keeps each request until it is answered, which costs about a
  /// sixth of the requests a second (bench/README.md). It does so as well with `retry_idempotent` and with pick.hpp's
  /// least_loaded, with a time of 10 minutes if none is set. Entities: as if set to 10 minutes.
  /// Not set: other members answer the sender itself, and a request that is lost fails with `link_down`. Requests for
  /// this process's own actor count as ever.
  std::optional<std::chrono::milliseconds> answer_within = std::nullopt;
  /// True: a request whose member is lost goes to another one, at most `repeats_most` times. Set it only if it does no
  /// harm to handle a request twice.
  bool retry_idempotent = false;
  std::size_t repeats_most = 3;
  /// 0: every member that has published the name may get messages, so that a busy service has a link to each. Otherwise
  /// at most this number of other members get messages from this process, and one that cannot be reached is replaced.
  /// Processes use different members, chosen by the names of both, so that the load spreads. Has no effect with
  /// pick.hpp's by_key and with read-only directories.
  std::size_t members_most = 0;
};

/// A service of the cluster: the actors that members have published under one name. Copies refer to the same service.
///
/// Every request is answered once, by a member's actor or with `no_child`, `link_down`, `child_lost` or `timed_out`
/// (service_options::answer_within, guides/clusters.md). The text names the service; that of `no_child` also says which
/// members have published the name, and why each could not be used. Threads: any. Lifetime: the handle follows the
/// members as long as the cluster object lives.
template <class Handle>
class service {
public:
  /// @private
  explicit service(actor_pool pool) : pool_(std::move(pool)), handle_(caf::actor_cast<Handle>(pool_.handle())) {}

  /// An ordinary handle.
  [[nodiscard]] const Handle& handle() const noexcept { return handle_; }
  [[nodiscard]] pool_stats stats() const { return pool_.stats(); }

private:
  actor_pool pool_;
  Handle handle_;
};

/// A node's membership in a cluster.
///
/// The directory has an entry for the member and for each name that it has published. They live as long as the member's
/// lease, which a thread of its own keeps alive. While the directory is away, links and handles go on, and what is
/// known of the others stays; nothing new is published. When it is back, everything is registered again.
///
/// With a writable directory, each link checks that the node at the address is the member
/// (link_options::peer_identity). The entries of read-only directories have no identity: there, only the credentials of
/// the links decide.
///
/// Threads: any. join() and publish() block until the directory has answered, so they do not belong in handlers.
/// Lifetime: the node must outlive the cluster object, and must not be moved meanwhile. The destructor leaves the
/// cluster: it ends this process's singletons, and then its entities, whose messages it passes on to their new owners.
/// It waits for each of the two at most a quarter of the lease and at most 5 s. It removes the entries, for at most
/// about directory_options::timeout each, and waits for entity_options::load and save if they are running. Handles of
/// services and entities then keep the members that they have.
class TROUPE_EXPORT cluster {
public:
  /// Joins the cluster whose members the directory knows. Blocks, at most for about join_timeout. If the directory is
  /// read-only, the node is not registered, and only finds the others.
  /// Fails with
  /// - `invalid_argument`: an option has an unusable value, or others cannot reach this node; the text says what to do.
  /// - `name_taken`: another member has the name, and has kept it for join_timeout. The text says which node.
  /// - the errors of open_directory() and of a directory's calls.
  ///
  ///     auto cluster = troupe::cluster::join(*node, {.directory = "etcd://10.0.0.5:2379/shop", .roles = {"worker"}});
  [[nodiscard]] static std::expected<cluster, directory_error> join(node& with, cluster_options options);

  /// A moved-from object can only be assigned to or destroyed.
  cluster(cluster&&) noexcept;
  cluster& operator=(cluster&&) noexcept;
  ~cluster();

  /// Publishes the actor on the node, and writes the name to the directory under this member's lease. Several members
  /// may publish the same name. Blocks for at most directory_options::timeout. The node keeps the actor alive until
  /// unpublish(), or until it ends: then its name is withdrawn.
  /// Fails with
  /// - `invalid_argument`: this node has published the name already, or the name is unusable.
  /// - `full`: this member has 1,000 names already, among them one for each kind of entities that it hosts. The others
  ///   read no more. With a read-only directory there is no bound.
  /// - the directory's error, such as `unavailable`: it has not taken the entry in time. The name is published on the
  ///   node, and the entry is written as soon as the directory answers. Do not publish again.
  template <class Handle>
  [[nodiscard]] std::expected<void, directory_error> publish(std::string name, const Handle& actor) {
    return publish_untyped(std::move(name), caf::actor_cast<caf::actor>(actor));
  }

  /// Withdraws the name. Returns false if this member has not published it.
  bool unpublish(std::string_view name);

  /// The actors that members have published under `name`, now and later. `Handle` is caf::actor or a typed handle; a
  /// published actor with another interface is not used, in this process or another one: problems() names it. Does not
  /// block.
  ///
  ///     auto carts = cluster->service<cart_actor>("cart", {.pick = troupe::least_loaded});
  ///     self->request(carts.handle(), 5s, add_v, item);
  template <class Handle = caf::actor>
  [[nodiscard]] troupe::service<Handle> service(std::string name, service_options options = {}) {
    return troupe::service<Handle>{
        service_of(std::move(name), std::move(options), maker_of<Handle>(), system().message_types<Handle>())};
  }

  /// Lets this process run the one actor of this name in the cluster, and returns a handle to the actor, wherever it
  /// runs. One of the processes that have made this call calls `make`, which takes the actor system and the ownership,
  /// and returns a handle. If that process or the actor ends, or the lease is no longer certain, another process makes
  /// the next actor, with a higher fencing number. Until then messages wait.
  ///
  /// An actor is told to end a quarter of the lease before its process may lose the lease, and is killed if it has not
  /// ended when that time is over. A process that is stopped, or a handler that runs longer, can act at the same time
  /// as its successor. Receivers of acts that must not happen twice must check the fencing number (ownership.hpp);
  /// otherwise nothing is promised.
  ///
  /// `make` is called on a thread of the cluster, and must return soon. If it throws or returns a null handle, another
  /// process gets its turn. Does not block. Fails with `read_only`, or with `invalid_argument` if this process has
  /// called it for this name.
  ///
  ///     auto clock = cluster->singleton("clock", [](caf::actor_system& system, const troupe::ownership& own) {
  ///       return system.spawn(clock_actor, own);
  ///     });
  template <class Handle = caf::actor, class Make>
  [[nodiscard]] std::expected<troupe::service<Handle>, directory_error> singleton(std::string name, Make make,
                                                                                  service_options options = {}) {
    if (auto ready = own(name,
                         [make = std::move(make), this_system = &system()](const ownership& own) mutable {
                           return caf::actor_cast<caf::actor>(make(*this_system, own));
                         });
        !ready)
      return std::unexpected{std::move(ready).error()};
    return singleton<Handle>(std::move(name), std::move(options));
  }

  /// The same handle, for processes that do not make the actor.
  template <class Handle = caf::actor>
  [[nodiscard]] troupe::service<Handle> singleton(std::string name, service_options options = {}) {
    return troupe::service<Handle>{
        singleton_of(std::move(name), std::move(options), maker_of<Handle>(), system().message_types<Handle>())};
  }

  /// Lets this process host entities of the kind: the cluster has one actor for each key, made by the first message for
  /// it. Keys are divided into shards (entity_options::shards), and the shards among all members that have made this
  /// call. `make` takes the actor system and a const entity_context&, and returns a handle. It is called on a thread of
  /// the cluster, possibly for several entities at the same time. Returns the handles of the kind.
  ///
  /// When members come and go, shards move. The entities of a shard that moves are ended by an exit message after the
  /// messages sent before; their states are saved; later messages wait, and go to the new owner in the order in which
  /// each sender sent them. If a process is killed, messages that it had are lost; requests fail with `child_lost`, or
  /// are repeated with service_options::retry_idempotent. So do messages that a stopped process, or one whose lease has
  /// ended, holds up until later ones of their sender have arrived. What holds for the owners of singletons holds for
  /// the owners of shards: receivers of acts that must not happen twice check entity_context::own().fence().
  ///
  /// Blocks for at most directory_options::timeout. Fails with
  /// - `invalid_argument`: an option has an unusable value, this process hosts the kind already, or other members use
  ///   another number of shards.
  /// - `full`: this member has 1,000 names already (publish()).
  /// - `read_only`, and the errors of a directory's calls. Then nothing is hosted.
  ///
  ///     auto accounts = cluster->host_entities<account_actor>(
  ///         "account", [](caf::actor_system& system, const troupe::entity_context& entity) {
  ///           return system.spawn<account>(entity);
  ///         });
  template <class Handle = caf::actor, class Make>
  [[nodiscard]] std::expected<troupe::entities<Handle>, directory_error>
  host_entities(std::string kind, Make make, entity_options options = {}, service_options service = {}) {
    if (auto ready = host(
            kind,
            [make = std::move(make), this_system = &system()](const entity_context& entity) mutable {
              return caf::actor_cast<caf::actor>(make(*this_system, entity));
            },
            std::move(options));
        !ready)
      return std::unexpected{std::move(ready).error()};
    return entities<Handle>(std::move(kind), std::move(service));
  }

  /// Handles to the entities of the kind, wherever they are. `service_options::pick` is not used; `waiting_most` holds
  /// for each shard. Does not block. Fails with `read_only`.
  template <class Handle = caf::actor>
  [[nodiscard]] std::expected<troupe::entities<Handle>, directory_error> entities(std::string kind,
                                                                                  service_options options = {}) {
    auto routes = routes_of(std::move(kind), std::move(options));
    if (!routes)
      return std::unexpected{std::move(routes).error()};
    return troupe::entities<Handle>{*std::move(routes)};
  }

  /// A handle to one entity. If a program uses several of one kind, entities() costs less. Fails with `read_only`.
  ///
  ///     auto account = value_or_throw(cluster->entity<account_actor>("account", "nl-4711"));
  template <class Handle = caf::actor>
  [[nodiscard]] std::expected<Handle, directory_error> entity(std::string kind, std::string key) {
    auto all = entities<Handle>(std::move(kind));
    if (!all)
      return std::unexpected{std::move(all).error()};
    return all->of(std::move(key));
  }

  /// Sends a cluster_event to `receiver` for each member, name and singleton that is known, and then for each change.
  /// The receiver must be an actor of this process, and is not kept alive.
  ///
  ///     cluster->watch(self); // Its behavior: [](const troupe::cluster_event& event) { ... }
  void watch(const caf::actor& receiver);

  [[nodiscard]] std::vector<cluster_member> members() const;
  /// Published names, each with the name of the member that has published it.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> names() const;
  /// What is wrong with the cluster as seen from here, for people: entries that cannot be read, members that cannot be
  /// dialed or do not let this node find a name, actors with another interface, why the directory does not answer or
  /// its list of members cannot be read. Empty: nothing is known to be wrong.
  [[nodiscard]] std::vector<std::string> problems() const;
  /// Singletons, each with the name of the member that owns it.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> singletons() const;
  /// The kinds of entities that this process hosts, each with the number of entities that run here.
  [[nodiscard]] std::vector<std::pair<std::string, std::size_t>> hosted_entities() const;
  /// This member, as it is registered, except that `is_draining` is always false: see is_draining().
  [[nodiscard]] const cluster_member& self() const noexcept;

  /// Withdraws this member from its work, so that others do it: its names are removed from the directory (the node
  /// still has them), its singletons and entities end and others own them, and the others see
  /// cluster_member::is_draining. Names that are published meanwhile are known to the node alone. Links, handles and
  /// requests under way go on; watchers get `drain_ordered`. The same happens when `troupe cluster drain` orders it.
  /// Does not block: stats() shows when nothing is left. Calling it again does nothing. Fails with `read_only`: with
  /// such a directory, the others ask every member for every name. Then unpublish() the names, and drain the node.
  ///
  ///     cluster->drain(); // Until stats() shows no names, singletons and shards of its own; then node::drain().
  std::expected<void, directory_error> drain();
  /// Undoes drain(). An order of `troupe cluster drain` stays in force until it is cancelled there.
  void cancel_drain();
  [[nodiscard]] bool is_draining() const;

  /// Figures about the cluster and this member.
  [[nodiscard]] cluster_stats stats() const;
  /// A function that gives the same as long as this object lives, and nullopt afterwards. It may be called on any
  /// thread, and may outlive this object.
  [[nodiscard]] std::function<std::optional<cluster_stats>()> stats_reader() const;

private:
  using handle_maker = std::function<std::expected<caf::actor, node_error>(
      node& with, const std::vector<std::string>& addresses, const std::string& name, lasting_options how)>;

  explicit cluster(std::shared_ptr<membership::cluster_core> core);
  [[nodiscard]] std::expected<void, directory_error> publish_untyped(std::string name, caf::actor actor);
  using member_dialer = std::function<std::expected<caf::actor, node_error>(
      const cluster_member& to, const std::string& name, std::function<void(lasting_event::kind)> tell)>;
  [[nodiscard]] member_dialer dialing(handle_maker make) const;
  [[nodiscard]] actor_pool service_of(std::string name, service_options options, handle_maker make,
                                      std::set<std::string> interface);
  [[nodiscard]] actor_pool singleton_of(std::string name, service_options options, handle_maker make,
                                        std::set<std::string> interface);
  [[nodiscard]] std::expected<void, directory_error> own(std::string name,
                                                         std::function<caf::actor(const ownership&)> make);
  [[nodiscard]] std::expected<void, directory_error>
  host(const std::string& kind, std::function<caf::actor(const entity_context&)> make, entity_options options);
  [[nodiscard]] std::expected<std::shared_ptr<membership::entity_routes>, directory_error>
  routes_of(std::string kind, service_options options);
  [[nodiscard]] std::unexpected<directory_error> read_only_failure(std::string_view for_what) const;
  [[nodiscard]] caf::actor_system& system() const;

  template <class Handle>
  [[nodiscard]] static handle_maker maker_of() {
    return [](node& with, const std::vector<std::string>& addresses, const std::string& name,
              lasting_options how) -> std::expected<caf::actor, node_error> {
      auto made = with.lasting<Handle>(std::span<const std::string>{addresses}, name, std::move(how));
      if (!made)
        return std::unexpected{std::move(made).error()};
      return caf::actor_cast<caf::actor>(*made);
    };
  }

  std::shared_ptr<membership::cluster_core> core_; // Null after a move.
};

} // namespace troupe
