// Giving bytes to peers that pull them.
#include <troupe/framework/internal/handles/ledger.hpp>

#include <algorithm>

namespace troupe::internal::handles {

void ledger::on(link_record& from, const pull& what) {
  if (!may_ask(from, what.request))
    return;
  auto record = from.exports.find(what.name);
  if (record == from.exports.end())
    return send(from.number, refused{what.request, handle_errc::unknown});
  if (from.servings.size() >= options_.servings_max)
    return send(from.number, refused{what.request, handle_errc::busy});
  from.servings.try_emplace(what.request, serving{.name = what.name});
  add_waiter(resolve(record->second.what), peer_waiter{from.number, what.request});
}

void ledger::on(link_record& from, const cancel& what) {
  if (from.servings.contains(what.request)) // Else it has been answered.
    end_serving(from, what.request);
}

void ledger::end_serving(link_record& to, request_number request) {
  auto ended = to.servings.extract(request);
  if (ended.mapped().sending)
    return;
  auto awaited = resolve(to.exports.at(ended.mapped().name).what);
  if (auto& fetch = at(awaited).fetch) {
    fetch->waiters.erase(peer_waiter{to.number, request});
    touch(awaited);
  }
}

void ledger::start_serving(link_record& to, request_number request, serving& what, reference from) {
  const auto& which = at(from);
  if (to.shares_store) {
    to.servings.erase(request);
    if (auto handle = export_now(to, from))
      send(to.number, pull_here{request, *std::move(handle)});
    else
      send(to.number, refused{request, handle.error()});
    return;
  }
  what.place = which.place;
  what.size_bytes = which.size_bytes;
  what.sending = true;
  pull_head head{request, which.size_bytes, {}};
  for (const auto& place : objects_.captured_by(which.place)) {
    auto inner = refer_to(place);
    if (auto handle = export_now(to, inner)) // Cannot fail: no store is shared.
      head.captured.push_back(*std::move(handle));
    unrefer(inner);
  }
  send(to.number, std::move(head));
  if (what.size_bytes == 0)
    to.servings.erase(request);
}

bool ledger::send_chunk(link_number link) {
  auto* to = up_link(link);
  if (to == nullptr || to->servings.empty())
    return false;
  auto next = to->servings.upper_bound(to->last_served);
  for (std::size_t tried = 0; tried < to->servings.size(); ++tried, ++next) {
    if (next == to->servings.end())
      next = to->servings.begin();
    auto& [request, what] = *next;
    if (!what.sending)
      continue;
    auto size_bytes = std::min(options_.chunk_bytes_max, what.size_bytes - what.offset);
    want(send_bytes{link, {request, what.offset, size_bytes}, what.place});
    what.offset += size_bytes;
    to->last_served = request;
    if (what.offset == what.size_bytes)
      to->servings.erase(next);
    return true;
  }
  return false;
}

} // namespace troupe::internal::handles
