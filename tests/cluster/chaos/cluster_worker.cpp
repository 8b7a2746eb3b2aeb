// A member of a cluster, for tests that disturb it.
//   cluster_worker NAME HISTORY DIRECTORY LISTEN ADVERTISE LEASE_MS WORD...
// Words:
//   register        publishes the service "register", which does acts unless their number is too low, and "vault",
//   which
//                   keeps the states of entities in the same way
//   serve=NAME      publishes a service that answers
//   act=KIND:NAME   is ready to own what NAME stands for, and acts on the register as long as it owns it, and a while
//                   longer. KIND is one of `act_sources`: a singleton, or a kind of entities, which count requests.
//   ask=KIND:NAME   sends requests to it, one every 25 ms, whether or not there are answers; to entities some at once,
//                   and then to the next key
//   use=NAME        keeps a handle of the service
// It says "ready", or why it could not join. Then each line of its input is a question, and gets one line as its
// answer:
//   members, singletons, problems    what the cluster object says, in one line
//   quiet                            asks no more; answered at once with "ok"
//   pending                          the number of requests that have no answer so far
//   leave                            "ok", and the process leaves and ends; so it does at the end of its input
#include "history.hpp"

#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <sstream>
#include <stdexcept>
#include <thread>

#include <caf/all.hpp>

#include <troupe/framework/cluster/cluster.hpp>
#include <troupe/framework/cluster/internal/entities/shard_map.hpp>
#include <troupe/framework/node_error.hpp>
#include <troupe/troupe.hpp>

namespace troupe::tests {
namespace {

using namespace std::chrono_literals;
using kind = history_event::kind;

// The cables of a test are a network that only its processes can use.
constexpr std::string_view shared_secret = "0123456789abcdef0123456789abcdef";
constexpr auto act_pause = 10ms;
constexpr auto ask_pause = 25ms;
// An owner that has ended acts on for so many acts, as one that was stopped, or whose handler runs too long, might.
constexpr int acts_after_end = 30;

constexpr std::size_t shard_count = 16;
constexpr int requests_at_once = 3; // To one entity.
// They are passivated and made again all the time.
constexpr auto idle_after = 150ms;

using tick_atom = caf::atom_constant<caf::atom("tick")>;

service_options asking() {
  return {.pick = round_robin, .patience = 4s, .answer_within = 3s};
}

std::string words_of(const std::vector<std::string>& all) {
  std::string text;
  for (const auto& each : all)
    text += (text.empty() ? "" : " ") + each;
  return text;
}

caf::behavior watcher(caf::event_based_actor*, const history_writer& to) {
  return {[&to](const cluster_event& event) {
    std::vector<std::string> words{std::string{name_of(event.what)}};
    for (const auto& each : {event.member.name, event.name, event.reason.message()})
      if (!each.empty())
        words.push_back(each);
    to.write({.what = kind::told, .text = words_of(words)});
  }};
}

/// Does the acts of owners.
caf::behavior receiver_of_acts(caf::event_based_actor*, const history_writer& to) {
  return {[&to, gates = std::make_shared<std::map<std::string, fencing_gate>>()](
              const std::string& name, std::uint64_t fence, std::uint64_t number, bool is_sure, const std::string& by) {
    const auto is_admitted = (*gates)[name].admits(fence);
    to.write({.what = is_admitted ? kind::accepted : kind::refused,
              .name = name,
              .fence = fence,
              .number = number,
              .is_sure = is_sure,
              .by = by});
    return is_admitted;
  }};
}

/// Keeps what entities have counted.
caf::behavior keeper_of_states(caf::event_based_actor*, const history_writer& to) {
  struct state {
    std::pair<std::uint64_t, std::uint64_t> written_by; // The owner's number, and that of the call.
    std::uint64_t count = 0;
  };
  auto states = std::make_shared<std::map<std::string, state>>();
  return {[states](const std::string& name) { return (*states)[name].count; },
          [&to, states](const std::string& name, std::uint64_t fence, std::uint64_t call, std::uint64_t count,
                        const std::string& by) {
            auto& known = (*states)[name];
            const std::pair writing{fence, call};
            if (writing < known.written_by)
              return false;
            known = {writing, count};
            to.write({.what = kind::saved, .name = name, .fence = fence, .number = count, .by = by});
            return true;
          }};
}

caf::behavior answering(caf::event_based_actor*, const std::string& text) {
  return {[text](std::uint64_t, const std::string&) { return text; }};
}

std::string name_of_shard(const std::string& kind_of_entities, const std::string& key) {
  return kind_of_entities + '/' + std::to_string(membership::shard_of(key, shard_count));
}

/// Several for most shards.
std::vector<std::string> keys() {
  std::vector<std::string> all;
  for (int i = 10; i < 34; ++i)
    all.push_back("k" + std::to_string(i));
  return all;
}

/// Acts for one owner, on a thread of its own, which nobody can end with the owner's actor.
class careless_owner {
public:
  careless_owner(caf::actor_system& system, const history_writer& to, std::string name, std::string run, ownership own,
                 caf::actor acted_on, std::shared_ptr<std::atomic<bool>> has_ended)
      : thread_{[this, &system, &to, name = std::move(name), run = std::move(run), own = std::move(own),
                 acted_on = std::move(acted_on), has_ended = std::move(has_ended)] {
          caf::scoped_actor here{system};
          for (std::uint64_t number = 1; left_ > 0 && !ends_; ++number) {
            const auto begun = history_event::clock::now();
            const auto is_sure = own.is_sure();
            to.write({.what = kind::acted,
                      .begun = begun,
                      .name = name,
                      .fence = own.fence(),
                      .number = number,
                      .is_sure = is_sure});
            here->request(acted_on, 2s, name, own.fence(), number, is_sure, run)
                .receive([](bool) {}, [](const caf::error&) {});
            if (*has_ended)
              --left_;
            std::this_thread::sleep_for(act_pause);
          }
        }} {}

