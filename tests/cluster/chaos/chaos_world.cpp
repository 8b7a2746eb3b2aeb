#include "chaos_world.hpp"

#include "../../eventually.hpp"

#include <algorithm>
#include <iostream>
#include <stdexcept>
#include <thread>

namespace troupe::tests {

namespace {

using namespace std::chrono_literals;
using kind = history_event::kind;

const std::vector<std::string>& etcd_hosts() {
  static const std::vector<std::string> names{"e0", "e1", "e2"};
  return names;
}

std::vector<std::string> host_names(const chaos_world_options& options) {
  auto all = etcd_hosts();
  all.insert(all.end(), options.nodes.begin(), options.nodes.end());
  all.emplace_back("r");
  return all;
}

/// Reading histories takes more time than other conditions.
bool comes_to_pass(const std::function<bool()>& condition, std::chrono::milliseconds limit) {
  const auto until = std::chrono::steady_clock::now() + limit;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > until)
      return false;
    std::this_thread::sleep_for(10ms);
  }
  return true;
}

bool is_act_of_clock(const history_event& each) {
  return each.what == kind::accepted && each.name == "clock";
}

std::string reason_of(std::expected<std::string, processes::silence> said) {
  if (said)
    return *std::move(said);
  return said.error() == processes::silence::ended ? "it has ended" : "it says nothing";
}

} // namespace

// -- worker_of_chaos

void worker_of_chaos::wait_until_ready() {
  if (is_ready_)
    return;
  if (const auto said = process_.channel().read_line(70s); said != "ready")
    throw std::runtime_error(read().run + " is not ready: " + reason_of(said));
  is_ready_ = true;
}

bool worker_of_chaos::is_ready() {
  if (!is_ready_)
    if (const auto said = process_.channel().read_line(0ms); said || said.error() == processes::silence::ended) {
      if (said != "ready")
        throw std::runtime_error(read().run + " is not ready: " + reason_of(said));
      is_ready_ = true;
    }
  return is_ready_;
}

std::string worker_of_chaos::told(const std::string& question) {
  wait_until_ready();
  process_.channel().write_line(question);
  auto said = process_.channel().read_line(20s);
  if (!said)
    throw std::runtime_error(read().run + " does not answer " + question + ": " + reason_of(said));
  return *std::move(said);
}

void worker_of_chaos::begin_to_leave() {
  if (const auto said = told("leave"); said != "ok")
    throw std::runtime_error(read().run + " does not leave: " + said);
}

void worker_of_chaos::leave() {
  begin_to_leave();
  wait_for_end();
}

void worker_of_chaos::wait_for_end() {
  if (const auto ending = process_.ended_within(20s); !ending || *ending != processes::exited_with(0))
    throw std::runtime_error(read().run + " does not end in order");
}

// -- chaos_world

chaos_world::chaos_world(chaos_world_options options) : options_(std::move(options)), hosts_(host_names(options_)) {
  etcd_server_options serving;
  for (const auto& each : etcd_hosts())
    serving.places.push_back({.address = hosts_.address(each),
                              .start = [this, each](auto words) { return hosts_.at(each).start(std::move(words)); },
                              .run = [this, each](auto words) { hosts_.at(each).run(std::move(words)); },
                              .within = [this, each](const auto& call) { hosts_.within(each, call); }});
  etcd_ = std::make_unique<etcd_server>(std::move(serving));
  start("r");
  for (const auto& each : options_.nodes)
    start(each);
  for (const auto& [name, worker] : workers_)
    worker->wait_until_ready();
  if (const auto known = know_each_other(); !known)
    throw std::runtime_error(known.message());
  [[maybe_unused]] const auto first = accepted_act();
}

std::vector<std::string> chaos_world::words_of(const std::string& name) const {
  if (name == "r")
    return {"register", "ask=singleton:clock", "ask=service:echo", "ask=entities:ledger"};
  return {"serve=echo", "act=singleton:clock", "act=entities:ledger", "ask=service:echo", "ask=entities:ledger"};
}

void chaos_world::start(const std::string& name) {
  const auto file = "/tmp/" + name + '.' + std::to_string(++runs_[name]);
  const auto address = "tcp://" + hosts_.address(name) + ":4000";
  std::vector<std::string> words{TROUPE_CLUSTER_WORKER,
                                 name,
                                 file,
                                 etcd_->address("chaos"),
                                 address,
                                 address,
                                 std::to_string(options_.lease.count())};
  const auto own = words_of(name);
  words.insert(words.end(), own.begin(), own.end());
  auto& host = hosts_.at(name);
  auto process = host.start(std::move(words));
  workers_[name] =
      std::make_unique<worker_of_chaos>(std::move(process), "/proc/" + std::to_string(host.holder()) + "/root" + file);
}

worker_of_chaos& chaos_world::disturb(const std::string& name) {
  disturbed_.insert(at(name).read().run);
  return at(name);
}

void chaos_world::kill(const std::string& name) {
  disturb(name).process().kill();
  ended_.push_back(std::move(workers_.extract(name).mapped()));
}

