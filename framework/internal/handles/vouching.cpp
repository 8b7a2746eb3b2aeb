#include <troupe/framework/internal/handles/vouching.hpp>

namespace troupe::internal::handles {

vouching::vouching(books& of, entry_changes& whole, answer_exports& out)
    : options_(of.options),
      clock_(of.clock),
      actions_(of.actions),
      entries_(of.entries),
      links_(of.links),
      whole_(whole),
      out_(out),
      vouchers_({of.options.vouchers_max, of.options.link_vouchers_max}) {}

std::expected<bool, violation> vouching::on_vouch(link_record& from, const vouch& what) {
  if (!from.exports.contains(what.name))
    return std::unexpected{"vouched for what it was never given"};
  const voucher made{what.name, what.beneficiary, what.token, from.number};
  if (vouchers_.contains(made)) // Its beneficiary has already looked for it.
    return false;
  vouchers_.add(made);
  for (auto number : links_.to(what.beneficiary)) {
    auto& link = links_.at(number);
    const auto early = link.parked.find(what.name, what.token);
    if (!early)
      continue;
    link.parked.take(*early);
    redeem(link, *early, made);
    return false;
  }
  return true;
}

void vouching::on_adopt(link_record& from, const adopt& what) {
  if (auto known = vouchers_.find(what.name, from.peer, what.token))
    redeem(from, what.request, *known);
  else if (!from.parked.park(what, clock_.now() + options_.vouch_patience))
    actions_.send(from.number, refused{what.request, handle_errc::busy});
}

void vouching::refuse_parked(link_number from, request_number request) {
  links_.at(from).parked.take(request);
  actions_.send(from, refused{request, handle_errc::unknown});
}

/// The beneficiary gets an export of its own, and the voucher is used up.
void vouching::redeem(link_record& to, request_number request, const voucher& which) {
  auto handle = out_.export_in_answer(to, links_.at(which.link).exports.at(which.name).what);
  if (!handle)
    return actions_.send(to.number, refused{request, handle.error()});
  vouchers_.drop(which);
  actions_.send(to.number, adopted{request, *std::move(handle)});
}

bool vouching::come_home(reference what, const adoption_offer& offer) {
  const auto& self = options_.self;
  for (auto known = vouchers_.find(offer.name, self, offer.token); known;
       known = vouchers_.find(offer.name, self, offer.token, known->link)) {
    const auto own = links_.at(known->link).exports.at(offer.name).what;
    const auto& onto = entries_.at(entries_.resolve(own));
    const auto& which = entries_.at(what);
    if (onto.state == entry_state::lost || &onto == &which || onto.size_bytes != which.size_bytes
        || (which.dependents > 0 && onto.state != entry_state::here))
      continue;
    vouchers_.drop(*known);
    entries_.refer(own);
    whole_.move_to(what, own);
    return true;
  }
  return false;
}

} // namespace troupe::internal::handles
