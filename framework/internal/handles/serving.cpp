#include <troupe/framework/internal/handles/serving.hpp>

#include <algorithm>
#include <cassert>

namespace troupe::internal::handles {

serving::serving(books& of, shared_fetches& bytes, answer_exports& out)
    : options_(of.options),
      objects_(of.objects),
      actions_(of.actions),
      entries_(of.entries),
      links_(of.links),
      fetches_(bytes),
      out_(out) {}

void serving::on_pull(link_record& from, const pull& what, bool is_behind) {
  const auto record = from.exports.find(what.name);
  if (record == from.exports.end())
    return actions_.send(from.number, refused{what.request, handle_errc::unknown});
  if (!from.servings.open(what.request, what.name, is_behind))
    return actions_.send(from.number, refused{what.request, handle_errc::busy});
  fetches_.add_waiter(entries_.resolve(record->second.what), peer_waiter{from.number, what.request});
}

void serving::end(link_record& to, request_number request) {
  if (!to.servings.contains(request))
    return;
  const auto ended = to.servings.close(request);
  if (ended.next == served_pull::step::fetching)
    fetches_.remove_waiter(entries_.resolve(to.exports.at(ended.name).what), peer_waiter{to.number, request});
}

void serving::end_all_of(link_record& to, const object_id& name) {
  while (const auto request = to.servings.first_of(name))
    end(to, *request);
}

void serving::end_all(link_record& to) {
  while (!to.servings.empty())
    end(to, to.servings.first());
}

/// The bytes are here. Without a shared store they wait until the link can take them.
void serving::serve(const peer_waiter& who, reference what) {
  auto& to = links_.at(who.link);
  if (!to.shares_store) {
    to.servings.make_ready(who.request, entries_.at(what).place, entries_.at(what).size_bytes);
    return actions_.want(bytes_wanted{to.number});
  }
  to.servings.close(who.request);
  if (auto handle = out_.export_in_answer(to, what))
    actions_.send(to.number, pull_here{who.request, *std::move(handle)});
  else
    actions_.send(to.number, refused{who.request, handle.error()});
}

void serving::refuse(const peer_waiter& who, const fetch_error& why) {
  assert(may_refuse(why.code));
  links_.at(who.link).servings.close(who.request);
  actions_.send(who.link, refused{who.request, why.code, why.is_disk_full});
}

served_chunk serving::next_chunk(link_record& to) {
  const auto request = to.servings.next().value();
  auto& what = to.servings.at(request);
  if (what.next == served_pull::step::head)
    say_head(to, request, what);
  const auto size_bytes = std::min(options_.chunk_bytes_max, what.size_bytes - what.offset);
  const served_chunk next{{request, what.offset, size_bytes}, what.place};
  what.offset += size_bytes;
  if (what.offset == what.size_bytes)
    to.servings.close(request);
  return next;
}

void serving::say_head(link_record& to, request_number request, served_pull& what) {
  pull_head head{request, what.size_bytes, {}};
  for (const auto& place : objects_.captured_by(what.place)) {
    const auto inner = entries_.refer_to(place);
    if (auto handle = out_.export_in_answer(to, inner)) // Cannot fail: no store is shared.
      head.captured.push_back(*std::move(handle));
    entries_.unrefer(inner);
  }
  actions_.send(to.number, std::move(head));
  what.next = served_pull::step::bytes;
}

std::string_view serving::broken_invariant() const {
  std::string_view broken;
  for (const auto& [number, link] : links_.all())
    link.servings.for_each([&](request_number request, const served_pull& each) {
      const auto record = link.exports.find(each.name);
      if (record == link.exports.end()) {
        broken = "what is served is not exported";
        return;
      }
      const auto& from = entries_.at(entries_.resolve(record->second.what));
      const bool waits = from.fetch && from.fetch->waiters.contains(peer_waiter{link.number, request});
      if (waits != (each.next == served_pull::step::fetching))
        broken = "a pull that waits for nothing";
    });
  return broken;
}

} // namespace troupe::internal::handles
