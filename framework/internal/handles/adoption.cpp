// Adoption by token: a handle that came by way of a second node is had from the first.
#include <troupe/framework/internal/handles/ledger.hpp>

#include <cassert>

namespace troupe::internal::handles {

// -- who was offered it

void ledger::set_offer(reference what, const std::optional<adoption_offer>& offer) {
  auto& which = at(what);
  if (which.offer)
    offers_.erase({*which.offer, what});
  which.offer = offer;
  which.busy_until = never;
  if (offer)
    offers_.emplace(*offer, what);
}

/// Looks for a way to the exporter that the offer names.
void ledger::seek_adoption(reference what) {
  const auto& which = at(what);
  assert(which.state == entry_state::remote && which.offer && which.adopting == 0);
  if (which.offer->exporter == options_.self)
    (void)come_home(what);
  else if (auto* over = up_link_to(which.offer->exporter))
    queue_adoption(what, *over);
  else
    dial_exporter(which);
}

/// The offer names this very node: the entry becomes its own, if its source has vouched for that.
bool ledger::come_home(reference what) {
  auto offer = *at(what).offer;
  for (auto known = vouchers_.find(offer.name, options_.self, offer.token); known;
       known = vouchers_.find(offer.name, options_.self, offer.token, known->link)) {
    auto own = links_.at(known->link).exports.at(offer.name).what;
    const auto& onto = at(resolve(own));
    if (onto.state == entry_state::lost || &onto == &at(what) || onto.size_bytes != at(what).size_bytes
        || (at(what).dependents > 0 && onto.state != entry_state::here))
      continue;
    vouchers_.drop(*known);
    ++at(own).references;
    move_to(what, own);
    return true;
  }
  return false;
}

/// It is asked for when the link has room, by turns with what others have offered.
void ledger::queue_adoption(reference what, link_record& over) {
  auto& which = at(what);
  which.adopting = over.number;
  over.adoptions.queue(what, which.offered_by);
  touch(over.number);
}

void ledger::ask_adoptions(link_record& over) {
  if (over.pause.is_for_adoptions())
    return;
  while (auto turn = over.adoptions.next()) {
    auto& which = at(turn->what);
    which.adopt_request = over.questions.ask({.what = open_request::kind::adopt,
                                              .about = turn->what,
                                              .token = which.offer->token,
                                              .offered_by = turn->offerer},
                                             now_ + options_.adopt_patience);
    send(over.number, adopt{which.adopt_request, which.offer->name, which.offer->token});
  }
}

/// It is not sought any more, and makes room for others.
void ledger::leave_adoption(reference what) {
  auto& which = at(what);
  if (which.adopting == 0)
    return;
  auto& over = links_.at(which.adopting);
  if (which.adopt_request == 0) {
    over.adoptions.leave(what, which.offered_by);
  } else if (over.questions.find(which.adopt_request) != nullptr) {
    (void)close(over, which.adopt_request);
    if (over.phase == link_phase::up)
      send(over.number, cancel{which.adopt_request});
  }
  which.adopting = 0;
  which.adopt_request = 0;
  touch(what);
}

/// There was no answer, or none that helps: the entry stays behind its source, if that is still there, unless there is
/// another offer, or another way. `refused_token` is 0 when the offer is still good.
void ledger::end_adoption(reference what, std::uint64_t refused_token) {
  leave_adoption(what);
  if (auto& offer = at(what).offer; offer && offer->token == refused_token)
    set_offer(what, std::nullopt);
  if (at(what).offer)
    seek_adoption(what);
  touch(what);
}

/// Asks for a link to whom the offer names.
void ledger::dial_exporter(const entry& which) {
  auto source = links_.find(which.link);
  if (source == links_.end() || source->second.phase != link_phase::up)
    return;
  if (dials_.begin(source->second.peer.node, which.offer->exporter, now_))
    want(connect_to{which.offer->exporter});
}

void ledger::on(link_record& from, const adopted& what) {
  auto asked = from.questions.standing_of(what.request, open_request::kind::adopt);
  if (asked == link_questions::standing::never_asked)
    return violated(from.number, "answered a question that was not asked");
  auto imported = import_one(from, what.handle, came::in_answer);
  if (!imported)
    return violated(from.number, "sent a handle that it could not send");
  // Not before: what came along may have ended it.
  if (asked == link_questions::standing::given_up || from.questions.find(what.request) == nullptr)
    return unrefer(*imported);
  auto open = close(from, what.request);
  auto about = open.about;
  auto target = resolve(*imported);
  const auto& which = at(about);
  const auto& onto = at(target);
  bool has_bytes =
      onto.state == entry_state::here || (onto.state == entry_state::remote && onto.mode == handle_mode::mine);
  // While others are behind this entry, it must not get behind something that may be behind them. Another size is
  // another object: whoever lies, the exporter or who named it, this entry stays what it is.
  if (target != about && (has_bytes || which.dependents == 0) && onto.state != entry_state::lost
      && onto.size_bytes == which.size_bytes)
    return move_to(about, *imported);
  unrefer(*imported);
  end_adoption(about, open.token);
}

// -- who has it

/// Its beneficiary gets an export of its own, and the voucher is used up.
void ledger::redeem(link_record& to, request_number request, const voucher& which) {
  auto& from = links_.at(which.link);
  auto handle = export_one(to, from.exports.at(which.name).what, goes::in_answer);
  if (!handle)
    return send(to.number, refused{request, handle.error()});
  vouchers_.drop(which);
  send(to.number, adopted{request, *std::move(handle)});
}

void ledger::on(link_record& from, const vouch& what) {
  auto record = from.exports.find(what.name);
  if (record == from.exports.end())
    return violated(from.number, "vouched for what it was never given");
  voucher made{what.name, what.beneficiary, what.token, from.number};
  if (vouchers_.contains(made)) // Who could use it has looked for it already.
    return;
  vouchers_.add(made);
  if (auto known = links_to_.find(what.beneficiary); known != links_to_.end()) {
    for (auto number : known->second) {
      auto& link = links_.at(number);
      auto early = link.parked.find(what.name, what.token);
      if (!early)
        continue;
      link.parked.take(*early);
      return redeem(link, *early, made);
    }
  }
  if (what.beneficiary != options_.self)
    return;
  const adoption_offer offer{options_.self, what.name, what.token};
  for (auto each = offers_.lower_bound({offer, {}}); each != offers_.end() && each->first == offer; ++each)
    if (come_home(each->second))
      return;
}

void ledger::on(link_record& from, const adopt& what) {
  if (!may_ask(from, what.request))
    return;
  if (auto known = vouchers_.find(what.name, from.peer, what.token))
    redeem(from, what.request, *known);
  else if (!from.parked.park(what, now_ + options_.vouch_patience))
    send(from.number, refused{what.request, handle_errc::busy});
}

} // namespace troupe::internal::handles
