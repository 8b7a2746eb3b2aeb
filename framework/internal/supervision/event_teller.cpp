#include <troupe/framework/internal/supervision/event_teller.hpp>

#include <exception>
#include <utility>

#include <troupe/base/text.hpp>
#include <troupe/framework/internal/caf_port/messages.hpp>
#include <troupe/framework/internal/words/text.hpp>
#include <troupe/framework/log.hpp>

namespace troupe::internal {

event_teller::event_teller(const supervisor_events& to)
    : callback_(to.callback), listener_(caf::actor_cast<caf::strong_actor_ptr>(to.listener).get()) {}

void event_teller::tell(const supervisor_event& event) const {
  using kind = supervisor_event::kind;
  const auto is_bad = event.what == kind::gave_up || event.what == kind::child_stuck;
  if (const auto level = is_bad ? log_level::warning : log_level::info; log_threshold() >= level)
    write_log_line(level, text_of(event));
  if (callback_)
    try {
      callback_(event);
    } catch (const std::exception& thrown) {
      write_log_line(log_level::error, "the callback of a supervisor threw: " + cut(exception_text(thrown)));
    } catch (...) {
      write_log_line(log_level::error, "the callback of a supervisor threw an object that is not a std::exception");
    }
  if (const auto listener = listener_.lock())
    listener->enqueue(nullptr, caf::make_message_id(), caf::make_message(event), nullptr);
}

std::string text_of(const supervisor_event& event) {
  using enum supervisor_event::kind;
  const auto name = "the supervised child '" + event.name + "' ";
  const auto reason = event.reason.message().empty() ? "no error" : event.reason.message();
  switch (event.what) {
  case child_started:
    return name + "has started";
  case child_ended:
    return name
           + (event.is_failed_start ? "did not start: "
              : event.was_stopped   ? "was stopped: "
                                    : "ended: ")
           + reason;
  case restarting:
    return name + "will be started again after " + std::to_string(event.pause.count()) + " ms";
  case child_stuck:
    return name + "is given up: " + reason;
  case gave_up:
    break;
  }
  return "a supervisor gave up: " + reason;
}

} // namespace troupe::internal
