// A process of the tests with simulated hosts. Obeys lines "NUMBER VERB WORDS..." and answers each once: "NUMBER ok
// ..." or "NUMBER error NAME: TEXT". "0 POINT" means that a pipeline has reached a point.
//   system_hosted_peer NAME STORE_BYTES GRACE_MS HEARTBEAT_MS SECRET ADDRESS...
// Prints "ready" once it listens, and ends when its input does.
//
//   dial ADDRESS             keeps a connection to it
//   links                    the names of the peers that it is linked with
//   put KEY COUNT SEED       writes COUNT numbers from SEED on
//   send KEY HOP...          sends the reference and the hops to the first hop; answered when the last one has it
//   get KEY MS               fetches the bytes: "ok COUNT SUM"
//   drop KEY | drop_all      a KEY that is not there is "ok nothing"
//   watch POINT | hold POINT | go_on POINT    see stage::at
//   summary                  "ok OBJECTS BYTES MOST_BYTES_EVER" of the store, and each object's holders
//   sources                  "ok PEER...": the peers from which its missing bytes would be fetched
//   trim                     returns the allocator's free memory to the system: "ok BYTES" in use
//   pulled                   bytes of objects received over the open links
//   traffic PEER             socket bytes sent and received over the open link
//
// A hop is PEER:WORK. WORK is pass, read (fetches), copy (fetches, and puts an array of each number plus one) or keep
// (under the key, for `get`).
#include <cstdlib>
#include <functional>
#include <iostream>
#include <map>
#include <mutex>
#include <numeric>
#include <set>
#include <sstream>
#include <string>

#include <malloc.h>
#include <unistd.h>

#include <caf/all.hpp>

#include <troupe/framework/log.hpp>
#include <troupe/framework/node.hpp>

using namespace std::chrono_literals;

namespace {

using numbers_ref = troupe::object_ref<troupe::array<double>>;
using numbers = std::expected<troupe::array<double>, troupe::node_error>;

/// Fetches the bytes. `then` is called once, on any thread.
void fetch(const numbers_ref& ref, std::chrono::milliseconds timeout, std::function<void(numbers)> then) {
  if (ref.empty())
    return then(std::unexpected{troupe::node_error{troupe::node_errc::object_lost, "no reference"}});
  const auto state = troupe::internal::state_of(ref);
  state->source->fetch(std::chrono::steady_clock::now() + timeout,
                       [state, then](std::expected<troupe::frame, troupe::node_error> bytes) {
                         if (bytes)
                           then(troupe::internal::value_of<troupe::array<double>>(*state, *bytes));
                         else
                           then(std::unexpected{std::move(bytes).error()});
                       });
}

struct parcel {
  std::string key;
  numbers_ref ref;
  std::vector<std::string> hops; // The first is this peer.
};
TROUPE_DESCRIBE(parcel, key, ref, hops)

/// Run by the stage's actor.
struct job {
  std::function<void()> run;
};

using outcome = std::expected<std::string, troupe::node_error>;

/// The two parts of a hop.
std::string peer_of(const std::string& hop) {
  return hop.substr(0, hop.find(':'));
}
std::string work_of(const std::string& hop) {
  return hop.substr(hop.find(':') + 1);
}

std::mutex output;

void say(std::uint64_t number, const std::string& text) {
  const auto line = std::to_string(number) + ' ' + text + '\n';
  std::lock_guard guard{output};
  if (::write(STDOUT_FILENO, line.data(), line.size()) != static_cast<ssize_t>(line.size()))
    std::_Exit(3); // The test no longer reads.
}

std::string text_of(const outcome& what) {
  if (what)
    return "ok " + *what;
  auto text = "error " + to_string(what.error().code()) + ": " + what.error().message();
  std::ranges::replace(text, '\n', ' ');
  return text;
}

/// Every array that was put counts up from its first number.
bool are_whole(const troupe::array<double>& values) {
  for (std::size_t at = 0; at < values.size(); ++at)
    if (values.data()[at] != values.data()[0] + static_cast<double>(at))
      return false;
  return true;
}

std::string text_of(const numbers& values) {
  if (!values)
    return text_of(outcome{std::unexpected{values.error()}});
  if (!are_whole(*values))
    return "wrong bytes";
  const auto sum = std::accumulate(values->begin(), values->end(), 0.0);
  return "ok " + std::to_string(values->size()) + ' ' + std::to_string(static_cast<std::int64_t>(sum));
}

} // namespace

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(job)

