// Adoption by token: a handle that came by way of a second node is had from the first.
#include <troupe/framework/internal/handles/ledger.hpp>

#include <algorithm>
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
  const voucher first{offer.name, options_.self, offer.token, 0};
  for (auto known = vouchers_.lower_bound(first); known != vouchers_.end(); ++known) {
    const auto& [which, age] = *known;
    if (which.name != offer.name || which.beneficiary != options_.self || which.token != offer.token)
      return false;
    auto& link = links_.at(which.link);
    auto own = link.exports.at(offer.name).what;
    const auto& onto = at(resolve(own));
    if (onto.state == entry_state::lost || &onto == &at(what) || onto.size_bytes != at(what).size_bytes
        || (at(what).dependents > 0 && onto.state != entry_state::here))
      continue;
    drop_voucher(link, age);
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
  over.offerers[which.offered_by].queued.insert(what);
  see_turn(over, which.offered_by);
  touch(over.number);
}

/// Whether an offerer's next may be asked for. To be called whenever its row changes.
void ledger::see_turn(link_record& over, link_number offerer) {
  const auto& row = over.offerers.at(offerer);
  if (!row.queued.empty() && row.asked < options_.adoptions_offered_max)
    over.turns.insert(offerer);
  else
    over.turns.erase(offerer);
  if (row.queued.empty() && row.asked == 0)
    over.offerers.erase(offerer);
}

void ledger::ask_adoptions(link_record& over) {
  while (!over.adoptions_are_paused && over.adoptions < options_.adoptions_max && !over.turns.empty()) {
    auto turn = over.turns.upper_bound(over.last_offerer);
    over.last_offerer = turn != over.turns.end() ? *turn : *over.turns.begin();
    auto& row = over.offerers.at(over.last_offerer);
    auto what = *row.queued.begin();
    row.queued.erase(row.queued.begin());
    ++row.asked;
    ++over.adoptions;
    auto& which = at(what);
    which.adopt_request = ask(over, {.what = open_request::kind::adopt,
                                     .about = what,
                                     .token = which.offer->token,
                                     .offered_by = over.last_offerer,
                                     .deadline = now_ + options_.adopt_patience});
    send(over.number, adopt{which.adopt_request, which.offer->name, which.offer->token});
    see_turn(over, over.last_offerer);
  }
}

