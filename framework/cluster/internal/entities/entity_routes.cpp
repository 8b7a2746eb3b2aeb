#include <troupe/framework/cluster/internal/entities/entity_routes.hpp>

#include <chrono>
#include <map>
#include <optional>
#include <random>
#include <utility>

#include <caf/actor_cast.hpp>
#include <caf/actor_system.hpp>
#include <caf/allowed_unsafe_message_type.hpp>
#include <caf/behavior.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/exit_reason.hpp>
#include <caf/send.hpp>

#include <troupe/framework/cluster/internal/entities/arrival_order.hpp>
#include <troupe/framework/cluster/internal/entities/shard_map.hpp>
#include <troupe/framework/cluster/internal/membership/reach.hpp>

namespace troupe::membership {

namespace {

using namespace std::chrono_literals;

// A marker that is not answered within this time is not waited for any more: the old owner is stuck.
constexpr auto marker_patience = 10s;

/// The first way of a sender that nobody else is.
std::uint64_t new_sender() {
  thread_local std::mt19937_64 random{std::random_device{}()};
  constexpr auto senders = entity_address::way_end >> arrival_order::change_bits;
  return std::uniform_int_distribution<std::uint64_t>{1, senders - 1}(random) << arrival_order::change_bits;
}

std::uint64_t next_way(std::uint64_t way) {
  return way + 1 < entity_address::way_end ? way + 1 : new_sender();
}

struct news_of_owners {
  std::shared_ptr<const shard_owners> owners;
  caf::actor own;
  std::shared_ptr<const std::vector<std::uint64_t>> fences;
};
struct news_of_way {
  std::uint32_t shard;
  bool is_open; // There is a pool now.
};
struct news_of_passing { // No thread passes messages on the way that is left, unless more have come.
  std::uint32_t shard;
  std::uint64_t way;
};
struct news_of_handle {
  std::string member;
  std::uint64_t number;
  lasting_event::kind what;
};

} // namespace

} // namespace troupe::membership

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::membership::news_of_owners)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::membership::news_of_way)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::membership::news_of_passing)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::membership::news_of_handle)

namespace troupe::membership {

/// Decides where the messages of each shard go.
class entity_routes::router : public caf::event_based_actor {
public:
  router(caf::actor_config& config, std::weak_ptr<entity_routes> routes)
      : caf::event_based_actor(config), routes_(std::move(routes)) {}

  caf::behavior make_behavior() override {
    return {[this](const news_of_owners& news) {
              if (const auto routes = routes_.lock())
                take(*routes, news);
            },
            [this](const news_of_way& news) {
              if (const auto routes = routes_.lock()) {
                if (news.is_open)
                  ways_[news.shard].is_open = true;
                lead(*routes, news.shard);
              }
            },
            [this](const news_of_passing& news) { leave(news.shard, news.way); },
            [this](const news_of_handle& news) {
              const auto of = handles_.find(news.member);
              if (of == handles_.end() || of->second.number != news.number)
                return;
              const auto [next, has_to_wake] = after(of->second.now, news.what);
              if (has_to_wake)
                wake(of->second.handle);
              if (std::exchange(of->second.now, next) == next)
                return;
              if (const auto routes = routes_.lock())
                lead_all(*routes);
            }};
  }
  void on_exit() override { // The handles refer to this actor.
    handles_.clear();
    ways_.clear();
    own_ = nullptr;
  }
  [[nodiscard]] const char* name() const override { return "troupe::entity_router"; }

private:
  struct known_handle {
    cluster_member member;
    std::uint64_t number = 0;
    caf::actor handle = {};
    reach now = reach::asleep;
  };
  struct target {
    std::string id; // The member and its incarnation.
    std::string name;
    caf::actor handle;
    std::uint64_t fence = 0; // Of its ownership.
    bool is_asleep = false;
  };
  struct way {
    bool is_open = false;      // It has a pool.
    target last;               // Where messages went last; its id is empty if they did not, or have all arrived.
    bool was_cut = false;      // Since then, the link to it was lost.
    std::uint64_t way = 0;     // What messages say; see arrival_order.
    caf::actor stamp = {};     // Puts `way` and the fencing number of `last` into messages that have waited.
    bool is_stamped = false;   // No such message waits any more.
    std::uint64_t leaving = 0; // The number of the way that is being left; 0: none.
    bool is_marked = false;    // A marker goes after the messages on the way that is being left.
  };

