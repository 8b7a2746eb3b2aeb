#include <troupe/framework/internal/lasting/kept_address.hpp>

#include <utility>
#include <vector>

#include <troupe/framework/internal/lasting/target_search.hpp>
#include <troupe/framework/internal/link/lookups.hpp>
#include <troupe/framework/internal/threads/io_timer.hpp>

namespace troupe::internal {

std::expected<void, node_error> kept_address::prepare(const keep_link_function& keep) {
  const auto later = [weak = weak_from_this()](auto member) {
    return [weak, member](const auto&... why) {
      if (const auto self = weak.lock())
        ((*self).*member)(why...);
    };
  };
  auto kept = keep(to_, {.opened = later(&kept_address::on_opened),
                         .failed = later(&kept_address::on_failed),
                         .given_up = later(&kept_address::on_given_up)});
  if (!kept)
    return std::unexpected{std::move(kept).error()};
  kept_ = *std::move(kept);
  return {};
}

void kept_address::begin() {
  if (kept_)
    if (const auto begun = kept_->begin(); !begun)
      on_given_up(begun.error());
}

void kept_address::end() {
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
  tell_all([this](target_search& each) { each.link_opened(*this); });
}

void kept_address::on_failed(const node_error& why) {
  problem_ = why;
  if (!std::exchange(link_, nullptr))
    return;
  tell_all([&](target_search& each) { each.link_lost(*this, why); });
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
