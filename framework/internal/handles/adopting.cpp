#include <troupe/framework/internal/handles/adopting.hpp>

#include <cassert>

namespace troupe::internal::handles {

adopting::adopting(books& of, entry_changes& whole, vouching& own)
    : options_(of.options),
      clock_(of.clock),
      actions_(of.actions),
      entries_(of.entries),
      links_(of.links),
      whole_(whole),
      own_(own),
      dials_({of.options.dials_max, of.options.adopt_patience}, of.timers) {}

// -- offers

void adopting::take_offer(reference what, const adoption_offer& offer, link_number offered_by) {
  auto& adoption = entries_.at(what).adoption;
  if (adoption.request == 0)
    leave(what); // Its turn was for the previous offer.
  set_offer(what, offer);
  adoption.offered_by = offered_by;
  if (adoption.over == 0)
    seek(what);
}

void adopting::set_offer(reference what, const std::optional<adoption_offer>& offer) {
  auto& adoption = entries_.at(what).adoption;
  if (adoption.offer)
    offers_.erase({*adoption.offer, what});
  adoption.offer = offer;
  adoption.busy_until = never;
  if (offer)
    offers_.emplace(*offer, what);
}

void adopting::come_home(const adoption_offer& offer) {
  for (auto each = offers_.lower_bound({offer, {}}); each != offers_.end() && each->first == offer; ++each)
    if (own_.come_home(each->second, offer))
      return;
}

// -- the course of an adoption

/// Looks for a way to the exporter that the offer names.
void adopting::seek(reference what) {
  const auto& which = entries_.at(what);
  assert(which.state == entry_state::remote && which.adoption.offer && which.adoption.over == 0);
  const auto offer = *which.adoption.offer;
  if (offer.exporter == options_.self)
    static_cast<void>(own_.come_home(what, offer));
  else if (auto* over = links_.up_to(offer.exporter))
    queue(what, *over);
  else
    dial_exporter(which);
}

/// Queues the adoption until the peer may be asked. Turns alternate between offerers.
void adopting::queue(reference what, link_record& over) {
  auto& adoption = entries_.at(what).adoption;
  adoption.over = over.number;
  over.adoptions.queue(what, adoption.offered_by);
  links_.touch(over.number);
}

void adopting::on_link_up(link_record& to) {
  dials_.linked(to.peer);
  const std::pair first{adoption_offer{to.peer, {}, 0}, reference{}};
  for (auto each = offers_.lower_bound(first); each != offers_.end() && each->first.exporter == to.peer; ++each)
    if (entries_.at(each->second).adoption.over == 0)
      queue(each->second, to);
}

void adopting::on_link_down(link_record& to) {
  for (auto what : to.adoptions.queued())
    end(what, 0);
}

void adopting::ask(link_record& over) {
  if (over.pause.is_for_adoptions())
    return;
  while (const auto turn = over.adoptions.next()) {
    auto& adoption = entries_.at(turn->what).adoption;
    adoption.request = over.questions.ask({.what = open_request::kind::adopt,
                                           .about = turn->what,
                                           .name = {},
                                           .token = adoption.offer->token,
                                           .offered_by = turn->offerer},
                                          clock_.now() + options_.adopt_patience);
    actions_.send(over.number, adopt{adoption.request, adoption.offer->name, adoption.offer->token});
  }
}

void adopting::leave(reference what) {
  auto& adoption = entries_.at(what).adoption;
  if (adoption.over == 0)
    return;
  auto& over = links_.at(adoption.over);
  if (adoption.request == 0) {
    over.adoptions.leave(what, adoption.offered_by);
  } else if (over.questions.find(adoption.request) != nullptr) {
    on_closed(over, over.questions.close(adoption.request));
    if (over.phase == link_phase::up)
      actions_.send(over.number, cancel{adoption.request});
  }
  adoption.over = 0;
  adoption.request = 0;
  entries_.touch(what);
}

void adopting::on_closed(link_record& of, const open_request& what) {
  of.adoptions.end(what.offered_by);
  links_.touch(of.number);
}

/// No useful answer came. The entry stays behind its source if that is still there, unless there is another offer or
/// another way. `refused_token` is 0 if the offer is still good.
void adopting::end(reference what, std::uint64_t refused_token) {
  leave(what);
  const auto& offer = entries_.at(what).adoption.offer;
  if (offer && offer->token == refused_token)
    set_offer(what, std::nullopt);
  if (offer)
    seek(what);
  entries_.touch(what);
}

void adopting::on_given_up(link_record& of, const open_request& what) {
  const auto* which = entries_.find(what.about);
  if (which != nullptr && which->adoption.over == of.number)
    end(what.about, of.phase == link_phase::up ? what.token : 0);
}

void adopting::on_refused(link_record& from, const open_request& what, handle_errc why) {
  auto* which = entries_.find(what.about);
  if (which == nullptr || which->adoption.over != from.number)
    return;
  auto& busy_until = which->adoption.busy_until;
  const bool is_busy = why == handle_errc::busy;
  if (is_busy) // The offer is still good: it is asked again until `busy_until`.
    from.pause.begin_for_adoptions(clock_.now() + options_.busy_pause);
  if (is_busy && busy_until == never)
    busy_until = clock_.now() + options_.adopt_patience;
  end(what.about, is_busy && busy_until > clock_.now() ? 0 : what.token);
}

void adopting::on_adopted(const open_request& what, reference given) {
  const auto target = entries_.resolve(given);
  const auto& which = entries_.at(what.about);
  const auto& onto = entries_.at(target);
  const bool has_bytes =
      onto.state == entry_state::here || (onto.state == entry_state::remote && onto.mode == handle_mode::mine);
  // While other entries depend on this one, it must not move behind an entry that may depend on them. If the size
  // differs, it is another object: the exporter or the peer that named it lies, and this entry stays unchanged.
  if (target != what.about && (has_bytes || which.dependents == 0) && onto.state != entry_state::lost
      && onto.size_bytes == which.size_bytes)
    return whole_.move_to(what.about, given);
  entries_.unrefer(given);
  end(what.about, what.token);
}

/// Asks for a link to the node that the offer names.
void adopting::dial_exporter(const entry& which) {
  const auto* source = links_.up(which.link);
  const auto& exporter = which.adoption.offer->exporter;
  if (source != nullptr && dials_.begin(source->peer.node, exporter, clock_.now()))
    actions_.want(connect_to{exporter});
}

// -- invariants

std::string_view adopting::broken_adoption(const entry& which, reference what) const {
  const auto& adoption = which.adoption;
  if (adoption.offer && !offers_.contains({*adoption.offer, what}))
    return "an offer that cannot be found";
  if (which.state != entry_state::remote && (adoption.over != 0 || adoption.offer))
    return "an adoption of what is not remote";
  if (adoption.over == 0)
    return {};
  const auto* over = links_.up(adoption.over);
  if (over == nullptr)
    return "an adoption over a lost link";
  const bool is_queued = over->adoptions.is_queued(what, adoption.offered_by);
  const bool is_asked = over->questions.find(adoption.request) != nullptr;
  if ((adoption.request == 0) != is_queued || is_asked == is_queued)
    return "an adoption that neither waits nor was asked for";
  return {};
}

std::string_view adopting::broken_invariant() const {
  std::string_view broken;
  std::size_t offers = 0;
  entries_.for_each([&](reference what, const entry& which) {
    offers += which.adoption.offer.has_value();
    if (broken.empty())
      broken = broken_adoption(which, what);
  });
  for (const auto& [number, link] : links_.all()) {
    std::size_t asked = 0;
    link.questions.for_each([&](request_number request, const open_request& what) {
      if (what.what != open_request::kind::adopt)
        return;
      ++asked;
      const auto* about = entries_.find(what.about);
      if (about == nullptr || about->adoption.over != link.number || about->adoption.request != request)
        broken = "an adoption that nobody waits for";
    });
    if (asked != link.adoptions.asked())
      return "adoptions that are asked and do not count";
    if (link.phase == link_phase::up && !link.pause.is_for_adoptions() && link.adoptions.has_next())
      return "there is room for an adoption, and nobody takes it";
  }
  if (offers != offers_.size())
    return "an offer of nothing";
  return broken.empty() ? dials_.broken_invariant() : broken;
}

} // namespace troupe::internal::handles
