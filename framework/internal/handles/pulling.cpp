#include <troupe/framework/internal/handles/pulling.hpp>

namespace troupe::internal::handles {

void pulling::take_turn(reference what) {
  entries_.at(what).fetch->pull.turn = ++last_turn_;
}

pull_turns& pulling::turns_of(reference what) {
  auto& source = source_of(what);
  return entries_.at(what).mode == handle_mode::behind ? source.pulls_behind : source.pulls_of_own;
}

void pulling::queue(reference what) {
  const auto& which = entries_.at(what);
  auto& pull = which.fetch->pull;
  if (pull.is_queued || links_.up(which.link) == nullptr)
    return;
  turns_of(what).queue(pull.turn, what);
  pull.is_queued = true;
  links_.touch(which.link);
}

void pulling::leave_queue(reference what) {
  auto& pull = entries_.at(what).fetch->pull;
  if (std::exchange(pull.is_queued, false))
    turns_of(what).leave(pull.turn);
}

void pulling::leave_slot(reference what) {
  if (!std::exchange(entries_.at(what).fetch->pull.has_slot, false))
    return;
  turns_of(what).end();
  links_.touch(entries_.at(what).link);
}

std::optional<reference> pulling::next(link_record& source) {
  std::optional<reference> what;
  if (!source.pause.is_for_pulls())
    what = source.pulls_of_own.has_next() ? source.pulls_of_own.next() : source.pulls_behind.next();
  if (what) {
    auto& pull = entries_.at(*what).fetch->pull;
    pull.is_queued = false;
    pull.has_slot = true;
  } else if (source.pulls_of_own.is_held_back() || source.pulls_behind.is_held_back()) {
    source.pause.begin(end_of_pause()); // Then more are tried: those under way may wait for something slow.
  }
  return what;
}

void pulling::ask(reference what) {
  const auto& which = entries_.at(what);
  const auto request = source_of(what).questions.ask(
      {.what = open_request::kind::pull, .about = what, .name = {}, .token = 0, .offered_by = 0});
  which.fetch->pull.request = request;
  actions_.send(which.link, handles::pull{request, which.name});
}

void pulling::end(reference what) {
  source_of(what).questions.close(std::exchange(entries_.at(what).fetch->pull.request, 0));
  turns_of(what).went_well();
  leave_slot(what);
}

void pulling::leave(reference what) {
  leave_queue(what);
  leave_slot(what);
}

void pulling::cancel(reference what) {
  const auto request = std::exchange(entries_.at(what).fetch->pull.request, 0);
  if (request == 0)
    return;
  auto& source = source_of(what);
  source.questions.close(request);
  if (source.phase == link_phase::up)
    actions_.send(source.number, handles::cancel{request});
}

void pulling::on_busy(reference what) {
  auto& turns = turns_of(what);
  turns.was_busy();
  if (turns.asked() == 0) // Otherwise a pull that ends lets the next begin.
    source_of(what).pause.begin_for_pulls(end_of_pause());
  queue(what);
}

void pulling::on_full(reference what) {
  take_turn(what); // Others may lie in the source's memory: they come first.
  source_of(what).pause.begin_for_pulls(end_of_pause());
  queue(what);
}

// -- invariants

std::string_view pulling::broken_pull(const entry& which) const {
  const auto& fetch = *which.fetch;
  const auto& pull = fetch.pull;
  using enum fetch_step;
  const bool asks = fetch.step == asking || (fetch.step == receiving && !fetch.waits_for_captured());
  const auto* source = links_.up(which.link);
  if (asks != (pull.request != 0) || (asks && (source == nullptr || source->questions.find(pull.request) == nullptr)))
    return "a fetch and its question do not agree";
  if (pull.is_queued != (fetch.step == waiting && source != nullptr)
      || (pull.is_queued && !source->pulls_of_own.is_queued(pull.turn) && !source->pulls_behind.is_queued(pull.turn)))
    return "a fetch whose turn will never come";
  if (pull.has_slot != (asks || fetch.step == making_room))
    return "a fetch counts as a pull and is none, or the other way round";
  return {};
}

std::string_view pulling::broken_invariant() const {
  std::string_view broken;
  entries_.for_each([&](reference, const entry& which) {
    if (which.fetch && broken.empty())
      broken = broken_pull(which);
  });
  for (const auto& [number, link] : links_.all()) {
    link.questions.for_each([&](request_number request, const open_request& asked) {
      const auto* about = entries_.find(asked.about);
      if (asked.what == open_request::kind::pull
          && (about == nullptr || !about->fetch || about->fetch->pull.request != request))
        broken = "a pull that no fetch knows";
    });
    for (const auto* each : {&link.pulls_of_own, &link.pulls_behind})
      if (link.phase == link_phase::up && !link.pause.is_for_pulls() && each->has_next())
        return "there is room for a pull, and nobody takes it";
      else if (each->is_held_back() && !link.pause.is_on())
        return "a source that was busy once, and is never asked for more again";
  }
  return broken;
}

} // namespace troupe::internal::handles