  void end() noexcept { ends_ = true; }

private:
  int left_ = acts_after_end; // Only on the thread.
  std::atomic<bool> ends_ = false;
  std::jthread thread_;
};

/// Notes the acts of owners of shards.
class act_notes {
public:
  explicit act_notes(const history_writer& to) : to_(to) {}

  /// Before the act. Returns its number, and what is_sure() says.
  std::pair<std::uint64_t, bool> add(const std::string& name, const ownership& own, const std::string& text = {}) {
    const auto begun = history_event::clock::now();
    const auto is_sure = own.is_sure();
    const auto number = ++last_number_;
    to_.write({.what = kind::acted,
               .begun = begun,
               .name = name,
               .fence = own.fence(),
               .number = number,
               .is_sure = is_sure,
               .text = text});
    return {number, is_sure};
  }

private:
  const history_writer& to_;
  std::atomic<std::uint64_t> last_number_ = 0;
};

/// Acts for the owners of shards in turn, on a thread of its own, which nobody can end with the entities.
class careless_clerk {
public:
  careless_clerk(caf::actor_system& system, const history_writer& to, act_notes& acts, std::string run,
                 caf::actor acted_on)
      : system_(system), to_(to), acts_(acts), run_(std::move(run)), acted_on_(std::move(acted_on)), thread_{[this] {
          work();
        }} {}
  careless_clerk(const careless_clerk&) = delete;
  careless_clerk& operator=(const careless_clerk&) = delete;
  ~careless_clerk() {
    {
      const std::lock_guard guard{mutex_};
      ends_ = true;
    }
    changed_.notify_all();
  }

  /// Notes the owner if it is a new one.
  void add(const std::string& name, const ownership& own) {
    {
      const std::lock_guard guard{mutex_};
      if (!known_.emplace(name, own.fence()).second)
        return;
      to_.write({.what = kind::owns, .name = name, .fence = own.fence()});
      owners_.push_back({name, own, acts_after_end / 3});
    }
    changed_.notify_all();
  }

private:
  struct owner {
    std::string name;
    ownership own;
    int left; // Acts after it was not sure any more.
  };

  void work() {
    caf::scoped_actor here{system_};
    for (;;) {
      std::unique_lock guard{mutex_};
      changed_.wait(guard, [this] { return ends_ || !owners_.empty(); });
      if (ends_)
        return;
      auto one = std::move(owners_.front());
      owners_.pop_front();
      guard.unlock();
      const auto [number, is_sure] = acts_.add(one.name, one.own);
      here->request(acted_on_, 2s, one.name, one.own.fence(), number, is_sure, run_)
          .receive([](bool) {}, [](const caf::error&) {});
      guard.lock();
      if (is_sure || --one.left > 0)
        owners_.push_back(std::move(one));
      changed_.wait_for(guard, act_pause, [this] { return ends_; });
    }
  }

