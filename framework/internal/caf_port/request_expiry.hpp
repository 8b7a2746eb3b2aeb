// When a received request is of no use any more.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include <caf/actor_control_block.hpp>
#include <caf/type_erased_tuple.hpp>

namespace troupe::internal {

/// The deadline of a received request; belongs to its content.
///
/// CAF asks a message for its types when it is about to handle it. A request that has expired by then pretends to be a
/// timeout of CAF's own that nobody has set: CAF drops it. Whether it has expired is decided once, at that time.
/// Threads: one at a time.
class request_expiry {
public:
  using point = std::chrono::steady_clock::time_point;

  /// `may_drop`: the receiver handles messages in the way described above. `expired` counts dropped requests.
  request_expiry(point at, bool may_drop, std::shared_ptr<std::atomic<std::uint64_t>> expired)
      : at_(at), state_(may_drop ? state::undecided : state::current), expired_(std::move(expired)) {}

  [[nodiscard]] point at() const noexcept { return at_; }
  [[nodiscard]] bool is_over() noexcept;
  /// The content of a request that is over.
  [[nodiscard]] static void* dropped_content() noexcept;
  [[nodiscard]] static std::uint32_t dropped_type() noexcept;

private:
  enum class state : std::uint8_t { undecided, current, over };

  const point at_;
  state state_;
  std::shared_ptr<std::atomic<std::uint64_t>> expired_;
};

/// A content that may have a deadline.
class expiring_content {
public:
  void expire(request_expiry when) { expiry_ = std::make_unique<request_expiry>(std::move(when)); }
  /// For a copy of `other`.
  void expire_like(const expiring_content& other) {
    if (other.expiry_)
      expire(*other.expiry_);
  }
  [[nodiscard]] std::optional<request_expiry::point> deadline() const noexcept {
    return expiry_ ? std::optional{expiry_->at()} : std::nullopt;
  }

protected:
  expiring_content() = default;
  ~expiring_content() = default;
  [[nodiscard]] bool is_over() const noexcept { return expiry_ != nullptr && expiry_->is_over(); }

private:
  std::unique_ptr<request_expiry> expiry_; // Most have none.
};

/// Whether the actor handles messages in the way that request_expiry needs. Requires: not null.
[[nodiscard]] bool is_scheduled(const caf::strong_actor_ptr& actor) noexcept;

/// The deadline of a message; nullopt if it has none.
[[nodiscard]] std::optional<request_expiry::point> deadline_of(const caf::type_erased_tuple& content) noexcept;

/// The deadline that requests sent by this thread carry now; the clock's epoch if they carry none.
[[nodiscard]] request_expiry::point carried_deadline() noexcept;

} // namespace troupe::internal
