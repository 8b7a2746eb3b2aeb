#include <troupe/framework/internal/lasting/target_search.hpp>

#include <algorithm>
#include <utility>

#include <troupe/base/longest_wait.hpp>
#include <troupe/base/sizes.hpp>
#include <troupe/framework/internal/caf_port/actors/end_watch.hpp>
#include <troupe/framework/internal/caf_port/messages.hpp>
#include <troupe/framework/node_error.hpp>

namespace troupe::internal {

namespace {

using namespace std::chrono_literals;

// How long a peer is asked for a name before the search asks anew.
constexpr auto lookup_wait = 5s;

// The pause after an answer that came at once, such as interface_mismatch.
constexpr auto retry_pause = 1s;

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
      its_(std::move(its)),
      listener_(caf::actor_cast<caf::strong_actor_ptr>(its_.events.listener).get()),
      addresses_(std::move(addresses)),
      places_(addresses_.size()),
      over_(std::move(over)) {}

target_search::~target_search() {
  stop_watching();
}

void target_search::begin() {
  for (const auto& each : addresses_)
    each->add(*this);
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
  give_up_timer_ = nullptr;
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
  if (!is_over_ && !current_)
    ask(index_of(at), lookup_wait);
}

void target_search::link_lost(kept_address& at, const node_error& why) {
  if (current_ == index_of(at))
    lose(why);
}

void target_search::address_given_up() {
  if (is_over_ || current_ || !std::ranges::all_of(addresses_, [](const auto& each) { return each->is_given_up(); }))
    return;
  give_up(absence());
}

/// While there is another target, its address does not matter.
void target_search::name_changed(kept_address& at) {
  if (current_ == index_of(at))
    ask(*current_, 0ms);
}

void target_search::is_away() {
  if (is_over_)
    return;
  if (current_ && target_) // The link's own news may come later.
    if (const auto actor = handle(); actor && !as_lasting(actor).target())
      lose({node_errc::link_down, "the link is down"});
  if (!has_message_timer_)
    fail_old_messages();
}

// -- questions

void target_search::seek() {
  for (std::size_t which = 0; which < addresses_.size(); ++which)
    ask(which, lookup_wait);
}

void target_search::ask(std::size_t which, std::chrono::milliseconds wait) {
  if (is_over_ || places_[which].is_asked || !addresses_[which]->is_open())
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
  if (is_over_)
    return;
  if (answer) {
    places_[which].problem = {node_errc::none, {}};
    if (!current_ || (current_ == which && *answer != target_))
      use(which, *answer);
    return;
  }
  places_[which].problem = answer.error();
  if (current_ == which && answer.error().code() == node_errc::not_found)
    lose({node_errc::not_found, "the name was withdrawn"});
  else if (!current_ && answer.error().code() == node_errc::not_found)
    ask(which, lookup_wait);
  else if (!current_)
    seek_later();
}

// -- the target

void target_search::use(std::size_t which, const caf::strong_actor_ptr& found) {
  const auto actor = handle();
  if (!actor)
    return;
  stop_watching();
  current_ = which;
  target_ = found;
  if (give_up_timer_)
    give_up_timer_->cancel();
  // Called at once if the target has ended, so it must not do more than post.
  watch_end(found, this, [weak = weak_from_this(), use = ++uses_](const caf::error& why) {
    if (const auto alive = weak.lock())
      post_to(*alive->io_, [weak, use, why] {
        if (const auto self = weak.lock())
          self->on_target_ended(use, why);
      });
  });
  as_lasting(actor).forward_to(std::make_unique<const found_target>(found, addresses_[which]->remembers(found)));
  tell(lasting_event::kind::found, addresses_[which]->to().address, {node_errc::none, {}});
}

void target_search::on_target_ended(std::uint64_t use, const caf::error& why) {
  if (!is_over_ && use == uses_ && current_)
    lose({node_errc::link_down, "the actor has ended: " + ::troupe::text_of(why)});
}

void target_search::lose(const node_error& why) {
  const auto at = addresses_[*current_]->to().address;
  stop_watching();
  current_.reset();
  away_since_ = clock::now();
  why_away_ = why;
  if (const auto actor = handle())
    as_lasting(actor).wait();
  wait_for_give_up();
  tell(lasting_event::kind::lost, at, why);
  address_given_up();
  seek();
}

void target_search::stop_watching() {
  if (const auto before = std::exchange(target_, nullptr))
    unwatch_end(before, this);
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
    if (!self.current_)
      self.seek();
  });
}

void target_search::fail_old_messages() {
  has_message_timer_ = false;
  const auto actor = handle();
  if (!actor)
    return;
  const auto patience = bounded_wait(its_.patience);
  const auto oldest = as_lasting(actor).fail_older_than(clock::now() - patience, absence());
  if (!oldest)
    return;
  has_message_timer_ = true;
  // A message fails only once it has waited for longer, so the timer may not be due before that.
  after(message_timer_, *oldest + patience + 1ms, [](target_search& self) { self.fail_old_messages(); });
}

void target_search::wait_for_give_up() {
  if (!its_.give_up)
    return;
  after(give_up_timer_, clock::now() + bounded_wait(*its_.give_up), [](target_search& self) {
    if (!self.current_)
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
  if (its_.events.callback)
    its_.events.callback(event);
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
    const auto& answer = places_[which].problem;
    const auto& said = address.is_open() ? answer.message() : address.problem().message();
    text += (which == 0 ? ": at " : "; at ") + address.to().address + ": ";
    text += !said.empty() ? said : address.is_open() ? "no answer yet" : "not connected yet";
    constexpr std::size_t text_bytes_max = 2'000; // A handle may have many addresses.
    if (text.size() > text_bytes_max && which + 1 < addresses_.size())
      return {node_errc::link_down, text + "; and at " + grouped(addresses_.size() - which - 1) + " more addresses"};
  }
  return {node_errc::link_down, text};
}

} // namespace troupe::internal
