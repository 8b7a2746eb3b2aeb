#include <troupe/framework/internal/caf_port/actors/alarm.hpp>

#include <utility>

#include <caf/actor_cast.hpp>
#include <caf/actor_clock.hpp>
#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/exit_reason.hpp>
#include <caf/mailbox_element.hpp>
#include <caf/send.hpp>

namespace troupe::internal {

namespace {

struct ring_at {
  std::chrono::steady_clock::time_point time;
};
struct ring_now {};

} // namespace

} // namespace troupe::internal

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::internal::ring_at)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::internal::ring_now)

namespace troupe::internal {

alarm::alarm(caf::actor_system& system, std::function<void()> ring)
    : bell_(system.spawn<caf::hidden>([ring = std::move(ring)](caf::event_based_actor* self) -> caf::behavior {
        return {[self](const ring_at& what) {
                  self->system().clock().schedule_message(what.time, caf::strong_actor_ptr{self->ctrl()},
                                                          caf::make_mailbox_element(nullptr, {}, {}, ring_now{}));
                },
                [ring](ring_now) { ring(); }};
      })) {}

alarm::~alarm() {
  caf::anon_send_exit(bell_, caf::exit_reason::kill);
}

void alarm::set(std::chrono::steady_clock::time_point at) {
  caf::anon_send(bell_, ring_at{at});
}

} // namespace troupe::internal
