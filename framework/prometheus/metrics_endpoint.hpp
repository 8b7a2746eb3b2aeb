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
  /// The address to listen at: "127.0.0.1:9464", "[::1]:9464", "localhost:9464"; with port 0 the system chooses a port.
  /// There is no authentication: anybody who can reach the address can read names of peers and types, and traffic
  /// figures. So the default is loopback; another address must be given explicitly, such as "0.0.0.0:9464" for all
  /// addresses of the host. A bare port means 127.0.0.1.
  std::string address = "127.0.0.1:0";

  /// At most this many open links have series of their own, about 30 each; further links are summed as link="other".
  /// Raising it shows more links and makes each scrape larger.
  std::size_t links_max = 100;

  /// At most this many pairs of family and type have series of their own, 6 each; further pairs are summed as
  /// family="other", type="other".
  std::size_t types_max = 500;
};

/// Serves a node's metrics at /metrics. They are read from the node at each scrape, at no cost in between.
///
/// Threads: any. The HTTP server has 8 worker threads of its own.
/// Lifetime: keeps nothing of the node. After the node's end, `troupe_node_up` is 0 and all other metrics are gone. The
/// destructor frees the port and waits for running scrapes; because of the library that takes 2 seconds.
class TROUPE_EXPORT metrics_endpoint {
public:
  /// Fails with `bad_option` if the address cannot be parsed, and with `cannot_connect` if listening there is not
  /// possible.
  [[nodiscard]] static std::expected<metrics_endpoint, node_error> open(const node& of,
                                                                        const metrics_options& options = {});

  metrics_endpoint(metrics_endpoint&&) noexcept;
  metrics_endpoint& operator=(metrics_endpoint&&) noexcept;
  ~metrics_endpoint();

  [[nodiscard]] std::uint16_t port() const noexcept;
  /// The full URL, such as "http://127.0.0.1:9464/metrics".
  [[nodiscard]] const std::string& url() const noexcept;

private:
  struct serving;
  explicit metrics_endpoint(std::unique_ptr<serving> what);

  std::unique_ptr<serving> serving_; // Null after a move.
};

/// The same metrics for a prometheus::Exposer or Gateway of the program's own. `options.address` is ignored.
[[nodiscard]] TROUPE_EXPORT std::shared_ptr<prometheus::Collectable> metrics_of(const node& of,
                                                                                const metrics_options& options = {});

} // namespace troupe
