// Hosts on one machine: each has its own network and its own /dev/shm and /tmp, in namespaces that nobody else sees.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>

namespace troupe::tests {

/// A process that was started with pipes at its input and output, and dies with this one whatever becomes of it.
/// Threads: the one that made it, which has to live as long.
class child_process {
public:
  explicit child_process(const std::vector<std::string>& words);
  child_process(child_process&&) = delete;
  ~child_process(); ///< Ends its input, waits for its end, and kills it when that does not come.

  void write_line(const std::string& line) const; ///< Nothing happens when it is gone.
  /// A line of its output that has come, within `timeout`; nothing also at its end.
  [[nodiscard]] std::optional<std::string> read_line(std::chrono::milliseconds timeout);

  void kill();
  /// Ends its input and waits: its exit code, or 128 + signal.
  int end();
  void freeze() const;
  void go_on() const;

  [[nodiscard]] pid_t pid() const noexcept { return pid_; } ///< -1 when it is gone.
  [[nodiscard]] int output() const noexcept { return output_; }

private:
  int wait();
  void close_pipes();

  pid_t pid_ = -1;
  int input_ = -1;
  int output_ = -1;
  std::string read_;
};

/// One simulated host. Its namespaces last until the last process in it has ended.
class host {
public:
  /// Throws std::runtime_error with the reason where namespaces are not to be had.
  explicit host(std::string name);

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] pid_t holder() const noexcept { return holder_->pid(); }

  /// Starts a program in it.
  [[nodiscard]] std::unique_ptr<child_process> start(std::vector<std::string> words) const;
  /// The same, and waits for its end. Throws std::runtime_error with its output when it fails.
  void run(std::vector<std::string> words) const;
  /// Its own files.
  [[nodiscard]] std::vector<std::string> files_in(const std::string& directory) const;

private:
  std::string name_;
  std::unique_ptr<child_process> holder_;
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
