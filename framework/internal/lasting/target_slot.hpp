// The actor to which a lasting handle forwards messages now.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include <troupe/framework/internal/caf_port/actor_pointers.hpp>
#include <troupe/framework/internal/caf_port/messages.hpp>
#include <troupe/framework/internal/wire/packet.hpp>

namespace troupe::internal {

class proxy;

/// An actor that was found.
struct found_target {
  explicit found_target(caf::strong_actor_ptr found, byte_vector memory_of_its_node = {});

  /// Sends the message to the actor. If the link to the actor is down, gives the message back, and returns false.
  [[nodiscard]] bool take(caf::mailbox_element_ptr& what, caf::execution_unit* context) const;

  const caf::strong_actor_ptr actor;
  proxy* const remote;      // Null: an actor of this process.
  const byte_vector memory; // Names the node that recognizes repeated requests to the actor; empty: none does.
};

/// Holds the current target, which senders use without a lock. A target that was replaced is kept until no sender uses
/// it any more.
///
/// Threads: any.
class target_slot {
public:
  using dropped_targets = std::vector<std::unique_ptr<const found_target>>;

  target_slot() = default;
  target_slot(const target_slot&) = delete;
  target_slot& operator=(const target_slot&) = delete;
  ~target_slot() { delete now_.load(); }

  /// Returns what `use` returns for the target; false if there is none. `use` takes a const found_target&.
  template <class Use>
  bool with_target(Use&& use) {
    const user counted{*this};
    const auto* target = now_.load(std::memory_order_seq_cst);
    return target != nullptr && use(*target);
  }

  /// Replaces the target; null: there is none. The caller drops the returned targets, outside of locks.
  [[nodiscard]] dropped_targets set(std::unique_ptr<const found_target> next);
  /// Whether that target, which with_target() has passed, is still the current one.
  [[nodiscard]] bool is(const found_target* which) const noexcept {
    return which != nullptr && now_.load(std::memory_order_relaxed) == which;
  }
  [[nodiscard]] bool is_set() const noexcept { return now_.load(std::memory_order_relaxed) != nullptr; }

private:
  /// Counts a sender. Either the sender sees a replaced target's successor, or take_unused() sees the sender: hence the
  /// sequentially consistent order.
  class user {
  public:
    explicit user(target_slot& of) noexcept : of_(of) { of_.users_.fetch_add(1, std::memory_order_seq_cst); }
    user(const user&) = delete;
    user& operator=(const user&) = delete;
    ~user() {
      if (of_.users_.fetch_sub(1, std::memory_order_seq_cst) == 1 && of_.has_replaced_.load(std::memory_order_seq_cst))
        static_cast<void>(of_.take_unused()); // Dropped here: a sender holds no lock.
    }

  private:
    target_slot& of_;
  };

  [[nodiscard]] dropped_targets take_unused();

  std::atomic<const found_target*> now_{nullptr};
  std::atomic<std::uint32_t> users_{0};
  std::atomic<bool> has_replaced_{false};
  std::mutex mutex_;
  dropped_targets replaced_; // Guarded by mutex_.
};

} // namespace troupe::internal