  caf::actor_system& system_;
  const history_writer& to_;
  act_notes& acts_;
  const std::string run_;
  const caf::actor acted_on_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ends_ = false;                                     // Guarded by mutex_.
  std::set<std::pair<std::string, std::uint64_t>> known_; // Guarded by mutex_.
  std::list<owner> owners_;                               // Guarded by mutex_.
  std::jthread thread_;
};

/// Sends requests to each in turn, some at once, and notes their answers.
class asker {
public:
  using targets = std::vector<std::pair<std::string, caf::actor>>;

  asker(caf::actor_system& system, const history_writer& to, std::string run, targets whom, int at_once)
      : counts_(std::make_shared<counts>()),
        actor_(system.spawn([&to, run = std::move(run), whom = std::move(whom), at_once,
                             counts = counts_](caf::event_based_actor* self) -> caf::behavior {
          self->send(self, tick_atom::value);
          return {[self, &to, run, whom, at_once, counts, turn = std::size_t{0},
                   number = std::uint64_t{0}](tick_atom) mutable {
            if (counts->is_quiet)
              return;
            self->delayed_send(self, ask_pause, tick_atom::value);
            const auto& [name, handle] = whom[turn++ % whom.size()];
            for (auto left = at_once; left > 0; --left) {
              ++counts->pending;
              to.write({.what = kind::asked, .name = name, .number = ++number});
              const auto note = [&to, name = name, counts, of = number](kind what, const std::string& text) {
                to.write({.what = what, .name = name, .number = of, .text = text});
                --counts->pending;
              };
              // The service itself promises an answer.
              self->request(handle, caf::infinite, number, run)
                  .then([note](const std::string& value) { note(kind::answered, value); },
                        [note](const caf::error& why) {
                          note(kind::failed, to_string(to_node_error(why).code()) + ": " + text_of(why));
                        });
            }
          }};
        })) {}
  asker(const asker&) = delete;
  asker& operator=(const asker&) = delete;
  ~asker() { caf::anon_send_exit(actor_, caf::exit_reason::user_shutdown); }

  void be_quiet() { counts_->is_quiet = true; }
  [[nodiscard]] int pending() const { return counts_->pending; }

private:
  struct counts {
    std::atomic<bool> is_quiet = false;
    std::atomic<int> pending = 0;
  };

  const std::shared_ptr<counts> counts_;
  caf::actor actor_;
};

class worker {
public:
  explicit worker(std::vector<std::string> words)
      : name_(words.at(0)),
        run_(std::filesystem::path{words.at(1)}.filename()),
        history_(words.at(1)),
        node_(value_or_throw(node::open(system_, types_, families_,
                                        {.name = name_,
                                         .listen = std::vector<std::string>{words.at(3)},
                                         .accepted_links = link_policy(),
                                         .store = std::nullopt}))),
        cluster_(joined(words)) {
    watcher_ = system_.spawn(watcher, std::cref(history_));
    cluster_->watch(watcher_);
    for (std::size_t each = 6; each < words.size(); ++each)
      take(words[each]);
  }
  worker(const worker&) = delete;
  worker& operator=(const worker&) = delete;
  ~worker() {
    askers_.clear();
    kept_.clear();
    cluster_.reset(); // Ends the owners' actors, whose makers use this object.
    for (auto& each : owners_)
      each.end();
    owners_.clear();
    clerk_.reset();
    history_.write({.what = kind::left});
  }

  std::string answer(const std::string& question) {
    if (question == "members") {
      std::vector<std::string> names;
      for (const auto& each : cluster_->members())
        names.push_back(each.name);
      return words_of(names);
    }
    if (question == "singletons") {
      std::vector<std::string> all;
      for (const auto& [name, owner] : cluster_->singletons())
        all.push_back(name + '=' + owner);
      return words_of(all);
    }
    if (question == "problems")
      return words_of(cluster_->problems());
    if (question == "quiet") {
      for (auto& each : askers_)
        each.be_quiet();
      return "ok";
    }
    if (question == "pending") {
      auto sum = 0;
      for (const auto& each : askers_)
        sum += each.pending();
      return std::to_string(sum);
    }
    return "not understood";
  }

private:
  /// Makes this process ready to own what the name stands for. Gives the handle of whoever owns it.
  using act_source = std::function<void(worker&, const std::string& name)>;
  static const std::map<std::string, act_source>& act_sources() {
    static const std::map<std::string, act_source> all{
        {"singleton",
         [](worker& self, const std::string& name) {
           self.kept_.push_back(
               value_or_throw(self.cluster_->singleton(name, [&self, name](caf::actor_system&, const ownership& own) {
                 return self.begin_acting(name, own);
               })));
         }},
        {"entities", [](worker& self, const std::string& name) { self.host(name); }}};
    return all;
  }