void chaos_world::leave(const std::string& name) {
  disturb(name).leave();
  ended_.push_back(std::move(workers_.extract(name).mapped()));
}

void chaos_world::stop(const std::string& name) {
  if (!disturb(name).process().stop(10s))
    throw std::runtime_error(name + " does not stop");
}

void chaos_world::go_on(const std::string& name) {
  at(name).process().go_on();
}

void chaos_world::cut_from_etcd(const std::string& name) {
  for (const auto& each : etcd_hosts())
    hosts_.cut(name, each);
}

void chaos_world::mend_to_etcd(const std::string& name) {
  for (const auto& each : etcd_hosts())
    hosts_.mend(name, each);
}

std::optional<history_event> chaos_world::event(const std::string& of, clock::time_point since,
                                                const predicate& is_meant, std::chrono::milliseconds limit) {
  std::optional<history_event> found;
  const auto look = [&] {
    const auto& events = at(of).read().events;
    const auto first =
        std::ranges::find_if(events, [&](const auto& each) { return each.at >= since && is_meant(each); });
    if (first != events.end())
      found = *first;
    return found.has_value();
  };
  [[maybe_unused]] const auto is_found = comes_to_pass(look, limit);
  return found;
}

std::optional<history_event> chaos_world::told(const std::string& of, clock::time_point since,
                                               const std::string& text) {
  return event(of, since, [&](const auto& each) { return each.what == kind::told && each.text.starts_with(text); });
}

std::size_t chaos_world::count(const std::string& of, clock::time_point since, const predicate& is_meant) {
  return static_cast<std::size_t>(std::ranges::count_if(
      at(of).read().events, [&](const auto& each) { return each.at >= since && is_meant(each); }));
}

std::optional<std::string> chaos_world::owner() {
  const auto& events = at("r").read().events;
  const auto last = std::find_if(events.rbegin(), events.rend(), is_act_of_clock);
  if (last == events.rend())
    return std::nullopt;
  return last->by.substr(0, last->by.find('.'));
}

history_event chaos_world::accepted_act(clock::time_point since) {
  const auto found = event("r", since, is_act_of_clock);
  if (!found)
    throw std::runtime_error("no act is accepted");
  return *found;
}

std::set<std::string> chaos_world::entities() {
  std::set<std::string> all;
  for (const auto& each : at("r").read().events)
    if (each.what == kind::asked && each.name.starts_with("ledger:"))
      all.insert(each.name);
  return all;
}

testing::AssertionResult chaos_world::entities_answer(clock::time_point since, std::chrono::milliseconds limit) {
  std::set<std::string> silent;
  const auto look = [&] {
    silent = entities();
    if (silent.empty())
      return false;
    for (const auto& each : at("r").read().events)
      if (each.what == kind::answered && each.at >= since)
        silent.erase(each.name);
    return silent.empty();
  };
  if (comes_to_pass(look, limit))
    return testing::AssertionSuccess();
  return testing::AssertionFailure() << silent.size() << " entities do not answer"
                                     << (silent.empty() ? ": none was asked" : ", such as " + *silent.begin());
}

testing::AssertionResult chaos_world::know_each_other(std::chrono::milliseconds limit) {
  std::string all;
  for (const auto& [name, worker] : workers_)
    all += (all.empty() ? "" : " ") + name;
  std::string known;
  for (const auto& [name, worker] : workers_)
    if (!comes_to_pass([&] { return (known = worker->told("members")) == all; }, limit))
      return testing::AssertionFailure() << name << " knows " << known << ", but there are " << all
                                         << "; problems: " << worker->told("problems");
  return testing::AssertionSuccess();
}

void chaos_world::check(history_expectations expected) {
  EXPECT_TRUE(entities_answer(clock::now()));
  for (const auto& [name, worker] : workers_)
    worker->told("quiet");
  for (const auto& [name, worker] : workers_)
    EXPECT_TRUE(comes_to_pass([&] { return worker->told("pending") == "0"; }, expected.answer_within))
        << name << " waits for " << worker->told("pending") << " answers";
  for (const auto& [name, worker] : workers_)
    if (name != "r") // Owners act on it until the end.
      worker->begin_to_leave();
  for (const auto& [name, worker] : workers_)
    if (name != "r")
      worker->wait_for_end();
  at("r").leave();
  std::vector<history> all;
  for (auto& [name, worker] : workers_)
    all.push_back(worker->read());
  for (auto& worker : ended_)
    all.push_back(worker->read());
  expected.disturbed.insert(disturbed_.begin(), disturbed_.end());
  const auto totals = totals_of(all);
  std::cout << to_string(totals) << std::endl;
  EXPECT_GT(totals.accepted, 0U);
  EXPECT_GT(totals.answered, 0U);
  EXPECT_GT(totals.handled, 0U);
  EXPECT_GT(totals.saved, 0U);
  for (const auto& broken : broken_promises(all, expected))
    ADD_FAILURE() << broken;
}

} // namespace troupe::tests
