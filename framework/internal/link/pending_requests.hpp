// Requests that crossed a link and wait for their responses.
#pragma once

#include <troupe/framework/internal/caf_port/actor_pointers.hpp>
#include <troupe/framework/internal/flow/request_book.hpp>
#include <troupe/framework/node_errc.hpp>

namespace troupe::internal {

/// Identifies the actor that waits for the answer to a request.
struct waiting_asker {
  caf::weak_actor_ptr who;
  bool urgent = false;                      // The request; so is its answer.
  caf::strong_actor_ptr forwarded_for = {}; // The asker of another link's request; null for one of this node's.

  [[nodiscard]] bool is_gone() const noexcept;
  /// The answer is this error. Not under a link's lock.
  void fail(const question_key& question, const node_error& reason) const;
};

using pending_requests = request_book<waiting_asker>;

} // namespace troupe::internal
