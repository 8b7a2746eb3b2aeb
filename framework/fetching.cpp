#include <troupe/framework/fetching.hpp>

#include <algorithm>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include <troupe/framework/base/sizes.hpp>
#include <troupe/framework/internal/caf_port/caf_threads.hpp>
#include <troupe/framework/internal/running_fetch.hpp>

namespace troupe {

namespace internal {

namespace {

using outcome = running_fetch::outcome;
using outcomes = std::vector<std::optional<outcome>>; // nullopt: not answered.

struct tally {
  std::size_t here = 0;
  std::size_t failed = 0;
};
using is_enough = std::function<bool(tally)>;

tally count(const outcomes& all) {
  tally result;
  for (const auto& one : all)
    if (one)
      ++(*one ? result.here : result.failed);
  return result;
}

/// Whom the fetches of one call wake.
struct bell {
  std::mutex mutex;
  std::condition_variable changed;
  bool has_changed = false; // Guarded by mutex.

  void ring() {
    std::lock_guard guard{mutex};
    has_changed = true;
    changed.notify_one();
  }
  /// False when the time is over.
  bool wait_until(std::chrono::steady_clock::time_point until) {
    std::unique_lock guard{mutex};
    const auto in_time = changed.wait_until(guard, until, [this] { return has_changed; });
    has_changed = false;
    return in_time;
  }
};

node_error too_late(const object_state& state, std::chrono::milliseconds timeout) {
  return {node_errc::fetch_timed_out, "the object's " + grouped(state.source->size_bytes())
                                          + " bytes did not come within "
                                          + grouped(static_cast<std::uint64_t>(timeout.count())) + " ms"};
}

outcomes what_is_here(std::span<const object_state_ptr> states) {
  outcomes result;
  result.reserve(states.size());
  for (const auto& state : states) {
    if (!state)
      result.emplace_back(bytes_here(state));
    else if (auto bytes = state->source->here())
      result.emplace_back(*std::move(bytes));
    else
      result.emplace_back();
  }
  return result;
}

std::chrono::steady_clock::time_point deadline_after(std::chrono::milliseconds timeout) {
  constexpr std::chrono::hours longest{24 * 365 * 100}; // Condition variables reckon in other clocks, too.
  return std::chrono::steady_clock::now() + std::min<std::chrono::milliseconds>(timeout, longest);
}

/// Has those brought here that are not, until there are enough.
std::expected<outcomes, node_error> gather(std::span<const object_state_ptr> states, std::chrono::milliseconds timeout,
                                           const is_enough& enough) {
  auto result = what_is_here(states);
  if (enough(count(result)) || timeout.count() <= 0)
    return result;
  if (!may_block())
    return std::unexpected{node_error{node_errc::unsupported,
                                      "an actor's handler must not wait for objects that are not here, nor may "
                                      "anything else on the actor system's or the node's threads; use "
                                      "node.fetch(self, ref), or make the actor's behavior with troupe::resolving"}};
  const auto until = deadline_after(timeout);
  auto rung = std::make_shared<bell>();
  std::vector<std::shared_ptr<running_fetch>> fetches(states.size());
  for (std::size_t i = 0; i < states.size(); ++i)
    if (!result[i])
      fetches[i] = running_fetch::start(states[i], timeout, [rung] { rung->ring(); });
  const auto collect = [&] {
    for (std::size_t i = 0; i < states.size(); ++i)
      if (fetches[i] && !result[i])
        if (const auto* answer = fetches[i]->answer())
          result[i] = *answer;
    return enough(count(result));
  };
  while (!collect() && rung->wait_until(until))
    continue;
  collect();
  for (std::size_t i = 0; i < states.size(); ++i)
    if (!result[i])
      fetches[i]->give_up();
  return result;
}

} // namespace

node_error of_position(const node_error& error, std::size_t position, std::size_t count) {
  if (count == 1)
    return error;
  return {error.code(),
          "object " + std::to_string(position + 1) + " of " + std::to_string(count) + ": " + error.message()};
}

std::expected<std::vector<frame>, node_error> bytes_of_all(std::span<const object_state_ptr> states,
                                                           std::chrono::milliseconds timeout) {
  auto gathered = gather(states, timeout, [&](tally now) { return now.failed > 0 || now.here == states.size(); });
  if (!gathered)
    return std::unexpected{std::move(gathered).error()};
  // What has failed goes before what the others were given up for.
  for (std::size_t i = 0; i < states.size(); ++i)
    if ((*gathered)[i] && !*(*gathered)[i])
      return std::unexpected{of_position((*gathered)[i]->error(), i, states.size())};
  std::vector<frame> result;
  result.reserve(states.size());
  for (std::size_t i = 0; i < states.size(); ++i) {
    if (!(*gathered)[i]) {
      auto missing = timeout.count() > 0 ? too_late(*states[i], timeout) : bytes_here(states[i]).error();
      return std::unexpected{of_position(missing, i, states.size())};
    }
    result.push_back(**std::move((*gathered)[i]));
  }
  return result;
}

std::expected<frame, node_error> bytes_within(const object_state_ptr& state, std::chrono::milliseconds timeout) {
  if (state)
    if (auto bytes = state->source->here())
      return *std::move(bytes);
  auto bytes = bytes_of_all({&state, 1}, timeout);
  if (!bytes)
    return std::unexpected{std::move(bytes).error()};
  return std::move(bytes->front());
}

} // namespace internal

std::expected<wait_result, node_error> wait(std::span<const internal::object_state_ptr> states, std::size_t how_many,
                                            std::chrono::milliseconds timeout) {
  auto gathered = internal::gather(states, timeout, [&](internal::tally now) {
    return now.here >= how_many || now.here + now.failed == states.size() || states.size() - now.failed < how_many;
  });
  if (!gathered)
    return std::unexpected{std::move(gathered).error()};
  wait_result result;
  for (std::size_t i = 0; i < states.size(); ++i) {
    const auto& one = (*gathered)[i];
    if (one && *one)
      result.here.push_back(i);
    else if (one && one->error().code() != node_errc::fetch_timed_out)
      result.failed.push_back({i, one->error()});
  }
  return result;
}

} // namespace troupe
