// Hosts on one machine: each has a network, a /dev/shm and a /tmp of its own, in namespaces that no other process sees.
#pragma once

#include <troupe/processes/process.hpp>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace troupe::tests {

/// How long a process on a host may take to start, or to end by itself.
inline constexpr std::chrono::seconds patience{20};

/// One simulated host. Its namespaces last until the last process in it has ended.
class host {
public:
  /// Throws std::runtime_error with the reason if the system gives no namespaces.
  explicit host(std::string name);

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] pid_t holder() const noexcept { return holder_.number(); }

  /// Starts a program on the host. Its input and output are lines.
  [[nodiscard]] processes::process start(std::vector<std::string> words) const;
  /// Runs a program on the host to its end. Throws std::runtime_error with its output if it fails.
  void run(std::vector<std::string> words) const;
  /// The names of the host's own files in that directory.
  [[nodiscard]] std::vector<std::string> files_in(const std::string& directory) const;

private:
  std::string name_;
  processes::process holder_;
};

/// Hosts, each pair connected by a cable of its own: no route leads around a cut one.
class network {
public:
  /// Throws std::runtime_error with the reason if hosts cannot be simulated: no privileges, or no `ip` program.
  explicit network(const std::vector<std::string>& names);

  [[nodiscard]] host& at(const std::string& name) { return *hosts_.at(name); }
  /// The address of `to` as seen from `from`.
  [[nodiscard]] std::string address(const std::string& from, const std::string& to) const;

  /// From now on no packet gets through, and no end is told.
  void cut(const std::string& one, const std::string& other);
  void mend(const std::string& one, const std::string& other);
  [[nodiscard]] bool is_cut(const std::string& one, const std::string& other) const;
  void mend_all();

  /// Limits both directions to so many Mbit/s; 0 removes the limit. Returns false if the system cannot limit.
  bool limit(const std::string& one, const std::string& other, int megabits);

private:
  struct cable {
    int number = 0;
    bool is_cut = false;
    bool is_limited = false;
  };
  using ends = std::pair<std::string, std::string>;
  [[nodiscard]] static ends ends_of(const std::string& one, const std::string& other);
  void connect(const ends& which, int number);

  std::map<std::string, std::unique_ptr<host>> hosts_;
  std::map<ends, cable> cables_;
};

/// A network, or null and the reason why it cannot be simulated here.
[[nodiscard]] std::pair<std::unique_ptr<network>, std::string> make_network(const std::vector<std::string>& names);

} // namespace troupe::tests
