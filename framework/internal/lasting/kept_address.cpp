#include <troupe/framework/internal/lasting/kept_address.hpp>

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include <troupe/framework/internal/lasting/target_search.hpp>
#include <troupe/framework/internal/link/lookups.hpp>
#include <troupe/framework/internal/threads/io_timer.hpp>

namespace troupe::internal {

std::expected<std::shared_ptr<kept_link>, node_error> kept_address::make_link() {
  const auto later = [weak = weak_from_this()](auto member) {
    return [weak, member](const auto&... why) {
      if (const auto self = weak.lock())
        ((*self).*member)(why...);
    };
  };
  return keep_(to_, {.opened = later(&kept_address::on_opened),
                     .failed = later(&kept_address::on_failed),
                     .given_up = later(&kept_address::on_given_up)});
}

std::expected<void, node_error> kept_address::prepare() {
  auto kept = make_link();
  if (!kept)
    return std::unexpected{std::move(kept).error()};
  kept_ = *std::move(kept);
  return {};
}

// -- the need for a link

void kept_address::need(target_search& search) {
  needs_.insert(&search);
  if (!is_dialed_ && !has_ended_ && !is_given_up_)
    dial();
}

void kept_address::dial() {
  is_dialed_ = true;
  problem_ = {node_errc::none, {}};
  if (!kept_) {
    auto made = make_link();
    if (!made)
      return on_given_up(made.error());
    kept_ = *std::move(made);
  }
  if (const auto begun = kept_->begin(); !begun)
    on_given_up(begun.error());
}

/// The link is closed later: mostly, this was the last search, and end() comes.
void kept_address::remove(target_search& search) {
  searches_.erase(&search);
  if (needs_.erase(&search) > 0 && needs_.empty() && !has_ended_)
    look_again();
}

void kept_address::need_no_more(target_search& search, std::chrono::milliseconds pause) {
  needs_.erase(&search);
  pause_ = pause;
  close_if_unneeded();
}

/// First the peer has to answer an empty question, as node_link::close_if_unused() wants it.
void kept_address::close_if_unneeded() {
  if (!needs_.empty() || !is_dialed_ || is_asking_ || has_ended_ || is_given_up_)
    return;
  if (!link_)
    return let_go();
  if (!link_->is_unused())
    return look_again();
  is_asking_ = true;
  link_->names_there().begin({}, {}, std::chrono::milliseconds{0},
                             [&io = io_, weak = weak_from_this(), asked = link_](const auto& nobody) {
                               const auto is_read = nobody || nobody.error().code() == node_errc::not_found;
                               post_to(io, [weak, asked, is_read] {
                                 const auto self = weak.lock();
                                 if (!self)
                                   return;
                                 self->is_asking_ = false;
                                 if (!self->needs_.empty() || self->has_ended_)
                                   return;
                                 if (!is_read || self->link_ != asked
                                     || !asked->close_if_unused("the link was idle", asked->options().connect_timeout))
                                   return self->look_again();
                                 self->let_go();
                               });
                             });
}

void kept_address::look_again() {
  constexpr std::chrono::milliseconds pause_min{10};
  if (!unneeded_timer_)
    unneeded_timer_ = std::make_unique<io_timer>(io_);
  unneeded_timer_->expires_after(std::max(pause_, pause_min));
  unneeded_timer_->async_wait([weak = weak_from_this()](std::error_code cancelled) {
    if (const auto self = weak.lock(); self && !cancelled)
      self->close_if_unneeded();
  });
}

/// The next need makes a new link.
void kept_address::let_go() {
  if (const auto kept = std::exchange(kept_, nullptr))
    kept->stop();
  link_ = nullptr;
  is_dialed_ = false;
  problem_ = {node_errc::none, {}};
}

void kept_address::end() {
  has_ended_ = true;
  needs_.clear();
  unneeded_timer_ = nullptr;
  if (const auto kept = std::exchange(kept_, nullptr)) {
    const auto open = kept->current();
    kept->stop();
    if (open)
      open->close("no lasting handle uses the link any more", open->options().connect_timeout);
  }
  link_ = nullptr;
  waiting_.clear();
}

byte_vector kept_address::memory_at(const caf::strong_actor_ptr& actor) const {
  return link_ ? link_->memory_of_requests(actor->node()) : byte_vector{};
}

/// The searches change the set, so it is copied.
template <class Tell>
void kept_address::tell_all(Tell&& tell) {
  for (auto* each : std::vector<target_search*>(searches_.begin(), searches_.end()))
    if (searches_.contains(each))
      tell(*each);
}

void kept_address::on_opened() {
  link_ = kept_ ? kept_->current() : nullptr;
  if (!link_)
    return; // It is lost already; that event follows.
  if (needs_.empty())
    return close_if_unneeded();
  tell_all([this](target_search& each) { each.link_opened(*this); });
}

void kept_address::on_failed(const node_error& why) {
  problem_ = why;
  const auto was_open = std::exchange(link_, nullptr) != nullptr;
  if (needs_.empty())
    return let_go();
  tell_all([&](target_search& each) {
    if (was_open)
      each.link_lost(*this, why);
    else
      each.dial_failed();
  });
}

void kept_address::on_given_up(const node_error& why) {
  problem_ = why;
  link_ = nullptr;
  is_given_up_ = true;
  tell_all([&](target_search& each) { each.address_given_up(); });
}

void kept_address::ask(question what) {
  waiting_.push_back(std::move(what));
  ask_next();
}

void kept_address::ask_next() {
  while (open_ < questions_max && !waiting_.empty()) {
    auto next = std::move(waiting_.front());
    waiting_.pop_front();
    if (!link_) { // The link was lost after the question; the search asks again.
      post_to(io_, [then = std::move(next.then), why = problem_] { then(std::unexpected{why}); });
      continue;
    }
    ++open_;
    link_->names_there().begin(std::move(next.name), std::move(next.interface), next.wait,
                               [&io = io_, weak = weak_from_this(), then = std::move(next.then)](auto answer) {
                                 post_to(io, [weak, then, answer = std::move(answer)]() mutable {
                                   if (const auto self = weak.lock()) {
                                     --self->open_;
                                     self->ask_next();
                                   }
                                   then(std::move(answer));
                                 });
                               });
  }
}

void kept_address::name_changed(const std::string& name) {
  tell_all([&](target_search& each) {
    if (each.name() == name)
      each.name_changed(*this);
  });
}

} // namespace troupe::internal