  void take(entity_routes& routes, const news_of_owners& news) {
    owners_ = news.owners;
    own_ = news.own;
    fences_ = news.fences;
    if (ways_.empty() && !owners_->owner.empty()) {
      ways_.resize(owners_->owner.size());
      routes.ways_ = std::make_unique<shared_way[]>(ways_.size());
      for (std::uint32_t i = 0; i < ways_.size(); ++i)
        ways_[i].way = new_sender();
      // First those that wait, so that none overtakes them.
      routes.lobby_.assign(
          {{"shards", make_relay(system(), [weak = routes_, count = ways_.size()](relayed_message what) {
              const auto to = address_of(what.content());
              const auto self = weak.lock();
              if (!to || !self)
                return;
              what.set_content(without_address(what.content()));
              self->pass_known({.key = to->key,
                                .shard = shard_of(to->key, count),
                                .hops = to->hops,
                                .way = to->way,
                                .fence = to->fence},
                               std::move(what));
            })}});
      routes.shards_.store(ways_.size(), std::memory_order_release);
    }
    std::erase_if(handles_, [&](const auto& known) { return !owners_->present.contains(known.first); });
    lead_all(routes);
    for (std::uint32_t i = 0; i < ways_.size(); ++i)
      routes.ways_[i].is_own = is_own(i);
  }

  void lead_all(entity_routes& routes) {
    for (std::uint32_t i = 0; i < ways_.size(); ++i)
      lead(routes, i);
  }

  [[nodiscard]] std::uint64_t own_fence(std::uint32_t shard) const {
    return shard < fences_->size() ? (*fences_)[shard] : 0;
  }
  [[nodiscard]] bool is_own(std::uint32_t shard) const { return own_fence(shard) != 0; }

  /// Where the shard's messages are to go now; nullopt: nowhere.
  std::optional<target> target_of(entity_routes& routes, std::uint32_t shard) {
    if (is_own(shard))
      return target{routes.of_.self, routes.of_.self, own_, own_fence(shard)};
    const auto owner = shard < owners_->owner.size() ? owners_->owner[shard] : shard_owners::none;
    if (owner == shard_owners::none)
      return std::nullopt;
    const auto& member = owners_->members[owner];
    if (member.name == routes.of_.self)
      return std::nullopt; // Not yet, or not any more.
    auto& known = handles_[member.name];
    if (!known.handle || known.member.incarnation != member.incarnation || known.member.addresses != member.addresses) {
      known = {.member = member, .number = ++last_number_};
      auto made = routes.dial(
          member, [weak = caf::weak_actor_ptr{ctrl()}, name = member.name, number = known.number](auto what) {
            if (const auto to = weak.lock())
              caf::anon_send(caf::actor_cast<caf::actor>(to), news_of_handle{name, number, what});
          });
      if (!made)
        return std::nullopt; // The reason was told where it was made.
      known.handle = *std::move(made);
    }
    if (known.now == reach::out)
      return std::nullopt;
    return target{member.name + '\n' + member.incarnation, member.name, known.handle,
                  shard < owners_->fence.size() ? owners_->fence[shard] : 0, known.now == reach::asleep};
  }

  void lead(entity_routes& routes, std::uint32_t shard) {
    if (shard >= ways_.size())
      return;
    auto& of = ways_[shard];
    const auto passes_for_region = static_cast<bool>(routes.of_.on_drained);
    const auto tell_if_own = [&] {
      if (passes_for_region && is_own(shard))
        routes.of_.on_drained(shard);
    };
    if (!of.is_open)
      return tell_if_own(); // No message has come.
    if (of.leaving != 0 && passes_for_region && is_own(shard))
      of.leaving = 0; // The marker would wait here for this way.
    if (of.leaving != 0)
      return; // Its end leads anew.
    auto& shared = routes.ways_[shard];
    const auto& pool = *shared.pool.load(std::memory_order_acquire);
    auto to = target_of(routes, shard);
    if (!to) {
      of.was_cut = of.was_cut || (!of.last.id.empty() && !may_have_messages(routes, of.last));
      return lead_nowhere(shared, of);
    }
    // The region itself keeps what it has passed to itself in order. A marker to another member could only come back
    // here, where it would wait for this way.
    const auto keeps_order = passes_for_region && (to->id == routes.of_.self || of.last.id == routes.of_.self);
    if (!keeps_order && !of.last.id.empty() && (of.was_cut || of.last.id != to->id)) {
      lead_nowhere(shared, of);
      of.leaving = shared.number.load();
      shared.number = of.leaving + 1;
      of.is_marked = of.last.id != to->id && may_have_messages(routes, of.last);
      return leave(shard, of.leaving);
    }
    const auto is_same = of.last.handle == to->handle && of.last.fence == to->fence;
    of.last = *to;
    of.was_cut = false;
    std::function<void()> wakes;
    if (to->is_asleep)
      wakes = [handle = to->handle] { wake(handle); };
    // Messages that wait have no fencing number yet: the shard had no known owner. Messages of other members have one.
    if (!passes_for_region && (!is_same || !of.is_stamped)) {
      if (!is_same || !of.stamp)
        of.stamp = make_stamp(of);
      pool.assign({{of.last.name, of.stamp, wakes}});
      shared.way = of.way;
      shared.fence = to->fence;
      of.is_stamped = !to->is_asleep;
    }
    if (passes_for_region || of.is_stamped) {
      of.stamp = nullptr;
      // Has passed on what waited when it returns, unless the owner is asleep.
      pool.assign({{of.last.name, of.last.handle, std::move(wakes)}});
    }
    tell_if_own();
  }

