// Hosts that reach each other at one address each, over cables that can be cut one by one.
#pragma once

#include "../../system/hosts.hpp"

#include <functional>
#include <string>
#include <vector>

namespace troupe::tests {

/// A network in which each host has one address for all others, as members of a cluster need it. It is on the host's
/// loopback device, and leads over the cable between the two hosts and nowhere else.
///
/// Threads: one at a time.
class chaos_hosts {
public:
  /// Throws std::runtime_error with the reason if hosts cannot be simulated.
  explicit chaos_hosts(std::vector<std::string> names);

  [[nodiscard]] const std::vector<std::string>& names() const noexcept { return names_; }
  [[nodiscard]] host& at(const std::string& name) { return cables_.at(name); }
  [[nodiscard]] std::string address(const std::string& name) const;

  /// From now on no packet gets through, and no end is told.
  void cut(const std::string& one, const std::string& other) { cables_.cut(one, other); }
  void mend(const std::string& one, const std::string& other);
  void mend_all();
  [[nodiscard]] bool is_cut(const std::string& one, const std::string& other) const {
    return cables_.is_cut(one, other);
  }

  /// Calls the function in the host's network, on another thread, and waits for it.
  void within(const std::string& name, const std::function<void()>& call);

private:
  /// A command that leads packets for the other's address over the cable.
  [[nodiscard]] std::string route(const std::string& from, const std::string& to) const;

  std::vector<std::string> names_;
  network cables_;
};

/// Makes this process root in a user namespace of its own if it may not make hosts otherwise. To be called before there
/// is a second thread. Returns why that is impossible, or an empty text.
[[nodiscard]] std::string permit_hosts();

} // namespace troupe::tests
