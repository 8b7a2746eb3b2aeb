// Tells a program about the events of a supervisor.
#pragma once

#include <string>

#include <troupe/framework/internal/caf_port/event_actors.hpp>
#include <troupe/framework/supervisor_options.hpp>

namespace troupe::internal {

/// Passes events to the receivers that the program named, and to the log.
class event_teller {
public:
  explicit event_teller(const supervisor_events& to);

  void tell(const supervisor_event& event) const;

private:
  const std::function<void(const supervisor_event&)> callback_;
  const caf::weak_actor_ptr listener_;
};

/// "'squarer-1' ended: ..." for people.
[[nodiscard]] std::string text_of(const supervisor_event& event);

} // namespace troupe::internal
