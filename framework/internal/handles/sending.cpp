#include <troupe/framework/internal/handles/sending.hpp>

#include <cassert>

namespace troupe::internal::handles {

std::expected<handle_descriptor, handle_errc> sending::export_one(link_record& to, reference what, goes how) {
  what = entries_.resolve(what);
  auto& which = entries_.at(what);
  handle_descriptor handle{.size_bytes = which.size_bytes};
  switch (which.state) {
  case entry_state::here:
    if (to.shares_store && how == goes::in_message) { // It is handed over when it is pulled.
      handle.name = proxy_name(what);
      handle.mode = handle_mode::behind;
    } else if (!describe_here(to, which, handle)) {
      return std::unexpected{handle_errc::busy};
    }
    break;
  case entry_state::remote:
    if (which.link == to.number) {
      handle.name = which.name;
      handle.mode = handle_mode::yours;
      return handle;
    }
    describe_behind(to, what, how, handle);
    break;
  case entry_state::lost:
    return std::unexpected{handle_errc::object_lost};
  case entry_state::free:
  case entry_state::moved:
    assert(!"resolve() gives neither");
    return std::unexpected{handle_errc::unknown};
  }
  if (!(to.shares_store && is_at_home(which)))
    handle.home = which.home;
  exports_.count(to, handle.name, what);
  return handle;
}

bool sending::describe_here(const link_record& to, entry& which, handle_descriptor& handle) {
  handle.name = which.place;
  handle.mode = to.shares_store ? handle_mode::shared : handle_mode::mine;
  if (to.shares_store)
    return objects_.hand_over(which.place, to.number);
  if (!which.home)
    which.home = objects_.home_of(which.place);
  return true;
}

void sending::describe_behind(const link_record& to, reference what, goes how, handle_descriptor& handle) {
  auto& which = entries_.at(what);
  handle.name = proxy_name(what);
  handle.mode = handle_mode::behind;
  if (how == goes::in_message) // An answer does not travel on.
    marks_.leave(what, which.trail, handle);
  if (const auto* source = links_.up(which.link)) {
    handle.offer = adoption_offer{source->peer, which.name, options_.fresh_token()};
    actions_.send(source->number, vouch{which.name, to.peer, handle.offer->token});
  }
}

/// Whether its home is this node's store.
bool sending::is_at_home(const entry& which) {
  return which.home && which.state == entry_state::here && which.home->name == which.place;
}

} // namespace troupe::internal::handles
