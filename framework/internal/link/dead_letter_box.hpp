// Where a link puts the messages that it could not deliver.
#pragma once

#include <atomic>
#include <cstdint>

#include <troupe/framework/dead_letter.hpp>
#include <troupe/framework/internal/caf_port/actor_pointers.hpp>
#include <troupe/framework/internal/caf_port/message_view.hpp>

namespace troupe::internal {

/// The largest message whose values are kept.
inline constexpr std::uint64_t dead_letter_values_max = 1 << 20;

/// Takes the messages that links could not deliver. Threads: any. Must not be called under a link's lock.
class dead_letter_box {
public:
  virtual ~dead_letter_box() = default;

  /// Whether an actor wants them. Cheap.
  [[nodiscard]] bool is_open() const noexcept { return is_open_.load(std::memory_order_relaxed); }

  /// Whether a letter would be sent. If not, note_lost() is to be called in place of put().
  [[nodiscard]] virtual bool has_room() const noexcept = 0;
  virtual void note_lost() noexcept = 0;

  /// Adds the content to the letter and sends it, if an actor wants it and has handled enough earlier ones. `from` is
  /// the message's sender, which may be null.
  virtual void put(dead_letter letter, const message_view& content, const caf::strong_actor_ptr& from) = 0;
  /// For a letter that is complete.
  virtual void put(dead_letter letter, const caf::strong_actor_ptr& from) = 0;

protected:
  void set_open(bool open) noexcept { is_open_.store(open, std::memory_order_relaxed); }

private:
  std::atomic<bool> is_open_{false};
};

} // namespace troupe::internal
