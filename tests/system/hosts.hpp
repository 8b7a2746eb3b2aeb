// Hosts on one machine: each has its own network and its own /dev/shm and /tmp, in namespaces that nobody else sees.
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
  /// Throws std::runtime_error with the reason where namespaces are not to be had.
  explicit host(std::string name);

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] pid_t holder() const noexcept { return holder_.number(); }

  /// Starts a program in it, to be talked with.
  [[nodiscard]] processes::process start(std::vector<std::string> words) const;
  /// The same, and waits for its end. Throws std::runtime_error with its output when it fails.
  void run(std::vector<std::string> words) const;
  /// Its own files.
  [[nodiscard]] std::vector<std::string> files_in(const std::string& directory) const;

private:
  std::string name_;
  processes::process holder_;
};

/// Hosts, each connected with each other by a cable of its own: no way leads around a cut one.
class network {
public:
  /// Throws std::runtime_error with the reason where hosts cannot be simulated: rights, or no `ip`.
  explicit network(const std::vector<std::string>& names);

  [[nodiscard]] host& at(const std::string& name) { return *hosts_.at(name); }
  /// Where `to` is reached from `from`.
  [[nodiscard]] std::string address(const std::string& from, const std::string& to) const;

  /// Nothing gets through any more, and nobody is told.
  void cut(const std::string& one, const std::string& other);
  void mend(const std::string& one, const std::string& other);
  [[nodiscard]] bool is_cut(const std::string& one, const std::string& other) const;
  void mend_all();

  /// So many Mbit/s from now on, in both directions; 0: as fast as it goes. False where the system has no such thing.
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

/// A network, or why there cannot be one here.
[[nodiscard]] std::pair<std::unique_ptr<network>, std::string> make_network(const std::vector<std::string>& names);

} // namespace troupe::tests
