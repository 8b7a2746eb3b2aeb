#include "hosted.hpp"

#include "../eventually.hpp"

#include <algorithm>
#include <sstream>
#include <stdexcept>
#include <thread>

#include <poll.h>

namespace troupe::tests {

namespace {

constexpr auto secret = "a secret that these hosts share";

const std::vector<std::string> host_names{"a", "b", "c"};

} // namespace

bool comes_true(const std::function<bool()>& condition, std::chrono::milliseconds timeout) {
  return eventually(condition, timeout);
}

std::string sum_of(std::uint64_t count, std::uint64_t seed) {
  return "ok " + std::to_string(count) + ' ' + std::to_string(count * seed + count * (count - 1) / 2);
}

// -- hosted_peer

std::uint64_t hosted_peer::ask(const std::string& what) {
  waiting_[++last_] = {what, std::chrono::steady_clock::now()};
  process_.channel().write_line(std::to_string(last_) + ' ' + what);
  return last_;
}

void hosted_peer::listen(std::chrono::milliseconds timeout) {
  for (auto line = process_.channel().read_line(timeout); line; line = process_.channel().read_line(0ms)) {
    const auto space = line->find(' ');
    const auto number = std::stoull(*line);
    auto text = line->substr(space + 1);
    if (number == 0) {
      ++seen_[text];
    } else {
      auto asked = waiting_.extract(number);
      EXPECT_FALSE(asked.empty()) << "answered twice, or never asked: " << *line;
      answers_[number] = {asked ? asked.mapped().text : "", std::move(text)};
    }
  }
}

std::optional<std::string> hosted_peer::answer(std::uint64_t number) {
  auto found = answers_.extract(number);
  return found ? std::optional{std::move(found.mapped().second)} : std::nullopt;
}

std::vector<std::pair<std::string, std::string>> hosted_peer::take_answers() {
  std::vector<std::pair<std::string, std::string>> taken;
  for (auto& [number, each] : answers_)
    taken.push_back(std::move(each));
  answers_.clear();
  return taken;
}

int hosted_peer::seen(const std::string& point) {
  return seen_[point];
}

// -- world

const std::vector<std::string>& world::names() {
  static const std::vector<std::string> all{"a1", "a2", "b1", "b2", "c1", "c2"};
  return all;
}

std::string world::address(const std::string& from, const std::string& to) const {
  if (host_of(from) == host_of(to))
    return "unix://@" + to; // Abstract names belong to the host's network.
  return "tcp://" + hosts_.address(host_of(from), host_of(to)) + ":700" + to.back();
}

std::vector<std::string> world::dialed_by(const std::string& name) const {
  std::vector<std::string> dialed;
  for (const auto& other : names()) {
    const auto is_near = host_of(other) == host_of(name);
    const auto both_are_first = other.back() == '1' && name.back() == '1';
    const auto are_apart = host_of(name)[0] - host_of(other)[0] > 1;
    if (options_.is_row && are_apart)
      continue;
    if (other < name && (is_near || both_are_first || options_.all_are_linked))
      dialed.push_back(other);
  }
  return dialed;
}

void world::start(const std::string& name) {
  auto process = hosts_.at(host_of(name))
                     .start({TROUPE_SYSTEM_HOSTED_PEER, name, std::to_string(options_.store_bytes),
                             std::to_string(options_.grace.count()), std::to_string(options_.silence.count()), secret,
                             "unix://@" + name, "tcp://0.0.0.0:700" + std::string{name.back()}});
  const auto said = process.channel().read_line(30s);
  if (said != "ready")
    throw std::runtime_error(name + " did not start: " + said.value_or("it said nothing"));
  peers_[name] = std::make_unique<hosted_peer>(std::move(process));
  for (const auto& other : dialed_by(name))
    EXPECT_EQ(told(name, "dial " + address(name, other)), "ok ");
}

void world::start_all() {
  for (const auto& each : names())
    start(each);
  if (!is_linked())
    throw std::runtime_error("the processes do not come together");
}

std::string world::answer(const std::string& name, std::uint64_t number) {
  auto& peer = at(name);
  std::optional<std::string> text;
  const auto deadline = std::chrono::steady_clock::now() + 60s;
  while (!(text = peer.answer(number)) && std::chrono::steady_clock::now() < deadline)
    peer.listen(100ms);
  return text.value_or("nothing came");
}

bool world::comes_to(const std::string& name, const std::string& point, int times) {
  return comes_true([&] {
    at(name).listen();
    return at(name).seen(point) >= times;
  });
}

std::set<std::string> world::linked_with(const std::string& name) {
  std::istringstream words{told(name, "links")};
  std::set<std::string> linked;
  for (std::string word; words >> word;)
    linked.insert(word);
  return linked;
}

bool world::is_linked() {
  return std::ranges::all_of(names(), [&](const std::string& name) {
    return std::ranges::all_of(dialed_by(name), [&](const std::string& other) {
      const auto is_cut = host_of(name) != host_of(other) && hosts_.is_cut(host_of(name), host_of(other));
      return is_cut || !is_running(name) || !is_running(other)
             || comes_true([&] { return linked_with(name).contains(other) && linked_with(other).contains(name); });
    });
  });
}

bool world::is_cut_off(const std::string& one, const std::string& other) {
  return comes_true([&] {
    return std::ranges::all_of(peers_, [&](const auto& each) {
      const auto host = host_of(each.first);
      const auto away = host == one ? other : host == other ? one : "";
      return away.empty() || std::ranges::none_of(linked_with(each.first), [&](const std::string& name) {
               return host_of(name) == away;
             });
    });
  });
}

world::contents world::store_at(const std::string& name) {
  std::istringstream words{told(name, "summary")};
  std::string ok;
  contents result;
  words >> ok >> result.objects >> result.bytes >> result.most_bytes;
  return ok == "ok" ? result : contents{UINT64_MAX, UINT64_MAX, UINT64_MAX};
}

testing::AssertionResult world::nothing_is_left() {
  std::string left;
  const auto is_empty = [&] {
    for (const auto& [name, peer] : peers_)
      static_cast<void>(told(name, "drop_all"));
    left.clear();
    for (const auto& [name, peer] : peers_)
      if (const auto what = store_at(name); what.objects != 0 || what.bytes != 0)
        left += "\n" + name + "'s store, seen by " + std::to_string(peer->process().number()) + ": "
                + told(name, "summary");
    return left.empty();
  };
  return comes_true(is_empty) ? testing::AssertionSuccess() : testing::AssertionFailure() << left;
}

std::uint64_t world::sent(const std::string& from, const std::string& to) {
  std::istringstream words{told(from, "traffic " + to)};
  std::string ok;
  std::uint64_t bytes = 0;
  words >> ok >> bytes;
  return ok == "ok" ? bytes : 0;
}

testing::AssertionResult world::has_all_from(const std::string& name, const std::string& source) {
  std::string said;
  const auto is_so = comes_true([&] { return (said = told(name, "sources")) == "ok " + source + ' '; });
  return is_so ? testing::AssertionSuccess() : testing::AssertionFailure() << name << " says \"" << said << '"';
}

std::uint64_t world::pulled_by(const std::string& name) {
  std::istringstream words{told(name, "pulled")};
  std::string ok;
  std::uint64_t bytes = 0;
  words >> ok >> bytes;
  return ok == "ok" ? bytes : 0;
}

void world::end() {
  for (const auto& [name, peer] : peers_)
    EXPECT_EQ(peer->process().end(patience), processes::exited_with(0)) << name;
  peers_.clear();
  for (const auto& name : host_names)
    EXPECT_EQ(hosts_.at(name).files_in("/dev/shm"), std::vector<std::string>{}) << name;
}

// -- three_hosts

void three_hosts::SetUp() {
  auto [made, why_not] = make_network(host_names);
  if (!made)
    GTEST_SKIP() << why_not;
  hosts_ = std::move(made);
}

world& three_hosts::make(const world_options& options) {
  world_ = std::make_unique<world>(*hosts_, options);
  world_->start_all();
  return *world_;
}

void three_hosts::TearDown() {
  if (world_)
    world_->end();
}

} // namespace troupe::tests