  static void lead_nowhere(shared_way& shared, way& of) {
    shared.pool.load(std::memory_order_acquire)->assign({});
    shared.fence = 0;
    of.stamp = nullptr;
    of.is_stamped = false;
  }

  caf::actor make_stamp(const way& of) {
    return make_relay(system(), [handle = of.last.handle, way = of.way, fence = of.last.fence](relayed_message what) {
      if (auto to = address_of(what.content()); to && to->way == 0) {
        to->way = way;
        to->fence = fence;
        what.set_content(with_address(without_address(what.content()), *to));
      }
      std::move(what).pass_to(handle);
    });
  }

  /// Leaves the old way after the messages that threads are passing on just now, and sends a marker after them if they
  /// may still be on their way.
  void leave(std::uint32_t shard, std::uint64_t number) {
    const auto routes = routes_.lock();
    if (!routes || ways_[shard].leaving != number)
      return;
    auto& before = routes->ways_[shard].passing[number % 2];
    before.left = number;
    if (before.count > 0 || before.left.exchange(0) != number)
      return; // A thread that takes the number has this called again. If it takes it too early, this looks again.
    const auto arrived = [this, shard, number](bool is_cut) {
      auto& of = ways_[shard];
      if (of.leaving != number)
        return; // It was given up.
      of.leaving = 0;
      of.last = {};
      if (is_cut)
        of.way = next_way(of.way);
      if (const auto still = routes_.lock())
        lead(*still, shard);
    };
    if (!ways_[shard].is_marked)
      return arrived(true);
    const auto marker = with_address({}, {.key = {}, .shard = shard, .is_marker = true});
    request(ways_[shard].last.handle, marker_patience, marker.get_as<std::string>(0), marker.get_as<std::uint64_t>(1),
            marker.get_as<std::uint64_t>(2))
        .then([arrived](std::uint32_t) { arrived(false); }, [arrived](const caf::error&) { arrived(true); });
  }

  /// Whether messages may still be on their way through the old owner. If its handle is asleep, it may still keep some.
  bool may_have_messages(const entity_routes& routes, const target& old) const {
    if (old.id == routes.of_.self)
      return true;
    for (const auto& [name, known] : handles_)
      if (known.handle == old.handle)
        return known.now != reach::out;
    return false;
  }

