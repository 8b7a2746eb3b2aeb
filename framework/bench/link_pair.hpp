// The nodes and links over which a comparison sends its samples.
#pragma once

#include <chrono>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <troupe/framework/bench/arrivals.hpp>
#include <troupe/framework/bench/sample_source.hpp>
#include <troupe/framework/link.hpp>
#include <troupe/framework/node.hpp>
#include <troupe/framework/system_config.hpp>

namespace troupe::bench::detail {

/// What all nodes of a comparison have in common.
struct surroundings {
  type_registry& types;
  const family_set& families;
  link_options links;
  std::optional<store::options> store; ///< nullopt: no node has a store.
  std::string secret;
  std::string names; ///< The beginning of all names that no other process uses.
};

/// An actor system with its node.
class side {
public:
  /// Fails as node::open does.
  [[nodiscard]] static std::expected<std::unique_ptr<side>, node_error>
  open(const surroundings& in, const std::string& name, link_options accepted);

  [[nodiscard]] caf::actor_system& system() { return system_; }
  [[nodiscard]] node& home() { return *home_; }

private:
  side();

  system_config config_;
  caf::actor_system system_;
  std::optional<node> home_; // Ends before the system.
};

/// What one slice of a stream has shown.
struct streamed {
  double ns_per_message = 0;
  double socket_bytes = 0; // Per message; likewise the next one.
  double handle_bytes = 0;
};

/// One link, to a node that answers by the same family and compression.
/// Threads: one at a time. Lifetime: both sides and the samples must outlive it.
class measured_link {
public:
  /// Fails with the reason as text.
  [[nodiscard]] static std::expected<std::unique_ptr<measured_link>, std::string>
  open(const surroundings& in, const sample_source& samples, side& near, side& far, const std::string& over,
       const link_options& terms);

  /// Requests with each sample once. Fails with the first error.
  [[nodiscard]] std::expected<void, std::string> prepare();

  /// Streams for about that time, then waits until all has arrived. At most `window` messages are on their way.
  [[nodiscard]] std::expected<streamed, std::string> stream(std::chrono::nanoseconds time, std::uint64_t window);

  /// The median nanoseconds of requests, made one after the other for about that time.
  [[nodiscard]] std::expected<double, std::string> round_trip_ns(std::chrono::nanoseconds time);

  /// The family that has carried that type; "none" if nothing was encoded.
  [[nodiscard]] std::string family_of(const std::string& alias) const;

private:
  measured_link(const sample_source& samples, side& near, link by)
      : samples_(samples), near_(near), by_(std::move(by)) {}
  [[nodiscard]] std::expected<std::vector<double>, std::string> ask(std::chrono::nanoseconds time, std::size_t least);

  const sample_source& samples_;
  side& near_;
  link by_;
  caf::actor consumer_;
  caf::actor echoer_;
  std::shared_ptr<arrivals> arrived_ = std::make_shared<arrivals>();
  std::size_t next_ = 0;
};

} // namespace troupe::bench::detail
