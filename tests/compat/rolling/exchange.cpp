// One process of a rolling upgrade. It is built from the tree of each version, so it uses only what all of them have.
//   compat_exchange serve STORE ADDRESS          serves until its input ends
//   compat_exchange use STORE ADDRESS ADDRESS    asks both servers until its input ends, and checks every answer
#include <array>
#include <chrono>
#include <cstdint>
#include <deque>
#include <iostream>
#include <numeric>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <poll.h>
#include <unistd.h>

#include <troupe/troupe.hpp>

using namespace std::chrono_literals;

namespace {

using doubles = troupe::array<double>;
using doubles_ref = troupe::object_ref<doubles>;

constexpr auto patience = 20s;
constexpr std::size_t batch = 8;       // Requests that a user has in progress.
constexpr std::size_t kept_gifts = 20; // Of servers, most of which have ended.
constexpr std::size_t count = 20'000;  // Doubles per object.

double sum_of(const doubles& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

doubles filled(std::uint64_t number) {
  return doubles(std::vector<double>(count, static_cast<double>(number)));
}

double expected_sum(std::uint64_t number) {
  return static_cast<double>(number) * static_cast<double>(count);
}

/// What every process has.
struct program {
  program(const std::string& name, const std::string& store, std::vector<std::string> listen = {}) {
    types.add<doubles_ref>("exchange.doubles");
    troupe::node_options options{.name = name, .listen = std::move(listen)};
    options.store = troupe::store::options{.name = store, .capacity_bytes = std::size_t{64} << 20};
    node.emplace(troupe::value_or_throw(troupe::node::open(system, types, families, options)));
  }

  troupe::type_registry types;
  troupe::family_set families;
  troupe::system_config config;
  caf::actor_system system{config};
  std::optional<troupe::node> node;
};

/// Adds up arrays, and gives arrays away.
caf::behavior worker(caf::event_based_actor* self, troupe::node* home) {
  return {[self, home](const std::string& text, const doubles_ref& ref) -> caf::result<std::string, double> {
            auto answer = self->make_response_promise<std::string, double>();
            home->fetch(self, ref, patience)
                .then([answer, text](const doubles& values) mutable { answer.deliver(text, sum_of(values)); },
                      [answer](caf::error& error) mutable { answer.deliver(std::move(error)); });
            return answer;
          },
          [home](std::uint64_t number) -> caf::result<doubles_ref> {
            auto made = home->put(filled(number));
            if (!made)
              return troupe::to_caf_error(made.error());
            return *std::move(made);
          }};
}

/// Whether the input has ended.
bool has_ended(int wait_ms) {
  pollfd input{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
  if (::poll(&input, 1, wait_ms) <= 0)
    return false;
  char some[64];
  return ::read(STDIN_FILENO, some, sizeof(some)) <= 0;
}

void serve(const std::string& store, const std::string& address) {
  program here{"server", store};
  const auto actor = here.system.spawn(worker, &*here.node);
  troupe::value_or_throw(here.node->publish("worker", actor));
  troupe::value_or_throw(here.node->listen(address));
  std::cout << "ready" << std::endl;
  while (!has_ended(-1)) {
  }
  here.node.reset(); // First, so that no peer sees the actor end before the link.
  caf::anon_send_exit(actor, caf::exit_reason::kill);
}

class user {
public:
  user(const std::string& store, const std::vector<std::string>& addresses)
      : here_("user", store), self_(here_.system) {
    for (std::size_t i = 0; i < addresses.size(); ++i) {
      troupe::reconnect_options options;
      options.link.serializers = {i == 0 ? "typed" : "msgpack"};
      options.link.deserializers = {"typed", "msgpack"};
      options.policy.first_pause = 20ms;
      options.policy.longest_pause = 100ms;
      servers_.push_back({troupe::value_or_throw(here_.node->keep_connected(addresses[i], options)), {}, 0});
    }
  }

  /// Returns false if anything was wrong.
  bool run() {
    auto next_report = std::chrono::steady_clock::now();
    for (std::size_t round = 0; !has_ended(0); ++round) {
      auto& next = servers_[round % servers_.size()];
      if (!reach(next)) {
        std::this_thread::sleep_for(1ms); // The other server may be reachable.
        continue;
      }
      exchange(next);
      if (const auto now = std::chrono::steady_clock::now(); now >= next_report) {
        report();
        next_report = now + 50ms;
      }
    }
    check_gifts();
    std::cout << "end " << retried_ << ' ' << wrong_.size() << std::endl;
    for (const auto& each : wrong_)
      std::cout << "wrong: " << each << std::endl;
    return wrong_.empty();
  }

private:
  struct server {
    troupe::reconnecting_link kept;
    std::optional<caf::actor> worker;
    std::uint64_t answered;
  };
  struct gift {
    std::uint64_t number;
    doubles_ref ref;
  };

  bool reach(server& which) {
    if (which.worker)
      return true;
    if (auto link = which.kept.current())
      if (auto found = link->find("worker", patience))
        which.worker = *std::move(found);
    return which.worker.has_value();
  }

  /// An actor that the link can no longer reach. The request died with its process.
  void on_failure(server& which, const caf::error& error, const std::string& what) {
    const auto code = troupe::to_node_error(error).code();
    which.worker.reset();
    ++retried_;
    if (code != troupe::node_errc::link_down && error != caf::sec::request_receiver_down
        && error != caf::exit_reason::remote_link_unreachable)
      wrong_.push_back(what + ": " + troupe::text_of(error));
  }

  /// Asks a batch of questions, with a new object each or with the gift of a server. Questions that fail are asked
  /// again, of any server.
  void exchange(server& which) {
    const auto worker = *which.worker;
    while (questions_.size() < batch)
      questions_.push_back(++number_);
    const auto old_gift = gifts_.empty() ? std::nullopt : std::optional{gifts_.front()};
    std::vector<gift> sent;
    for (const auto number : questions_)
      sent.push_back(number % 2 == 0 && old_gift
                         ? *old_gift
                         : gift{number, troupe::value_or_throw(here_.node->put(filled(number)))});
    auto begin = [&](std::size_t i) {
      return self_->request(worker, patience, "question " + std::to_string(questions_[i]), sent[i].ref);
    };
    std::vector<decltype(begin(0))> waiting;
    for (std::size_t i = 0; i < questions_.size(); ++i)
      waiting.push_back(begin(i));
    std::deque<std::uint64_t> again;
    for (std::size_t i = 0; i < waiting.size(); ++i)
      waiting[i].receive(
          [&](const std::string& text, double sum) {
            ++which.answered;
            if (text != "question " + std::to_string(questions_[i]) || sum != expected_sum(sent[i].number))
              wrong_.push_back("question " + std::to_string(questions_[i]) + " has the answer of \"" + text + '"');
          },
          [&](const caf::error& error) {
            on_failure(which, error, "question " + std::to_string(questions_[i]));
            again.push_back(questions_[i]);
          });
    questions_ = again;
    if (which.worker)
      take_gift(which);
  }

  void take_gift(server& which) {
    const auto number = ++number_;
    self_->request(*which.worker, patience, number)
        .receive(
            [&](doubles_ref& ref) {
              check({number, ref}); // From now on the bytes are here.
              gifts_.push_back({number, std::move(ref)});
            },
            [&](const caf::error& error) { on_failure(which, error, "a gift"); });
    if (gifts_.size() > kept_gifts)
      gifts_.pop_front();
  }

  void check(const gift& what) {
    const auto values = what.ref.get(patience);
    if (!values)
      wrong_.push_back("gift " + std::to_string(what.number) + ": " + values.error().message());
    else if (sum_of(*values) != expected_sum(what.number))
      wrong_.push_back("gift " + std::to_string(what.number) + " has another sum");
  }

  void check_gifts() {
    for (const auto& each : gifts_)
      check(each);
  }

  void report() const {
    std::cout << "answered";
    for (const auto& each : servers_)
      std::cout << ' ' << each.answered;
    std::cout << std::endl;
  }

  program here_;
  caf::scoped_actor self_;
  std::vector<server> servers_;
  std::deque<std::uint64_t> questions_; // Not answered yet.
  std::deque<gift> gifts_;              // The oldest first.
  std::uint64_t number_ = 0;
  std::uint64_t retried_ = 0;
  std::vector<std::string> wrong_;
};

} // namespace

int main(int argument_count, char** arguments) try {
  const std::vector<std::string> words(arguments + 1, arguments + argument_count);
  if (words.size() == 3 && words[0] == "serve") {
    serve(words[1], words[2]);
    return 0;
  }
  if (words.size() == 4 && words[0] == "use")
    return user{words[1], {words[2], words[3]}}.run() ? 0 : 1;
  std::cerr << "usage: compat_exchange serve STORE ADDRESS | compat_exchange use STORE ADDRESS ADDRESS\n";
  return 2;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
