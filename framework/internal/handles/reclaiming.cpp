#include <troupe/framework/internal/handles/reclaiming.hpp>

namespace troupe::internal::handles {

// -- at the importer

void reclaiming::ask(const node_name& peer) {
  auto* over = links_.up_to(peer);
  if (over == nullptr)
    return;
  for (auto number : links_.to(peer)) {
    const auto& lost = links_.at(number);
    if (lost.phase != link_phase::grace)
      continue;
    for (const auto& [name, what] : lost.imports) {
      auto& asked_on = entries_.at(what).reclaiming;
      if (asked_on != 0)
        continue;
      asked_on = over->number;
      const auto request = over->questions.ask(
          {.what = open_request::kind::reclaim, .about = what, .name = name, .token = 0, .offered_by = 0},
          lost.grace_ends.at());
      actions_.send(over->number, reclaim{request, name, number});
    }
  }
}

void reclaiming::on_given_up(const link_record& of, reference what) {
  if (auto* which = entries_.find(what); which != nullptr && which->reclaiming == of.number)
    which->reclaiming = 0;
}

violation reclaiming::on_reclaimed(link_record& from, const reclaimed& what) {
  using standing = link_questions::standing;
  const auto asked = from.questions.standing_of(what.request, open_request::kind::reclaim);
  if (asked == standing::never_asked
      || (asked == standing::open && from.questions.find(what.request)->name != what.name))
    return "answered a question that was not asked";
  const auto let_go = [&] { actions_.send(from.number, release{what.name, 1}); };
  if (asked == standing::given_up) {
    let_go();
    return {};
  }
  const auto about = from.questions.close(what.request).about;
  auto* which = entries_.find(about);
  if (which == nullptr || which->reclaiming != from.number) { // No longer wanted.
    let_go();
    return {};
  }
  which->reclaiming = 0;
  const auto [known, is_new] = from.imports.try_emplace(what.name, about);
  if (!is_new && entries_.at(known->second).size_bytes != which->size_bytes)
    return "gave one name two sizes";
  links_.at(which->link).imports.erase(what.name);
  links_.touch(which->link);
  if (is_new) {
    which->link = from.number;
    which->count = 1;
    fetches_.advance(about);
    return {};
  }
  which->link = 0; // It was sent again meanwhile.
  auto& other = entries_.at(known->second);
  entries_.refer(known->second);
  if (other.state == entry_state::here)
    let_go(); // It needs no source.
  else
    ++other.count;
  whole_.move_to(about, known->second);
  return {};
}

// -- at the exporter

/// The link that still keeps the export for the peer. It is the link that the peer names, or else one on which an
/// answer to the same question was lost with the link. The lost link may still look up here. A healthy link looks the
/// same if an older question comes late.
link_record* reclaiming::holder_of(const link_record& from, const reclaim& what) {
  auto* lost = links_.find(what.previous);
  if (lost != nullptr && lost->phase == link_phase::grace && lost->peer == from.peer
      && lost->exports.contains(what.name))
    return lost;
  link_record* up = nullptr;
  for (auto number : links_.to(from.peer)) {
    auto& each = links_.at(number);
    const auto record = each.exports.find(what.name);
    if (&each == &from || record == each.exports.end() || record->second.reclaimed == 0)
      continue;
    if (each.phase == link_phase::grace)
      return &each;
    up = &each;
  }
  return up;
}

/// Moves one count of the export from the lost link to the new one, so that exports do not multiply however often the
/// peer reconnects. If the answer is lost with the new link, the count there is moved again when the peer asks again.
void reclaiming::give_back(link_record& to, link_record& from, const object_id& name, bool is_named) {
  auto& left = from.exports.at(name);
  ++exports_.count(to, name, left.what).reclaimed;
  if (from.phase == link_phase::up)
    return; // It may be in use there.
  vouchers_.move_all_of(from.number, name, to.number);
  if (is_named && left.count > left.reclaimed) {
    left.count = left.reclaimed; // All others belonged to the peer's one import.
  } else {
    --left.count;
    --left.reclaimed;
  }
  if (left.count == 0)
    exports_.drop(from, name);
}

void reclaiming::on_reclaim(link_record& from, const reclaim& what) {
  auto* holder = holder_of(from, what);
  if (holder == nullptr)
    return actions_.send(from.number, refused{what.request, handle_errc::unknown});
  const auto held = holder->exports.at(what.name).what;
  if (entries_.at(entries_.resolve(held)).state == entry_state::lost) { // The peer was told over a link that was lost.
    if (holder->phase == link_phase::grace) // On a link that is up the peer was told, and will release it there.
      exports_.drop(*holder, what.name);
    return actions_.send(from.number, refused{what.request, handle_errc::object_lost});
  }
  give_back(from, *holder, what.name, holder->number == what.previous);
  actions_.send(from.number, reclaimed{what.request, what.name});
}

} // namespace troupe::internal::handles
