#include <troupe/store/internal/attachment/store_errors.hpp>

#include <troupe/base/sizes.hpp>

#include <algorithm>

namespace troupe::store::internal {

store_error store_errors::of(outcome what, const object_id& id) const {
  switch (what) {
  case outcome::unsealed:
    return {store_errc::unsealed, "object " + to_string(id) + " is still being written"};
  case outcome::origin_known:
    return {store_errc::unsealed, "the object of this origin is still being written"};
  case outcome::peer_gone:
    return {store_errc::peer_gone, "the peer is not attached to store \"" + name_ + "\" (any more)"};
  default:
    return {store_errc::not_found, "object " + to_string(id) + " is not in store \"" + name_ + "\""};
  }
}

store_error store_errors::of_captured(outcome what, std::span<const object_id> captured) const {
  const auto missing = std::ranges::find_if(
      captured, [&](const object_id& id) { return table_reader(view_).look_up(id) != outcome::done; });
  return of(what, missing == captured.end() ? captured.front() : *missing);
}

store_error store_errors::of_bytes(std::uint32_t index, const store_error& why) const {
  return {why.code(), "object " + to_string(id_of(index)) + " cannot be read: " + why.message()};
}

store_error too_many_captured(std::size_t count) {
  return {store_errc::invalid_argument, grouped(count) + " captured ids, limit " + grouped(captured_max)};
}

} // namespace troupe::store::internal
