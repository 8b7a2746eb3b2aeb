#include <troupe/framework/cluster/internal/join/service_route.hpp>

#include <algorithm>
#include <iterator>
#include <map>
#include <mutex>
#include <utility>

#include <caf/actor_cast.hpp>

namespace troupe::membership {

class service_route::state : public std::enable_shared_from_this<state> {
public:
  state(std::string name, bool prefers_near, here self, const actor_pool& pool, handle_maker make)
      : name_(std::move(name)),
        prefers_near_(prefers_near),
        self_(std::move(self)),
        pool_(caf::actor_cast<caf::weak_actor_ptr>(pool.handle())),
        make_(std::move(make)) {}

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
      if (auto known = released.extract(one.incarnation)) {
        known.mapped().member = one;
        providers_.insert(std::move(known));
        continue;
      }
      // A handle may tell of its actor before it is kept here.
      providers_.emplace(one.incarnation, provider{.member = one});
      auto made = make_(one, name_, [weak = weak_from_this(), incarnation = one.incarnation](bool is_found) {
        if (const auto self = weak.lock())
          self->note(incarnation, is_found);
      });
      if (made)
        providers_[one.incarnation].handle = *std::move(made);
      else
        providers_.erase(one.incarnation); // The reason was told where it was made.
    }
    assign();
  }

private:
  struct provider {
    cluster_member member = {};
    caf::actor handle = {};
    bool is_found = false;
  };

  void note(const std::string& incarnation, bool is_found) {
    const std::lock_guard guard{mutex_};
    const auto of = providers_.find(incarnation);
    if (of == providers_.end() || of->second.is_found == is_found)
      return;
    of->second.is_found = is_found;
    assign();
  }

  /// With the lock, so that the pool gets the states in their order.
  void assign() {
    const auto pool = pool_.lock();
    if (!pool)
      return;
    std::vector<pool_member> all;
    std::vector<pool_member> near;
    for (const auto& [incarnation, one] : providers_)
      if (one.is_found && one.handle) {
        all.push_back({one.member.name, one.handle});
        if (one.member.host == self_.host)
          near.push_back(all.back());
      }
    if (own_ && prefers_near_)
      all = {{self_.member, *own_}};
    else if (own_)
      all.push_back({self_.member, *own_});
    else if (prefers_near_ && !near.empty())
      all = std::move(near);
    actor_pool{caf::actor_cast<caf::actor>(pool)}.assign(std::move(all));
  }

  const std::string name_;
  const bool prefers_near_;
  const here self_;
  const caf::weak_actor_ptr pool_;
  const handle_maker make_;

  std::mutex mutex_;
  // Guarded by mutex_.
  std::map<std::string, provider> providers_; // By incarnation.
  std::optional<caf::actor> own_;
};

service_route::service_route(std::string name, bool prefers_near, here self, const actor_pool& pool, handle_maker make)
    : state_(std::make_shared<state>(std::move(name), prefers_near, std::move(self), pool, std::move(make))) {}

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
