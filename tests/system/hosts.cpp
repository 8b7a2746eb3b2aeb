#include "hosts.hpp"

#include <algorithm>
#include <iterator>
#include <stdexcept>

#include <unistd.h>

namespace troupe::tests {

namespace {

processes::process start_host(const std::vector<std::string>& words) {
  std::vector<std::string> all{TROUPE_SYSTEM_HOST, std::to_string(::getpid())};
  all.insert(all.end(), words.begin(), words.end());
  auto started = processes::process::start({.program = TROUPE_SYSTEM_HOST,
                                            .words = std::move(all),
                                            .input = processes::lines{},
                                            .output = processes::lines{}},
                                           patience);
  if (!started)
    throw std::runtime_error(started.error());
  return *std::move(started);
}

} // namespace

// -- host

host::host(std::string name) : name_(std::move(name)), holder_(start_host({"hold", TROUPE_BUILD_TREE})) {
  const auto said = holder_.channel().read_line(patience);
  if (said != "ready")
    throw std::runtime_error(said.value_or("the holder of a host did not start"));
}

processes::process host::start(std::vector<std::string> words) const {
  words.insert(words.begin(), {"enter", std::to_string(holder())});
  return start_host(words);
}

void host::run(std::vector<std::string> words) const {
  std::string command;
  for (const auto& each : words)
    command += each + ' ';
  auto process = start(std::move(words));
  std::string said;
  while (const auto line = process.channel().read_line(patience))
    said += *line + '\n';
  if (process.end(patience) != processes::exited_with(0))
    throw std::runtime_error(command + "fails at host " + name_ + ": " + said);
}

std::vector<std::string> host::files_in(const std::string& directory) const {
  auto process = start({"ls", "-A", directory});
  std::vector<std::string> files;
  while (auto line = process.channel().read_line(patience))
    files.push_back(*std::move(line));
  return files;
}

// -- network

network::network(const std::vector<std::string>& names) {
  for (const auto& name : names)
    hosts_.emplace(name, std::make_unique<host>(name));
  int number = 0;
  for (auto one = hosts_.begin(); one != hosts_.end(); ++one)
    for (auto other = std::next(one); other != hosts_.end(); ++other)
      connect({one->first, other->first}, ++number);
}

network::ends network::ends_of(const std::string& one, const std::string& other) {
  return std::minmax(one, other);
}

void network::connect(const ends& which, int number) {
  const auto& [one, other] = which;
  at(one).run({"ip", "link", "add", "to-" + other, "type", "veth", "peer", "name", "to-" + one, "netns",
               std::to_string(at(other).holder())});
  cables_[which] = {number};
  for (const auto& [from, to] : {which, ends{other, one}}) {
    at(from).run({"ip", "address", "add", address(to, from) + "/24", "dev", "to-" + to});
    at(from).run({"ip", "link", "set", "to-" + to, "up"});
  }
}

std::string network::address(const std::string& from, const std::string& to) const {
  return "10.0." + std::to_string(cables_.at(ends_of(from, to)).number) + (to < from ? ".1" : ".2");
}

void network::cut(const std::string& one, const std::string& other) {
  const auto which = ends_of(one, other);
  if (!std::exchange(cables_.at(which).is_cut, true))
    at(which.first).run({"ip", "link", "set", "to-" + which.second, "down"});
}

void network::mend(const std::string& one, const std::string& other) {
  const auto which = ends_of(one, other);
  if (std::exchange(cables_.at(which).is_cut, false))
    at(which.first).run({"ip", "link", "set", "to-" + which.second, "up"});
}

bool network::is_cut(const std::string& one, const std::string& other) const {
  return cables_.at(ends_of(one, other)).is_cut;
}

void network::mend_all() {
  for (const auto& [which, each] : cables_)
    mend(which.first, which.second);
}

bool network::limit(const std::string& one, const std::string& other, int megabits) try {
  auto& is_limited = cables_.at(ends_of(one, other)).is_limited;
  for (const auto& [from, to] : {ends{one, other}, ends{other, one}}) {
    if (megabits > 0)
      at(from).run({"tc", "qdisc", "replace", "dev", "to-" + to, "root", "tbf", "rate",
                    std::to_string(megabits) + "mbit", "burst", "64k", "latency", "100ms"});
    else if (is_limited)
      at(from).run({"tc", "qdisc", "delete", "dev", "to-" + to, "root"});
  }
  is_limited = megabits > 0;
  return true;
} catch (const std::runtime_error&) {
  return false;
}

std::pair<std::unique_ptr<network>, std::string> make_network(const std::vector<std::string>& names) {
  try {
    return {std::make_unique<network>(names), ""};
  } catch (const std::runtime_error& failed) {
    return {nullptr, std::string{"hosts cannot be simulated here: "} + failed.what()};
  }
}

} // namespace troupe::tests
