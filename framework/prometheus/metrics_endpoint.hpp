// A node's metrics for Prometheus, over HTTP. README.md beside this file lists them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <string>

#include <troupe/base/export.hpp>
#include <troupe/framework/fwd.hpp>
#include <troupe/framework/node_errc.hpp>

namespace prometheus {

class Collectable;

} // namespace prometheus

namespace troupe {

struct metrics_options {
  /// The address to listen at: "127.0.0.1:9464", "[::1]:9464", "localhost:9464", or a bare port, which means 127.0.0.1.
  /// With port 0 the system chooses a port. There is no authentication: any client that reaches the address can read
  /// the names of peers and types, and the amounts of traffic. So the default is loopback, and any other address must
  /// be given explicitly, such as "0.0.0.0:9464" for all addresses of the host.
  std::string address = "127.0.0.1:0";

  /// The maximum number of open links with series of their own, about 30 each. Further links are summed as
  /// link="other". Higher: more links are shown; each scrape is larger.
  std::size_t links_max = 100;

  /// The maximum number of pairs of family and type with series of their own, 6 each. Further pairs are summed as
  /// family="other", type="other". Higher: more pairs are shown; each scrape is larger.
  std::size_t types_max = 500;
};

/// Serves a node's metrics at /metrics. They are read from the node at each scrape and cost nothing in between.
///
/// Threads: any. The HTTP server has 8 worker threads of its own.
/// Lifetime: keeps nothing of the node. After the node's end, `troupe_node_up` is 0 and all other metrics are gone. The
/// destructor frees the port and waits for running scrapes; the library makes this take 2 s.
class TROUPE_EXPORT metrics_endpoint {
public:
  /// Fails with `bad_option` if the address cannot be parsed, and with `cannot_connect` if the server cannot listen
  /// there.
  [[nodiscard]] static std::expected<metrics_endpoint, node_error> open(const node& of,
                                                                        const metrics_options& options = {});

  metrics_endpoint(metrics_endpoint&&) noexcept;
  metrics_endpoint& operator=(metrics_endpoint&&) noexcept;
  ~metrics_endpoint();

  /// Serves these metrics as well, from now on until the endpoint's end.
  void add(std::shared_ptr<prometheus::Collectable> more);

  [[nodiscard]] std::uint16_t port() const noexcept;
  /// The whole URL, such as "http://127.0.0.1:9464/metrics".
  [[nodiscard]] const std::string& url() const noexcept;

private:
  struct serving;
  explicit metrics_endpoint(std::unique_ptr<serving> what);

  std::unique_ptr<serving> serving_; // Null after a move.
};

/// The same metrics, for the program's own prometheus::Exposer or Gateway. `options.address` is ignored. Lifetime: as
/// for metrics_endpoint.
[[nodiscard]] TROUPE_EXPORT std::shared_ptr<prometheus::Collectable> metrics_of(const node& of,
                                                                                const metrics_options& options = {});

} // namespace troupe
