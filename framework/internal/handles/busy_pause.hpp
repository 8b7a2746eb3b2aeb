// A pause for a busy peer.
#pragma once

#include <string_view>

#include <troupe/framework/internal/handles/messages.hpp>
#include <troupe/framework/internal/handles/timers.hpp>

namespace troupe::internal::handles {

/// Leaves a busy peer alone for a while: nothing it was too busy for is started again until the pause ends.
class busy_pause {
public:
  busy_pause(link_number link, timer_queue& timers) : ends_(timers, timer::kind::retry, link) {}

  /// Starts a pause that ends at `end`, when refused work is tried again. Does not extend a running pause; neither do
  /// the other two.
  void begin(time_point end) {
    if (!ends_.is_set())
      ends_.set(end);
  }
  void begin_for_pulls(time_point end) {
    pulls_ = true;
    begin(end);
  }
  void begin_for_adoptions(time_point end) {
    adoptions_ = true;
    begin(end);
  }
  void end() {
    pulls_ = false;
    adoptions_ = false;
    ends_.clear();
  }

  [[nodiscard]] bool is_for_pulls() const noexcept { return pulls_; }
  [[nodiscard]] bool is_for_adoptions() const noexcept { return adoptions_; }
  [[nodiscard]] bool is_on() const noexcept { return ends_.is_set(); }
  /// The first invariant that does not hold; empty when all do.
  [[nodiscard]] std::string_view broken_invariant() const {
    if (((pulls_ || adoptions_) && !is_on()) || !ends_.is_in_order())
      return "a pause without an end";
    return {};
  }

private:
  bool pulls_ = false;
  bool adoptions_ = false;
  deadline ends_;
};

} // namespace troupe::internal::handles
