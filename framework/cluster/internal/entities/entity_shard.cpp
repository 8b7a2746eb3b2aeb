#include <troupe/framework/cluster/internal/entities/entity_shard.hpp>

#include <algorithm>
#include <exception>
#include <iterator>

#include <caf/abstract_actor.hpp>
#include <caf/exit_reason.hpp>
#include <caf/make_message.hpp>
#include <caf/message_id.hpp>
#include <caf/system_messages.hpp>

#include <troupe/base/sizes.hpp>
#include <troupe/framework/node_error.hpp>

namespace troupe {

entity_context::entity_context(std::string key, std::string state, troupe::ownership own,
                               std::weak_ptr<membership::entity_shard> home, std::uint64_t run)
    : key_(std::move(key)), state_(std::move(state)), own_(std::move(own)), home_(std::move(home)), run_(run) {}

void entity_context::save(std::string state) const {
  if (const auto home = home_.lock())
    home->save(key_, run_, std::move(state));
}

void entity_context::passivate() const {
  if (const auto home = home_.lock())
    home->passivate(key_, run_);
}

namespace membership {

namespace {

using namespace std::chrono_literals;

// A remembered entity that has ended by itself is made again after this time.
constexpr auto remake_pause = 1s;

/// In order: the actor first handles what was sent before.
void tell_to_end(const caf::actor& whom, bool at_once) {
  whom->enqueue(nullptr, caf::make_message_id(at_once ? caf::message_priority::high : caf::message_priority::normal),
                caf::make_message(
                    caf::exit_msg{whom.address(), at_once ? caf::exit_reason::kill : caf::exit_reason::user_shutdown}),
                nullptr);
}

} // namespace

entity_shard::entity_shard(std::shared_ptr<const parts> of, ownership own, std::shared_ptr<arrival_order> order,
                           std::function<void(const std::string&, bool)> remember)
    : of_(std::move(of)),
      own_(std::move(own)),
      order_(std::move(order)),
      remember_(std::move(remember)),
      saver_({.save = [this](const std::string& key,
                             const std::string& state) { return of_->options.save(key, own_.fence(), state); },
              .run =
                  [this](std::function<void()> job) {
                    of_->run_saving([self = shared_from_this(), job = std::move(job)] { job(); });
                  },
              .patience = of_->options.end_within,
              .on_done = [this](const std::string& key) { note_saved(key); },
              .problem = [this](std::string text) { note_problem("saving", std::move(text)); }}) {}

entity_shard::~entity_shard() {
  of_->count->fetch_sub(slots_.size());
}

bool entity_shard::may_add() const {
  if (of_->count->fetch_add(1) < of_->options.entities_most)
    return true;
  of_->count->fetch_sub(1);
  return false;
}

void entity_shard::erase(const std::string& key) {
  slots_.erase(key);
  of_->count->fetch_sub(1);
}

entity_shard::slot* entity_shard::find(const std::string& key, std::uint64_t run) {
  const auto found = slots_.find(key);
  return found != slots_.end() && found->second.run == run ? &found->second : nullptr;
}

void entity_shard::take(entity_address to, relayed_message what) {
  take(std::move(to), std::move(what), false);
}

void entity_shard::take_early(entity_address to, relayed_message what) {
  take(std::move(to), std::move(what), true);
}

void entity_shard::open() {
  std::vector<std::pair<entity_address, relayed_message>> batch;
  for (std::size_t done = 0;;) {
    {
      work todo;
      std::unique_lock guard{mutex_};
      if (leaves_) {
        const auto late = std::stable_partition(batch.begin() + static_cast<std::ptrdiff_t>(done), batch.end(),
                                                [this](auto& one) { return !order_->is_late(one.first); });
        for (auto one = late; one != batch.end(); ++one)
          todo.failures.emplace_back(std::move(one->second), held_up(one->first));
        hold_first(std::span{batch.begin() + static_cast<std::ptrdiff_t>(done), late}, todo);
        guard.unlock();
        return do_work(std::move(todo));
      }
      if (done == batch.size()) {
        if (held_.empty()) {
          opens_ = false;
          return;
        }
        batch = std::exchange(held_, {});
        done = 0;
      }
    }
    auto& [to, what] = batch[done++];
    take(std::move(to), std::move(what), true);
  }
}

void entity_shard::take(entity_address to, relayed_message what, bool is_early) {
  work todo;
  std::unique_lock guard{mutex_};
  const auto opens_for_it = opens_ && !is_early && !leaves_; // Then it is judged when its turn comes.
  if (!to.is_marker && !opens_for_it && order_->is_late(to)) {
    guard.unlock();
    auto why = held_up(to);
    return std::move(what).fail(std::move(why));
  }
  if (leaves_ || opens_for_it) {
    if (!pass_) {
      hold(std::move(to), std::move(what), todo);
      guard.unlock();
      return do_work(std::move(todo));
    }
    const auto pass = pass_;
    guard.unlock();
    return pass(std::move(to), std::move(what));
  }
  if (to.is_marker) {
    guard.unlock();
    return std::move(what).answer(caf::make_message(std::uint32_t{1}));
  }
  if (!slots_.contains(to.key) && !may_add()) {
    guard.unlock();
    return std::move(what).fail({node_errc::link_busy, "this member has entity_options::entities_most entities of the "
                                                       "kind "
                                                           + of_->kind + ": " + grouped(of_->options.entities_most)});
  }
  const auto [at, is_new] = slots_.try_emplace(to.key);
  auto& of = at->second;
  if (is_new)
    begin_making(to.key, of, todo);
  if (of.now != phase::running) {
    if (of.waiting.size() >= of_->options.waiting_most)
      todo.failures.emplace_back(std::move(what),
                                 node_error{node_errc::link_busy, "already waiting for the entity " + to.key + ": "
                                                                      + grouped(of.waiting.size()) + " messages"});
    else
      of.waiting.emplace_back(std::move(to), std::move(what));
    guard.unlock();
    return do_work(std::move(todo));
  }
  of.last_used = clock::now();
  ++of.passing;
  const auto actor = of.actor;
  const auto run = of.run;
  guard.unlock();
  what.set_content(without_address(what.content()));
  std::move(what).pass_to(actor);
  note_passed(to.key, run, actor);
}

void entity_shard::note_passed(const std::string& key, std::uint64_t run, const caf::actor& actor) {
  {
    const std::lock_guard guard{mutex_};
    auto* const of = find(key, run);
    if (of == nullptr || --of->passing > 0 || !of->end_is_due)
      return;
    of->end_is_due = false;
  }
  tell_to_end(actor, false);
}

node_error entity_shard::held_up(const entity_address& to) const {
  return {node_errc::child_lost, held_up_text(to.key, of_->kind)};
}

bool entity_shard::start(const std::string& key) {
  work todo;
  {
    const std::lock_guard guard{mutex_};
    if (leaves_)
      return true; // The next owner makes it.
    if (!slots_.contains(key) && !may_add())
      return false;
    if (const auto [at, is_new] = slots_.try_emplace(key); is_new)
      begin_making(key, at->second, todo);
  }
  do_work(std::move(todo));
  return true;
}

void entity_shard::begin_making(const std::string& key, slot& of, work& todo) {
  of.now = phase::making;
  of.has_begun = false;
  of.end_is_due = false;
  of.is_unwanted = false;
  of.was_delivered = false;
  of.has_ended = false;
  of.is_forgotten = false;
  of.was_killed = false;
  of.passing = 0; // Threads that are still passing messages to the last run will not find it.
  of.run = ++last_run_;
  of.due = {};
  todo.makings.emplace_back([self = shared_from_this(), key, run = of.run] { self->make(key, run); });
}

/// On a thread that may block.
void entity_shard::make(const std::string& key, std::uint64_t run) {
  {
    const std::lock_guard guard{mutex_};
    auto* const of = find(key, run);
    if (of == nullptr)
      return; // The shard has left before.
    of->has_begun = true;
  }
  std::string state;
  caf::actor actor;
  try {
    if (of_->options.load) {
      auto loaded = of_->options.load(key, own_.fence());
      if (!loaded)
        return fail_making(key, run, "its state cannot be loaded: " + loaded.error());
      state = *std::move(loaded);
    }
    if (has_left_meanwhile(key, run))
      return;
    actor = of_->make(entity_context{key, std::move(state), own_, weak_from_this(), run});
  } catch (const std::exception& thrown) {
    return fail_making(key, run, std::string{"its function threw: "} + thrown.what());
  } catch (...) {
    return fail_making(key, run, "its function threw an object that is not a std::exception");
  }
  if (!actor)
    return fail_making(key, run, "its function returned no actor");
  note_problem("making", {});
  {
    const std::lock_guard guard{mutex_};
    find(key, run)->actor = actor;
  }
  if (remember_)
    remember_(key, true);
  caf::actor_cast<caf::abstract_actor*>(actor)->attach_functor([weak = weak_from_this(), key, run](const caf::error&) {
    if (const auto self = weak.lock())
      self->note_end(key, run);
  });
  deliver_waiting(key, run, actor);
}

/// Loading may have taken long: then another member may have the shard.
bool entity_shard::has_left_meanwhile(const std::string& key, std::uint64_t run) {
  work todo;
  {
    const std::lock_guard guard{mutex_};
    auto* const of = find(key, run);
    if (of != nullptr && !leaves_ && own_.is_sure())
      return false;
    if (of != nullptr && leaves_) {
      of->has_ended = true;
      settle(key, *of, todo);
    } else if (of != nullptr) {
      return false; // The shard is about to leave, and ends it then.
    }
  }
  do_work(std::move(todo));
  return true;
}

/// Messages that come meanwhile wait, so that they do not overtake.
void entity_shard::deliver_waiting(const std::string& key, std::uint64_t run, const caf::actor& actor) {
  for (;;) {
    std::vector<std::pair<entity_address, relayed_message>> batch;
    {
      work todo;
      std::unique_lock guard{mutex_};
      auto* const of = find(key, run);
      if (of == nullptr || of->now == phase::ending)
        return; // The actor has ended meanwhile, and settle() has taken its waiting messages.
      if (of->waiting.empty()) {
        of->now = phase::running;
        of->last_used = clock::now();
        if (leaves_)
          begin_ending(*of, kill_at_, todo);
        else if (of->is_unwanted)
          begin_ending(*of, clock::now() + of_->options.end_within, todo);
        guard.unlock();
        return do_work(std::move(todo));
      }
      batch.swap(of->waiting);
      ++of->passing;
      of->was_delivered = true;
    }
    for (auto& [to, what] : batch) {
      what.set_content(without_address(what.content()));
      std::move(what).pass_to(actor);
    }
    note_passed(key, run, actor);
  }
}

void entity_shard::fail_making(const std::string& key, std::uint64_t run, const std::string& why) {
  note_problem("making", key + ": " + why);
  work todo;
  {
    const std::lock_guard guard{mutex_};
    auto* const of = find(key, run);
    if (of == nullptr)
      return;
    for (auto& [to, what] : std::exchange(of->waiting, {}))
      todo.failures.emplace_back(std::move(what), node_error{node_errc::no_child, "the entity " + key + " of the kind "
                                                                                      + of_->kind + ": " + why});
    of->now = phase::ending;
    of->has_ended = true;
    settle(key, *of, todo);
  }
  do_work(std::move(todo));
}

/// Called by the actor as it ends.
void entity_shard::note_end(const std::string& key, std::uint64_t run) {
  work todo;
  {
    const std::lock_guard guard{mutex_};
    auto* const of = find(key, run);
    if (of == nullptr)
      return;
    todo.released.push_back(std::exchange(of->actor, {}));
    if (of->now == phase::making && !of->was_delivered) // Made anew, it would end again and again.
      for (auto& [to, what] : std::exchange(of->waiting, {}))
        todo.failures.emplace_back(std::move(what),
                                   node_error{node_errc::no_child, "the entity " + key + " of the kind " + of_->kind
                                                                       + " has ended before it got a message"});
    of->now = phase::ending;
    of->has_ended = true;
    settle(key, *of, todo);
  }
  do_work(std::move(todo));
}

void entity_shard::begin_ending(slot& of, clock::time_point kill_at, work& todo) {
  of.now = phase::ending;
  of.due = kill_at;
  if (of.passing > 0)
    of.end_is_due = true;
  else
    todo.ended.emplace_back(of.actor, false);
}

void entity_shard::settle(const std::string& key, slot& of, work& todo) {
  if (!of.has_ended)
    return;
  if (saver_.end(key))
    return; // The end of the saving comes back here.
  if (leaves_) {
    if (remember_ && of.is_forgotten && of.waiting.empty())
      todo.remembered.emplace_back(key, false);
    hold_first(of.waiting, todo);
    erase(key);
    todo.rings = slots_.empty();
    return;
  }
  if (!of.waiting.empty())
    return begin_making(key, of, todo);
  if (remember_ && !of.is_forgotten) {
    of.due = clock::now() + remake_pause; // The sweep makes it.
    return;
  }
  if (remember_)
    todo.remembered.emplace_back(key, false);
  erase(key);
}

void entity_shard::hold_first(std::span<std::pair<entity_address, relayed_message>> those, work& todo) {
  if (pass_)
    std::ranges::move(those, std::back_inserter(todo.passed));
  else
    held_.insert(held_.begin(), std::make_move_iterator(those.begin()), std::make_move_iterator(those.end()));
}

void entity_shard::hold(entity_address to, relayed_message what, work& todo) {
  if (held_.size() >= of_->options.waiting_most)
    todo.failures.emplace_back(
        std::move(what), node_error{node_errc::link_busy, "already waiting while a shard of the kind " + of_->kind
                                                              + " moves: " + grouped(held_.size()) + " messages"});
  else
    held_.emplace_back(std::move(to), std::move(what));
}

void entity_shard::sweep(clock::time_point now) {
  work todo;
  {
    const std::lock_guard guard{mutex_};
    const auto idle_after = of_->options.idle_after;
    const auto passivates = idle_after > 0ms && !remember_ && !leaves_;
    std::vector<std::string> remade;
    for (auto& [key, of] : slots_) {
      if (of.now == phase::running && passivates && of.passing == 0 && now - of.last_used > idle_after)
        begin_ending(of, now + of_->options.end_within, todo);
      else if (of.now == phase::ending && of.actor && now >= of.due && !of.was_killed) {
        of.was_killed = true;
        todo.ended.emplace_back(of.actor, true);
      } else if (of.now == phase::ending && of.has_ended && !saver_.has(key) && !leaves_ && now >= of.due)
        remade.push_back(key);
    }
    for (const auto& key : remade)
      begin_making(key, slots_[key], todo);
  }
  do_work(std::move(todo));
  saver_.retry(now);
}

void entity_shard::leave(clock::time_point kill_at, bool is_lost) {
  work todo;
  {
    const std::lock_guard guard{mutex_};
    kill_at_ = leaves_ ? std::min(kill_at_, kill_at) : kill_at;
    leaves_ = true;
    if (is_lost)
      saver_.lose();
    std::vector<std::string> ended;
    for (auto& [key, of] : slots_) {
      if (of.now == phase::running)
        begin_ending(of, kill_at_, todo);
      else if (of.now == phase::making && !of.has_begun) {
        of.has_ended = true;
        ended.push_back(key);
      } else if (of.now == phase::ending && of.has_ended)
        ended.push_back(key);
      else if (of.now == phase::ending)
        of.due = std::min(of.due, kill_at_);
    }
    for (const auto& key : ended)
      settle(key, slots_[key], todo);
    todo.rings = true;
  }
  do_work(std::move(todo));
}

bool entity_shard::has_left() const {
  const std::lock_guard guard{mutex_};
  return leaves_ && slots_.empty();
}

std::size_t entity_shard::size() const {
  const std::lock_guard guard{mutex_};
  return slots_.size();
}

void entity_shard::hand_over(std::function<void(entity_address, relayed_message)> pass) {
  for (;;) {
    std::vector<std::pair<entity_address, relayed_message>> batch;
    {
      const std::lock_guard guard{mutex_};
      if (held_.empty()) {
        pass_ = std::move(pass);
        return;
      }
      batch.swap(held_);
    }
    for (auto& [to, what] : batch)
      pass(std::move(to), std::move(what));
  }
}

void entity_shard::save(const std::string& key, std::uint64_t run, std::string state) {
  if (!of_->options.save)
    return;
  const std::lock_guard guard{mutex_}; // So that it comes before what follows the end of this run.
  if (find(key, run) != nullptr)
    saver_.save(key, std::move(state));
}

void entity_shard::note_saved(const std::string& key) {
  work todo;
  {
    const std::lock_guard guard{mutex_};
    if (const auto found = slots_.find(key); found != slots_.end())
      settle(key, found->second, todo);
  }
  do_work(std::move(todo));
}

void entity_shard::passivate(const std::string& key, std::uint64_t run) {
  work todo;
  {
    const std::lock_guard guard{mutex_};
    auto* const of = find(key, run);
    if (of == nullptr)
      return;
    of->is_forgotten = true;
    if (of->now == phase::running)
      begin_ending(*of, clock::now() + of_->options.end_within, todo);
    else
      of->is_unwanted = true;
  }
  do_work(std::move(todo));
}

void entity_shard::note_problem(const std::string& what, std::string text) {
  {
    const std::lock_guard guard{mutex_};
    if (!text.empty())
      problems_.insert(what);
    else if (problems_.erase(what) == 0)
      return; // There was none.
  }
  of_->problem(what, std::move(text));
}

void entity_shard::do_work(work todo) {
  for (auto& [what, why] : todo.failures)
    std::move(what).fail(why);
  for (const auto& [actor, at_once] : todo.ended)
    tell_to_end(actor, at_once);
  for (const auto& [key, is_running] : todo.remembered)
    remember_(key, is_running);
  for (auto& job : todo.makings)
    of_->run_making(std::move(job));
  if (!todo.passed.empty()) {
    std::unique_lock guard{mutex_};
    const auto pass = pass_;
    guard.unlock();
    for (auto& [to, what] : todo.passed)
      pass(std::move(to), std::move(what));
  }
  if (todo.rings)
    of_->on_end();
}

} // namespace membership

} // namespace troupe
