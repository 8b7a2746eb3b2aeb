#include <troupe/framework/internal/lasting/target_search.hpp>

#include <algorithm>
#include <utility>

#include <troupe/base/longest_wait.hpp>
#include <troupe/base/sizes.hpp>
#include <troupe/framework/internal/caf_port/actors/end_watch.hpp>
#include <troupe/framework/internal/caf_port/messages.hpp>
#include <troupe/framework/internal/caf_port/proxy.hpp>
#include <troupe/framework/node_error.hpp>

namespace troupe::internal {

namespace {

using namespace std::chrono_literals;

// How long a peer is asked for a name before the search asks anew.
constexpr auto lookup_wait = 5s;

// How long the process of requests under way may take to come back before another address is asked.
constexpr auto return_wait = 1s;

// The pause until a link without room is tried again.
constexpr auto room_pause = 2ms;

// The pause after an answer that was no actor. Most such answers come at once, such as interface_mismatch.
constexpr auto retry_pause = 250ms;

// A handle may have many addresses.
constexpr std::size_t problem_bytes_max = 2'000;

std::string milliseconds_text(std::chrono::steady_clock::duration span) {
  return grouped(static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(span).count()))
         + " ms";
}

} // namespace

target_search::target_search(std::shared_ptr<asio::io_context> io, const caf::strong_actor_ptr& handle, terms its,
                             std::vector<std::shared_ptr<kept_address>> addresses, std::function<void()> over)
    : io_(std::move(io)),
      handle_(handle.get()),
      name_(as_lasting(handle).its().name),
      interface_(as_lasting(handle).its().interface),
      patience_(bounded_wait(its.patience)),
      give_up_(its.give_up),
      idle_close_(its.idle_close ? std::optional{bounded_wait(*its.idle_close)} : std::nullopt),
      callback_(std::move(its.events.callback)),
      listener_(caf::actor_cast<caf::strong_actor_ptr>(its.events.listener).get()),
      addresses_(std::move(addresses)),
      places_(addresses_.size()),
      over_(std::move(over)) {}

target_search::~target_search() {
  stop_watching();
}

void target_search::begin() {
  for (const auto& each : addresses_)
    each->add(*this);
  is_resting_ = idle_close_.has_value();
  if (is_resting_)
    return;
  for (const auto& each : addresses_)
    each->need(*this);
  wait_for_give_up();
  seek();
}

void target_search::end(const node_error& why) {
  if (std::exchange(is_over_, true))
    return;
  for (const auto& each : addresses_)
    each->remove(*this);
  message_timer_ = nullptr;
  retry_timer_ = nullptr;
  flow_timer_ = nullptr;
  return_timer_ = nullptr;
  pending_ = nullptr;
  give_up_timer_ = nullptr;
  idle_timer_ = nullptr;
  unreachable_timer_ = nullptr;
  stop_watching();
  current_.reset();
  if (const auto actor = handle())
    as_lasting(actor).end(why);
}

std::size_t target_search::index_of(const kept_address& at) const {
  const auto found = std::ranges::find(addresses_, &at, [](const auto& each) { return each.get(); });
  return static_cast<std::size_t>(found - addresses_.begin());
}

// -- news

void target_search::link_opened(kept_address& at) {
  if (!is_over_ && !is_resting_ && !current_)
    ask(index_of(at), first_wait());
}

void target_search::link_lost(kept_address& at, const node_error& why) {
  if (current_ == index_of(at))
    lose(why);
}

/// Requests under way can be repeated only to the process that has had them. So it gets some time to come back, before
/// another address is asked.
void target_search::wait_for_the_same_process(std::size_t which) {
  awaited_ = which;
  after(return_timer_, clock::now() + return_wait, [](target_search& self) {
    self.awaited_.reset();
    if (!self.current_)
      self.seek();
  });
}

void target_search::address_given_up() {
  if (is_over_ || current_ || !std::ranges::all_of(addresses_, [](const auto& each) { return each->is_given_up(); }))
    return;
  give_up(absence());
}

