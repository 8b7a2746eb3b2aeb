// Requests that have crossed a link and wait for their responses.
#pragma once

#include <troupe/framework/internal/caf_port/actor_pointers.hpp>
#include <troupe/framework/internal/flow/request_book.hpp>
#include <troupe/framework/internal/traces/traced_hop.hpp>
#include <troupe/framework/node_errc.hpp>

namespace troupe::internal {

/// Identifies the actor that waits for the answer to a request.
struct waiting_asker {
  caf::weak_actor_ptr who;
  bool urgent = false;                      // The priority of the request, and so of its answer.
  caf::strong_actor_ptr forwarded_for = {}; // A stand-in for another link's requester, or null.
  std::shared_ptr<traced_hop> call = {};    // Of a request whose span this node records; else null.

  [[nodiscard]] bool is_gone() const noexcept;
  /// Answers the request with this error. Requires: no link's lock is held.
  void fail(const question_key& question, const node_error& reason) const;
};

using pending_requests = request_book<waiting_asker>;

} // namespace troupe::internal
