#include "bulk/limits.hpp"

#include "harness/report.hpp"

#include <fmt/format.h>

namespace bench {

namespace {

struct limit {
  const char* quantity_name;
  const char* subject;
  bool is_upper;
  double value;
  const char* peer; // The ratio to it is limited; null: the value itself.
};

constexpr limit limits[] = {
    {slowdown_name, "troupe-unix", true, 5, nullptr},         {slowdown_name, "troupe-tcp", true, 5, nullptr},
    {bulk_alone_name, "troupe-unix", false, 0.8, "raw-unix"}, {bulk_alone_name, "troupe-tcp", false, 0.8, "raw-tcp"},
    {by_store_name, "troupe-store", true, 1.15, nullptr},
};

} // namespace

bool check_limits(const std::vector<row>& rows, std::ostream& out) {
  bool all_met = true;
  std::size_t checked = 0;
  for (const auto& [quantity_name, subject, is_upper, value, peer] : limits) {
    const auto* const found = find_row(rows, quantity_name, subject);
    if (found == nullptr)
      continue;
    ++checked;
    const auto is_known = peer == nullptr || found->ratio_to.contains(peer);
    const auto is = !is_known ? 0 : peer == nullptr ? found->median : found->ratio_to.at(peer);
    const auto is_met = is_known && (is_upper ? is <= value : is >= value);
    all_met = all_met && is_met;
    out << fmt::format("limit {}: {} of {} at {} {}{}{}\n",
                       !is_known ? "not checked"
                       : is_met  ? "met"
                                 : "missed",
                       quantity_name, subject, is_upper ? "most" : "least", value,
                       peer == nullptr ? "" : std::string{" x "} + peer, is_known ? ", is " + short_number(is) : "");
  }
  return all_met && checked > 0;
}

} // namespace bench
