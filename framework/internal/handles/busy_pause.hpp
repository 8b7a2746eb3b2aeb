// A pause for a busy peer.
#pragma once

#include <string_view>

#include <troupe/framework/internal/handles/messages.hpp>
#include <troupe/framework/internal/handles/timers.hpp>

namespace troupe::internal::handles {

/// Leaves a busy peer alone for a while. Until the pause ends, nothing is started again for which the peer was too
/// busy.
class busy_pause {
public:
  busy_pause(link_number link, timer_queue& timers) : ends_(timers, timer::kind::retry, link) {}

  /// Starts a pause that ends at `end`, when refused work is tried again. Neither this function nor the other two
  /// extend a running pause.
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
  /// The first invariant that does not hold; empty if all hold.
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
