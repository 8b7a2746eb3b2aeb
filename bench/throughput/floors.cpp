#include "throughput/floors.hpp"

#include "harness/report.hpp"

#include <fmt/format.h>

namespace bench {

namespace {

struct bound {
  bool is_floor; // Else a goal.
  const char* quantity_name;
  bool is_upper; // The ratio shall be at most the limit; else at least.
  double limit;
  const char* peer;
};

constexpr const char* subject = "troupe-unix";

constexpr bound bounds[] = {
    {true, "one-way small struct", false, 14, "caf-basp"},
    {true, "pipelined echo", false, 8, "caf-basp"},
    {true, "idle round trip, a core each p50", true, 3, "raw-asio-unix"},
    {false, "one-way small struct", false, 1, "zeromq-ipc"},
    {false, "idle round trip, a core each p50", true, 1.2, "raw-asio-unix"},
};

} // namespace

bool check_floors(const std::vector<row>& rows, std::ostream& out) {
  bool all_met = true;
  for (const auto& [is_floor, quantity_name, is_upper, limit, peer] : bounds) {
    const auto* found = find_row(rows, quantity_name, subject);
    const auto is_known = found != nullptr && found->ratio_to.contains(peer);
    const auto ratio = is_known ? found->ratio_to.at(peer) : 0.0;
    const auto is_met = is_known && (is_upper ? ratio <= limit : ratio >= limit);
    all_met = all_met && (is_met || !is_floor);
    out << fmt::format("{} {}: {} of {} {} {} x {}{}\n", is_floor ? "floor" : "goal ",
                       !is_known ? "not checked"
                       : is_met  ? "met"
                                 : "missed",
                       quantity_name, subject, is_upper ? "at most" : "at least", limit, peer,
                       is_known ? ", is " + short_number(ratio) + " x" : "");
  }
  return all_met;
}

} // namespace bench
