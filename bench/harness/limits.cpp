#include "harness/limits.hpp"

#include "harness/report.hpp"

#include <fmt/format.h>

#include <string>

namespace bench {

bool are_met(std::span<const limit> limits, const std::vector<row>& rows, std::ostream& out) {
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
