// Waiting for several objects at once, outside of actors. For one object, use object_ref::get(); inside actors,
// node::fetch or resolving.hpp.
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <expected>
#include <span>
#include <utility>
#include <vector>

#include <troupe/base/export.hpp>
#include <troupe/framework/node_errc.hpp>
#include <troupe/framework/object_ref.hpp>

namespace troupe {

/// The outcome of a wait. Positions are those in the list of references, in ascending order.
struct wait_result {
  struct failure {
    std::size_t position;
    node_error reason;
  };
  std::vector<std::size_t> here; ///< The bytes are here: get() does not wait.
  /// Not here, and known to have failed: lost (`object_lost`, `object_freed`, or `link_down` if the node has ended),
  /// without room before the timeout (`store_full`, `disk_full`), or with too many references (`unsupported`). Objects
  /// that did not arrive in time are in neither list.
  std::vector<failure> failed;
};

namespace internal {

/// Fetches all objects at once and returns their bytes. If an object does not arrive, fails with the reason; the text
/// names its position.
[[nodiscard]] TROUPE_EXPORT std::expected<std::vector<frame>, node_error>
bytes_of_all(std::span<const object_state_ptr> states, std::chrono::milliseconds timeout);
/// Adds "object 2 of 5" to the text of `error`, unless `count` is 1.
[[nodiscard]] TROUPE_EXPORT node_error of_position(const node_error& error, std::size_t position, std::size_t count);

template <class Ref>
[[nodiscard]] std::vector<object_state_ptr> states_of(std::span<const Ref> refs) {
  std::vector<object_state_ptr> states;
  states.reserve(refs.size());
  for (const auto& ref : refs)
    states.push_back(state_of(ref));
  return states;
}

[[nodiscard]] TROUPE_EXPORT std::expected<wait_result, node_error>
wait_for(std::span<const object_state_ptr> states, std::size_t how_many, std::chrono::milliseconds timeout);

} // namespace internal

/// Returns the values of all references, in their order. Fetches all of them at once. The timeout, in milliseconds, is
/// for all together and otherwise means the same as in object_ref::get(). If one fails, the fetches of the others are
/// cancelled.
/// Fails as object_ref::get() does; the text names the position.
/// Threads: with a timeout of 0 any thread, otherwise only threads that belong neither to the actor system nor to a
/// node.
template <class T>
[[nodiscard]] std::expected<std::vector<T>, node_error>
get_all(std::span<const object_ref<T>> refs, std::chrono::milliseconds timeout = std::chrono::milliseconds(0)) {
  auto bytes = internal::bytes_of_all(internal::states_of(refs), timeout);
  if (!bytes)
    return std::unexpected{std::move(bytes).error()};
  std::vector<T> values;
  values.reserve(refs.size());
  for (std::size_t i = 0; i < refs.size(); ++i) {
    auto value = internal::value_of<T>(*internal::state_of(refs[i]), (*bytes)[i]);
    if (!value)
      return std::unexpected{internal::of_position(value.error(), i, refs.size())};
    values.push_back(*std::move(value));
  }
  return values;
}
template <class T>
[[nodiscard]] std::expected<std::vector<T>, node_error>
get_all(const std::vector<object_ref<T>>& refs, std::chrono::milliseconds timeout = std::chrono::milliseconds(0)) {
  return get_all(std::span<const object_ref<T>>(refs), timeout);
}

/// Fetches all objects at once. Returns when the bytes of `how_many` objects are on this host, when that number can no
/// longer be reached, or at the timeout. The result lists every object that is here by then, possibly more than
/// `how_many`. The other fetches are cancelled. If enough objects are here already, nothing is fetched. References of
/// several types go into a `std::vector<any_object_ref>`.
/// The call itself fails only with `unsupported`: the timeout is not 0, and the thread belongs to the actor system or a
/// node. With a timeout of 0 it fetches nothing.
/// Threads: as for get_all().
template <std::derived_from<any_object_ref> Ref>
[[nodiscard]] std::expected<wait_result, node_error>
wait(std::span<const Ref> refs, std::size_t how_many,
     std::chrono::milliseconds timeout = std::chrono::milliseconds(0)) {
  return internal::wait_for(internal::states_of(refs), how_many, timeout);
}
template <std::derived_from<any_object_ref> Ref>
[[nodiscard]] std::expected<wait_result, node_error>
wait(const std::vector<Ref>& refs, std::size_t how_many,
     std::chrono::milliseconds timeout = std::chrono::milliseconds(0)) {
  return wait(std::span<const Ref>(refs), how_many, timeout);
}

} // namespace troupe
