#include <troupe/framework/cluster/internal/join/service_route.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <utility>

#include <caf/actor_cast.hpp>
#include <caf/actor_system.hpp>
#include <caf/allowed_unsafe_message_type.hpp>
#include <caf/behavior.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/exit_reason.hpp>
#include <caf/send.hpp>

#include <troupe/framework/cluster/internal/join/load_watch.hpp>
#include <troupe/framework/cluster/internal/join/subset.hpp>
#include <troupe/framework/cluster/internal/membership/reach.hpp>

namespace troupe::membership {

namespace {

/// The actors that a pool is to have from now on.
struct assignment {
  std::shared_ptr<std::vector<pool_member>> members;
};

/// Other providers may have to be used.
struct choose_anew {
  std::function<void()> call;
};

} // namespace

} // namespace troupe::membership

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::membership::assignment)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::membership::choose_anew)

namespace troupe::membership {

class service_route::state : public std::enable_shared_from_this<state> {
public:
  state(caf::actor_system& system, terms its, const actor_pool& pool)
      : its_(std::move(its)),
        pool_(caf::actor_cast<caf::weak_actor_ptr>(pool.handle())),
        assigner_(system.spawn<caf::hidden>([pool = pool_]() -> caf::behavior {
          return {[pool](const assignment& what) {
                    if (const auto of = pool.lock())
                      actor_pool{caf::actor_cast<caf::actor>(of)}.assign(std::move(*what.members));
                  },
                  [](const choose_anew& what) { what.call(); }};
        })) {
    if (its_.make_teller)
      loads_.emplace(system, pool_);
  }
  state(const state&) = delete;
  state& operator=(const state&) = delete;
  ~state() { caf::anon_send_exit(assigner_, caf::exit_reason::kill); }

  [[nodiscard]] const std::string& name() const noexcept { return its_.name; }

  void lead_to(const std::vector<cluster_member>& all, const std::optional<caf::actor>& own) {
    std::map<std::string, provider> before; // Released after the lock, as are the next.
    std::vector<caf::actor> released;
    const std::lock_guard guard{mutex_};
    before.swap(providers_);
    own_ = own;
    for (const auto& one : all) {
      if (one.name == its_.self.member)
        continue; // Its own actor, which is known or about to be.
      const auto known = before.find(one.name);
      if (known != before.end() && known->second.member.incarnation == one.incarnation
          && known->second.member.addresses == one.addresses) {
        known->second.member = one;
        providers_.insert(before.extract(known));
      } else {
        providers_.emplace(one.name, provider{.member = one, .rank = rank_of(its_.self.member, one.name)});
      }
    }
    choose(released);
    assign();
  }

private:
  struct provider {
    cluster_member member = {};
    std::uint64_t rank = 0;   // The members with the highest ranks are used.
    std::uint64_t number = 0; // Of the handle.
    caf::actor handle = {};   // Null unless the member is used.
    caf::actor teller = {};   // Of its load; null unless it is asked.
    reach now = reach::out;
    bool is_refused = false; // There can be no handle; the reason was told where it was not made.
  };

  // -- with the lock

  /// Makes the handles of the members that are used from now on, and moves those of the others to `released`. A member
  /// that is out is replaced, and is kept until it is back, so that this is noticed.
  void choose(std::vector<caf::actor>& released) {
    std::vector<provider*> all;
    for (auto& [name, one] : providers_)
      all.push_back(&one);
    std::set<const provider*> chosen;
    if (its_.members_most > 0 && its_.members_most < all.size()) {
      std::ranges::sort(all, std::ranges::greater{}, [this](const auto* one) {
        return std::pair{its_.prefers_near && is_near(*one), one->rank};
      });
      std::size_t in_reach = 0;
      for (auto* const one : all) {
        if (in_reach == its_.members_most)
          break;
        if (!one->handle)
          make_handle(*one);
        chosen.insert(one);
        in_reach += one->handle && one->now != reach::out ? 1 : 0;
      }
      for (auto& [name, one] : providers_)
        if (one.handle && !chosen.contains(&one)) {
          released.push_back(std::exchange(one.handle, {}));
          released.push_back(std::exchange(one.teller, {}));
          one.now = reach::out;
          one.number = 0;
        }
    } else {
      for (auto* const one : all)
        if (!one->handle)
          make_handle(*one);
    }
  }

