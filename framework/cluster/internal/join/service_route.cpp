#include <troupe/framework/cluster/internal/join/service_route.hpp>

#include <cstdint>
#include <map>
#include <mutex>
#include <utility>

#include <caf/actor_cast.hpp>
#include <caf/actor_system.hpp>
#include <caf/allowed_unsafe_message_type.hpp>
#include <caf/behavior.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/exit_reason.hpp>
#include <caf/send.hpp>

namespace troupe::membership {

namespace {

/// The actors that a pool is to have from now on.
struct assignment {
  std::shared_ptr<std::vector<pool_member>> members;
};

} // namespace

} // namespace troupe::membership

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::membership::assignment)

namespace troupe::membership {

class service_route::state : public std::enable_shared_from_this<state> {
public:
  state(caf::actor_system& system, std::string name, bool prefers_near, here self, const actor_pool& pool,
        handle_maker make)
      : name_(std::move(name)),
        prefers_near_(prefers_near),
        self_(std::move(self)),
        pool_(caf::actor_cast<caf::weak_actor_ptr>(pool.handle())),
        make_(std::move(make)),
        assigner_(system.spawn<caf::hidden>([pool = pool_]() -> caf::behavior {
          return {[pool](const assignment& what) {
            if (const auto of = pool.lock())
              actor_pool{caf::actor_cast<caf::actor>(of)}.assign(std::move(*what.members));
          }};
        })) {}
  state(const state&) = delete;
  state& operator=(const state&) = delete;
  ~state() { caf::anon_send_exit(assigner_, caf::exit_reason::kill); }

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] bool is_wanted() const { return static_cast<bool>(pool_.lock()); }

  void lead_to(const std::vector<cluster_member>& providers, const std::optional<caf::actor>& own) {
    std::map<std::string, provider> released; // After the lock.
    const std::lock_guard guard{mutex_};
    released.swap(providers_);
    own_ = own;
    for (const auto& one : providers) {
      if (one.name == self_.member)
        continue; // Its own actor, which is known or about to be.
      const auto known = released.find(one.name);
      if (known != released.end() && known->second.member.incarnation == one.incarnation
          && known->second.member.addresses == one.addresses) {
        known->second.member = one;
        providers_.insert(released.extract(known));
        continue;
      }
      // A handle may tell of its actor before it is kept here.
      const auto number = ++last_number_;
      providers_.emplace(one.name, provider{.member = one, .number = number});
      auto made = make_(one, name_, [weak = weak_from_this(), name = one.name, number](bool is_found) {
        if (const auto self = weak.lock())
          self->note(name, number, is_found);
      });
      if (made)
        providers_[one.name].handle = *std::move(made);
      else
        providers_.erase(one.name); // The reason was told where it was made.
    }
    assign();
  }

private:
  struct provider {
    cluster_member member = {};
    std::uint64_t number = 0; // Of the handle.
    caf::actor handle = {};
    bool is_found = false;
  };

  void note(const std::string& name, std::uint64_t number, bool is_found) {
    const std::lock_guard guard{mutex_};
    const auto of = providers_.find(name);
    if (of == providers_.end() || of->second.number != number || of->second.is_found == is_found)
      return;
    of->second.is_found = is_found;
    assign();
  }

  /// With the lock, so that the pool gets the states in their order. An actor passes them on: with a new state, the
  /// pool delivers messages that waited, for which this thread, which may be an I/O thread, must not block.
  void assign() {
    std::vector<pool_member> all;
    std::vector<pool_member> near;
    for (const auto& [name, one] : providers_)
      if (one.is_found && one.handle) {
        all.push_back({name, one.handle});
        if (one.member.host == self_.host)
          near.push_back(all.back());
      }
    if (own_ && prefers_near_)
      all = {{self_.member, *own_}};
    else if (own_)
      all.push_back({self_.member, *own_});
    else if (prefers_near_ && !near.empty())
      all = std::move(near);
    caf::anon_send(assigner_, assignment{std::make_shared<std::vector<pool_member>>(std::move(all))});
  }

  const std::string name_;
  const bool prefers_near_;
  const here self_;
  const caf::weak_actor_ptr pool_;
  const handle_maker make_;
  const caf::actor assigner_;

  std::mutex mutex_;
  // Guarded by mutex_.
  std::map<std::string, provider> providers_; // By the member's name.
  std::optional<caf::actor> own_;
  std::uint64_t last_number_ = 0;
};

service_route::service_route(caf::actor_system& system, std::string name, bool prefers_near, here self,
                             const actor_pool& pool, handle_maker make)
    : state_(std::make_shared<state>(system, std::move(name), prefers_near, std::move(self), pool, std::move(make))) {}

const std::string& service_route::name() const noexcept {
  return state_->name();
}

bool service_route::is_wanted() const {
  return state_->is_wanted();
}

void service_route::lead_to(const std::vector<cluster_member>& providers, const std::optional<caf::actor>& own) {
  state_->lead_to(providers, own);
}

} // namespace troupe::membership
