#include "handles/limits.hpp"

#include "harness/limits.hpp"

namespace bench {

namespace {

constexpr limit limits[] = {
    {reference_name, "send", true, 1.5},
    {get_spread_name, "get-own", true, 1.5},
    {get_spread_name, "get-received", true, 1.5},
    {get_spread_name, "get-pulled", true, 1.5},
    {get_to_store_name, "get-own", true, 3},
    {get_to_store_name, "get-received", true, 3},
    {get_to_store_name, "get-pulled", true, 3},
    {pull_quarter_name, "pull", false, 0.7, "raw-tcp"},
    {pull_large_name, "pull", false, 0.7, "raw-tcp"},
    {late_hops_name, "ring-8", true, 1.1},
    {rows_name, "ring-8", true, 1},
    {memory_name, "ring-8", true, 1.02},
    {late_hops_name, "ring-8-on-4-hosts", true, 1.1},
    {rows_name, "ring-8-on-4-hosts", true, 1},
    {memory_name, "ring-8-on-4-hosts", true, 1.02},
};

} // namespace

bool check_handles_limits(const std::vector<row>& rows, std::ostream& out) {
  return are_met(limits, rows, out);
}

} // namespace bench
