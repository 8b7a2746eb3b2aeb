// The options of supervisors and of their children.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <caf/actor.hpp>
#include <caf/allowed_unsafe_message_type.hpp>

#include <troupe/framework/node_errc.hpp>

namespace troupe {

/// Which children are restarted when one of them ends: Erlang/OTP's restart strategies.
enum class restart : std::uint8_t {
  one_for_one, ///< Only the child that ended.
  one_for_all, ///< All children. The others are stopped before, in reverse order.
  rest_for_one ///< The child that ended and the children after it. These are stopped before, in reverse order.
};

/// When a child is restarted: Erlang/OTP's restart types.
enum class lifetime : std::uint8_t {
  permanent, ///< Always.
  transient, ///< If it ended abnormally. An end without an error, or with `user_shutdown`, is normal. A transient child
             ///< that ended normally starts again when its strategy restarts a group to which it belongs.
  temporary  ///< Never. A temporary child that was stopped because a sibling ended does not start again.
};

/// Options of one child.
struct child_options {
  /// Unique among the children. Empty: the name of the actor type or of the program, or "child", with a number if
  /// several children share it.
  std::string name = {};

  troupe::lifetime lifetime = lifetime::permanent;

  /// How many children of this kind there are, at least 1. They are named "<name>-1", "<name>-2", ...
  std::size_t copies = 1;

  /// A child that has not started within this time is killed: a failed start. At least 1 ms.
  std::chrono::milliseconds start_within{std::chrono::seconds(10)};

  /// A child that is stopped gets an exit message with `user_shutdown`. If it has not ended after this time, it is
  /// killed. 0: it is killed at once. nullopt: 5 s, for a supervisor 1 min.
  std::optional<std::chrono::milliseconds> stop_within = std::nullopt;
};

/// A change in the life of a child, or of the supervisor itself.
struct supervisor_event {
  enum class kind : std::uint8_t {
    child_started,
    child_ended, ///< The child ended, or did not start: `reason`.
    restarting,  ///< The child will be started again after `pause`.
    child_stuck, ///< The child has not ended although it was killed 5 s ago. It is given up.
    gave_up,     ///< Too many restarts: `reason` has the report. The supervisor stops all children, and ends.
  };

  kind what = kind::gave_up;
  /// The child's position, counted from 0, and its name. For `gave_up`: the child whose end was one too many.
  std::size_t child = 0;
  std::string name = {};
  /// How often the child has been started.
  std::size_t starts = 0;
  /// The reason of `child_ended`, `child_stuck` and `gave_up`; `none` if a child ended normally.
  node_error reason = {node_errc::none, {}};
  /// `child_ended`: the supervisor stopped the child.
  bool was_stopped = false;
  /// `child_ended`: the child was not running yet.
  bool is_failed_start = false;
  /// `restarting`: the time until the start.
  std::chrono::milliseconds pause{0};
  /// `child_ended`, for processes: the exit status, or the number of the signal.
  std::optional<int> exit_status = std::nullopt;
  std::optional<int> signal = std::nullopt;
  /// `child_ended`, for processes: the last lines of the standard error stream, and why the process ended, if that can
  /// be known.
  std::vector<std::string> last_lines = {};
  std::string cause = {};
};

/// The receivers of events: a function, an actor, both or none. Each gets the events in order.
struct supervisor_events {
  /// Called on the supervisor's thread. It must not block. Exceptions that it throws are dropped.
  std::function<void(const supervisor_event&)> callback = {};
  /// Gets each event as a message, `[](const troupe::supervisor_event& event)`. It is not kept alive.
  caf::actor listener = {};
};

/// Options of a supervisor.
struct supervisor_options {
  restart strategy = restart::one_for_one;

  /// The restart intensity: the supervisor gives up when it would restart children more than `most` times within
  /// `within`. A failed start counts like a restart. Restarts of all children count together; the restart of a group
  /// counts once. `within` is at least 1 ms.
  std::size_t most = 5;
  std::chrono::milliseconds within{std::chrono::minutes(1)};

  /// The pause before a child is started again. It doubles from one end of the child to the next, up to
  /// `longest_back_off`. If the child has lived for `longest_back_off`, the next pause is `back_off` again. 0: no
  /// pause.
  std::chrono::milliseconds back_off{100};
  std::chrono::milliseconds longest_back_off{std::chrono::seconds(10)};

  supervisor_events events = {};
};

} // namespace troupe

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::supervisor_event)
