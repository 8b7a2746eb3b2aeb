// Waiting for objects from outside actors: several at a time. Of one: object_ref::get(). Inside actors: node::fetch and
// resolving.hpp.
#pragma once

#include <chrono>
#include <cstddef>
#include <expected>
#include <span>
#include <utility>
#include <vector>

#include <troupe/base/export.hpp>
#include <troupe/framework/node_errc.hpp>
#include <troupe/framework/object_ref.hpp>

namespace troupe {

/// What a wait has come to; positions in the order in which the references were given, lowest first.
struct wait_result {
  struct failure {
    std::size_t position;
    node_error reason;
  };
  std::vector<std::size_t> here; ///< get() of these does not wait any more.
  std::vector<failure> failed; ///< These will not come, `object_lost` or `link_down` (the node has ended), or found no
                               ///< room in time, `store_full` or `disk_full`.
};

namespace internal {

/// The bytes of all, or why one of them is not here, with its position; all are fetched at the same time.
[[nodiscard]] TROUPE_EXPORT std::expected<std::vector<frame>, node_error>
bytes_of_all(std::span<const object_state_ptr> states, std::chrono::milliseconds timeout);
/// The same error, saying which of how many.
[[nodiscard]] TROUPE_EXPORT node_error of_position(const node_error& error, std::size_t position, std::size_t count);

template <class T>
[[nodiscard]] std::vector<object_state_ptr> states_of(std::span<const object_ref<T>> refs) {
  std::vector<object_state_ptr> states;
  states.reserve(refs.size());
  for (const auto& ref : refs)
    states.push_back(ref.state());
  return states;
}

} // namespace internal

/// The values of all references, in their order, as object_ref::get() gives each; all are fetched at the same time, and
/// the time is for all of them. When one fails the fetches of the others are cancelled.
/// Fails as object_ref::get() does; the text says which of them.
/// Threads: any that get() may wait in.
template <class T>
[[nodiscard]] std::expected<std::vector<T>, node_error>
get_all(std::span<const object_ref<T>> refs, std::chrono::milliseconds timeout = std::chrono::milliseconds(0)) {
  auto bytes = internal::bytes_of_all(internal::states_of(refs), timeout);
  if (!bytes)
    return std::unexpected{std::move(bytes).error()};
  std::vector<T> values;
  values.reserve(refs.size());
  for (std::size_t i = 0; i < refs.size(); ++i) {
    auto value = internal::value_of<T>(*refs[i].state(), (*bytes)[i]);
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

/// Fetches all at the same time and returns when the bytes of `how_many` are on this host, when so many cannot come any
/// more, or when the time is over. What is here by then counts, be it more; what is not is not fetched any longer.
/// Nothing is fetched where enough are here already. References of several types: `ref.state()` of each.
/// Fails with `unsupported` where it would have to wait in an actor's handler; with a timeout of 0 it never does.
/// Threads: any that get() may wait in.
[[nodiscard]] TROUPE_EXPORT std::expected<wait_result, node_error>
wait(std::span<const internal::object_state_ptr> states, std::size_t how_many,
     std::chrono::milliseconds timeout = std::chrono::milliseconds(0));
template <class T>
[[nodiscard]] std::expected<wait_result, node_error>
wait(std::span<const object_ref<T>> refs, std::size_t how_many,
     std::chrono::milliseconds timeout = std::chrono::milliseconds(0)) {
  return wait(std::span<const internal::object_state_ptr>(internal::states_of(refs)), how_many, timeout);
}
template <class T>
[[nodiscard]] std::expected<wait_result, node_error>
wait(const std::vector<object_ref<T>>& refs, std::size_t how_many,
     std::chrono::milliseconds timeout = std::chrono::milliseconds(0)) {
  return wait(std::span<const object_ref<T>>(refs), how_many, timeout);
}

} // namespace troupe
