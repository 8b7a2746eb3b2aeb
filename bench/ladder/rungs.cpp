#include "ladder/rungs.hpp"

#include "peers/caf_ends.hpp"
#include "serializers/link_coding.hpp"

#include <caf/all.hpp>
#include <troupe/framework/message_types.hpp>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <future>
#include <memory>
#include <thread>
#include <utility>

namespace bench {

namespace {

double thread_nanoseconds() {
  std::timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

/// Processor time of this thread for each of `count` calls, in nanoseconds.
template <class Step>
double timed(std::uint64_t count, const Step& step) {
  const auto before = thread_nanoseconds();
  for (std::uint64_t i = 0; i < count; ++i)
    step(i);
  return (thread_nanoseconds() - before) / static_cast<double>(count);
}

// -- CAF

struct sharing_config : caf::actor_system_config {
  sharing_config() { set("scheduler.policy", caf::atom("sharing")); }
};

/// Takes the place of a remote actor and drops the messages that CAF hands to it.
class dropping_actor final : public caf::monitorable_actor {
public:
  explicit dropping_actor(caf::actor_config& config) : caf::monitorable_actor{config} {}
  void enqueue(caf::mailbox_element_ptr, caf::execution_unit*) override {}
};

std::expected<double, std::string> send_by_caf(std::uint64_t count) {
  sharing_config config;
  caf::actor_system system{config};
  caf::actor_config of_actor;
  auto dropping = caf::make_actor<dropping_actor, caf::actor>(system.next_actor_id(), system.node(), &system, of_actor);
  std::promise<double> took;
  system.spawn([&](caf::event_based_actor* self) {
    took.set_value(timed(count, [&](std::uint64_t i) { self->send(dropping, numbered(i)); }));
  });
  return took.get_future().get();
}

struct counting_state {
  std::uint64_t received = 0;
};

caf::behavior counting(caf::stateful_actor<counting_state>* self) {
  return {[self](const small_message& message) { check_number(message, self->state.received++); },
          [self](caf::unit_t) { return self->state.received; }};
}

/// An actor with an empty mailbox that runs on this thread.
class idle_actor {
public:
  idle_actor() : actor_{system_.spawn(counting)}, unit_{system_} {
    caf::scoped_actor self{system_};
    self->request(actor_, caf::infinite, caf::unit).receive([](std::uint64_t) {}, [](const caf::error&) {});
    // Another thread, which ran the answer, may still be using the actor.
    auto* const scheduled = caf::actor_cast<caf::scheduled_actor*>(actor_);
    while (!scheduled->mailbox().blocked())
      std::this_thread::yield();
  }

  [[nodiscard]] caf::scheduled_actor& operator*() const { return *caf::actor_cast<caf::scheduled_actor*>(actor_); }
  [[nodiscard]] caf::execution_unit* unit() noexcept { return &unit_; }

  /// Runs the actor if it has something to do.
  void resume() {
    if (auto* const next = std::exchange(unit_.next, nullptr)) {
      next->resume(&unit_, 300);
      caf::intrusive_ptr_release(next);
    }
  }

private:
  struct own_unit final : caf::execution_unit {
    explicit own_unit(caf::actor_system& system) : caf::execution_unit{&system} {}
    void exec_later(caf::resumable* what) override { next = what; }
    caf::resumable* next = nullptr;
  };

  sharing_config config_;
  caf::actor_system system_{config_};
  caf::actor actor_;
  own_unit unit_;
};

caf::mailbox_element_ptr element(std::uint64_t number) {
  return caf::make_mailbox_element(nullptr, caf::make_message_id(), {}, numbered(number));
}

std::expected<double, std::string> run_handler_by_caf(std::uint64_t count) {
  idle_actor actor;
  return timed(count, [&](std::uint64_t i) {
    const auto what = element(i);
    (*actor).activate(actor.unit(), *what);
  });
}

std::expected<double, std::string> enqueue_and_resume_by_caf(std::uint64_t count) {
  idle_actor actor;
  return timed(count, [&](std::uint64_t i) {
    (*actor).enqueue(element(i), actor.unit());
    actor.resume();
  });
}

// -- coding

std::expected<double, std::string> encode(std::uint64_t count) {
  link_coding<small_message> by{"bench.small_message", "typed"};
  const auto value = numbered(7);
  bool is_well = true;
  const auto took = timed(count, [&](std::uint64_t) { is_well = by.encode(value) && is_well; });
  return is_well ? std::expected<double, std::string>{took} : std::unexpected{"a message cannot be encoded"};
}

std::expected<double, std::string> decode(std::uint64_t count) {
  link_coding<small_message> by{"bench.small_message", "typed"};
  bool is_well = by.encode(numbered(7));
  const auto took = timed(count, [&](std::uint64_t) {
    small_message into;
    is_well = by.decode(into) && is_well;
  });
  return is_well ? std::expected<double, std::string>{took} : std::unexpected{"a message cannot be decoded"};
}

} // namespace

const std::vector<rung>& all_rungs() {
  static const std::vector<rung> all{
      {.name = "caf-sends", .at = link_end::sending, .whose = worker::caf, .take = send_by_caf},
      {.name = "typed-encodes", .at = link_end::sending, .whose = worker::coding, .take = encode},
      {.name = "typed-decodes", .at = link_end::receiving, .whose = worker::coding, .take = decode},
      {.name = "caf-runs-handler", .at = link_end::receiving, .whose = worker::caf, .take = run_handler_by_caf},
      {.name = "caf-enqueues-and-resumes",
       .at = link_end::receiving,
       .whose = worker::caf,
       .is_in_whole = false,
       .take = enqueue_and_resume_by_caf}};
  return all;
}

const rung* find_rung(std::string_view name) {
  const auto found = std::ranges::find(all_rungs(), name, &rung::name);
  return found == all_rungs().end() ? nullptr : &*found;
}

} // namespace bench
