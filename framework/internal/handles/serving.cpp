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
  if (!from.servings.open(what.request, what.name, is_proxy(what.name)))
    return send(from.number, refused{what.request, handle_errc::busy});
  add_waiter(resolve(record->second.what), peer_waiter{from.number, what.request});
}

void ledger::on(link_record& from, const cancel& what) {
  if (from.servings.contains(what.request))
    end_serving(from, what.request);
  else
    from.parked.take(what.request); // Or it has been answered.
}

void ledger::end_serving(link_record& to, request_number request) {
  auto ended = to.servings.close(request);
  if (ended.next != serving::step::fetching)
    return;
  auto awaited = resolve(to.exports.at(ended.name).what);
  if (auto& fetch = at(awaited).fetch) {
    fetch->waiters.erase(peer_waiter{to.number, request});
    touch(awaited);
  }
}

/// The bytes are here. What is large waits for the link's room.
void ledger::start_serving(link_record& to, request_number request, reference from) {
  if (to.shares_store) {
    (void)to.servings.close(request);
    if (auto handle = export_one(to, from, goes::in_answer))
      send(to.number, pull_here{request, *std::move(handle)});
    else
      send(to.number, refused{request, handle.error()});
    return;
  }
  to.servings.make_ready(request, at(from).place, at(from).size_bytes);
  want(bytes_wanted{to.number});
}

void ledger::cannot_serve(link_number link, request_number request, handle_errc why, bool is_disk_full) {
  assert(may_refuse(why));
  in_event([&] {
    auto* to = up_link(link);
    if (to == nullptr)
      return;
    if (to->servings.contains(request)) // Else its last bytes were those that cannot be had.
      end_serving(*to, request);
    send(link, refused{request, why, is_disk_full});
  });
}

bool ledger::send_chunk(link_number link) {
  auto* to = up_link(link);
  if (to == nullptr || !to->servings.has_ready())
    return false;
  return in_event([&] {
    auto request = to->servings.next().value();
    auto& what = to->servings.at(request);
    if (what.next == serving::step::head)
      send_head(*to, request, what);
    else
      send_bytes_of(*to, request, what);
    if (what.next == serving::step::bytes && what.offset == what.size_bytes)
      (void)to->servings.close(request);
    return true;
  });
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
