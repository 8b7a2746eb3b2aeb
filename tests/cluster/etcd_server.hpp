// An etcd of its own for a test.
#pragma once

#include <troupe/framework/cluster/directory.hpp>
#include <troupe/processes/process.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::tests {

/// Where a member of an etcd runs, if not on loopback ports of this host.
struct etcd_place {
  std::string address; // At which the other members and the clients reach it.
  std::function<processes::process(std::vector<std::string> words)> start;
  std::function<void(std::vector<std::string> words)> run; // To its end.
  /// Calls the function in the network of the place.
  std::function<void(const std::function<void()>&)> within;
};

struct etcd_server_options {
  std::size_t members = 1;
  std::vector<etcd_place> places; // If set, one for each member.
  std::vector<std::string> words; // More arguments for each member.
  // Of the client port, PEM. If set, it speaks TLS.
  std::string certificate_file;
  std::string key_file;
  std::string client_ca_file; // If set, clients need a certificate of this authority.
  // With which this object itself asks, if the client port speaks TLS.
  directory_options client;
};

/// Runs the members of an etcd on loopback ports that were free, with their data in a temporary folder; or at places,
/// with their data in /tmp there.
///
/// Threads: one at a time. Lifetime: the members end with this object, and if the thread that made it ends.
class etcd_server {
public:
  /// Whether the tests have the program; see cmake/unpack-etcd.
  [[nodiscard]] static bool is_there();

  /// Waits until the cluster has a leader. Throws if that takes too long.
  explicit etcd_server(etcd_server_options options = {});
  ~etcd_server();
  etcd_server(const etcd_server&) = delete;
  etcd_server& operator=(const etcd_server&) = delete;

  /// The address of a directory below `prefix`.
  [[nodiscard]] std::string address(std::string_view prefix) const;
  /// The same, with the endpoints of these members, in this order.
  [[nodiscard]] std::string address(std::string_view prefix, const std::vector<std::size_t>& members) const;
  [[nodiscard]] std::string endpoint(std::size_t member) const;

  [[nodiscard]] std::size_t count() const noexcept { return members_.size(); }
  /// Waits until the members that run have a leader.
  [[nodiscard]] std::size_t leader();
  /// Forgets all revisions before the present one. False if no member did.
  bool compact();

  void kill(std::size_t member);
  /// Starts a member that was killed. Returns without waiting for it.
  void start(std::size_t member);
  /// Stops a member by SIGSTOP. Its kernel still accepts connections.
  void freeze(std::size_t member);
  void thaw(std::size_t member);
  /// Removes the data of a member that was killed.
  void wipe(std::size_t member);
  /// Moves the client port of a member that was killed elsewhere, or back.
  void move(std::size_t member);
  /// Replaces a member that was wiped by a new one, which gets its data from the others. Requires: a leader.
  void add_again(std::size_t member);
  /// Waits until every member that is not killed answers reads that need a leader.
  void wait_until_healthy();

  /// Sends a request to the gateway. Returns the body of the answer, and of any answer that is no success nothing.
  std::optional<std::string> try_post(std::size_t member, std::string_view path, std::string_view body,
                                      std::string_view token = "");
  /// Like try_post(), but throws.
  std::string post(std::size_t member, std::string_view path, std::string_view body, std::string_view token = "");

private:
  struct running_member {
    std::uint16_t client_port = 0;
    std::uint16_t other_client_port = 0;
    std::uint16_t peer_port = 0;
    std::optional<processes::process> process;
    bool is_frozen = false;
    bool joins = false; // A cluster that there is already.
  };

  [[nodiscard]] bool has_tls() const noexcept { return !options_.certificate_file.empty(); }
  [[nodiscard]] std::filesystem::path folder_of(std::size_t member) const;
  [[nodiscard]] std::string peer_url(std::size_t member) const;
  [[nodiscard]] processes::process started(std::size_t member, std::vector<std::string> words) const;
  [[nodiscard]] bool answers(std::size_t member);

  etcd_server_options options_;
  std::filesystem::path folder_;
  std::vector<running_member> members_;
};

} // namespace troupe::tests
