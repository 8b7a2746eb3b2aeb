// The requests of a lasting handle that are sent again when their link is lost.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include <troupe/framework/internal/caf_port/actor_pointers.hpp>
#include <troupe/framework/internal/caf_port/annotated_message.hpp>
#include <troupe/framework/internal/caf_port/messages.hpp>
#include <troupe/framework/internal/wire/request_identity.hpp>

namespace troupe::internal {

/// Keeps each request until its answer has come, with what is needed to send it again.
///
/// Threads: one at a time.
class repeated_requests {
public:
  using clock = std::chrono::steady_clock;

  struct kept {
    caf::weak_actor_ptr sender; // Weak: if an actor has ended, it does not wait for the answer.
    caf::strong_actor_ptr held; // The sender, if it is a stand-in that only messages refer to.
    caf::message_id id;         // As the sender knows it.
    caf::message content;
    std::optional<deadline_point> deadline = std::nullopt;
    std::shared_ptr<traced_hop> trace = nullptr;
    std::uint64_t bytes = 0;
    bool is_sent = false;
    bool was_sent = false; // Before the attempt in progress.
    // The time and the receiver of the first attempt.
    std::optional<clock::time_point> sent_at = std::nullopt;
    byte_vector memory = {}; // found_target::memory
    // The receiver of the last attempt.
    caf::strong_actor_ptr target = nullptr;
  };

  repeated_requests();

  /// Keeps a request. Returns its number.
  std::uint64_t add(kept request);
  /// Null if the request is not kept (any more).
  [[nodiscard]] kept* find(std::uint64_t number);
  [[nodiscard]] const kept* find(std::uint64_t number) const;
  [[nodiscard]] std::optional<kept> take(std::uint64_t number);
  [[nodiscard]] std::map<std::uint64_t, kept> take_all();

  /// The identity by which the receiver recognizes the request. Requires: the request is kept.
  [[nodiscard]] request_identity identity_of(std::uint64_t number, clock::time_point now) const;

  /// Takes the requests that nobody awaits any more, and those that were sent before `then`.
  [[nodiscard]] std::vector<kept> take_stale(clock::time_point then, clock::time_point now);

  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] bool empty() const noexcept { return kept_.empty(); }

private:
  const caller_id caller_;
  std::map<std::uint64_t, kept> kept_;
  std::uint64_t next_ = 1;
  std::uint64_t bytes_ = 0; // The sum over kept_.
};

} // namespace troupe::internal