namespace {

/// Holds references. Pipelines go through this actor.
class stage final : public caf::event_based_actor {
public:
  stage(caf::actor_config& config, troupe::node* home, troupe::link_options dialing)
      : caf::event_based_actor(config), home_(*home), dialing_(std::move(dialing)) {}

  caf::behavior make_behavior() override {
    return {[this](parcel& what) {
              auto promise = make_response_promise();
              arrive(std::move(what), [promise](outcome result) mutable {
                if (result)
                  promise.deliver(*std::move(result));
                else
                  promise.deliver(troupe::to_caf_error(result.error()));
              });
              return promise;
            },
            [](const job& what) { what.run(); }};
  }

  void on_exit() override {
    shelf_.clear();
    reached_.clear();
    parked_.clear();
    reconnecting_links_.clear();
  }

  /// Executes a line of the input.
  void obey(const std::string& line) {
    std::istringstream in{line};
    std::uint64_t number = 0;
    std::string verb;
    in >> number >> verb;
    std::vector<std::string> words;
    for (std::string word; in >> word;)
      words.push_back(word);
    words.resize(std::max<std::size_t>(words.size(), 3)); // Missing words are empty.
    if (verb == "put")
      put(number, words);
    else if (verb == "send")
      send(number, words);
    else if (verb == "get")
      get(number, words);
    else
      say(number, text_of(answer_now(verb, words)));
  }

private:
  using then_what = std::function<void(outcome)>;

  // -- answered later

  void put(std::uint64_t number, const std::vector<std::string>& words) {
    std::vector<double> values(std::stoull(words[1]));
    std::iota(values.begin(), values.end(), std::stod(words[2]));
    auto made = home_.put(troupe::array<double>(std::move(values)));
    if (made)
      shelf_[words[0]] = *made;
    say(number, made ? "ok" : text_of(outcome{std::unexpected{made.error()}}));
  }

  void send(std::uint64_t number, const std::vector<std::string>& words) {
    if (!shelf_.contains(words[0]))
      return say(number, "ok nothing");
    parcel what{words[0], shelf_[words[0]], {words.begin() + 1, std::ranges::find(words, std::string{})}};
    send_on(std::move(what), [number](const outcome& result) { say(number, text_of(result)); });
  }

  void get(std::uint64_t number, const std::vector<std::string>& words) {
    if (!shelf_.contains(words[0]))
      return say(number, "ok nothing");
    fetch(shelf_[words[0]], std::chrono::milliseconds{std::stoll(words[1])},
          [number](const numbers& values) { say(number, text_of(values)); });
  }

  // -- answered at once

  outcome answer_now(const std::string& verb, const std::vector<std::string>& words) {
    if (verb == "dial") {
      auto kept =
          home_.keep_connected(words[0], {.link = dialing_, .policy = {.first_pause = 50ms, .longest_pause = 200ms}});
      if (!kept)
        return std::unexpected{kept.error()};
      reconnecting_links_.push_back(*std::move(kept));
    } else if (verb == "links") {
      std::set<std::string> peers;
      for (const auto& each : home_.links())
        if (each.is_open())
          peers.insert(each.peer_name());
      std::string text;
      for (const auto& each : peers)
        text += each + ' ';
      return text;
    } else if (verb == "drop") {
      shelf_.erase(words[0]);
    } else if (verb == "drop_all") {
      shelf_.clear();
    } else if (verb == "watch" || verb == "hold") {
      watched_[words[0]] = verb == "hold";
    } else if (verb == "go_on") {
      watched_.erase(words[0]);
      for (auto next = parked_.extract(words[0]); next; next = parked_.extract(words[0]))
        next.mapped()();
    } else if (verb == "trim") {
      ::malloc_trim(0);
      const auto heap = ::mallinfo2();
      return std::to_string(heap.uordblks + heap.hblkhd);
    } else if (verb == "summary") {
      return summary();
    } else if (verb == "sources") {
      return sources();
    } else if (verb == "traffic") {
      const auto link = link_to(words[0]);
      if (!link)
        return std::unexpected{troupe::node_error{troupe::node_errc::link_down, "no link to " + words[0]}};
      const auto stats = link->stats();
      return std::to_string(stats.socket_bytes_sent) + ' ' + std::to_string(stats.socket_bytes_received);
    } else if (verb == "pulled") {
      std::uint64_t bytes = 0;
      for (const auto& each : home_.links())
        bytes += each.stats().pulled_bytes_received;
      return std::to_string(bytes);
    } else {
      return std::unexpected{troupe::node_error{troupe::node_errc::bad_option, "what is " + verb + "?"}};
    }
    return "";
  }

