#include <troupe/framework/internal/supervision/pool_actor.hpp>

#include <algorithm>
#include <exception>
#include <functional>
#include <map>
#include <random>
#include <utility>

#include <troupe/base/longest_wait.hpp>
#include <troupe/base/sizes.hpp>
#include <troupe/base/text.hpp>
#include <troupe/framework/internal/caf_port/actors/end_watch.hpp>
#include <troupe/framework/internal/caf_port/annotated_message.hpp>
#include <troupe/framework/internal/caf_port/asker.hpp>
#include <troupe/framework/internal/caf_port/exactly.hpp>
#include <troupe/framework/internal/caf_port/message_view.hpp>
#include <troupe/framework/internal/lasting/lasting_actor.hpp>
#include <troupe/framework/internal/words/failing.hpp>
#include <troupe/framework/internal/words/text.hpp>
#include <troupe/framework/node_error.hpp>

namespace troupe::internal {

namespace {

/// The time for the end of a child to be told, if that end is why a request was lost.
constexpr std::chrono::milliseconds avoiding_patience{100};

std::string milliseconds_between(std::chrono::steady_clock::time_point from, std::chrono::steady_clock::time_point to) {
  const auto count = std::chrono::duration_cast<std::chrono::milliseconds>(to - from).count();
  return grouped(static_cast<std::uint64_t>(std::max<std::int64_t>(count, 0))) + " ms";
}

/// "1 message", "2,000 messages".
std::string counted(std::uint64_t count, std::string_view what) {
  return grouped(count) + ' ' + std::string{what} + (count == 1 ? "" : "s");
}

template <class Letters>
std::size_t requests_in(const Letters& all) {
  return static_cast<std::size_t>(
      std::ranges::count_if(all, [](const auto& one) { return one.from.source != nullptr; }));
}

/// Whether the actor's link, or its lasting handle, answers requests that are lost.
bool is_of_another_process(const caf::actor& whom) {
  auto* const itself = caf::actor_cast<caf::abstract_actor*>(whom);
  return whom.node() != whom.home_system().node() || dynamic_cast<lasting_actor*>(itself) != nullptr;
}

/// For the text of another error.
std::string reason_in(const node_error& error) {
  return error.message().empty() ? "no error" : cut(error.message());
}

} // namespace

pool_actor::pool_actor(caf::actor_config& config, std::shared_ptr<internal::roster> roster,
                       std::vector<std::size_t> members, pool_options options)
    : caf::actor_proxy(config),
      roster_(std::move(roster)),
      options_(std::move(options)),
      alarm_(home_system(),
             [weak = caf::weak_actor_ptr{ctrl()}] {
               if (const auto pool = weak.lock())
                 static_cast<pool_actor*>(pool->get())->tick();
             }),
      placement_(options_.placement, members.size(), options_.requests_per_child) {
  placement_.seed(std::random_device{}()); // Other senders choose otherwise.
  if (!roster_)
    return;
  const auto now = roster_->now();
  for (const auto child : members)
    places_.push_back({.child = child, .name = now.children[child].name});
}

pool_actor::pool_actor(caf::actor_config& config, pool_options options)
    : pool_actor(config, nullptr, {}, std::move(options)) {}

/// Reached if neither a handle nor a child's promise refers to the pool any more.
pool_actor::~pool_actor() {
  for (auto& one : places_)
    if (one.watch_key)
      unwatch_end(caf::actor_cast<caf::strong_actor_ptr>(one.handle), one.watch_key.get());
  const auto fail = [](requester& from) {
    if (from.source)
      pass_answer(std::move(from),
                  caf::make_mailbox_element(nullptr, {}, {},
                                            to_caf_error({node_errc::broken_promise, "the child dropped the request"})),
                  nullptr);
  };
  for (auto& [id, one] : pending_)
    fail(one.from);
  for (auto& one : waiting_)
    fail(one.from);
  for (auto& of : places_)
    for (auto& one : of.waiting)
      fail(one.from);
}

void pool_actor::enqueue(caf::mailbox_element_ptr what, caf::execution_unit* context) {
  if (what->mid.is_response())
    return answer(std::move(what), context);
  const auto kind = message_view{*what}.kind();
  if (kind == message_kind::exit) {
    if (const auto& reason = what->content().get_as<caf::exit_msg>(0).reason)
      end({node_errc::gave_up, "the pool was ended: " + troupe::text_of(reason)});
    return;
  }
  if (kind != message_kind::down)
    take(std::move(what), context);
}

/// The deadline and the trace of a message, as its sender or the link has attached them.
pool_actor::passed_notes pool_actor::notes_with(const caf::mailbox_element& what) {
  passed_notes notes;
  if (const auto* const attached = notes_of(what)) {
    notes.deadline = attached->deadline;
    if (attached->trace)
      notes.trace = std::make_shared<const trace_context>(attached->trace->context());
  } else if (const auto* const asking = as_asker(what.sender); asking != nullptr && asking->context() != nullptr) {
    notes.deadline = asking->context()->deadline;
    if (asking->context()->trace)
      notes.trace = std::make_shared<const trace_context>(*asking->context()->trace);
  }
  return notes;
}

pool_actor::clock::time_point pool_actor::limit_of(const pending& of) const {
  const auto own = of.asked + options_.answer_within;
  return of.notes.deadline ? std::min<clock::time_point>(own, *of.notes.deadline) : own;
}

void pool_actor::take(caf::mailbox_element_ptr what, caf::execution_unit* context) {
  if (options_.forward_requests && !options_.key && notes_of(*what) == nullptr)
    return forward(std::move(what), context);
  letter taken{.notes = notes_with(*what)};
  const auto is_request = what->mid.is_request() && what->sender;
  const auto may_repeat = is_request && options_.retry_idempotent;
  if (is_request)
    taken.from = {std::move(what->sender), std::move(what->stages), what->mid};
  std::optional<node_error> refusal;
  if (may_repeat || options_.key || !taken.notes.is_empty()) {
    auto content = what->move_content_to_message();
    try {
      if (options_.key)
        taken.key = options_.key(content);
    } catch (const std::exception& thrown) {
      refusal = {node_errc::bad_option, "the pool's key function threw: " + cut(exception_text(thrown))};
    } catch (...) {
      refusal = {node_errc::bad_option, "the pool's key function threw an object that is not a std::exception"};
    }
    if (may_repeat)
      taken.copy = std::move(content);
    else
      what = caf::make_mailbox_element(std::move(what->sender), what->mid, {}, std::move(content));
  }
  if (!may_repeat)
    taken.content = std::move(what);
  work todo;
  {
    const std::lock_guard guard{mutex_};
    if (refusal)
      refuse(std::move(taken), *std::move(refusal), todo);
    else
      place_letter(std::move(taken), todo);
  }
  do_work(std::move(todo), context);
}

/// As take(), for a message of which the pool need not know anything: the usual one of a service.
void pool_actor::forward(caf::mailbox_element_ptr what, caf::execution_unit* context) {
  const auto letter_with = [&what] {
    letter taken;
    if (what->mid.is_request() && what->sender)
      taken.from = {std::move(what->sender), std::move(what->stages), what->mid};
    taken.content = std::move(what);
    return taken;
  };
  caf::actor to;
  work todo;
  {
    const std::lock_guard guard{mutex_};
    const auto may_go = !end_ && waiting_.empty() && !is_delivering_waiting_;
    const auto which = may_go ? placement_.choose(0) : std::nullopt;
    if (!which)
      place_letter(letter_with(), todo);
    else if (places_[*which].wake)
      keep_at(*which, letter_with(), todo);
    else if (!places_[*which].is_remote)
      give_to(*which, letter_with(), todo);
    else {
      counts_.forwarded += what->mid.is_request() ? 1 : 0;
      to = places_[*which].handle;
    }
  }
  if (to)
    caf::actor_cast<caf::abstract_actor*>(to)->enqueue(std::move(what), context);
  else
    do_work(std::move(todo), context);
}

void pool_actor::answer(caf::mailbox_element_ptr what, caf::execution_unit* context) {
  work todo;
  requester from; // Null if the request was lost.
  caf::message copy;
  {
    const std::lock_guard guard{mutex_};
    auto entry = pending_.extract(what->mid.request_id().integer_value());
    if (!entry)
      return; // Has failed before.
    auto& settled = entry.mapped();
    const auto settled_place = settled.place;
    placement_.remove_load(settled_place);
    if (auto loss = loss_in(*what, settled)) {
      const auto now = clock::now();
      std::erase_if(settled.avoids, [now](const avoided_run& one) { return one.until <= now; });
      settled.avoids.push_back({settled.place, settled.run, now + avoiding_patience});
      settle_lost(std::move(settled), "has lost the request", *loss, todo);
    } else {
      ++counts_.answered;
      from = std::move(settled.from);
      copy = std::move(settled.copy);
    }
    keep_spare(std::move(entry));
    release_if_idle(settled_place, todo);
    place_waiting(todo);
  }
  if (from.source)
    pass_answer(std::move(from), std::move(what), context);
  do_work(std::move(todo), context);
}

/// The reason if the answer is an error that says that the request was lost. The child may have ended, or may have
/// passed the request on to an actor that has. Such answers have no sender; errors that an actor answers have one.
std::optional<node_error> pool_actor::loss_in(const caf::mailbox_element& answer, const pending& of) const {
  const auto& content = answer.content();
  if (answer.sender || !content.match_elements<caf::error>())
    return std::nullopt;
  const auto& error = content.get_as<caf::error>(0);
  auto is_loss = error == caf::sec::request_receiver_down || error == caf::exit_reason::remote_link_unreachable;
  if (error.category() == error_category) {
    const auto code = static_cast<node_errc>(error.code());
    const auto& handle = places_[of.place].handle;
    // An assigned actor may be a lasting handle, which belongs to this process.
    const auto is_remote = handle && (!roster_ || handle.node() != home_system().node());
    is_loss = (code == node_errc::link_down && is_remote) || (code == node_errc::broken_promise && !of.copy.empty());
  }
  return is_loss ? std::optional{to_node_error(error)} : std::nullopt;
}

/// Refuses the letters that have waited for too long.
template <class Letters, class Refuse>
void pool_actor::expire(Letters& all, clock::time_point now, Refuse refuse_one) {
  for (auto& one : all)
    if (one.since + options_.patience <= now)
      refuse_one(std::exchange(one, {}));
  std::erase_if(all, [](const letter& one) { return one.since == clock::time_point{}; });
}

void pool_actor::tick() {
  work todo;
  {
    const std::lock_guard guard{mutex_};
    const auto now = clock::now();
    if (!next_tick_ || *next_tick_ > now)
      return; // An earlier tick has come instead.
    next_tick_ = std::nullopt;
    expire(waiting_, now, [&](letter&& one) { refuse_without_child(std::move(one), {}, todo); });
    for (std::size_t i = 0; kept_ > 0 && i < places_.size(); ++i) {
      auto& of = places_[i];
      const auto before = of.waiting.size();
      const auto requests_before = requests_in(of.waiting);
      expire(of.waiting, now, [&](letter&& one) {
        auto how = "'" + of.name + "' was not connected in time";
        refuse(std::move(one), {node_errc::no_child, how}, todo, how);
      });
      kept_ -= before - of.waiting.size();
      for (auto left = requests_in(of.waiting); left < requests_before; ++left)
        placement_.remove_load(i);
    }
    for (auto one = pending_.begin(); one != pending_.end();) {
      auto& of = one->second;
      if (limit_of(of) > now) {
        ++one;
        continue;
      }
      placement_.remove_load(of.place);
      ++counts_.failed;
      todo.failures.push_back({std::move(of.from),
                               {node_errc::timed_out, "'" + places_[of.place].name + "' has not answered within "
                                                          + milliseconds_between(of.asked, now)}});
      one = pending_.erase(one);
    }
    for (std::size_t i = 0; i < places_.size(); ++i)
      release_if_idle(i, todo);
    place_waiting(todo);
    for (const auto& one : waiting_)
      want_tick(one.since + options_.patience, todo);
    for (std::size_t i = 0; kept_ > 0 && i < places_.size(); ++i)
      for (const auto& one : places_[i].waiting)
        want_tick(one.since + options_.patience, todo);
    for (const auto& one : waiting_)
      for (const auto& each : one.avoids)
        if (each.until > now)
          want_tick(each.until, todo);
    for (const auto& [id, one] : pending_)
      want_tick(std::min(limit_of(one), now + options_.answer_within / 8), todo);
  }
  do_work(std::move(todo));
}

void pool_actor::refresh() {
  auto now = roster_->now();
  work todo;
  {
    const std::lock_guard guard{mutex_};
    if (end_ || (has_seen_ && now.version <= seen_version_))
      return;
    has_seen_ = true;
    seen_version_ = now.version;
    for (std::size_t i = 0; i < places_.size(); ++i)
      take_over(places_[i], i, now.children[places_[i].child], todo);
    if (now.end)
      end_with({node_errc::gave_up, "the supervisor has ended: " + reason_in(*now.end)}, todo);
    else
      place_waiting(todo);
  }
  do_work(std::move(todo));
}

void pool_actor::take_over(place& known, std::size_t which, roster_entry& entry, work& todo) {
  if (known.handle && (!entry.is_running || entry.starts != known.run))
    lose_place(which, entry.last_reason, todo);
  if (!entry.handle) {
    const auto was_available = placement_.available() > 0;
    placement_.set_available(which, false); // It is being stopped, but may still answer.
    note_absence(was_available);
    if (!entry.is_running)
      known.last_reason = entry.last_reason;
  } else if (entry.starts != known.run) {
    occupy(which, entry.handle, entry.starts, todo);
  }
}

void pool_actor::occupy(std::size_t which, caf::actor handle, std::uint64_t run, work& todo) {
  auto& one = places_[which];
  one.handle = std::move(handle);
  one.run = run;
  one.is_remote = is_of_another_process(one.handle);
  one.watch_key = std::make_shared<char>();
  one.is_leaving = false;
  placement_.set_available(which, true);
  placement_.set_load_of_others(which, std::nullopt);
  todo.watched.push_back(which);
}

void pool_actor::assign(std::vector<pool_member> members) {
  std::map<std::string, pool_member> wanted;
  for (auto& one : members)
    wanted.insert_or_assign(one.name, std::move(one));
  work todo;
  {
    const std::lock_guard guard{mutex_};
    if (end_)
      return;
    const auto was_available = placement_.available() > 0;
    for (std::size_t i = 0; i < places_.size(); ++i) {
      auto& one = places_[i];
      if (!one.handle)
        continue;
      const auto found = wanted.find(one.name);
      if (found != wanted.end() && found->second.actor == one.handle) { // It stays, or has come back.
        one.is_leaving = false;
        placement_.set_available(i, true);
        set_wake(i, std::move(found->second.wake), todo);
        wanted.erase(found);
      } else {
        one.is_leaving = true;
        placement_.set_available(i, false);
        give_back(i);
        release_if_idle(i, todo);
      }
    }
    for (auto& [name, member] : wanted) {
      if (!member.actor)
        continue;
      const auto which = free_place();
      places_[which].name = name;
      placement_.set_name(which, name);
      occupy(which, std::move(member.actor), ++last_run_, todo);
      places_[which].is_woken = false;
      set_wake(which, std::move(member.wake), todo);
    }
    note_absence(was_available);
    place_waiting(todo);
  }
  do_work(std::move(todo));
}

void pool_actor::note_load(const std::string& name, std::optional<std::uint64_t> requests) {
  constexpr std::uint64_t load_max = 1'000'000;
  const std::lock_guard guard{mutex_};
  for (std::size_t i = 0; i < places_.size(); ++i)
    if (places_[i].handle && !places_[i].is_leaving && places_[i].name == name) {
      const auto own = placement_.load(i); // Is among them.
      placement_.set_load_of_others(i, requests ? std::optional{static_cast<std::size_t>(
                                           std::min(load_max, *requests - std::min<std::uint64_t>(*requests, own)))}
                                                : std::nullopt);
    }
}

/// The letters of an actor that has woken up are given to it by place_waiting(), before any later ones.
void pool_actor::set_wake(std::size_t which, std::function<void()> wake, work& todo) {
  auto& of = places_[which];
  of.wake = std::move(wake);
  if (of.wake) {
    if (!of.waiting.empty() && !std::exchange(of.is_woken, true)) // It fell asleep again before it got them.
      todo.woken.push_back(of.wake);
    return;
  }
  of.is_woken = false;
  if (!of.waiting.empty())
    awake_.push_back(which);
}

/// The letter waits for the actor to wake up.
void pool_actor::keep_at(std::size_t which, letter&& what, work& todo) {
  auto& of = places_[which];
  if (what.since == clock::time_point{}) {
    if (waiting_count() >= options_.waiting_most)
      return refuse(std::move(what),
                    {node_errc::no_child, "already waiting: " + counted(waiting_count(), "message") + "; '" + of.name
                                              + "' is not connected yet"},
                    todo);
    what.since = clock::now();
  }
  want_tick(what.since + options_.patience, todo);
  if (what.from.source)
    placement_.add_load(which);
  of.waiting.push_back(std::move(what));
  ++kept_;
  if (!std::exchange(of.is_woken, true))
    todo.woken.push_back(of.wake);
}

/// The letters that have waited for this actor wait for any, before those that came later.
void pool_actor::give_back(std::size_t which) {
  auto& of = places_[which];
  of.wake = nullptr;
  of.is_woken = false;
  for (auto count = requests_in(of.waiting); count > 0; --count)
    placement_.remove_load(which);
  kept_ -= of.waiting.size();
  for (auto one = of.waiting.rbegin(); one != of.waiting.rend(); ++one)
    waiting_.push_front(std::move(*one));
  of.waiting.clear();
}

void pool_actor::give_kept(std::size_t which, work& todo) {
  auto& of = places_[which];
  if (of.wake || !of.handle)
    return;
  for (auto all = std::exchange(of.waiting, {}); auto& one : all) {
    --kept_;
    if (one.from.source)
      placement_.remove_load(which); // give_to() counts it.
    give_to(which, std::move(one), todo);
    todo.delivers_waiting = true;
  }
}

std::size_t pool_actor::free_place() {
  for (std::size_t i = 0; i < places_.size(); ++i)
    if (!places_[i].handle && placement_.load(i) == 0)
      return i;
  places_.push_back({.child = 0, .name = {}});
  return placement_.add();
}

void pool_actor::release_if_idle(std::size_t which, work& todo) {
  auto& one = places_[which];
  if (!one.is_leaving || !one.handle || placement_.load(which) > 0)
    return;
  todo.unwatched.emplace_back(one.handle, std::exchange(one.watch_key, nullptr));
  todo.released.push_back(std::exchange(one.handle, {}));
  one.is_leaving = false;
}

void pool_actor::note_absence(bool was_available) {
  if (was_available && placement_.available() == 0)
    none_since_ = clock::now();
}

pool_stats pool_actor::stats() const {
  const std::lock_guard guard{mutex_};
  auto now = counts_;
  now.running = placement_.available();
  now.unanswered = pending_.size();
  now.waiting = waiting_count();
  return now;
}

void pool_actor::end(node_error why) {
  work todo;
  {
    const std::lock_guard guard{mutex_};
    end_with(std::move(why), todo);
  }
  do_work(std::move(todo));
}

void pool_actor::lose(std::size_t which, std::uint64_t run, const node_error& why) {
  work todo;
  {
    const std::lock_guard guard{mutex_};
    if (places_[which].run != run || !places_[which].handle)
      return;
    lose_place(which, why, todo);
    place_waiting(todo);
  }
  do_work(std::move(todo));
}

void pool_actor::do_work(work&& todo, caf::execution_unit* context) {
  for (auto& [actor, key] : todo.unwatched)
    unwatch_end(caf::actor_cast<caf::strong_actor_ptr>(actor), key.get());
  const auto deliver = [context](work::delivery& one) {
    caf::actor_cast<caf::abstract_actor*>(one.to)->enqueue(std::move(one.content), context);
  };
  if (todo.first_delivery.content)
    deliver(todo.first_delivery);
  std::ranges::for_each(todo.more_deliveries, deliver);
  if (todo.delivers_waiting)
    deliver_rest(context);
  if (!todo.failures.empty())
    explain(todo.failures);
  for (auto& one : todo.failures)
    if (one.from.source)
      pass_answer(std::move(one.from), caf::make_mailbox_element(nullptr, {}, {}, to_caf_error(one.why)), context);
  for (const auto which : todo.watched)
    watch(which);
  for (const auto& wake : todo.woken)
    wake();
  if (todo.tick)
    alarm_.set(*todo.tick);
  if (todo.end)
    cleanup(*std::move(todo.end), context);
}

/// Adds to the texts what the program knows of the pool.
void pool_actor::explain(std::vector<work::failure>& all) const {
  std::string reason;
  if (options_.why_none && std::ranges::any_of(all, [](const auto& one) { return one.how.has_value(); })) {
    try {
      reason = options_.why_none();
    } catch (...) { // The pool says what it knows.
    }
  }
  for (auto& one : all) {
    auto text = one.why.message();
    if (one.how && !reason.empty())
      text = *one.how + "; " + reason;
    if (!options_.name.empty())
      text = options_.name + ": " + text;
    one.why = {one.why.code(), std::move(text)};
  }
}

/// Delivers the messages that have come while waiting ones were delivered.
void pool_actor::deliver_rest(caf::execution_unit* context) {
  for (auto is_done = false; !is_done;) {
    work rest;
    {
      const std::lock_guard guard{mutex_};
      is_delivering_waiting_ = false;
      place_waiting(rest);
      is_done = !std::exchange(rest.delivers_waiting, false);
    }
    do_work(std::move(rest), context);
  }
}

void pool_actor::watch(std::size_t which) {
  caf::actor handle;
  std::uint64_t run = 0;
  std::shared_ptr<char> key;
  {
    const std::lock_guard guard{mutex_};
    handle = places_[which].handle;
    run = places_[which].run;
    key = places_[which].watch_key;
  }
  if (!handle)
    return;
  watch_end(caf::actor_cast<caf::strong_actor_ptr>(handle), key.get(),
            [weak = caf::weak_actor_ptr{ctrl()}, which, run, key](const caf::error& reason) {
              if (const auto pool = weak.lock())
                static_cast<pool_actor*>(pool->get())->lose(which, run, to_node_error(reason));
            });
}

void pool_actor::pass_answer(requester to, caf::mailbox_element_ptr what, caf::execution_unit* context) {
  if (to.stages.empty()) {
    what->mid = to.id.response_id();
    return to.source->enqueue(std::move(what), context);
  }
  // The request was made for another actor, which handles the answer first.
  const auto next = std::move(to.stages.back());
  to.stages.pop_back();
  next->enqueue(
      caf::make_mailbox_element(std::move(to.source), to.id, std::move(to.stages), what->move_content_to_message()),
      context);
}

void pool_actor::place_letter(letter&& what, work& todo) {
  if (end_)
    return refuse(std::move(what), *end_, todo);
  // Messages overtake no others, except those that were sent before.
  const auto may_go = (waiting_.empty() && !is_delivering_waiting_) || what.repeats > 0;
  const auto which = may_go ? placement_.choose(what.key, avoided_places(what)) : std::nullopt;
  if (which && places_[*which].wake)
    return keep_at(*which, std::move(what), todo);
  if (which)
    return give_to(*which, std::move(what), todo);
  const auto is_first_try = what.repeats == 0;
  wait_for_child(std::move(what), todo);
  if (is_first_try && !waiting_.empty() && !waiting_.front().avoids.empty())
    place_waiting(todo); // Only messages that avoid a child may be before it.
}

void pool_actor::give_to(std::size_t which, letter&& what, work& todo) {
  auto content = std::move(what.content);
  if (what.from.source && options_.forward_requests && places_[which].is_remote) {
    ++counts_.forwarded;
    content->sender = std::move(what.from.source);
    content->mid = what.from.id;
    content->stages = std::move(what.from.stages);
  } else if (what.from.source) {
    const auto id = ++last_id_;
    const auto mid = caf::message_id{id}.with_category(what.from.id.category());
    caf::strong_actor_ptr itself{ctrl()};
    if (content) {
      content->sender = std::move(itself);
      content->mid = mid;
    } else {
      content = caf::make_mailbox_element(std::move(itself), mid, {}, what.copy);
    }
    placement_.add_load(which);
    // A request whose deadline has passed is dropped by the child, without an answer.
    const auto is_new = what.repeats == 0 && what.since == clock::time_point{};
    const auto next = (is_new ? what.asked : clock::now()) + options_.answer_within / 8;
    want_tick(what.notes.deadline ? std::min<clock::time_point>(next, *what.notes.deadline) : next, todo);
    auto& kept = add_pending(id);
    kept.from = std::move(what.from);
    kept.copy = std::move(what.copy);
    kept.notes = what.notes;
    kept.key = what.key;
    kept.repeats = what.repeats;
    kept.avoids = std::move(what.avoids);
    kept.asked = what.asked;
    kept.place = which;
    kept.run = places_[which].run;
  }
  if (!what.notes.is_empty())
    content = annotate(std::move(content),
                       {.deadline = what.notes.deadline,
                        .trace = what.notes.trace ? std::make_shared<traced_hop>(*what.notes.trace) : nullptr},
                       caf::actor_cast<caf::abstract_actor*>(places_[which].handle));
  todo.deliver(places_[which].handle, std::move(content));
}

pool_actor::pending& pool_actor::add_pending(std::uint64_t id) {
  if (spare_.empty())
    return pending_.try_emplace(id).first->second;
  auto entry = std::move(spare_.back());
  spare_.pop_back();
  entry.key() = id;
  return pending_.insert(std::move(entry)).position->second;
}

void pool_actor::keep_spare(pending_requests::node_type&& entry) {
  constexpr std::size_t spare_most = 64;
  auto& of = entry.mapped();
  of.notes = {};
  of.avoids.clear();
  if (spare_.size() < spare_most)
    spare_.push_back(std::move(entry));
}

void pool_actor::wait_for_child(letter&& what, work& todo) {
  if (waiting_count() >= options_.waiting_most && !is_delivering_waiting_) // Then the queue gets shorter.
    return refuse_without_child(std::move(what), "already waiting: " + counted(waiting_count(), "message"), todo);
  what.since = clock::now();
  want_tick(what.since + options_.patience, todo);
  for (const auto& one : what.avoids)
    want_tick(one.until, todo);
  if (what.repeats > 0)
    waiting_.push_front(std::move(what));
  else
    waiting_.push_back(std::move(what));
}

void pool_actor::refuse_without_child(letter&& what, const std::string& how, work& todo) {
  auto known = absence();
  node_error why{node_errc::no_child, how.empty() ? std::move(known) : how + "; " + known};
  if (placement_.available() > 0) // They have no room, which the pool knows best.
    return refuse(std::move(what), std::move(why), todo);
  const auto waited = "not taken within " + milliseconds_between(what.since, clock::now());
  refuse(std::move(what), std::move(why), todo, how.empty() ? waited : how);
}

void pool_actor::refuse(letter&& what, node_error why, work& todo, std::optional<std::string> how) {
  if (!what.from.source) {
    ++counts_.dropped;
    return;
  }
  ++counts_.failed;
  todo.failures.push_back({std::move(what.from), std::move(why), std::move(how)});
}

void pool_actor::lose_place(std::size_t which, const node_error& why, work& todo) {
  auto& lost = places_[which];
  const auto was_available = placement_.available() > 0;
  placement_.set_available(which, false);
  note_absence(was_available);
  lost.last_reason = why;
  give_back(which);
  todo.unwatched.emplace_back(lost.handle, std::exchange(lost.watch_key, nullptr));
  todo.released.push_back(std::exchange(lost.handle, {}));
  std::vector<std::pair<std::uint64_t, pending>> theirs;
  for (auto one = pending_.begin(); one != pending_.end();)
    if (one->second.place == which && one->second.run == lost.run) {
      theirs.emplace_back(one->first, std::move(one->second));
      one = pending_.erase(one);
      placement_.remove_load(which);
    } else {
      ++one;
    }
  // The newest comes first, because each one that must wait goes to the front of the queue.
  std::ranges::sort(theirs, std::ranges::greater{}, &std::pair<std::uint64_t, pending>::first);
  for (auto& [id, one] : theirs)
    settle_lost(std::move(one), "ended while it had the request", why, todo);
}

void pool_actor::settle_lost(pending of, std::string_view how, const node_error& why, work& todo) {
  if (!of.copy.empty() && of.repeats < options_.repeats_most && !end_) {
    ++counts_.repeated;
    return place_letter({.from = std::move(of.from),
                         .content = nullptr,
                         .copy = std::move(of.copy),
                         .notes = std::move(of.notes),
                         .key = of.key,
                         .repeats = of.repeats + 1,
                         .asked = of.asked,
                         .avoids = std::move(of.avoids)},
                        todo);
  }
  ++counts_.failed;
  auto text = "'" + places_[of.place].name + "' " + std::string{how} + ": " + reason_in(why);
  if (of.repeats > 0)
    text += "; the request was repeated " + counted(of.repeats, "time");
  todo.failures.push_back({std::move(of.from), {node_errc::child_lost, std::move(text)}});
}

void pool_actor::place_waiting(work& todo) {
  if (is_delivering_waiting_)
    return; // That thread will place them.
  if (awake_.empty() && waiting_.empty() && !todo.delivers_waiting)
    return;
  for (const auto which : std::exchange(awake_, {}))
    give_kept(which, todo);
  for (auto at = waiting_.begin(); at != waiting_.end();) {
    if (const auto which = placement_.choose(at->key, avoided_places(*at))) {
      auto next = std::move(*at);
      at = waiting_.erase(at);
      if (places_[*which].wake) {
        keep_at(*which, std::move(next), todo);
      } else {
        give_to(*which, std::move(next), todo);
        todo.delivers_waiting = true;
      }
    } else if (!at->avoids.empty()) {
      ++at; // Another message may go where this one must not.
    } else {
      break;
    }
  }
  is_delivering_waiting_ = todo.delivers_waiting;
}

std::vector<std::size_t> pool_actor::avoided_places(const letter& of) const {
  std::vector<std::size_t> all;
  if (of.avoids.empty())
    return all;
  const auto now = clock::now();
  for (const auto& one : of.avoids)
    if (one.until > now && places_[one.place].run == one.run)
      all.push_back(one.place);
  return all;
}

void pool_actor::end_with(node_error why, work& todo) {
  if (end_)
    return;
  end_ = why;
  for (std::size_t i = 0; i < places_.size(); ++i)
    if (places_[i].handle)
      lose_place(i, why, todo);
  for (auto& one : waiting_)
    refuse(std::move(one), why, todo);
  waiting_.clear();
  todo.end = to_caf_error(why);
}

void pool_actor::want_tick(clock::time_point at, work& todo) {
  if (next_tick_ && *next_tick_ <= at)
    return;
  next_tick_ = at;
  todo.tick = at;
}

std::string pool_actor::absence() const {
  if (const auto running = placement_.available(); running > 0)
    return (running == 1 ? "the only running child has " : "each of the " + grouped(running) + " running children has ")
           + counted(options_.requests_per_child, "unanswered request");
  auto text = "no child of the pool has been running for " + milliseconds_between(none_since_, clock::now());
  for (const auto& one : places_)
    if (!one.last_reason.message().empty())
      return text + "; '" + one.name + "': " + reason_in(one.last_reason);
  return text;
}

namespace {

template <class... Parts>
caf::strong_actor_ptr make_pool_actor(caf::actor_system& system, Parts&&... parts) {
  caf::actor_config config;
  return caf::make_actor<pool_actor, caf::strong_actor_ptr>(system.next_actor_id(), system.node(), &system, config,
                                                            std::forward<Parts>(parts)...);
}

} // namespace

caf::actor make_pool(caf::actor_system& system, std::shared_ptr<roster> roster, std::vector<std::size_t> members,
                     pool_options options) {
  auto made = make_pool_actor(system, roster, std::move(members), std::move(options));
  roster->add([weak = caf::weak_actor_ptr{made.get()}] {
    const auto pool = weak.lock();
    if (pool)
      static_cast<pool_actor*>(pool->get())->refresh();
    return static_cast<bool>(pool);
  });
  static_cast<pool_actor*>(made->get())->refresh();
  return caf::actor_cast<caf::actor>(std::move(made));
}

caf::actor make_actor_pool(caf::actor_system& system, pool_options options) {
  return caf::actor_cast<caf::actor>(make_pool_actor(system, std::move(options)));
}

pool_actor* as_pool(const caf::actor& actor) {
  return exactly<pool_actor>(caf::actor_cast<caf::abstract_actor*>(actor));
}

std::expected<pool_options, node_error> checked(pool_options options) {
  if (options.placement == spread::by_key && !options.key)
    return bad_option("pool_options::key is not set, but the placement is by_key");
  if (options.answer_within < std::chrono::milliseconds{10})
    return bad_option("pool_options::answer_within of " + std::to_string(options.answer_within.count())
                      + " ms: it is at least 10 ms");
  if (options.forward_requests
      && (options.retry_idempotent || options.requests_per_child > 0 || options.placement == spread::least_loaded))
    return bad_option("pool_options::forward_requests cannot be used with "
                      + std::string{options.retry_idempotent         ? "retry_idempotent"
                                    : options.requests_per_child > 0 ? "requests_per_child"
                                                                     : "spread::least_loaded"}
                      + ", for which the pool has to know which requests are unanswered");
  if (options.patience < std::chrono::milliseconds{0})
    return bad_option("pool_options::patience of " + std::to_string(options.patience.count()) + " ms is negative");
  options.answer_within = bounded_wait(options.answer_within);
  options.patience = bounded_wait(options.patience);
  return options;
}

} // namespace troupe::internal