void target_search::dial_failed() {
  if (!is_over_)
    note_absence();
}

/// While there is another target, its address does not matter.
void target_search::name_changed(kept_address& at) {
  if (is_resting_)
    return;
  const auto which = index_of(at);
  if (current_ && current_ != which)
    return;
  if (places_[which].is_asked) // The answer may be older than the news.
    places_[which].has_changed = true;
  else
    ask(which, current_ ? 0ms : lookup_wait);
}

void target_search::is_away() {
  if (is_over_)
    return;
  if (is_resting_)
    wake();
  if (current_ && target_ && !pending_) // The link's own news may come later.
    if (const auto actor = handle(); actor && !as_lasting(actor).target())
      lose({node_errc::link_down, "the link is down"});
  if (!has_message_timer_)
    fail_old_messages();
}

// -- questions

void target_search::seek() {
  for (std::size_t which = 0; which < addresses_.size(); ++which)
    ask(which, first_wait());
}

/// An actor that is not found at once is told as unreachable, so the peer is asked once at first.
std::chrono::milliseconds target_search::first_wait() const {
  return idle_close_ && !is_unreachable_told_ ? 0ms : lookup_wait;
}

void target_search::ask(std::size_t which, std::chrono::milliseconds wait) {
  if (is_over_ || is_resting_ || places_[which].is_asked || !addresses_[which]->is_open()
      || awaited_.value_or(which) != which)
    return;
  places_[which].is_asked = true;
  addresses_[which]->ask(
      {.name = name_, .interface = interface_, .wait = wait, .then = [weak = weak_from_this(), which](auto answer) {
         if (const auto self = weak.lock())
           self->on_answer(which, std::move(answer));
       }});
}

void target_search::on_answer(std::size_t which, std::expected<caf::strong_actor_ptr, node_error> answer) {
  places_[which].is_asked = false;
  if (is_over_ || is_resting_)
    return;
  const auto has_changed = std::exchange(places_[which].has_changed, false);
  const auto code = answer ? node_errc::none : answer.error().code();
  places_[which].problem = answer ? node_error{node_errc::none, {}} : answer.error();
  if (answer && awaited_.value_or(which) == which && (!current_ || (current_ == which && *answer != target_)))
    use(which, *answer);
  else if (current_ == which && code == node_errc::not_found)
    lose({node_errc::not_found, "the name was withdrawn"});
  else if (current_ == which && code == node_errc::interface_mismatch)
    lose(answer.error());
  else if (!answer && (!current_ || current_ == which))
    seek_later();
  if (!answer && !current_)
    note_absence();
  if (has_changed && (!current_ || current_ == which))
    ask(which, current_ ? 0ms : lookup_wait);
}

// -- the target

void target_search::use(std::size_t which, const caf::strong_actor_ptr& found) {
  const auto actor = handle();
  if (!actor)
    return;
  stop_watching();
  awaited_.reset();
  current_ = which;
  target_ = found;
  // Called at once if the target has ended, so it must not do more than post.
  watch_end(found, this, [weak = weak_from_this(), use = ++uses_](const caf::error& why) {
    if (const auto alive = weak.lock())
      post_to(*alive->io_, [weak, use, why] {
        if (const auto self = weak.lock())
          self->on_target_ended(use, why);
      });
  });
  pending_ = std::make_shared<const found_target>(found, addresses_[which]->memory_at(found));
  is_unreachable_told_ = false;
  unreachable_timer_ = nullptr;
  show_problem({node_errc::none, {}});
  tell(lasting_event::kind::found, addresses_[which]->to().address, {node_errc::none, {}});
  forward_on();
}

/// Forwards what has waited, a bounded number of messages at a time, so that the thread's links get their turns.
void target_search::forward_on() {
  const auto actor = handle();
  const auto to = pending_; // Events may lose the target.
  if (!actor || !to || is_over_)
    return;
  using flow = lasting_actor::flow;
  switch (as_lasting(actor).forward_some(*to)) {
  case flow::open:
    pending_ = nullptr;
    break;
  case flow::more:
    post_to(*io_, [weak = weak_from_this()] {
      if (const auto self = weak.lock())
        self->forward_on();
    });
    break;
  case flow::stalled:
    after(flow_timer_, clock::now() + room_pause, [](target_search& self) { self.forward_on(); });
    break;
  case flow::down:
    pending_ = nullptr;
    lose({node_errc::link_down, "the link is down"});
    break;
  }
}

