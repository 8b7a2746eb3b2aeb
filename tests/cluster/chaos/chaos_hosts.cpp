#include "chaos_hosts.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <future>
#include <iterator>
#include <system_error>

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

namespace troupe::tests {

namespace {

/// Moves this thread to the network of a process.
void enter_network_of(pid_t process) {
  const auto path = "/proc/" + std::to_string(process) + "/ns/net";
  const processes::descriptor opened{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (!opened || ::setns(opened.number(), CLONE_NEWNET) != 0)
    throw std::system_error(errno, std::generic_category(), path);
}

bool write_all(const char* file, const std::string& text) {
  return static_cast<bool>(std::ofstream{file} << text << std::flush);
}

} // namespace

chaos_hosts::chaos_hosts(std::vector<std::string> names) : names_(std::move(names)), cables_(names_) {
  for (const auto& name : names_) {
    auto commands = "ip address add " + address(name) + "/32 dev lo";
    for (const auto& other : names_)
      if (other != name)
        commands += " && " + route(name, other);
    at(name).run({"sh", "-c", commands});
  }
}

std::string chaos_hosts::address(const std::string& name) const {
  return "10.1.0." + std::to_string(1 + std::distance(names_.begin(), std::ranges::find(names_, name)));
}

std::string chaos_hosts::route(const std::string& from, const std::string& to) const {
  return "ip route replace " + address(to) + " via " + cables_.address(from, to) + " dev to-" + to + " src "
         + address(from);
}

/// The route ended with the device.
void chaos_hosts::mend(const std::string& one, const std::string& other) {
  if (!is_cut(one, other))
    return;
  cables_.mend(one, other);
  at(one).run({"sh", "-c", route(one, other)});
  at(other).run({"sh", "-c", route(other, one)});
}

void chaos_hosts::mend_all() {
  for (auto one = names_.begin(); one != names_.end(); ++one)
    for (auto other = std::next(one); other != names_.end(); ++other)
      mend(*one, *other);
}

/// On a thread of its own, because root in a user namespace may not go back to the network outside.
void chaos_hosts::within(const std::string& name, const std::function<void()>& call) {
  std::async(std::launch::async, [&] {
    enter_network_of(at(name).holder());
    call();
  }).get();
}

std::string permit_hosts() {
  const auto user = ::geteuid();
  const auto group = ::getegid();
  if (user == 0)
    return {};
  if (::unshare(CLONE_NEWUSER) != 0)
    return std::string{"no root, and no user namespace: "} + std::strerror(errno);
  if (!write_all("/proc/self/setgroups", "deny") || !write_all("/proc/self/uid_map", "0 " + std::to_string(user) + " 1")
      || !write_all("/proc/self/gid_map", "0 " + std::to_string(group) + " 1"))
    return "the user namespace takes no map of users";
  return {};
}

} // namespace troupe::tests