  const std::weak_ptr<entity_routes> routes_;
  std::shared_ptr<const shard_owners> owners_ = std::make_shared<shard_owners>();
  caf::actor own_;
  std::shared_ptr<const std::vector<std::uint64_t>> fences_ = std::make_shared<std::vector<std::uint64_t>>();
  std::vector<way> ways_;                       // By shard.
  std::map<std::string, known_handle> handles_; // By the member's name.
  std::uint64_t last_number_ = 0;
};

std::shared_ptr<entity_routes> entity_routes::make(parts of) {
  auto made = std::make_shared<entity_routes>(std::move(of));
  made->router_ = made->of_.system.spawn<router, caf::hidden>(std::weak_ptr<entity_routes>{made});
  return made;
}

entity_routes::entity_routes(parts of)
    : of_(std::move(of)), lobby_(*actor_pool::open(of_.system, of_.pool)), dial_(of_.dial) {}

entity_routes::~entity_routes() {
  caf::anon_send_exit(router_, caf::exit_reason::kill);
}

caf::actor entity_handle(const std::shared_ptr<entity_routes>& routes, std::string key) {
  return routes->handle(std::move(key));
}

caf::actor entity_routes::handle(std::string key) {
  return make_relay(of_.system, [self = shared_from_this(), key = std::move(key)](relayed_message what) {
    self->pass(key, std::move(what));
  });
}

void entity_routes::pass(const std::string& key, relayed_message what) {
  if (key.size() > entity_address::key_bytes_max)
    return std::move(what).fail({node_errc::bad_option, "the key of an entity has at most 1,024 bytes; this one has "
                                                            + std::to_string(key.size())});
  if (const auto shards = shards_.load(std::memory_order_acquire); shards != 0)
    return pass_known({.key = key, .shard = shard_of(key, shards)}, std::move(what));
  wait_in_lobby({.key = key}, std::move(what)); // The lobby finds the shard, also if it is known meanwhile.
}

void entity_routes::pass_on(const entity_address& to, relayed_message what) {
  if (shards_.load(std::memory_order_acquire) != 0)
    return pass_known(to, std::move(what));
  wait_in_lobby(to, std::move(what));
}

void entity_routes::wait_in_lobby(const entity_address& to, relayed_message what) {
  what.set_content(with_address(what.content(), to));
  std::move(what).pass_to(lobby_.handle());
}

void entity_routes::pass_known(entity_address to, relayed_message what) {
  auto& way = ways_[to.shard];
  auto number = way.number.load();
  for (;;) {
    ++way.passing[number % 2].count;
    const auto now = way.number.load();
    if (now == number)
      break;
    end_passing(to.shard, number); // The router may not have waited for this thread.
    number = now;
  }
  if (to.way == 0) {
    to.fence = way.fence.load();
    to.way = to.fence != 0 ? way.way.load() : 0;
  }
  what.set_content(with_address(what.content(), to));
  std::move(what).pass_to(pool_of(to.shard).handle());
  end_passing(to.shard, number);
}

void entity_routes::end_passing(std::uint32_t shard, std::uint64_t number) {
  auto& those = ways_[shard].passing[number % 2];
  if (--those.count > 0 || those.left == 0)
    return;
  if (const auto left = those.left.exchange(0); left != 0)
    caf::anon_send(router_, news_of_passing{shard, left});
}

const actor_pool& entity_routes::pool_of(std::uint32_t shard) {
  auto& way = ways_[shard];
  if (const auto* const known = way.pool.load(std::memory_order_acquire))
    return *known;
  const std::lock_guard guard{mutex_};
  if (const auto* const known = way.pool.load(std::memory_order_acquire))
    return *known;
  kept_.push_back(std::make_unique<actor_pool>(*actor_pool::open(of_.system, of_.pool)));
  way.pool.store(kept_.back().get(), std::memory_order_release);
  caf::anon_send(router_, news_of_way{shard, true});
  return *kept_.back();
}

std::expected<caf::actor, node_error> entity_routes::dial(const cluster_member& to,
                                                          std::function<void(lasting_event::kind)> tell) {
  const std::lock_guard guard{dialing_};
  if (!dial_)
    return std::unexpected{node_error{node_errc::link_down, "this node has left the cluster"}};
  return dial_(to, std::move(tell));
}

bool entity_routes::leads_here(std::uint32_t shard) const {
  return shards_.load(std::memory_order_acquire) != 0 && ways_[shard].is_own;
}

void entity_routes::ask_drained(std::uint32_t shard) {
  caf::anon_send(router_, news_of_way{shard, false});
}

void entity_routes::stop() {
  const std::lock_guard guard{dialing_};
  dial_ = nullptr;
}

void entity_routes::lead_to(std::shared_ptr<const shard_owners> owners, const caf::actor& own,
                            std::vector<std::uint64_t> fences) {
  caf::anon_send(router_, news_of_owners{std::move(owners), own,
                                         std::make_shared<const std::vector<std::uint64_t>>(std::move(fences))});
}

std::size_t entity_routes::under_way() const {
  const std::lock_guard guard{mutex_};
  const auto lobby = lobby_.stats();
  auto count = lobby.waiting + lobby.unanswered;
  for (const auto& one : kept_) {
    const auto stats = one->stats();
    count += stats.waiting + stats.unanswered;
  }
  return count;
}

} // namespace troupe::membership
