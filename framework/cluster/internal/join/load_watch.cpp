#include <troupe/framework/cluster/internal/join/load_watch.hpp>

#include <memory>
#include <optional>
#include <utility>

#include <caf/actor_cast.hpp>
#include <caf/allowed_unsafe_message_type.hpp>
#include <caf/behavior.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/exit_reason.hpp>
#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>

namespace troupe::membership {

namespace {

struct members_to_ask {
  std::shared_ptr<std::vector<load_watch::asked>> all;
};

struct time_to_ask {};

} // namespace

} // namespace troupe::membership

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::membership::members_to_ask)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::membership::time_to_ask)

namespace troupe::membership {

namespace {

struct load_asker_state {
  caf::weak_actor_ptr pool;
  std::vector<load_watch::asked> members;
  std::uint64_t messages = 0; // Of the pool, at the last look.
  bool is_any_noted = false;
};

using load_asker_actor = caf::stateful_actor<load_asker_state>;

void note_load(const caf::weak_actor_ptr& pool, const std::string& member, std::optional<std::uint64_t> load) {
  if (const auto of = pool.lock())
    actor_pool{caf::actor_cast<caf::actor>(of)}.note_load(member, load);
}

void ask_members(load_asker_actor* self) {
  auto& state = self->state;
  const auto of = state.pool.lock();
  if (!of)
    return;
  const auto stats = actor_pool{caf::actor_cast<caf::actor>(of)}.stats();
  const auto messages = stats.answered + stats.failed + stats.unanswered;
  const auto is_idle = std::exchange(state.messages, messages) == messages && stats.unanswered == 0;
  if (is_idle) {
    if (std::exchange(state.is_any_noted, false))
      for (const auto& each : state.members)
        note_load(state.pool, each.name, std::nullopt);
    return;
  }
  for (const auto& each : state.members)
    self->request(each.teller, load_watch::patience, std::uint32_t{1})
        .then(
            [self, name = each.name](std::uint64_t load) {
              self->state.is_any_noted = true;
              note_load(self->state.pool, name, load);
            },
            [self, name = each.name](const caf::error&) { note_load(self->state.pool, name, std::nullopt); });
}

caf::behavior load_asker(load_asker_actor* self, const caf::weak_actor_ptr& pool) {
  self->state.pool = pool;
  self->delayed_send(self, load_watch::pause, time_to_ask{});
  return {[self](const members_to_ask& what) { self->state.members = std::move(*what.all); },
          [self](const time_to_ask&) {
            ask_members(self);
            self->delayed_send(self, load_watch::pause, time_to_ask{});
          }};
}

} // namespace

caf::actor spawn_load_teller(caf::actor_system& system, weak_node of) {
  return system.spawn<caf::hidden>([of = std::move(of)]() -> caf::behavior {
    return {[of](std::uint32_t) {
      const auto all = of.unanswered_requests().value_or(0);
      return all - (all > 0 ? 1 : 0);
    }};
  });
}

load_watch::load_watch(caf::actor_system& system, caf::weak_actor_ptr pool)
    : asker_(system.spawn<caf::hidden>(load_asker, std::move(pool))) {}

load_watch::~load_watch() {
  caf::anon_send_exit(asker_, caf::exit_reason::kill);
}

void load_watch::ask(std::vector<asked> all) const {
  caf::anon_send(asker_, members_to_ask{std::make_shared<std::vector<asked>>(std::move(all))});
}

} // namespace troupe::membership
