// Shows undelivered messages to the actor and the watcher that want them.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <troupe/framework/internal/link/dead_letter_box.hpp>
#include <troupe/framework/internal/watch/watched_events.hpp>
#include <troupe/serializers/family.hpp>
#include <troupe/serializers/type_registry.hpp>

namespace troupe::internal {

/// Bounds on the letters that the actor has not handled yet. Further letters are counted and dropped.
inline constexpr std::uint64_t dead_letters_max = 1'000;
inline constexpr std::uint64_t dead_letter_bytes_max = 16 << 20;

/// Encodes messages that could not be delivered and sends them to an actor. A watcher sees them without their values.
///
/// Threads: any.
class dead_letter_office final : public dead_letter_box {
public:
  /// Both must outlive this object. `serializers`: the families that encode the values.
  dead_letter_office(const type_registry& types, const family_set& families, std::vector<std::string> serializers);
  ~dead_letter_office() override;

  /// From now on sends the letters to this actor of this process; null: to none.
  void send_to(caf::strong_actor_ptr whom);
  /// From now on shows each letter to the watcher, whether or not an actor wants it; null: to none.
  void watch_by(std::shared_ptr<letter_watcher> watcher);

  [[nodiscard]] bool has_room() const noexcept override;
  void note_lost() noexcept override;
  void put(dead_letter letter, const message_view& content, const caf::strong_actor_ptr& from) override;
  void put(dead_letter letter, const caf::strong_actor_ptr& from) override;

  struct totals {
    std::uint64_t sent = 0;
    std::uint64_t lost = 0; // At the bounds, for lack of memory, or about a message of the actor itself.
  };
  [[nodiscard]] totals so_far() const;

private:
  struct unhandled;

  [[nodiscard]] bool has_receiver() const;
  void add_values(dead_letter& letter, const message_view& content) const;
  [[nodiscard]] bool admit(std::uint64_t bytes);

  const type_registry& types_;
  const family_set& families_;
  const std::vector<std::string> serializers_;
  const std::shared_ptr<unhandled> unhandled_; // Letters may outlive the node.
  mutable std::mutex mutex_;
  std::atomic<bool> is_watched_{false};
  // Guarded by mutex_.
  caf::strong_actor_ptr whom_;
  std::shared_ptr<letter_watcher> watcher_;
  totals totals_;
};

} // namespace troupe::internal
