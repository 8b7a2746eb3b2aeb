#include <troupe/framework/internal/handles/imports.hpp>

namespace troupe::internal::handles {

std::optional<imports::counted> imports::count(link_record& from, const handle_descriptor& handle, entry_state if_new) {
  const auto [known, fresh] = from.imports.try_emplace(handle.name);
  if (fresh) {
    known->second = entries_.make(if_new);
    auto& made = entries_.at(known->second);
    made.link = from.number;
    made.name = handle.name;
    made.mode = handle.mode;
    made.size_bytes = handle.size_bytes;
    made.home = handle.home;
    made.trail = {handle.mark, handle.hops};
  }
  auto& which = entries_.at(known->second);
  const bool is_behind = handle.mode == handle_mode::behind;
  if (which.size_bytes != handle.size_bytes || (which.mode == handle_mode::behind) != is_behind)
    return std::nullopt;
  entries_.refer(known->second);
  ++which.count;
  return counted{known->second, fresh};
}

void imports::release(reference what) {
  auto& which = entries_.at(what);
  const auto count = std::exchange(which.count, 0);
  if (count > 0 && links_.up(which.link) != nullptr)
    actions_.send(which.link, handles::release{which.name, count});
}

void imports::forget(reference what) {
  auto& which = entries_.at(what);
  if (which.link == 0)
    return;
  release(what);
  links_.at(which.link).imports.erase(which.name);
  links_.touch(which.link);
  which.link = 0;
  which.reclaiming = 0;
}

} // namespace troupe::internal::handles
