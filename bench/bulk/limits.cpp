#include "bulk/limits.hpp"

#include "harness/limits.hpp"

namespace bench {

namespace {

constexpr limit limits[] = {
    {slowdown_name, "troupe-unix", true, 5},
    {slowdown_name, "troupe-tcp", true, 5},
    {bulk_alone_name, "troupe-unix", false, 0.8, "raw-unix"},
    {bulk_alone_name, "troupe-tcp", false, 0.8, "raw-tcp"},
    {by_store_name, "troupe-store", true, 1.15},
};

} // namespace

bool check_limits(const std::vector<row>& rows, std::ostream& out) {
  return are_met(limits, rows, out);
}

} // namespace bench
