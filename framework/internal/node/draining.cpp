#include <troupe/framework/internal/node/draining.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>

#include <troupe/base/longest_wait.hpp>
#include <troupe/base/sizes.hpp>
#include <troupe/framework/internal/link/lookups.hpp>
#include <troupe/framework/internal/link/node_link.hpp>
#include <troupe/framework/internal/net/io_loop.hpp>
#include <troupe/framework/internal/node/node_core.hpp>
#include <troupe/framework/internal/words/failing.hpp>
#include <troupe/framework/link_stats.hpp>

namespace troupe::internal {

namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

// How often the links are looked at.
constexpr auto look_pause = 2ms;

// A peer that has just learned of the withdrawn names may still have sent a message.
constexpr auto quiet_min = 50ms;

/// What peers still await, and how much has come from them.
struct work {
  std::uint64_t requests = 0;
  std::uint64_t unconsumed_bytes = 0;
  std::uint64_t messages_received = 0;

  [[nodiscard]] bool is_done() const noexcept { return requests == 0 && unconsumed_bytes == 0; }
};

work work_of(const node_core& node) {
  work all;
  for (const auto& link : node.links().open()) {
    const auto stats = link->stats();
    all.requests += link->unanswered_requests();
    all.unconsumed_bytes += stats.unconsumed_bytes_here;
    all.messages_received += stats.messages_received;
  }
  return all;
}

/// Asks every peer an empty question. A peer that has answered has read everything that was sent before.
std::shared_ptr<std::atomic<std::size_t>> ask_all(const node_core& node) {
  auto open = std::make_shared<std::atomic<std::size_t>>(0);
  for (const auto& link : node.links().open()) {
    open->fetch_add(1);
    link->names_there().begin({}, {}, 0ms, [open](const auto&) { open->fetch_sub(1); });
  }
  return open;
}

} // namespace

std::expected<void, node_error> drain(node_core& node, std::chrono::milliseconds patience) {
  if (!io_loop::may_wait())
    return fail(node_errc::unsupported, "drain would block a node's I/O thread: call it on another thread");
  if (patience.count() < 0)
    return bad_option("patience of drain is " + std::to_string(patience.count()) + " ms; the minimum is 0");
  const auto begun = clock::now();
  const auto until = begun + bounded_wait(patience);
  node.entrances().stop_accepting();
  node.names().withdraw_all();
  const auto unasked = ask_all(node);
  while (unasked->load() > 0 && clock::now() < until)
    std::this_thread::sleep_for(look_pause);
  // The longer the way to the peers, the longer a message may be on it.
  const auto quiet = std::max<clock::duration>(quiet_min, 2 * (clock::now() - begun));
  auto now = work_of(node);
  auto quiet_since = clock::now();
  while (!now.is_done() || clock::now() - quiet_since < quiet) {
    if (clock::now() >= until)
      break;
    std::this_thread::sleep_for(look_pause);
    const auto next = work_of(node);
    if (next.messages_received != now.messages_received || !next.is_done())
      quiet_since = clock::now();
    now = next;
  }
  if (now.is_done())
    return {};
  return fail(node_errc::timed_out, "not answered: " + grouped(now.requests) + " of the peers' requests; not consumed: "
                                        + grouped(now.unconsumed_bytes) + " bytes of messages; after "
                                        + grouped(static_cast<std::uint64_t>(patience.count())) + " ms");
}

} // namespace troupe::internal