  outcome summary() const {
    auto store = *home_.store();
    const auto what = store.summary();
    if (!what)
      return std::unexpected{troupe::node_error{troupe::node_errc::store_full, what.error().message()}};
    std::ostringstream text;
    text << what->objects << ' ' << what->bytes_in_use << ' ' << what->high_water_bytes;
    for (const auto& row : what->rows) {
      text << " | " << row.size_bytes << " bytes " << to_string(row.state) << ", held by";
      for (const auto holder : row.holders)
        text << ' ' << holder;
      for (const auto& each : row.in_flight)
        text << ", in flight " << each.from << " to " << each.to;
    }
    return text.str();
  }

  outcome sources() const {
    const auto what = home_.memory_summary();
    if (!what)
      return std::unexpected{what.error()};
    std::set<std::string> peers;
    for (const auto& object : what->objects)
      for (const auto& holder : object.holders)
        if (object.state == "remote" && holder.reason == troupe::memory_reason::handle)
          peers.insert(holder.peer);
    std::string text;
    for (const auto& each : peers)
      text += each + ' ';
    return text;
  }

  // -- pipelines

  /// Calls `go_on` at once, or, if the point is held, when it is released.
  void at(const std::string& point, std::function<void()> go_on) {
    const auto watched = watched_.find(point);
    if (watched == watched_.end())
      return go_on();
    if (watched->second)
      parked_.emplace(point, std::move(go_on));
    say(0, point);
    if (!watched->second)
      go_on();
  }

  void arrive(parcel what, then_what then) {
    at("arrived", [this, what = std::move(what), then = std::move(then)]() mutable {
      const auto work = work_of(what.hops.front());
      if (work == "read" || work == "copy")
        return bring(std::move(what), work == "copy", std::move(then));
      if (work == "keep")
        shelf_[what.key] = what.ref;
      leave(std::move(what), std::move(then));
    });
  }

  void bring(parcel what, bool is_copied, then_what then) {
    const auto ref = what.ref;
    auto shared = std::make_shared<parcel>(std::move(what));
    fetch(ref, 20s, [this, me = caf::actor{this}, shared, is_copied, then](const numbers& values) {
      caf::anon_send(me, job{[this, shared, is_copied, then, values] {
                       at("fetched", [=, this] { brought(*shared, is_copied, values, then); });
                     }});
    });
    at("fetching", [] {});
  }

  void brought(parcel& what, bool is_copied, const numbers& values, const then_what& then) {
    if (!values)
      return then(std::unexpected{values.error()});
    if (!are_whole(*values))
      return then("wrong bytes");
    if (is_copied) {
      std::vector<double> more(values->begin(), values->end());
      for (auto& each : more)
        each += 1;
      auto made = home_.put(troupe::array<double>(std::move(more)));
      if (!made)
        return then(std::unexpected{made.error()});
      what.ref = *std::move(made);
    }
    at("put", [this, what, then] { leave(what, then); });
  }

  void leave(parcel what, then_what then) {
    what.hops.erase(what.hops.begin());
    if (what.hops.empty())
      return then("arrived");
    send_on(std::move(what), std::move(then));
    at("sent", [] {});
  }

  // -- links

