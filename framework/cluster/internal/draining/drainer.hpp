// Why a member drains, and what that means for its parts.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <mutex>

namespace troupe::membership {

enum class drain_reason : std::uint8_t { call, order };

/// Has the parts of a member withdraw from their work while there is a reason to drain.
///
/// Threads: any. The parts are told one change after the other, each change in the order in which they were enrolled.
class drainer {
public:
  /// True: withdraws from its work. False: works again. It must not block, and must not call the drainer's functions
  /// but is_draining().
  using part = std::function<void(bool withdraws)>;

  /// Keeps a part enrolled. A part that comes while the member drains is told so at once. Once this has ended, the part
  /// is not called any more. Lifetime: the drainer outlives it.
  class enrolment {
  public:
    enrolment(drainer& in, part what);
    enrolment(const enrolment&) = delete;
    enrolment& operator=(const enrolment&) = delete;
    ~enrolment();

  private:
    drainer& in_;
    std::list<part>::iterator at_;
  };

  drainer() = default;
  drainer(const drainer&) = delete;
  drainer& operator=(const drainer&) = delete;

  /// From now on there is this reason to drain, or there is not. The member drains while it has one.
  void drain_for(drain_reason why, bool is_so);
  [[nodiscard]] bool has(drain_reason why) const;
  /// True before the parts are told that they withdraw, and false before they are told that they work again.
  [[nodiscard]] bool is_draining() const noexcept { return is_draining_; }

private:
  mutable std::mutex turn_; // Held for each change, while the parts are told.
  // Guarded by turn_.
  std::list<part> parts_;
  std::array<bool, 2> reasons_{};        // By drain_reason.
  std::atomic<bool> is_draining_{false}; // Changed under turn_.
};

} // namespace troupe::membership
