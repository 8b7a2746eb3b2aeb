// Giving bytes to peers that pull them.
#include <troupe/framework/internal/handles/ledger.hpp>

#include <algorithm>
#include <cassert>

namespace troupe::internal::handles {

void ledger::on(link_record& from, const pull& what) {
  if (!may_ask(from, what.request))
    return;
  auto record = from.exports.find(what.name);
  if (record == from.exports.end())
    return send(from.number, refused{what.request, handle_errc::unknown});
  bool is_behind = is_proxy(what.name);
  if ((is_behind ? from.servings_behind : from.servings.size() - from.servings_behind) >= options_.servings_max)
    return send(from.number, refused{what.request, handle_errc::busy});
  from.servings.try_emplace(what.request, serving{.name = what.name});
  record->second.servings.insert(what.request);
  from.servings_behind += is_behind;
  add_waiter(resolve(record->second.what), peer_waiter{from.number, what.request});
}

void ledger::on(link_record& from, const cancel& what) {
  if (from.servings.contains(what.request))
    end_serving(from, what.request);
  else
    (void)unpark(from, what.request); // Or it has been answered.
}

void ledger::end_serving(link_record& to, request_number request) {
  auto ended = close_serving(to, request);
  if (ended.next != serving::step::fetching)
    return;
  auto awaited = resolve(to.exports.at(ended.name).what);
  if (auto& fetch = at(awaited).fetch) {
    fetch->waiters.erase(peer_waiter{to.number, request});
    touch(awaited);
  }
}

serving ledger::close_serving(link_record& to, request_number request) {
  auto closed = to.servings.extract(request).mapped();
  to.exports.at(closed.name).servings.erase(request);
  to.ready.erase(request);
  to.servings_behind -= is_proxy(closed.name);
  return closed;
}

/// The bytes are here. What is large waits for the link's room.
void ledger::start_serving(link_record& to, request_number request, reference from) {
  if (to.shares_store) {
    (void)close_serving(to, request);
    if (auto handle = export_one(to, from, goes::in_answer))
      send(to.number, pull_here{request, *std::move(handle)});
    else
      send(to.number, refused{request, handle.error()});
    return;
  }
  auto& what = to.servings.at(request);
  what.place = at(from).place;
  what.size_bytes = at(from).size_bytes;
  what.next = serving::step::head;
  to.ready.insert(request);
  want(bytes_wanted{to.number});
}

void ledger::cannot_serve(link_number link, request_number request, handle_errc why, bool is_disk_full) {
  assert(may_refuse(why));
  const event now{*this};
  if (auto* to = up_link(link); to != nullptr && to->servings.contains(request)) {
    end_serving(*to, request);
    send(link, refused{request, why, is_disk_full});
  } else if (to != nullptr) {
    send(link, refused{request, why, is_disk_full}); // Its last bytes were those that cannot be had.
  }
}

/// By turns, so that a large object does not hold up a small one.
bool ledger::send_chunk(link_number link) {
  auto* to = up_link(link);
  if (to == nullptr || to->ready.empty())
    return false;
  const event now{*this};
  auto turn = to->ready.upper_bound(to->last_served);
  to->last_served = turn != to->ready.end() ? *turn : *to->ready.begin();
  auto& what = to->servings.at(to->last_served);
  if (what.next == serving::step::head)
    send_head(*to, to->last_served, what);
  else
    send_bytes_of(*to, to->last_served, what);
  if (what.next == serving::step::bytes && what.offset == what.size_bytes)
    (void)close_serving(*to, to->last_served);
  return true;
}

void ledger::send_head(link_record& to, request_number request, serving& what) {
  pull_head head{request, what.size_bytes, {}};
  for (const auto& place : objects_.captured_by(what.place)) {
    auto inner = refer_to(place);
    if (auto handle = export_one(to, inner, goes::in_answer)) // Cannot fail: no store is shared.
      head.captured.push_back(*std::move(handle));
    unrefer(inner);
  }
  send(to.number, std::move(head));
  what.next = serving::step::bytes;
}

void ledger::send_bytes_of(link_record& to, request_number request, serving& what) {
  auto size_bytes = std::min(options_.chunk_bytes_max, what.size_bytes - what.offset);
  want(send_bytes{to.number, {request, what.offset, size_bytes}, what.place});
  what.offset += size_bytes;
}

} // namespace troupe::internal::handles