  std::optional<troupe::link> link_to(const std::string& peer) const {
    std::optional<troupe::link> newest;
    for (const auto& each : home_.links())
      if (each.peer_name() == peer && each.is_open() && (!newest || newest->number() < each.number()))
        newest = each;
    return newest;
  }

  void send_on(parcel what, then_what then) {
    const auto peer = peer_of(what.hops.front());
    auto link = link_to(peer);
    if (!link)
      return then(std::unexpected{troupe::node_error{troupe::node_errc::link_down, "no link to " + peer}});
    if (const auto known = reached_.find(peer); known != reached_.end() && known->second.first == link->number())
      return hand_to(known->second.second, std::move(what), std::move(then));
    link->find(this, "stage", 20s)
        .then(
            [this, peer, number = link->number(), what = std::move(what), then](const caf::strong_actor_ptr& found) {
              const auto to = caf::actor_cast<caf::actor>(found);
              reached_[peer] = {number, to};
              hand_to(to, what, then);
            },
            [then](const caf::error& error) { then(std::unexpected{troupe::to_node_error(error)}); });
  }

  void hand_to(const caf::actor& to, parcel what, then_what then) {
    request(to, caf::infinite, std::move(what))
        .then([then](std::string& text) { then(std::move(text)); },
              [then](const caf::error& error) { then(std::unexpected{troupe::to_node_error(error)}); });
  }

  troupe::node& home_;
  const troupe::link_options dialing_;
  std::vector<troupe::reconnecting_link> reconnecting_links_;
  std::map<std::string, numbers_ref> shelf_;
  std::map<std::string, std::pair<std::uint64_t, caf::actor>> reached_; // Each by the number of its link.
  std::map<std::string, bool> watched_;                                 // Whether pipelines are held at the point.
  std::multimap<std::string, std::function<void()>> parked_;
};

} // namespace

int main(int argument_count, char** arguments) {
  if (argument_count < 6) {
    std::cerr << "usage: system_hosted_peer NAME STORE_BYTES GRACE_MS HEARTBEAT_MS SECRET ADDRESS...\n";
    return 2;
  }
  // Kills and cuts are the normal case here, and would fill the log.
  if (std::getenv("TROUPE_LOG") == nullptr)
    troupe::set_log_threshold(troupe::log_level::error);
  const auto silence = std::chrono::milliseconds{std::stoll(arguments[4])};
  troupe::link_options policy{.heartbeat_interval = silence / 4, .heartbeat_timeout = silence};
  policy.credentials.secret = arguments[5];
  troupe::type_registry types;
  types.add<parcel>("test.parcel");
  types.add<numbers_ref>("test.numbers");
  troupe::family_set families;
  troupe::system_config config;
  config.set("scheduler.max-threads", 2);
  caf::actor_system system{config};
  troupe::node_options options{.name = arguments[1],
                               .listen = std::vector<std::string>{arguments + 6, arguments + argument_count}};
  // One I/O thread for host a, two for b, four for c, so that every test has links between such nodes.
  options.io_threads = std::size_t{1} << (arguments[1][0] - 'a');
  options.accepted_links = policy;
  options.store = troupe::store::options{.name = "hosted", .capacity_bytes = std::stoull(arguments[2])};
  options.store.edit()->reap_interval = 100ms;
  options.handle_grace = std::chrono::milliseconds{std::stoll(arguments[3])};
  auto home = troupe::node::open(system, types, families, options);
  if (!home) {
    std::cout << home.error().message() << std::endl;
    return 1;
  }
  const auto actor = system.spawn<stage>(&*home, policy);
  if (auto published = home->publish("stage", actor); !published) {
    std::cout << published.error().message() << std::endl;
    return 1;
  }
  std::cout << "ready" << std::endl;
  for (std::string line; std::getline(std::cin, line);)
    caf::anon_send(actor, job{[=] { caf::actor_cast<stage*>(actor)->obey(line); }});
  // The actor refers to the node, so it must end first.
  caf::scoped_actor self{system};
  self->send_exit(actor, caf::exit_reason::user_shutdown);
  self->wait_for(actor);
}
