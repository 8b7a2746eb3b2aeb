// Whether a handle on demand leads to its actor now.
#pragma once

#include <cstdint>

#include <troupe/framework/lasting.hpp>

namespace troupe::membership {

/// A handle to an actor at another member:
///
///  asleep --a message was given to it--> (dialed) --found--> ready --idle--> asleep
///  From asleep and ready to out: the actor is unreachable or lost. From out to ready: it is found.
///
/// A handle that is out gets no messages. It goes on looking for its actor, also if nothing else uses it: if it rests,
/// it has to be woken.
enum class reach : std::uint8_t { asleep, ready, out };

struct reach_change {
  reach next;
  bool has_to_wake; // The handle, which would rest although it is out.
};

[[nodiscard]] constexpr reach_change after(reach before, lasting_event::kind what) noexcept {
  if (what == lasting_event::kind::found)
    return {reach::ready, false};
  if (what == lasting_event::kind::resting && before == reach::ready)
    return {reach::asleep, false};
  return {reach::out, what == lasting_event::kind::resting};
}

} // namespace troupe::membership
