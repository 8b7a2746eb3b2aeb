// Reports of handshakes that do not succeed.
#pragma once

#include <memory>
#include <utility>

#include <troupe/framework/internal/words/limited_log.hpp>
#include <troupe/framework/internal/words/refusal_log.hpp>
#include <troupe/framework/node_errc.hpp>

namespace troupe::internal {

class link_host;

/// Reports once that a handshake has not succeeded.
///
/// Threads: the I/O thread.
class handshake_report {
public:
  /// `node` and `log` must outlive this object. `refusals` belongs to the address that the peer dialed; it is null if
  /// this end dialed.
  handshake_report(link_host& node, std::shared_ptr<refusal_log> refusals, limited_log& log)
      : node_(node), refusals_(std::move(refusals)), log_(log) {}

  /// This end has refused the peer.
  void refused(const node_error& reason);
  /// The peer had to make room for others. The entrances have logged that.
  void displaced();
  /// The connection has ended. A peer that only connects and closes may have probed whether the port is open.
  /// `is_common`: such an end is usual, and is logged as info instead of a warning.
  void unfinished(const node_error& reason, bool is_common);

private:
  link_host& node_;
  const std::shared_ptr<refusal_log> refusals_;
  limited_log& log_;
  bool is_noted_ = false;
};

} // namespace troupe::internal
