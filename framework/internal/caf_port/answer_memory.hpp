// What a node remembers of requests that may be sent again.
#pragma once

#include <chrono>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include <caf/actor_control_block.hpp>
#include <caf/message.hpp>
#include <caf/message_id.hpp>

#include <troupe/framework/internal/wire/request_identity.hpp>
#include <troupe/serializers/type_entry.hpp>

namespace troupe::internal {

/// Keeps the answers to requests that have an identity, so that a repeated request is answered without being handled
/// again. Forgets the oldest answers first, beyond a number of bytes or an age. It knows which requests it may have
/// forgotten, and never takes one of them for a new one. This is the server's side of exactly-once RPC as in RIFL (Lee
/// et al., "Implementing Linearizability at Large Scale and Low Latency", SOSP 2015), without its durability.
///
/// Threads: any.
class answer_memory {
public:
  using clock = std::chrono::steady_clock;

  struct bounds {
    std::uint64_t bytes = 0;
    std::chrono::milliseconds age{0};
  };
  /// `types` must outlive this object.
  answer_memory(const type_registry& types, bounds its) : types_(types), bounds_(its) {}

  /// A request's sender, and the id of its answer.
  struct requester {
    caf::strong_actor_ptr actor;
    caf::message_id answer;
    /// The actor that got the request, and the sender of its answer. An error without a sender is one of the
    /// requester's own end.
    caf::weak_actor_ptr asked = {};
  };

  enum class verdict : std::uint8_t {
    handle,           // Handle the request. Report its answer, or that there will be none, if `is_kept`.
    answered,         // Send `answer` again.
    awaited,          // The request is being handled. The requester gets the answer from here.
    may_be_forgotten, // It may have been handled, and its answer is not kept any more.
  };
  struct admission {
    verdict what = verdict::handle;
    bool is_kept = false;
    caf::message answer = {};
  };
  [[nodiscard]] admission begin(const request_identity& request, requester from, clock::time_point now);

  void answered(const request_key& request, const caf::message& answer, clock::time_point now);
  /// No handler has begun, and none will. A repeated request is handled.
  void abandoned(const request_key& request);

  /// The memory that counts against the bound.
  [[nodiscard]] std::uint64_t bytes() const;

private:
  struct entry {
    bool is_answered = false;
    caf::message answer = {};
    std::uint64_t bytes = 0;
    clock::time_point answered_at = {};
    requester waiting = {}; // Of the last repeated request. A caller repeats a request only after its link is lost.
    std::list<request_key>::iterator place = {}; // In answered_, if it is answered.
  };
  struct caller {
    std::map<std::uint64_t, entry> requests = {};
    std::uint64_t forgotten_to = 0;  // Requests up to this number may be forgotten.
    std::uint64_t settled_below = 0; // As the caller has said.
    clock::time_point last_used = {};
    std::optional<std::list<caller_id>::iterator> place = {}; // In idle_; nullopt: a request is kept.
  };

  [[nodiscard]] caller* use(const caller_id& who, clock::time_point now);
  [[nodiscard]] entry* find(const request_key& request);
  void settle(const caller_id& who, caller& of, std::uint64_t below);
  void forget_old(clock::time_point now);
  /// Forgets old answers, and then callers without requests except `keep`. Returns false if that is not enough.
  bool make_room(std::uint64_t bytes, const caller_id& keep);
  void forget_oldest_answer();
  void forget_caller(std::list<caller_id>::iterator which);
  void note_idle(const caller_id& who, caller& its);
  void erase(const caller_id& who, caller& of, std::map<std::uint64_t, entry>::iterator which);
  [[nodiscard]] bool may_have_forgotten(const request_identity& request, clock::time_point now) const;

  const type_registry& types_;
  const bounds bounds_;

  mutable std::mutex mutex_; // No message and no actor is dropped while it is held: they go to dropped_ first.
  // Guarded by mutex_.
  std::map<caller_id, caller> callers_;
  std::list<caller_id> idle_;       // The callers of which no request is kept, the one unused for longest first.
  std::list<request_key> answered_; // The oldest answer first.
  std::vector<entry> dropped_;
  std::uint64_t bytes_ = 0;
  clock::time_point forgotten_callers_to_ = clock::time_point::min(); // When the last forgotten caller was used last.
};

/// Reports what becomes of one request. If it is destroyed without an answer, no handler has begun, and the request
/// counts as abandoned.
///
/// Threads: any. Lifetime: that of the request's stand-in for its sender.
class answer_slot {
public:
  answer_slot(std::shared_ptr<answer_memory> memory, const request_key& request)
      : memory_(std::move(memory)), request_(request) {}
  answer_slot(const answer_slot&) = delete;
  answer_slot& operator=(const answer_slot&) = delete;
  ~answer_slot() { memory_->abandoned(request_); }

  /// Only the first call counts. Also for an error, and for a request that was passed on to another node.
  void answered(const caf::message& answer) { memory_->answered(request_, answer, answer_memory::clock::now()); }

  /// Another node will answer, without this one. A repeated request would be handled again, so it fails.
  void passed_on() noexcept;

private:
  const std::shared_ptr<answer_memory> memory_;
  const request_key request_;
};

} // namespace troupe::internal