  [[nodiscard]] bool is_near(const provider& of) const { return of.member.host == its_.self.host; }

  void make_handle(provider& of) {
    if (of.is_refused)
      return;
    // A handle may tell of its actor before it is kept here.
    of.number = ++last_number_;
    of.now = its_.is_on_demand ? reach::asleep : reach::out;
    auto made = its_.make(of.member, its_.name,
                          [weak = weak_from_this(), name = of.member.name, number = of.number](auto what) {
                            if (const auto self = weak.lock())
                              self->note(name, number, what);
                          });
    of.is_refused = !made;
    if (!made)
      return;
    of.handle = *std::move(made);
    if (its_.make_teller && std::ranges::find(of.member.features, load_feature) != of.member.features.end())
      if (auto teller = its_.make_teller(of.member, load_teller_name, [](auto) {}))
        of.teller = *std::move(teller);
  }

  /// An actor passes the states on in their order: with a new state, the pool delivers messages that waited, for which
  /// this thread, which may be an I/O thread, must not block.
  void assign() {
    std::vector<pool_member> all;
    std::vector<pool_member> near;
    for (const auto& [name, one] : providers_) {
      if (one.now == reach::out || !one.handle)
        continue;
      all.push_back({name, one.handle});
      if (one.now == reach::asleep)
        all.back().wake = [handle = one.handle] { wake(handle); };
      if (is_near(one))
        near.push_back(all.back());
    }
    if (own_ && its_.prefers_near)
      all = {{its_.self.member, *own_}};
    else if (own_)
      all.push_back({its_.self.member, *own_});
    else if (its_.prefers_near && !near.empty())
      all = std::move(near);
    if (loads_) {
      std::vector<load_watch::asked> asked;
      for (const auto& one : all)
        if (const auto of = providers_.find(one.name); of != providers_.end() && of->second.teller && !one.wake)
          asked.push_back({one.name, of->second.teller});
      loads_->ask(std::move(asked));
    }
    caf::anon_send(assigner_, assignment{std::make_shared<std::vector<pool_member>>(std::move(all))});
  }

  // -- without the lock

  void note(const std::string& name, std::uint64_t number, lasting_event::kind what) {
    caf::actor woken; // After the lock.
    const std::lock_guard guard{mutex_};
    const auto found = providers_.find(name);
    if (found == providers_.end() || found->second.number != number)
      return;
    auto& of = found->second;
    const auto [next, has_to_wake] = after(of.now, what);
    if (has_to_wake) {
      woken = of.handle; // Is it back?
      wake(woken);
    }
    const auto before = std::exchange(of.now, next);
    if (before == next)
      return;
    assign();
    if (its_.members_most > 0 && (before == reach::out || next == reach::out))
      caf::anon_send(assigner_, choose_anew{[weak = weak_from_this()] {
                       if (const auto self = weak.lock())
                         self->choose_anew_now();
                     }});
  }

  void choose_anew_now() {
    std::vector<caf::actor> released; // After the lock.
    const std::lock_guard guard{mutex_};
    choose(released);
    assign();
  }

  const terms its_;
  const caf::weak_actor_ptr pool_;
  const caf::actor assigner_;
  std::optional<load_watch> loads_;

  std::mutex mutex_;
  // Guarded by mutex_.
  std::map<std::string, provider> providers_; // By the member's name.
  std::optional<caf::actor> own_;
  std::uint64_t last_number_ = 0;
};

service_route::service_route(caf::actor_system& system, terms its, const actor_pool& pool)
    : state_(std::make_shared<state>(system, std::move(its), pool)) {}

const std::string& service_route::name() const noexcept {
  return state_->name();
}

void service_route::lead_to(const std::vector<cluster_member>& providers, const std::optional<caf::actor>& own) {
  state_->lead_to(providers, own);
}

} // namespace troupe::membership
