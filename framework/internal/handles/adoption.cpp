// Adoption by token: a handle that came by way of a second node is had from the first.
#include <troupe/framework/internal/handles/ledger.hpp>

#include <algorithm>
#include <cassert>

namespace troupe::internal::handles {

// -- who was offered it

/// Looks for a way to the exporter that the offer names.
void ledger::seek_adoption(reference what) {
  const auto& which = at(what);
  assert(which.state == entry_state::remote && which.offer && which.adopting == 0);
  if (which.offer->exporter == options_.self) {
    (void)come_home(what);
    return;
  }
  if (auto* over = up_link_to(which.offer->exporter))
    ask_adoption(what, *over);
  else
    dial(which);
}

/// The offer names this very node: the entry becomes its own, if its source has vouched for that.
bool ledger::come_home(reference what) {
  auto offer = *at(what).offer;
  for (auto& [number, link] : links_) {
    auto record = link.exports.find(offer.name);
    if (record == link.exports.end() || resolve(record->second.what) == what)
      continue;
    auto gone = std::erase_if(record->second.vouchers, [&](const voucher& each) {
      return each.beneficiary == options_.self && each.token == offer.token;
    });
    auto own = record->second.what;
    if (gone == 0 || (at(what).dependents > 0 && at(resolve(own)).state != entry_state::here))
      continue;
    ++at(own).references;
    move_to(what, own);
    return true;
  }
  return false;
}

void ledger::ask_adoption(reference what, link_record& over) {
  if (over.adoptions >= options_.adoptions_max)
    return; // It stays behind its source.
  auto& which = at(what);
  auto request = ask(over, {open_request::kind::adopt, what, {}, which.offer->token, now_ + options_.adopt_patience});
  which.adopting = over.number;
  send(over.number, adopt{request, which.offer->name, which.offer->token});
}

/// There was no answer, or none that helps: the entry stays behind its source, if that is still there, unless there is
/// another offer, or another way. `refused_token` is 0 when the offer is still good.
void ledger::end_adoption(reference what, std::uint64_t refused_token) {
  auto& which = at(what);
  which.adopting = 0;
  if (which.offer && which.offer->token == refused_token)
    which.offer.reset();
  if (which.offer)
    seek_adoption(what);
  touch(what);
}

/// Asks for a link to whom the offer names: few at a time, since it is a peer who says where.
void ledger::dial(const entry& which) {
  auto source = links_.find(which.link);
  if (source == links_.end() || source->second.phase != link_phase::up)
    return;
  auto& dialed = source->second.dialed;
  if (dialed.size() < options_.dials_max
      && dialed.try_emplace(which.offer->exporter, now_ + options_.adopt_patience).second)
    want(connect_to{which.offer->exporter});
}

void ledger::on(link_record& from, const adopted& what) {
  auto asked = answers(from, what.request, open_request::kind::adopt);
  if (asked == question::never_asked)
    return violated(from.number, "answered a question that was not asked");
  auto imported = import_one(from, what.handle);
  if (!imported)
    return violated(from.number, "sent a handle that it could not send");
  if (asked == question::given_up)
    return unrefer(*imported);
  auto [kind, about, name, token, deadline] = close(from, what.request);
  auto* which = find(about);
  if (which == nullptr || which->adopting != from.number)
    return unrefer(*imported); // Not wanted any more.
  auto target = resolve(*imported);
  const auto& onto = at(target);
  bool has_bytes =
      onto.state == entry_state::here || (onto.state == entry_state::remote && onto.mode == handle_mode::mine);
  // While others are behind this entry, it must not get behind something that may be behind them.
  if (target != about && (has_bytes || which->dependents == 0) && onto.state != entry_state::lost) {
    which->adopting = 0;
    return move_to(about, *imported);
  }
  unrefer(*imported);
  end_adoption(about, token);
}

// -- who has it

/// The oldest goes when there are too many: most likely it was used by nobody.
void ledger::add_voucher(export_record& to, const voucher& which) {
  if (to.vouchers.size() >= options_.vouchers_max)
    to.vouchers.erase(to.vouchers.begin());
  to.vouchers.push_back(which);
}

/// The voucher is used up; its beneficiary gets an export of its own.
void ledger::redeem(link_record& to, request_number request, export_record& from, const voucher& which) {
  std::erase(from.vouchers, which);
  if (auto handle = export_now(to, from.what))
    send(to.number, adopted{request, *std::move(handle)});
  else
    send(to.number, refused{request, handle.error()});
}

void ledger::on(link_record& from, const vouch& what) {
  auto record = from.exports.find(what.name);
  if (record == from.exports.end())
    return violated(from.number, "vouched for what it was never given");
  voucher made{what.beneficiary, what.token};
  for (auto& [number, link] : links_) {
    if (link.phase != link_phase::up || link.peer != what.beneficiary)
      continue;
    auto early = std::ranges::find_if(
        link.parked, [&](const parked_adopt& each) { return each.name == what.name && each.token == what.token; });
    if (early == link.parked.end())
      continue;
    auto request = early->request;
    link.parked.erase(early);
    return redeem(link, request, record->second, made);
  }
  add_voucher(record->second, made);
  if (what.beneficiary != options_.self)
    return;
  for (std::uint32_t index = 0; index < entries_.size(); ++index) {
    const auto& each = entries_[index];
    if (each.state == entry_state::remote && each.offer == adoption_offer{options_.self, what.name, what.token}
        && come_home({index, each.generation}))
      return;
  }
}

void ledger::on(link_record& from, const adopt& what) {
  if (!may_ask(from, what.request))
    return;
  voucher wanted{from.peer, what.token};
  for (auto& [number, link] : links_) {
    auto record = link.exports.find(what.name);
    if (record == link.exports.end())
      continue;
    const auto& vouchers = record->second.vouchers;
    if (std::ranges::find(vouchers, wanted) != vouchers.end())
      return redeem(from, what.request, record->second, wanted);
  }
  if (from.parked.size() >= options_.parked_max)
    return send(from.number, refused{what.request, handle_errc::busy});
  from.parked.push_back({what.request, what.name, what.token, now_ + options_.vouch_patience});
}

} // namespace troupe::internal::handles
