#include "cast.hpp"

#include <chrono>
#include <numeric>
#include <stdexcept>

#include <unistd.h>

#include <troupe/base/value_or_throw.hpp>
#include <troupe/framework/caf_family/caf_type.hpp>
#include <troupe/framework/deadline.hpp>
#include <troupe/framework/remote_call.hpp>
#include <troupe/serializers/cereal/cereal_type.hpp>

#include "conversation.hpp"

namespace troupe::tests::compat {

using namespace std::chrono_literals;

namespace {

using doubles = array<double>;
using doubler = caf::typed_actor<caf::replies_to<int>::with<int>>;

constexpr auto patience = 20s;
constexpr int collected_count = 6;
constexpr std::size_t collected_bytes = 20'000;
constexpr std::size_t large_bytes = 70'000; // Travels in chunks.
constexpr int awaited = 7;                  // Sent with a deadline.

letter some_letter() {
  return {.number = -7,
          .large = std::uint64_t{1} << 63,
          .ratio = 0.1,
          .is_urgent = true,
          .text = "gr\xc3\xbc\xc3\x9f dich",
          .numbers = {1, -2, 300'000},
          .values = {{"a", 1.5}, {"b", -2}}};
}

letter other_letter() {
  return {.number = 8, .text = "", .numbers = {}, .values = {}};
}

card some_card() {
  return {.note = std::nullopt, .enclosed = some_letter()};
}

doubles some_values(int count) {
  std::vector<double> values(static_cast<std::size_t>(count));
  std::iota(values.begin(), values.end(), 0.5);
  return doubles(std::move(values));
}

double sum_of(const doubles& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

int twice(int value) {
  return 2 * value;
}

template <class T>
void add(type_registry& types, const std::string& alias) {
  add_cereal<T>(types, alias);
  add_caf<T>(types, alias);
}

std::string store_name() {
  static std::atomic<int> made{0};
  return "compat-" + std::to_string(::getpid()) + '-' + std::to_string(made++);
}

node_options node_options_of(cast_node::role as, const std::string& family, const std::string& address) {
  node_options options{.name = as == cast_node::role::dialer ? "dialer" : "acceptor",
                       .store = store::options{.name = store_name(), .capacity_bytes = 16_MiB}};
  options.store_families = {family};
  if (!address.empty()) {
    options.listen = {address};
    options.accepted_links = options_of(family);
    options.accepted_links.allow_tasks = true;
    options.accepted_links.allow_exit = true;
  }
  return options;
}

caf::behavior guest(caf::event_based_actor* self, std::atomic<int>* heard) {
  return {[self, heard](const caf::actor& host) -> caf::result<int> {
    ++*heard;
    auto answer = self->make_response_promise<int>();
    self->request(host, patience, 20)
        .then([answer](int value) mutable { answer.deliver(value); },
              [answer](caf::error& error) mutable { answer.deliver(std::move(error)); });
    return answer;
  }};
}

caf::behavior mortal(caf::event_based_actor* self) {
  return {[self](int) { self->quit(caf::exit_reason::user_shutdown); }};
}

caf::behavior giver(caf::event_based_actor*, node* home, std::atomic<int>* heard) {
  return {[home, heard](int count) -> caf::result<object_ref<doubles>> {
    ++*heard;
    auto made = home->put(some_values(count));
    if (!made)
      return to_caf_error(made.error());
    return *std::move(made);
  }};
}

/// Sums objects, which it fetches.
caf::behavior adder(caf::event_based_actor* self, node* home, std::atomic<int>* arrays, std::atomic<int>* shelves) {
  const auto add_up = [self, home](const object_ref<doubles>& ref, caf::typed_response_promise<double> answer) {
    home->fetch(self, ref, patience)
        .then([answer](const doubles& values) mutable { answer.deliver(sum_of(values)); },
              [answer](caf::error& error) mutable { answer.deliver(std::move(error)); });
  };
  return {[self, add_up, arrays](const object_ref<doubles>& ref) -> caf::result<double> {
            ++*arrays;
            auto answer = self->make_response_promise<double>();
            add_up(ref, answer);
            return answer;
          },
          [self, home, add_up, shelves](const object_ref<shelf>& ref) -> caf::result<double> {
            ++*shelves;
            auto answer = self->make_response_promise<double>();
            home->fetch(self, ref, patience)
                .then([add_up, answer](const shelf& on) { add_up(on.load, answer); },
                      [answer](caf::error& error) mutable { answer.deliver(std::move(error)); });
            return answer;
          }};
}

} // namespace

void findings::add(std::string what) {
  std::lock_guard guard{mutex_};
  all_.push_back(std::move(what));
}

std::vector<std::string> findings::all() const {
  std::lock_guard guard{mutex_};
  return all_;
}

cast_node::cast_node(role as, const std::string& family, const std::string& address) {
  families_.add(std::make_unique<cereal_family>());
  families_.add(std::make_unique<caf_family>());
  add<letter>(types_, "compat.letter");
  add_cereal<card>(types_, "compat.card");
  add<shelf>(types_, "compat.shelf");
  add<object_ref<doubles>>(types_, "compat.ref_doubles");
  add<object_ref<shelf>>(types_, "compat.ref_shelf");
  if (as == role::dialer)
    add<stranger>(types_, "compat.stranger");
  types_.add_function<&twice>("compat.twice");
  auto opened = node::open(system_, types_, families_, node_options_of(as, family, address));
  if (!opened)
    throw std::runtime_error(opened.error().message());
  home_.emplace(*std::move(opened));
}

cast_node::~cast_node() = default;

link_options options_of(const std::string& family) {
  link_options options{.serializers = {family}, .window_bytes = 1_MiB, .actor_window_bytes = 256_KiB};
  options.trusted_families = family == "cereal" || family == "caf";
  options.credentials.secret = recorded_secret;
  options.connect_timeout = patience;
  return options;
}

// -- the acceptor

acceptor_cast::acceptor_cast(const std::string& family)
    : family_(family), node_(cast_node::role::acceptor, family, "tcp://127.0.0.1:0") {
  auto& system = node_.system();
  const auto publish = [this](const char* name, caf::actor actor) {
    const auto published = home().publish(name, actor);
    findings_.expect(published.has_value(), name);
    actors_.push_back(std::move(actor));
  };
  publish("echo", system.spawn([this](caf::event_based_actor* self) { return echo(self); }));
  publish("collector", system.spawn([this]() { return collector(); }));
  publish("guest", system.spawn(guest, &heard_.guests));
  publish("mortal", system.spawn(mortal));
  publish("exited", system.spawn(mortal));
  publish("giver", system.spawn(giver, &home(), &heard_.given));
  publish("adder", system.spawn(adder, &home(), &heard_.arrays, &heard_.shelves));
  const doubler typed =
      system.spawn([]() -> doubler::behavior_type { return {[](int value) { return twice(value); }}; });
  findings_.expect(home().publish("doubler", typed).has_value(), "doubler");
  actors_.push_back(caf::actor_cast<caf::actor>(typed));
}

acceptor_cast::~acceptor_cast() {
  for (const auto& each : actors_)
    caf::anon_send_exit(each, caf::exit_reason::kill);
}

std::string acceptor_cast::address() {
  return home().addresses().front();
}

caf::behavior acceptor_cast::echo(caf::event_based_actor* self) {
  self->set_default_handler(caf::drop); // Says nothing about the boolean.
  return {[this](const letter& value) {
            const auto expected = ++heard_.letters == 1 ? some_letter() : other_letter();
            findings_.expect(value == expected, "a letter has other values");
            return value;
          },
          [this](const card& value) {
            ++heard_.cards;
            findings_.expect(value == some_card(), "a card has other values");
            return value;
          },
          [this, self](int value) {
            ++heard_.ints;
            const auto left = deadline(self);
            findings_.expect(left.has_value() == (value == awaited) && (!left || *left <= patience),
                             "an integer has another deadline");
            return value;
          },
          [this](int value, const std::string& text) {
            ++heard_.pairs;
            return std::to_string(value) + text;
          },
          [this](const std::string& text) {
            ++heard_.texts;
            findings_.expect(text == "short" || text == std::string(large_bytes, 'x')
                                 || text == std::string(collected_bytes, 'y'),
                             "a text has other characters");
            return text;
          }};
}

caf::behavior acceptor_cast::collector() {
  return {[this](double) { ++heard_.urgent; },
          [this](const std::string& text) {
            findings_.expect(text == std::string(collected_bytes, 'y'), "a collected text has other characters");
            ++heard_.collected;
          },
          [this](int) { return heard_.collected.load(); }};
}

std::vector<std::string> acceptor_cast::problems() const {
  auto result = findings_.all();
  const auto expect = [&](const char* what, int count, int expected) {
    if (count != expected)
      result.push_back(std::to_string(count) + ' ' + what + " came instead of " + std::to_string(expected));
  };
  expect("letters", heard_.letters, 2);
  expect("cards", heard_.cards, carries_cards(family_) ? 1 : 0);
  expect("integers", heard_.ints, 3);
  expect("pairs", heard_.pairs, 1);
  expect("texts", heard_.texts, 3);
  expect("urgent messages", heard_.urgent, 1);
  expect("collected texts", heard_.collected, collected_count);
  expect("handles of actors", heard_.guests, 1);
  expect("references to arrays", heard_.arrays, 2);
  expect("references to shelves", heard_.shelves, 1);
  expect("wishes for an array", heard_.given, 1);
  return result;
}

// -- the dialer

namespace {

class dialer_cast {
public:
  dialer_cast(const std::string& family, const std::string& address)
      : family_(family),
        node_(cast_node::role::dialer, family),
        self_(node_.system()),
        link_(value_or_throw(node_.home().connect(address, options_of(family)))) {}

  void talk() {
    values();
    refused_values();
    plain_messages();
    actors();
    ends();
    objects();
    task();
    families();
  }

  void close() { link_.close(); }
  [[nodiscard]] std::vector<std::string> problems() const { return findings_.all(); }

private:
  template <class Handle = caf::actor>
  Handle find(const std::string& name) {
    return value_or_throw(link_.find<Handle>(name, patience));
  }

  template <class Result, class Handle, class... Arguments>
  std::optional<Result> ask(const Handle& whom, const std::string& what, const Arguments&... arguments) {
    std::optional<Result> result;
    self_->request(whom, caf::infinite, arguments...)
        .receive([&](Result& value) { result = std::move(value); },
                 [&](caf::error& error) { findings_.add(what + ": " + text_of(error)); });
    return result;
  }

  void values() {
    const auto echo = find("echo");
    findings_.expect(!link_.find("nobody", 0s).has_value(), "somebody is found under a name that nobody has");
    findings_.expect(ask<letter>(echo, "a letter", some_letter()) == some_letter(), "a letter comes back changed");
    findings_.expect(ask<letter>(echo, "a letter", other_letter()) == other_letter(), "a letter comes back changed");
    if (carries_cards(family_))
      findings_.expect(ask<card>(echo, "a card", some_card()) == some_card(), "a card comes back changed");
    findings_.expect(ask<int>(echo, "an integer", -5) == -5, "an integer comes back changed");
    findings_.expect(ask<std::string>(echo, "a text", std::string{"short"}) == "short", "a text comes back changed");
    findings_.expect(ask<std::string>(echo, "a pair", 3, std::string{" cups"}) == "3 cups", "a pair is changed");
    request(self_.ptr(), echo, patience, awaited)
        .receive([&](int value) { findings_.expect(value == awaited, "an awaited integer comes back changed"); },
                 [&](caf::error& error) { findings_.add("an awaited integer: " + text_of(error)); });
    findings_.expect(ask<int>(find<doubler>("doubler"), "an integer", 4) == 8, "an integer is not doubled");
    const std::string large(large_bytes, 'x');
    findings_.expect(ask<std::string>(echo, "a large text", large) == large, "a large text comes back changed");
  }

  void refused_values() {
    const auto echo = find("echo");
    const auto fails = [&](const auto& value, const std::string& what, const auto& is_right) {
      self_->request(echo, caf::infinite, value)
          .receive([&](int) { findings_.add(what + " is answered"); },
                   [&](caf::error& error) { findings_.expect(is_right(error), what + ": " + text_of(error)); });
    };
    fails(true, "a boolean", [](const caf::error& error) { return error == caf::sec::unexpected_message; });
    fails(stranger{4}, "an unknown type",
          [](const caf::error& error) { return to_node_error(error).code() == node_errc::undecodable; });
  }

  void plain_messages() {
    const auto collector = find("collector");
    const std::string text(collected_bytes, 'y');
    for (int i = 0; i < collected_count; ++i)
      self_->send(collector, text);
    self_->send<caf::message_priority::high>(collector, 0.5);
    findings_.expect(ask<int>(collector, "the count", 0) == collected_count, "plain messages are missing");
  }

  void actors() {
    const caf::actor host =
        node_.system().spawn([]() -> caf::behavior { return {[](int value) { return value + 1; }}; });
    findings_.expect(ask<int>(find("guest"), "a guest", host) == 21, "a guest has another answer from its host");
  }

  void ends() {
    const auto reason_of_end = [&](const caf::actor& who) {
      std::optional<caf::error> reason;
      self_->receive([&](const caf::down_msg& down) { reason = down.source == who ? down.reason : caf::error{}; });
      return reason;
    };
    const auto echo = find("echo");
    self_->monitor(echo);
    self_->demonitor(echo.address());
    const auto mortal = find("mortal");
    self_->monitor(mortal);
    self_->send(mortal, 0);
    findings_.expect(reason_of_end(mortal) == caf::exit_reason::user_shutdown, "an actor ends for another reason");
    const auto exited = find("exited");
    self_->monitor(exited);
    self_->send_exit(exited, caf::exit_reason::user_shutdown);
    findings_.expect(reason_of_end(exited) == caf::exit_reason::user_shutdown, "an exited actor has another reason");
  }

  void objects() {
    const auto adder = find("adder");
    {
      const auto ref = value_or_throw(node_.home().put(some_values(64)));
      findings_.expect(ask<double>(adder, "an array", ref) == sum_of(some_values(64)), "an array has another sum");
    }
    {
      const auto inner = value_or_throw(node_.home().put(some_values(32)));
      const auto outer = value_or_throw(node_.home().put(shelf{"left", inner}));
      findings_.expect(ask<double>(adder, "a shelf", outer) == sum_of(some_values(32)), "a shelf has another load");
    }
    const auto theirs = ask<object_ref<doubles>>(find("giver"), "a gift", 16);
    if (!theirs)
      return;
    // Not fetched yet, so the handle goes home.
    findings_.expect(ask<double>(adder, "a returned gift", *theirs) == sum_of(some_values(16)),
                     "a returned gift has another sum");
    const auto got = theirs->get(patience);
    findings_.expect(got && sum_of(*got) == sum_of(some_values(16)), "a gift has another sum");
  }

  void task() {
    const auto result = link_.submit(fn_ref<&twice>, 21).get(patience);
    findings_.expect(result && *result == 42, "a task has another result");
  }

  void families() {
    const auto own = link_.serializers();
    auto more = own;
    more.push_back(own[0] == "msgpack" ? "typed" : "msgpack");
    findings_.expect(link_.reconfigure({.deserializers = more, .compression = compression::lz4}).has_value(),
                     "the families cannot change");
    findings_.expect(ask<int>(find("echo"), "an integer", 6) == 6, "an integer comes back changed");
    const std::string compressible(collected_bytes, 'y');
    findings_.expect(ask<std::string>(find("echo"), "a compressed text", compressible) == compressible,
                     "a compressed text comes back changed");
  }

  const std::string family_;
  findings findings_;
  cast_node node_;
  caf::scoped_actor self_;
  link link_;
};

} // namespace

std::vector<std::string> hold_conversation(const std::string& family, const std::string& address,
                                           const std::function<void()>& before_close) {
  dialer_cast dialer{family, address};
  dialer.talk();
  before_close();
  dialer.close();
  return dialer.problems();
}

} // namespace troupe::tests::compat