  static link_options link_policy() {
    link_options options;
    options.credentials.secret = shared_secret;
    options.heartbeat_interval = 500ms;
    options.heartbeat_timeout = 2s;
    return options;
  }

  std::optional<cluster> joined(const std::vector<std::string>& words) {
    history_.write({.what = kind::ran, .text = node_.identity()});
    auto made = cluster::join(node_, {.directory = words.at(2),
                                      .name = name_,
                                      .advertise = words.at(4),
                                      .lease = std::chrono::milliseconds{std::stoi(words.at(5))},
                                      .join_timeout = 60s,
                                      .link = link_policy()});
    if (!made)
      throw std::runtime_error("cannot join: " + std::string{to_string(made.error().code())} + ": "
                               + made.error().message());
    return *std::move(made);
  }

  void take(const std::string& word) {
    const auto equals = word.find('=');
    const auto verb = word.substr(0, equals);
    const auto what = equals == std::string::npos ? "" : word.substr(equals + 1);
    const auto colon = what.find(':');
    const auto kind_word = what.substr(0, colon);
    const auto name = colon == std::string::npos ? "" : what.substr(colon + 1);
    if (verb == "register") {
      publish("register", system_.spawn(receiver_of_acts, std::cref(history_)));
      publish("vault", system_.spawn(keeper_of_states, std::cref(history_)));
    } else if (verb == "serve")
      publish(what, system_.spawn(answering, name_));
    else if (verb == "use")
      kept_.push_back(cluster_->service(what, asking()));
    else if (verb == "act") {
      if (!registers_)
        registers_.emplace(cluster_->service("register", {.patience = 500ms, .answer_within = 1s}));
      act_sources().at(kind_word)(*this, name);
    } else if (verb == "ask")
      askers_.emplace_back(system_, history_, run_, targets_of(kind_word, name),
                           kind_word == "entities" ? requests_at_once : 1);
    else
      throw std::runtime_error("no such word: " + word);
  }

  asker::targets targets_of(const std::string& kind_word, const std::string& name) {
    asker::targets all;
    if (kind_word == "entities") {
      const auto entities = value_or_throw(cluster_->entities(name, asking()));
      for (const auto& key : keys())
        all.emplace_back(name + ':' + key, entities.of(key));
      return all;
    }
    kept_.push_back(kind_word == "singleton" ? cluster_->singleton(name, asking()) : cluster_->service(name, asking()));
    all.emplace_back(name, kept_.back().handle());
    return all;
  }

  /// A cluster that is disturbed may take the name later.
  void publish(const std::string& name, const caf::actor& actor) {
    if (const auto done = cluster_->publish(name, actor); !done && done.error().code() != directory_errc::unavailable)
      throw std::runtime_error(done.error().message());
  }

  caf::actor begin_acting(const std::string& name, const ownership& own) {
    history_.write({.what = kind::owns, .name = name, .fence = own.fence()});
    auto made = system_.spawn(answering, std::to_string(own.fence()));
    auto has_ended = std::make_shared<std::atomic<bool>>(false);
    caf::actor_cast<caf::abstract_actor*>(made)->attach_functor([has_ended](const caf::error&) { *has_ended = true; });
    const std::lock_guard guard{mutex_};
    owners_.emplace_back(system_, history_, name, run_, own, registers_->handle(), std::move(has_ended));
    return made;
  }

  /// A cluster that is disturbed may permit it later.
  void host(const std::string& kind_of_entities) {
    vault_.emplace(cluster_->service("vault", {.patience = 500ms, .answer_within = 1s}));
    clerk_.emplace(system_, history_, acts_, run_, registers_->handle());
    for (const auto until = history_event::clock::now() + 60s;;) {
      const auto made = cluster_->host_entities(
          kind_of_entities,
          [this, kind_of_entities](caf::actor_system&, const entity_context& entity) {
            return make_entity(kind_of_entities, entity);
          },
          {.shards = shard_count,
           .idle_after = idle_after,
           .load = [this, kind_of_entities](const auto& key,
                                            std::uint64_t) { return load(kind_of_entities + ':' + key); },
           .save = [this,
                    kind_of_entities](const auto& key, auto fence,
                                      const auto& state) { return save(kind_of_entities + ':' + key, fence, state); },
           .end_within = 3s});
      if (made)
        return;
      if (history_event::clock::now() > until)
        throw std::runtime_error(made.error().message());
      std::this_thread::sleep_for(100ms);
    }
  }

