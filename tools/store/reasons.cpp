#include "store/reasons.hpp"

#include <algorithm>

namespace troupe::tools {

namespace {

[[nodiscard]] std::string named(pid_t process, const std::vector<pid_t>& living) {
  return std::to_string(process) + (std::ranges::count(living, process) > 0 ? "" : " (dead)");
}

[[nodiscard]] std::string listed(const std::vector<pid_t>& processes, const std::vector<pid_t>& living) {
  auto text = std::string{};
  for (const auto process : processes)
    text += (text.empty() ? "" : ", ") + named(process, living);
  return text;
}

} // namespace

std::string_view to_string(reason why) {
  switch (why) {
  case reason::written:
    return "being written";
  case reason::pinned:
    return "pinned";
  case reason::held:
    return "held";
  case reason::in_flight:
    return "in flight";
  case reason::captured:
    return "captured";
  case reason::nothing:
    return "nothing";
  }
  return "unknown";
}

reason main_reason(const store::object_row& object) {
  if (object.state == store::object_state::writing)
    return reason::written;
  if (!object.pinned_by.empty())
    return reason::pinned;
  if (!object.holders.empty())
    return reason::held;
  if (!object.in_flight.empty())
    return reason::in_flight;
  return object.captured_by.empty() ? reason::nothing : reason::captured;
}

std::vector<std::string> reasons(const store::object_row& object, const std::vector<pid_t>& living) {
  auto lines = std::vector<std::string>{};
  if (object.state == store::object_state::writing)
    lines.push_back("being written by " + named(object.creator, living));
  if (!object.pinned_by.empty())
    lines.push_back("pinned by " + listed(object.pinned_by, living));
  auto unpinned = object.holders;
  std::erase_if(unpinned, [&](pid_t holder) { return std::ranges::count(object.pinned_by, holder) > 0; });
  if (!unpinned.empty() && object.state != store::object_state::writing)
    lines.push_back("held by " + listed(unpinned, living));
  for (const auto& flight : object.in_flight)
    lines.push_back("in flight from " + named(flight.from, living) + " to " + named(flight.to, living)
                    + (flight.count > 1 ? ", " + std::to_string(flight.count) + " times" : ""));
  for (const auto& outer : object.captured_by)
    lines.push_back("captured in " + to_string(outer));
  if (lines.empty())
    lines.emplace_back("nothing: the next reclaim removes it");
  return lines;
}

} // namespace troupe::tools
