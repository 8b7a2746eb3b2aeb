// A member of a cluster, for tests that disturb it.
//   cluster_worker NAME HISTORY DIRECTORY LISTEN ADVERTISE LEASE_MS WORD...
// Words:
//   register        publishes the service "register", which does acts unless their number is too low
//   serve=NAME      publishes a service that answers
//   act=KIND:NAME   is ready to own what NAME stands for, and acts on the register as long as it owns it, and a while
//                   longer. KIND is one of `act_sources`.
//   ask=KIND:NAME   sends requests to it, one every 25 ms, whether or not there are answers
//   use=NAME        keeps a handle of the service
// It says "ready", or why it could not join. Then each line of its input is a question, and gets one line as its
// answer:
//   members, singletons, problems    what the cluster object says, in one line
//   quiet                            asks no more; answered at once with "ok"
//   pending                          the number of requests that have no answer so far
//   leave                            "ok", and the process leaves and ends; so it does at the end of its input
#include "history.hpp"

#include <atomic>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <thread>

#include <caf/all.hpp>

#include <troupe/framework/cluster/cluster.hpp>
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

std::string_view name_of(cluster_event::kind what) {
  switch (what) {
    using enum cluster_event::kind;
  case member_up:
    return "member_up";
  case member_changed:
    return "member_changed";
  case member_down:
    return "member_down";
  case name_added:
    return "name_added";
  case name_gone:
    return "name_gone";
  case singleton_moved:
    return "singleton_moved";
  case entities_moved:
    return "entities_moved";
  case drain_ordered:
    return "drain_ordered";
  case drain_cancelled:
    return "drain_cancelled";
  case directory_lost:
    return "directory_lost";
  case directory_found:
    return "directory_found";
  }
  return "unknown";
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

caf::behavior answering(caf::event_based_actor*, const std::string& text) {
  return {[text](std::uint64_t) { return text; }};
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

/// Sends requests, and notes their answers.
class asker {
public:
  asker(caf::actor_system& system, const history_writer& to, std::string name, caf::actor whom)
      : counts_(std::make_shared<counts>()),
        actor_(system.spawn([&to, name = std::move(name), whom = std::move(whom),
                             counts = counts_](caf::event_based_actor* self) -> caf::behavior {
          self->send(self, tick_atom::value);
          return {[self, &to, name, whom, counts, number = std::uint64_t{0}](tick_atom) mutable {
            if (counts->is_quiet)
              return;
            self->delayed_send(self, ask_pause, tick_atom::value);
            ++counts->pending;
            to.write({.what = kind::asked, .name = name, .number = ++number});
            const auto note = [&to, name, counts, of = number](kind what, const std::string& text) {
              to.write({.what = what, .name = name, .number = of, .text = text});
              --counts->pending;
            };
            // The service itself promises an answer.
            self->request(whom, caf::infinite, number)
                .then([note](const std::string& value) { note(kind::answered, value); },
                      [note](const caf::error& why) {
                        note(kind::failed, to_string(to_node_error(why).code()) + ": " + text_of(why));
                      });
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
        {"singleton", [](worker& self, const std::string& name) {
           self.kept_.push_back(
               value_or_throw(self.cluster_->singleton(name, [&self, name](caf::actor_system&, const ownership& own) {
                 return self.begin_acting(name, own);
               })));
         }}};
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
    if (verb == "register")
      publish("register", system_.spawn(receiver_of_acts, std::cref(history_)));
    else if (verb == "serve")
      publish(what, system_.spawn(answering, name_));
    else if (verb == "use")
      kept_.push_back(cluster_->service(what, asking()));
    else if (verb == "act") {
      if (!registers_)
        registers_.emplace(cluster_->service("register", {.patience = 500ms, .answer_within = 1s}));
      act_sources().at(kind_word)(*this, name);
    } else if (verb == "ask")
      askers_.emplace_back(system_, history_, name, handle_of(kind_word, name));
    else
      throw std::runtime_error("no such word: " + word);
  }

  caf::actor handle_of(const std::string& kind_word, const std::string& name) {
    kept_.push_back(kind_word == "singleton" ? cluster_->singleton(name, asking()) : cluster_->service(name, asking()));
    return kept_.back().handle();
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

  const std::string name_;
  const std::string run_;
  const history_writer history_;
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