void target_search::on_target_ended(std::uint64_t use, const caf::error& why) {
  if (!is_over_ && use == uses_ && current_)
    lose({node_errc::link_down, "the actor has ended: " + ::troupe::text_of(why)});
}

void target_search::lose(const node_error& why) {
  const auto at = addresses_[*current_]->to().address;
  const auto* const remote = as_proxy(target_);
  if (const auto actor = handle(); actor && remote != nullptr && remote->link()->is_down() && addresses_.size() > 1
                                   && as_lasting(actor).awaits_the_same_process())
    wait_for_the_same_process(*current_);
  stop_watching();
  current_.reset();
  pending_ = nullptr;
  away_since_ = clock::now();
  why_away_ = why;
  if (const auto actor = handle())
    as_lasting(actor).wait();
  wait_for_give_up();
  is_unreachable_told_ = true; // The event of the loss says it.
  show_problem(why);
  tell(lasting_event::kind::lost, at, why);
  address_given_up();
  seek();
}

void target_search::stop_watching() {
  if (const auto before = std::exchange(target_, nullptr))
    unwatch_end(before, this);
}

// -- rest

void target_search::wake() {
  is_resting_ = false;
  is_unreachable_told_ = false;
  was_quiet_ = false;
  away_since_ = clock::now();
  for (auto& each : places_)
    each.problem = {node_errc::none, {}};
  wait_for_give_up();
  after(unreachable_timer_, away_since_ + patience_, [](target_search& self) { self.tell_unreachable(); });
  look_for_use();
  for (const auto& each : addresses_)
    each->need(*this);
  seek();
  note_absence();
}

/// Looks twice in each idle_close. After two looks without a use the search may rest.
void target_search::look_for_use() {
  if (*idle_close_ == 0ms)
    return;
  const auto pause = std::max<std::chrono::milliseconds>(*idle_close_ / 2, 1ms);
  after(idle_timer_, clock::now() + pause, [](target_search& self) {
    const auto actor = self.handle();
    if (!actor)
      return;
    const auto was_used = as_lasting(actor).take_use();
    if (!was_used && std::exchange(self.was_quiet_, true))
      self.rest();
    else if (was_used)
      self.was_quiet_ = false;
    if (!self.is_resting_)
      self.look_for_use();
  });
}

void target_search::rest() {
  const auto actor = handle();
  // A search that has not found its target rests only after this was told.
  if (!actor || pending_ || (!current_ && !is_unreachable_told_) || !as_lasting(actor).rest())
    return;
  is_resting_ = true;
  stop_watching();
  current_.reset();
  awaited_.reset();
  why_away_ = {node_errc::none, {}};
  for (auto* timer : {&retry_timer_, &flow_timer_, &return_timer_, &give_up_timer_, &unreachable_timer_})
    *timer = nullptr;
  tell(lasting_event::kind::resting, {}, {node_errc::none, {}});
  for (const auto& each : addresses_)
    each->need_no_more(*this, std::max<std::chrono::milliseconds>(*idle_close_ / 2, 1ms));
}

/// If each address has failed since the search was woken, the actor cannot be reached now.
void target_search::note_absence() {
  if (is_resting_ || current_)
    return;
  if (auto known = problem(); known.code() != node_errc::none) // Else the reason of the loss stays.
    show_problem(known);
  if (!idle_close_)
    return;
  for (std::size_t which = 0; which < addresses_.size(); ++which)
    if (problem_at(which).code() == node_errc::none)
      return;
  tell_unreachable();
}

/// For absence_of().
void target_search::show_problem(const node_error& why) {
  if (const auto actor = handle())
    as_lasting(actor).note_problem(why);
}

