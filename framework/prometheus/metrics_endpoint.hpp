// A node's figures for Prometheus, over HTTP. What there is: README.md beside this file.
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
  /// Where to listen: "127.0.0.1:9464", "[::1]:9464", "localhost:9464"; with port 0 the system chooses one. Whoever
  /// reaches it may read names of peers and types, and how much is sent; nothing asks who he is. So it is loopback
  /// unless another address stands here, such as "0.0.0.0:9464" for all of the host's. A bare port means 127.0.0.1.
  std::string address = "127.0.0.1:0";

  /// So many open links have series of their own; further ones are summed as link="other". Higher: more is seen, and
  /// a scrape is larger; each has some thirty series.
  std::size_t links_max = 100;

  /// So many pairs of family and type have series of their own, further ones are summed as family="other",
  /// type="other". Each has six.
  std::size_t types_max = 500;
};

/// Serves the figures of a node at /metrics. They are asked for at each scrape: nothing is counted for it.
///
/// Threads: any. Has two of its own.
/// Lifetime: keeps nothing of the node. Once that has ended, `troupe_node_up` is 0 and all else is gone. Its own end
/// frees the port and waits for scrapes under way; that takes two seconds, as the library has it.
class TROUPE_EXPORT metrics_endpoint {
public:
  /// Fails with `bad_option` for an address that cannot be read, and `cannot_connect` where nobody can listen there.
  [[nodiscard]] static std::expected<metrics_endpoint, node_error> open(const node& of,
                                                                        const metrics_options& options = {});

  metrics_endpoint(metrics_endpoint&&) noexcept;
  metrics_endpoint& operator=(metrics_endpoint&&) noexcept;
  ~metrics_endpoint();

  [[nodiscard]] std::uint16_t port() const noexcept;
  /// "http://127.0.0.1:9464/metrics".
  [[nodiscard]] const std::string& url() const noexcept;

private:
  struct serving;
  explicit metrics_endpoint(std::unique_ptr<serving> what);

  std::unique_ptr<serving> serving_; // Null after a move.
};

/// The same figures for a prometheus::Exposer or a Gateway of the program's own. `options.address` does not matter.
[[nodiscard]] TROUPE_EXPORT std::shared_ptr<prometheus::Collectable> metrics_of(const node& of,
                                                                                const metrics_options& options = {});

} // namespace troupe
