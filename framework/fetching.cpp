#include <troupe/framework/fetching.hpp>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <troupe/base/longest_wait.hpp>
#include <troupe/base/sizes.hpp>
#include <troupe/framework/internal/caf_port/caf_threads.hpp>
#include <troupe/framework/internal/objects/bell.hpp>
#include <troupe/framework/internal/objects/running_fetch.hpp>
#include <troupe/framework/internal/objects/stored_object.hpp>

namespace troupe {

namespace internal {

namespace {

using fetch_outcome = running_fetch::outcome;
using outcomes = std::vector<std::optional<fetch_outcome>>; // nullopt: not answered.

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

node_error too_late(const object_state& state, std::chrono::milliseconds timeout) {
  return {node_errc::fetch_timed_out, "the object's " + grouped(state.source->size_bytes())
                                          + " bytes did not arrive within "
                                          + grouped(static_cast<std::uint64_t>(timeout.count())) + " ms"};
}

// Nothing tells when room for an object on disk becomes free, so waiting calls check this often.
constexpr std::chrono::milliseconds room_check_pause{50};

// How much longer than the timeout a call waits for the sources to report why nothing arrived in time.
constexpr std::chrono::milliseconds last_words{100};

/// What a call that gathers objects knows about each of them.
struct gathering {
  outcomes found;
  outcomes on_disk; // For objects in the store's files: why the last attempt to restore them failed.