/// What the address has said last; `none`: nothing yet, or that the actor is there.
const node_error& target_search::problem_at(std::size_t which) const {
  return addresses_[which]->is_open() ? places_[which].problem : addresses_[which]->problem();
}

/// As absence_of().
node_error target_search::problem() const {
  if (addresses_.size() == 1)
    return problem_at(0);
  auto code = node_errc::none;
  std::string text;
  for (std::size_t which = 0; which < addresses_.size(); ++which) {
    const auto& said = problem_at(which);
    if (said.code() == node_errc::none || text.size() > problem_bytes_max)
      continue;
    code = code == node_errc::none ? said.code() : code;
    text += (text.empty() ? "at " : "; at ") + addresses_[which]->to().address + ": " + said.message();
  }
  return {code, std::move(text)};
}

void target_search::tell_unreachable() {
  if (current_ || std::exchange(is_unreachable_told_, true))
    return;
  tell(lasting_event::kind::unreachable, {}, absence());
}

// -- time

/// Calls `then` on this object at `at`, unless the timer is set anew, or this object is gone.
template <class Then>
void target_search::after(std::unique_ptr<io_timer>& timer, clock::time_point at, Then then) {
  if (!timer)
    timer = std::make_unique<io_timer>(*io_);
  timer->expires_at(at);
  timer->async_wait([weak = weak_from_this(), then](std::error_code cancelled) {
    if (const auto self = weak.lock(); self && !cancelled && !self->is_over_)
      then(*self);
  });
}

void target_search::seek_later() {
  after(retry_timer_, clock::now() + retry_pause, [](target_search& self) {
    if (self.current_)
      self.ask(*self.current_, 0ms); // An earlier question about it has failed.
    else
      self.seek();
  });
}

void target_search::fail_old_messages() {
  has_message_timer_ = false;
  const auto actor = handle();
  if (!actor)
    return;
  const auto oldest = as_lasting(actor).fail_older_than(clock::now() - patience_, absence());
  if (!oldest)
    return;
  has_message_timer_ = true;
  // A message fails only once it has waited for longer, so the timer may not be due before that.
  after(message_timer_, *oldest + patience_ + 1ms, [](target_search& self) { self.fail_old_messages(); });
}

void target_search::wait_for_give_up() {
  if (!give_up_)
    return;
  const auto at = away_since_ + bounded_wait(*give_up_);
  after(give_up_timer_, at, [at](target_search& self) {
    if (!self.current_ && self.away_since_ + bounded_wait(*self.give_up_) <= at)
      self.give_up(self.absence());
  });
}

void target_search::give_up(const node_error& why) {
  const auto kept = shared_from_this();
  end(why);
  tell(lasting_event::kind::given_up, {}, why);
  over_();
}

void target_search::tell(lasting_event::kind what, std::string address, const node_error& reason) {
  const lasting_event event{.what = what, .name = name_, .address = std::move(address), .reason = reason};
  if (callback_)
    callback_(event);
  if (const auto listener = listener_.lock())
    listener->enqueue(nullptr, caf::make_message_id(), caf::make_message(event), nullptr);
}

/// Says since when no actor is found, and why.
node_error target_search::absence() const {
  std::string text = "no actor was found as \"" + name_ + "\" for " + milliseconds_text(clock::now() - away_since_);
  if (why_away_.code() != node_errc::none)
    text += " (" + why_away_.message() + ')';
  for (std::size_t which = 0; which < addresses_.size(); ++which) {
    const auto& address = *addresses_[which];
    const auto& said = problem_at(which).message();
    text += (which == 0 ? ": at " : "; at ") + address.to().address + ": ";
    text += !said.empty() ? said : address.is_open() ? "no answer yet" : "not connected yet";
    if (text.size() > problem_bytes_max && which + 1 < addresses_.size())
      return {node_errc::link_down, text + "; and at " + grouped(addresses_.size() - which - 1) + " more addresses"};
  }
  return {node_errc::link_down, text};
}

} // namespace troupe::internal
