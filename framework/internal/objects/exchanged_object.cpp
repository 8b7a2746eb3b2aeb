#include <troupe/framework/internal/objects/exchanged_object.hpp>

#include <troupe/framework/internal/objects/object_exchange.hpp>
#include <troupe/framework/internal/objects/unfinished_object.hpp>

namespace troupe::internal {

exchanged_object::~exchanged_object() {
  of_->drop(what_);
}

std::optional<node_error> exchanged_object::why_lost() const {
  return of_->why_lost(what_, size_bytes_);
}

store::handle exchanged_object::stored() const {
  return of_->stored(what_);
}

std::optional<frame> exchanged_object::mapped(const std::optional<std::chrono::milliseconds>& within) const {
  if (auto known = view_.known())
    return known;
  auto found = view_.of(stored(), within); // Fails if the handle is empty.
  return found ? std::optional{*std::move(found)} : std::nullopt;
}

object_source::fetch_id exchanged_object::fetch(std::chrono::steady_clock::time_point until, answer then) {
  if (auto known = view_.known()) {
    then(*std::move(known));
    return 0;
  }
  return of_->fetch(what_, size_bytes_, until, std::move(then));
}

void exchanged_object::cancel(fetch_id which) {
  of_->cancel(which);
}

std::shared_ptr<exchanged_object> counted_object_of(const object_source_ptr& source) {
  switch (source->kind()) {
  case source_kind::exchanged:
    return std::static_pointer_cast<exchanged_object>(source);
  case source_kind::unfinished:
    return static_cast<const unfinished_object&>(*source).counted();
  default:
    return nullptr;
  }
}

} // namespace troupe::internal