  explicit gathering(std::size_t count) : found(count), on_disk(count) {}
};

std::chrono::steady_clock::time_point deadline_after(std::chrono::milliseconds timeout) {
  return std::chrono::steady_clock::now() + bounded_wait(timeout);
}

/// When a call that gathers objects ends.
struct aim {
  std::chrono::milliseconds timeout;
  bool is_all = false; // All objects are wanted: the first failure ends the call.
  is_enough enough;
};

/// Notes which objects are here or lost. Does not wait for room. Once the time is over, leaves objects on disk alone.
/// With a timeout of 0, tries each of them once.
void look(std::span<const object_state_ptr> states, gathering& all, const aim& what,
          std::chrono::steady_clock::time_point until) {
  const auto has_time = [&] { return what.timeout.count() <= 0 || std::chrono::steady_clock::now() < until; };
  for (std::size_t i = 0; i < states.size(); ++i) {
    if (all.found[i])
      continue;
    const auto* const settled = states[i] ? as_settled(*states[i]->source) : nullptr;
    if (settled != nullptr && settled->stored().is_on_disk() && !has_time()) {
      if (!all.on_disk[i])
        all.on_disk[i] = std::unexpected{too_late(*states[i], what.timeout)};
    } else if (settled != nullptr) {
      auto bytes = settled->bytes(std::chrono::milliseconds{0});
      const auto is_final = bytes || !may_change(bytes.error());
      (is_final ? all.found : all.on_disk)[i] = std::move(bytes);
      if (!is_final && what.is_all && what.timeout.count() <= 0)
        return;
    } else if (!states[i]) {
      all.found[i] = bytes_here(states[i]);
    } else if (auto bytes = states[i]->source->here_at_once()) {
      all.found[i] = *std::move(bytes);
    } else if (auto loss = states[i]->source->why_lost()) {
      all.found[i] = std::unexpected{*std::move(loss)};
    }
  }
}

/// Ends the gathering. Objects that could not be restored from disk count as failed.
outcomes ended(gathering&& all) {
  for (std::size_t i = 0; i < all.found.size(); ++i)
    if (!all.found[i])
      all.found[i] = std::move(all.on_disk[i]);
  return std::move(all.found);
}

/// Refuses a timeout on a thread that must not wait, even if the bytes happen to be here. Otherwise a program that
/// worked on one host would fail as soon as its bytes came from another one.
std::expected<void, node_error> check_may_wait(std::chrono::milliseconds timeout) {
  if (timeout.count() <= 0 || may_block())
    return {};
  return std::unexpected{
      node_error{node_errc::unsupported,
                 "a call with a timeout may wait, which would block a thread of the actor system or of the node; use "
                 "get() for bytes on this host, node.fetch(self, ref), or make the actor's behavior with "
                 "troupe::resolving"}};
}

/// Fetches the objects that are not here, until there are enough.
std::expected<outcomes, node_error> gather(std::span<const object_state_ptr> states, const aim& what) {
  if (auto may = check_may_wait(what.timeout); !may)
    return std::unexpected{std::move(may).error()};
  const auto until = deadline_after(what.timeout);
  gathering all{states.size()};
  look(states, all, what, until);
  if (what.enough(count(all.found)) || what.timeout.count() <= 0)
    return ended(std::move(all));
  auto rung = std::make_shared<bell>();
  std::vector<std::shared_ptr<running_fetch>> fetches(states.size());
  for (std::size_t i = 0; i < states.size(); ++i)
    if (!all.found[i] && !all.on_disk[i])
      fetches[i] = running_fetch::start(states[i], what.timeout, [rung] { rung->ring(); });
  const auto looks = std::ranges::any_of(all.on_disk, [](const auto& each) { return each.has_value(); });
  const auto collect = [&] {
    for (std::size_t i = 0; i < states.size(); ++i)
      if (fetches[i] && !all.found[i])
        if (const auto* answer = fetches[i]->answer())
          all.found[i] = *answer;
    return what.enough(count(all.found));
  };
  while (!collect()) {
    const auto now = std::chrono::steady_clock::now();
    if (now >= until)
      break;
    rung->wait_until(looks ? std::min(until, now + room_check_pause) : until);
    if (looks)
      look(states, all, what, until);
  }
  // Fetches whose time is over are about to report what they waited for.
  const auto is_told = [&](const auto& each) { return !each || each->answer() != nullptr; };
  const auto latest = std::chrono::steady_clock::now() + last_words;
  while (!collect() && std::chrono::steady_clock::now() < latest && !std::ranges::all_of(fetches, is_told))
    rung->wait_until(latest);
  for (std::size_t i = 0; i < states.size(); ++i)
    if (!all.found[i] && fetches[i])
      fetches[i]->give_up();
  return ended(std::move(all));
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
  auto gathered = gather(states, {.timeout = timeout, .is_all = true, .enough = [&](tally now) {
                                    return now.failed > 0 || now.here == states.size();
                                  }});
  if (!gathered)
    return std::unexpected{std::move(gathered).error()};
  // Report a failure rather than a fetch that was given up because of it.
  for (std::size_t i = 0; i < states.size(); ++i)
    if ((*gathered)[i] && !*(*gathered)[i])
      return std::unexpected{of_position((*gathered)[i]->error(), i, states.size())};
  std::vector<frame> result;
  result.reserve(states.size());
  for (std::size_t i = 0; i < states.size(); ++i) {
    auto& one = (*gathered)[i];
    if (!one && timeout.count() > 0)
      return std::unexpected{of_position(too_late(*states[i], timeout), i, states.size())};
    if (!one)
      one = bytes_here(states[i]); // The bytes may have come since the last look.
    if (!*one)
      return std::unexpected{of_position(one->error(), i, states.size())};
    result.push_back(**std::move(one));
  }
  return result;
}

std::expected<frame, node_error> bytes_within(const object_state_ptr& state, std::chrono::milliseconds timeout) {
  if (auto may = check_may_wait(timeout); !may)
    return std::unexpected{std::move(may).error()};
  if (state)
    if (auto bytes = state->source->here_at_once())
      return *std::move(bytes);
  auto bytes = bytes_of_all({&state, 1}, timeout);
  if (!bytes)
    return std::unexpected{std::move(bytes).error()};
  return std::move(bytes->front());
}

std::expected<wait_result, node_error> wait_for(std::span<const object_state_ptr> states, std::size_t how_many,
                                                std::chrono::milliseconds timeout) {
  auto gathered = gather(states, {.timeout = timeout, .enough = [&](tally now) {
                                    return now.here >= how_many || now.here + now.failed == states.size()
                                           || states.size() - now.failed < how_many;
                                  }});
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

} // namespace internal

} // namespace troupe
