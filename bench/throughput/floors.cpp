#include "throughput/floors.hpp"

#include "harness/report.hpp"

#include <fmt/format.h>

namespace bench {

namespace {

struct bound {
  bool is_floor; // Otherwise it is a goal.
  const char* quantity_name;
  const char* subject;
  bool is_upper; // Whether the ratio must be at most the limit; otherwise at least.
  double limit;
  const char* peer;
};

// The maximum cost of a node for local actors: their time over that of plain CAF's actors.
constexpr double local_cost_max = 1.03;

constexpr bound bounds[] = {
    {true, "one-way small struct", "troupe-unix", false, 14, "caf-basp"},
    {true, "pipelined echo", "troupe-unix", false, 8, "caf-basp"},
    {true, "idle round trip, a core each p50", "troupe-unix", true, 3, "raw-asio-unix"},
    // The maximum cost of counting and logging: 1.03 of the time, so 0.97 of the messages in the same time.
    {true, "one-way small struct", "troupe-unix-seen", false, 0.97, "troupe-unix-unseen"},
    {true, "one-way small struct, all processes together", "fan-in-8", false, 0.8, "one-pair"},
    {true, "one-way small struct, all processes together", "fan-out-8", false, 0.8, "one-pair"},
    {true, "local one-way small struct", "troupe-local", false, 1 / local_cost_max, "caf-local"},
    {true, "local request round trip p50", "troupe-local", true, local_cost_max, "caf-local"},
    {false, "one-way small struct", "troupe-unix", false, 1, "zeromq-ipc"},
    {false, "idle round trip, a core each p50", "troupe-unix", true, 1.2, "raw-asio-unix"},
};

} // namespace

bool check_floors(const std::vector<row>& rows, std::ostream& out) {
  bool all_met = true;
  for (const auto& [is_floor, quantity_name, subject, is_upper, limit, peer] : bounds) {
    const auto* found = find_row(rows, quantity_name, subject);
    const auto is_known = found != nullptr && found->ratio_to.contains(peer);
    const auto ratio = is_known ? found->ratio_to.at(peer) : 0.0;
    const auto is_met = is_known && (is_upper ? ratio <= limit : ratio >= limit);
    all_met = all_met && (is_met || !is_floor);
    out << fmt::format("{} {}: {} of {} {} {:.3g} x {}{}\n", is_floor ? "floor" : "goal ",
                       !is_known ? "not checked"
                       : is_met  ? "met"
                                 : "missed",
                       quantity_name, subject, is_upper ? "at most" : "at least", limit, peer,
                       is_known ? ", is " + short_number(ratio) + " x" : "");
  }
  return all_met;
}

} // namespace bench
