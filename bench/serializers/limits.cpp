#include "serializers/limits.hpp"

#include "harness/report.hpp"
#include "serializers/cases.hpp"

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace bench {

namespace {

/// Limits a subject's median time relative to a peer's in the same rounds, or absolutely if there is no peer.
struct promise {
  std::string_view subject;
  std::string_view quantity; // A prefix of its name.
  std::string_view peer;     // Empty if there is none.
  double at_most;
};

constexpr promise promises[] = {
    {"troupe-typed", "struct of eight fields, encode", "cereal", 1 / 5.0},
    {"troupe-typed", "struct of eight fields, decode", "cereal", 1 / 5.0},
    {"troupe-typed", "struct of eight fields, encode", "protobuf", 1},
    {"troupe-typed", "struct of eight fields, decode", "protobuf", 1},
    {"troupe-msgpack", "struct of eight fields, encode", "msgpack-by-hand", 1.5},
    {"troupe-msgpack", "struct of eight fields, decode", "msgpack-by-hand", 1.5},
    {"troupe-typed", "doubles, encode of the largest", "", 1.5},
    {"troupe-typed", "doubles, decode to a view of the largest", "", 1.5},
    {"troupe-typed", "doubles, decode to a vector of 8 MB", subject_copying, 1.2},
};

} // namespace

bool check_serializer_limits(const std::vector<row>& rows, std::ostream& out) {
  bool all_met = true;
  for (const auto& [subject, quantity, peer, at_most] : promises) {
    const auto most = short_number(at_most) + (peer.empty() ? " times" : fmt::format(" x {}", peer));
    auto is_checked = false;
    for (const auto& one : rows) {
      if (one.subject != subject || !one.what.name.starts_with(quantity))
        continue;
      const auto ratio = one.ratio_to.find(std::string{peer});
      if (!peer.empty() && ratio == one.ratio_to.end())
        continue;
      is_checked = true;
      const auto is = peer.empty() ? one.median : ratio->second;
      all_met = all_met && is <= at_most;
      out << fmt::format("limit {}: {}, {} at most {}, is {}\n", is <= at_most ? "met" : "missed", subject,
                         one.what.name, most, short_number(is));
    }
    if (!is_checked)
      out << fmt::format("limit not checked: {}, {} at most {}\n", subject, quantity, most);
    all_met = all_met && is_checked;
  }
  return all_met;
}

} // namespace bench