/// It is not sought any more, and makes room for others.
void ledger::leave_adoption(reference what) {
  auto& which = at(what);
  if (which.adopting == 0)
    return;
  auto& over = links_.at(which.adopting);
  if (which.adopt_request == 0) {
    over.offerers.at(which.offered_by).queued.erase(what);
    see_turn(over, which.offered_by);
  } else if (over.requests.contains(which.adopt_request)) {
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

/// Asks for a link to whom the offer names: to few within a time, since it is a peer who says where. That does not
/// depend on how often the peer has connected, or as which incarnation.
void ledger::dial_exporter(const entry& which) {
  auto source = links_.find(which.link);
  if (source == links_.end() || source->second.phase != link_phase::up)
    return;
  auto offerer = source->second.peer.node;
  auto& dials = dials_[offerer];
  bool is_pending = std::ranges::any_of(
      dials, [&](const dial& each) { return each.is_pending && each.node == which.offer->exporter; });
  if (!is_pending && dials.size() < options_.dials_max) {
    auto expires = now_ + options_.adopt_patience;
    dials.push_back({which.offer->exporter, expires});
    set_timer({expires, timer::kind::dials, offerer, 0});
    want(connect_to{which.offer->exporter});
  }
  if (dials.empty())
    dials_.erase(offerer);
}

void ledger::expire_dials(std::uint64_t offerer, time_point due) {
  auto& dials = dials_.at(offerer);
  std::erase_if(dials, [&](const dial& each) { return each.expires <= due; });
  if (dials.empty())
    dials_.erase(offerer);
}

void ledger::on(link_record& from, const adopted& what) {
  auto asked = answers(from, what.request, open_request::kind::adopt);
  if (asked == question::never_asked)
    return violated(from.number, "answered a question that was not asked");
  auto imported = import_one(from, what.handle, came::in_answer);
  if (!imported)
    return violated(from.number, "sent a handle that it could not send");
  auto open = from.requests.find(what.request); // Not before: what came along may have ended it.
  if (asked == question::given_up || open == from.requests.end())
    return unrefer(*imported);
  auto about = open->second.about;
  auto token = open->second.token;
  (void)close(from, what.request);
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
  end_adoption(about, token);
}

// -- who has it

/// When there are too many an old one goes, of the same beneficiary if it has one: most likely it was used by nobody.
void ledger::add_voucher(link_record& of, export_record& to, const voucher& which) {
  if (vouchers_.contains(which))
    return;
  if (to.vouchers.size() >= options_.vouchers_max)
    drop_voucher(of, to.vouchers.first_to_go(which.beneficiary));
  if (of.vouchers.size() >= options_.link_vouchers_max)
    drop_voucher(of, of.ages.first_to_go(which.beneficiary));
  auto age = ++last_age_;
  vouchers_.emplace(which, age);
  of.vouchers.emplace(age, which);
  of.ages.insert(age, which.beneficiary);
  to.vouchers.insert(age, which.beneficiary);
}

void ledger::drop_voucher(link_record& of, std::uint64_t age) {
  auto gone = of.vouchers.extract(age);
  const auto& what = gone.mapped();
  of.ages.erase(age, what.beneficiary);
  of.exports.at(what.name).vouchers.erase(age, what.beneficiary);
  vouchers_.erase(what);
}

/// Its beneficiary gets an export of its own, and the voucher is used up.
void ledger::redeem(link_record& to, request_number request, const voucher& which) {
  auto& from = links_.at(which.link);
  auto handle = export_one(to, from.exports.at(which.name).what, goes::in_answer);
  if (!handle)
    return send(to.number, refused{request, handle.error()});
  drop_voucher(from, vouchers_.at(which));
  send(to.number, adopted{request, *std::move(handle)});
}

/// The question waits for its voucher no more.
std::optional<parked_adopt> ledger::unpark(link_record& from, request_number request) {
  auto known = from.parked.extract(request);
  if (known.empty())
    return std::nullopt;
  const auto& what = known.mapped();
  from.parked_names.erase({what.name, what.token, request});
  clear_timer({what.deadline, timer::kind::parked, from.number, request});
  return what;
}

void ledger::refuse_parked(link_record& from, request_number request, handle_errc why) {
  (void)unpark(from, request);
  send(from.number, refused{request, why});
}

void ledger::on(link_record& from, const vouch& what) {
  auto record = from.exports.find(what.name);
  if (record == from.exports.end())
    return violated(from.number, "vouched for what it was never given");
  voucher made{what.name, what.beneficiary, what.token, from.number};
  if (vouchers_.contains(made)) // Who could use it has looked for it already.
    return;
  add_voucher(from, record->second, made);
  if (auto known = links_to_.find(what.beneficiary); known != links_to_.end()) {
    for (auto number : known->second) {
      auto& link = links_.at(number);
      auto early = link.parked_names.lower_bound({what.name, what.token, 0});
      if (early == link.parked_names.end() || std::get<0>(*early) != what.name || std::get<1>(*early) != what.token)
        continue;
      auto request = std::get<2>(*early);
      (void)unpark(link, request);
      return redeem(link, request, made);
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
  auto known = vouchers_.lower_bound({what.name, from.peer, what.token, 0});
  if (known != vouchers_.end() && known->first.name == what.name && known->first.beneficiary == from.peer
      && known->first.token == what.token)
    return redeem(from, what.request, voucher{known->first});
  if (from.parked.size() >= options_.parked_max)
    return send(from.number, refused{what.request, handle_errc::busy});
  auto deadline = now_ + options_.vouch_patience;
  from.parked.try_emplace(what.request, parked_adopt{what.name, what.token, deadline});
  from.parked_names.emplace(what.name, what.token, what.request);
  set_timer({deadline, timer::kind::parked, from.number, what.request});
}

} // namespace troupe::internal::handles