  std::expected<std::string, std::string> load(const std::string& name) {
    loading_begun_ = history_event::clock::now();
    std::expected<std::string, std::string> state;
    caf::scoped_actor {
      system_
      } -> request(vault_->handle(), caf::infinite, name)
          .receive([&](std::uint64_t count) { state = std::to_string(count); },
                   [&](const caf::error& why) { state = std::unexpected{text_of(why)}; });
    return state;
  }

  std::expected<void, std::string> save(const std::string& name, std::uint64_t fence, const std::string& state) {
    std::expected<void, std::string> done;
    caf::scoped_actor {
      system_
      } -> request(vault_->handle(), caf::infinite, name, fence, ++saves_, std::uint64_t{std::stoull(state)}, run_)
          .receive(
              [&](bool is_saved) {
                if (!is_saved)
                  done = std::unexpected{std::string{"a later owner has saved"}};
              },
              [&](const caf::error& why) { done = std::unexpected{text_of(why)}; });
    return done;
  }

  /// On the thread that has loaded its state.
  caf::actor make_entity(const std::string& kind_of_entities, const entity_context& entity) {
    const auto name = kind_of_entities + ':' + entity.key();
    const auto shard = name_of_shard(kind_of_entities, entity.key());
    auto count = std::uint64_t{std::stoull(entity.state())};
    clerk_->add(shard, entity.own());
    history_.write({.what = kind::made,
                    .begun = loading_begun_,
                    .name = name,
                    .fence = entity.own().fence(),
                    .number = count,
                    .by = shard});
    return system_.spawn(
        [this, entity, name, shard, count, acted_on = registers_->handle()](caf::event_based_actor*) -> caf::behavior {
          return {[this, entity, name, shard, count, acted_on](std::uint64_t number, const std::string& by) mutable {
            const auto fence = entity.own().fence();
            history_.write({.what = kind::handled,
                            .name = name,
                            .fence = fence,
                            .number = number,
                            .by = by,
                            .text = std::to_string(++count)});
            const auto [act, is_sure] = acts_.add(shard, entity.own(), entity.key());
            caf::anon_send(acted_on, shard, fence, act, is_sure, run_);
            entity.save(std::to_string(count));
            return std::to_string(count);
          }};
        });
  }

  // Of the load that this thread did last.
  static inline thread_local history_event::clock::time_point loading_begun_;

  const std::string name_;
  const std::string run_;
  const history_writer history_;
  act_notes acts_{history_};
  type_registry types_;
  family_set families_;
  system_config config_;
  caf::actor_system system_{config_};
  node node_;
  std::optional<cluster> cluster_;
  caf::actor watcher_;
  std::list<service<caf::actor>> kept_;
  std::list<asker> askers_;
  std::optional<service<caf::actor>> registers_; // Set before there can be an owner.
  // Set before there can be an entity.
  std::optional<service<caf::actor>> vault_;
  std::optional<careless_clerk> clerk_;
  std::atomic<std::uint64_t> saves_ = 0;
  std::mutex mutex_;
  std::list<careless_owner> owners_; // Guarded by mutex_ while the cluster is there.
};

} // namespace
} // namespace troupe::tests

int main(int argument_count, char** arguments) try {
  if (argument_count < 7) {
    std::cerr << "usage: cluster_worker NAME HISTORY DIRECTORY LISTEN ADVERTISE LEASE_MS WORD...\n";
    return 2;
  }
  ::setenv("TROUPE_LOG", "error", 0); // What the tests do to it is worth a warning all the time.
  troupe::tests::worker self{{arguments + 1, arguments + argument_count}};
  std::cout << "ready" << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    if (line == "leave") {
      std::cout << "ok" << std::endl;
      break;
    }
    std::cout << self.answer(line) << std::endl;
  }
  return 0;
} catch (const std::exception& failed) {
  std::cout << failed.what() << std::endl;
  return 1;
}
