#include <troupe/framework/cluster/internal/ownership/singleton_runner.hpp>

#include <algorithm>
#include <exception>
#include <utility>

#include <caf/actor_cast.hpp>
#include <caf/exit_reason.hpp>
#include <caf/make_message.hpp>
#include <caf/message_id.hpp>
#include <caf/system_messages.hpp>

#include <troupe/framework/cluster/internal/membership/entry_keys.hpp>

namespace troupe::membership {

namespace {

using namespace std::chrono_literals;
using steady = std::chrono::steady_clock;

// The longest wait of the destructor for handlers that run.
constexpr std::chrono::milliseconds longest_end{5'000};

void order_to_end(const caf::actor& whom, caf::exit_reason why) {
  whom->enqueue(nullptr, caf::make_message_id(caf::message_priority::high),
                caf::make_message(caf::exit_msg{whom.address(), why}), nullptr);
}

// If the actor has run for so long, the pause after its end is short again.
constexpr auto long_run = 10s;

// While another process owns a name, its entry is looked at this often, in case its removal was not told.
constexpr auto look_pause = 5s;

} // namespace

singleton_runner::singleton_runner(parts of) : of_(std::move(of)) {
  thread_ = std::thread{[this] { run(); }};
}

singleton_runner::~singleton_runner() {
  {
    const std::lock_guard guard{bell_->mutex};
    bell_->ends = true;
  }
  bell_->rung.notify_all();
  thread_.join();
  for (auto& [name, one] : all_)
    end(name, one);
  // Handlers that run now may finish, within the margin.
  const auto until = steady::now() + std::min(of_.margin, longest_end);
  for (auto& [name, one] : all_) {
    if (one.lease == 0)
      continue;
    std::unique_lock guard{bell_->mutex};
    const auto has_ended = bell_->rung.wait_until(guard, until, [&] { return one.has_ended->load(); });
    guard.unlock();
    if (has_ended)
      release(name, one);
  }
}

void singleton_runner::bell::ring() {
  {
    const std::lock_guard guard{mutex};
    is_rung = true;
  }
  rung.notify_all();
}

bool singleton_runner::add(std::string name, maker make) {
  {
    const std::lock_guard guard{bell_->mutex};
    if (!added_.emplace(std::move(name), std::move(make)).second)
      return false;
  }
  bell_->ring();
  return true;
}

void singleton_runner::wake() {
  bell_->ring();
}

void singleton_runner::stand_back(bool is_so) {
  {
    const std::lock_guard guard{bell_->mutex};
    bell_->stands_back = is_so;
  }
  bell_->ring();
}

void singleton_runner::run() {
  for (;;) {
    steady::time_point next = steady::now() + look_pause;
    // First those that are owned, because they have deadlines. A request for another name takes time, so at most one is
    // made before these are looked at again.
    for (auto& [name, one] : all_)
      if (one.lease != 0)
        next = std::min(next, step(name, one));
    for (auto& [name, one] : all_) {
      if (one.lease != 0)
        continue;
      const auto before = requests_;
      next = std::min(next, step(name, one));
      if (requests_ != before) {
        next = steady::now();
        break;
      }
    }
    std::unique_lock guard{bell_->mutex};
    bell_->rung.wait_until(guard, next, [this] { return bell_->is_rung || bell_->ends; });
    if (bell_->ends)
      return;
    stands_back_ = bell_->stands_back;
    if (std::exchange(bell_->is_rung, false))
      for (auto& [name, one] : all_)
        if (std::exchange(one.waits_for_owner, false)) // The name may be free now.
          one.next = {};
    for (const auto& [name, make] : added_)
      if (!all_.contains(name))
        all_[name].make = make;
  }
}

bool singleton_runner::is_sure(std::uint64_t lease) const {
  const auto held = of_.lease();
  return !stands_back_ && held.id == lease && held.is_sure(boot_clock::now() + of_.margin);
}

bool singleton_runner::is_taken_away(const std::string& name, const candidate& of) const {
  if (!of_.look)
    return false;
  const auto seen = of_.look(name);
  return seen.made_at != of.fence && seen.revision >= of.fence; // Otherwise the news of it may be on its way.
}

std::chrono::steady_clock::time_point singleton_runner::step(const std::string& name, candidate& of) {
  if (of.lease != 0) {
    const auto is_lost = is_taken_away(name, of);
    if (!is_lost && !of.has_ended->load() && of.actor && is_sure(of.lease)) {
      const auto left = of_.lease().sure_until - of_.margin - boot_clock::now();
      return steady::now() + std::max<boot_clock::duration>(left, 1ms);
    }
    const auto ended_itself = of.actor && of.has_ended->load();
    end(name, of);
    if (is_lost && of.ending) // Another process may own the name.
      of.kill_at = std::min(of.kill_at, steady::now());
    if (of_.lease().id != of.lease)
      of.lease = 0; // The directory has removed the entry.
    else if (of.has_ended->load())
      release(name, of);
    else
      return kill_late(of);
    if (ended_itself) {
      if (steady::now() - of.begun > long_run)
        of.pause.reset();
      of.next = steady::now() + of.pause.next();
    }
  }
  if (steady::now() < of.next)
    return of.next;
  const auto lease = of_.lease();
  if (lease.id == 0 || !is_sure(lease.id))
    return steady::now() + look_pause; // The lease's change rings, and so does the end of standing back.
  acquire(name, of, lease);
  return of.lease != 0 ? steady::now() : of.next;
}

void singleton_runner::acquire(const std::string& name, candidate& of, const held_lease& lease) {
  ++requests_;
  const directory_condition is_free{.key = singleton_key(name)};
  const directory_write write{.key = is_free.key, .value = of_.value, .lease = lease.id};
  const auto taken = of_.where->commit({&is_free, 1}, {&write, 1});
  if (!taken) {
    of_.problem(name, taken.error().message());
    of.next = steady::now() + of.pause.next();
    return;
  }
  of_.problem(name, {});
  if (!taken->is_applied) {
    of.next = steady::now() + look_pause;
    of.waits_for_owner = true;
    if (!taken->found.empty() && taken->found.front().lease == lease.id
        && (!of.has_ended || of.has_ended->load())) { // The answer to an earlier request was lost.
      of.fence = taken->found.front().created_revision;
      release(name, of);
      of.next = {};
    }
    return;
  }
  of.lease = lease.id;
  of.fence = taken->revision;
  of.has_ended = std::make_shared<std::atomic<bool>>(false);
  if (is_sure(lease.id)) // It may have taken long.
    begin(name, of);
  else
    *of.has_ended = true;
}

void singleton_runner::begin(const std::string& name, candidate& of) {
  const auto lease = of.lease;
  of.is_over = std::make_shared<std::atomic<bool>>(false);
  try {
    of.actor = of.make(ownership{of.fence, [lease, is_over = of.is_over, now = of_.lease, margin = of_.margin] {
                                   const auto held = now();
                                   return !*is_over && held.id == lease && held.is_sure(boot_clock::now() + margin);
                                 }});
  } catch (const std::exception& thrown) {
    of_.problem(name, std::string{"its function threw: "} + thrown.what());
  } catch (...) {
    of_.problem(name, "its function threw an object that is not a std::exception");
  }
  if (!of.actor) {
    *of.is_over = true;
    *of.has_ended = true; // Another process may be able to.
    of.next = steady::now() + of.pause.next();
    return;
  }
  caf::actor_cast<caf::abstract_actor*>(of.actor)->attach_functor(
      [ended = of.has_ended, bell = bell_](const caf::error&) {
        *ended = true;
        bell->ring();
      });
  of.begun = steady::now();
  of_.show(name, of.actor);
}

/// The order to end overtakes the messages that wait for the actor.
void singleton_runner::end(const std::string& name, candidate& of) {
  if (!of.actor)
    return;
  *of.is_over = true;
  of_.show(name, nullptr);
  order_to_end(of.actor, caf::exit_reason::user_shutdown);
  of.kill_at = steady::now() + of_.margin;
  of.ending = std::exchange(of.actor, nullptr);
}

/// An actor that does not obey is killed. One whose handler goes on keeps the entry.
std::chrono::steady_clock::time_point singleton_runner::kill_late(candidate& of) {
  if (!of.ending)
    return steady::now() + look_pause; // The actor's end rings.
  if (steady::now() < of.kill_at)
    return of.kill_at;
  order_to_end(std::exchange(of.ending, nullptr), caf::exit_reason::kill);
  return steady::now() + look_pause;
}

/// The entry is removed only if it is the one of this run.
void singleton_runner::release(const std::string& name, candidate& of) {
  of.ending = nullptr;
  const directory_condition is_mine{
      .key = singleton_key(name), .what = directory_condition::kind::created_at, .revision = of.fence};
  const directory_write remove{.key = is_mine.key, .what = directory_write::kind::remove};
  if (const auto removed = of_.where->commit({&is_mine, 1}, {&remove, 1}); !removed)
    of_.problem(name, removed.error().message()); // Its lease's end removes it.
  of.lease = 0;
}

} // namespace troupe::membership
