#include <troupe/store/internal/attachment/call_sites.hpp>

#include <algorithm>
#include <string>
#include <string_view>

namespace troupe::store::internal {

namespace {

// The end of a long path says more than its beginning.
constexpr auto length_max = std::size_t{255};

} // namespace

std::uint32_t call_sites::number_of(const std::source_location& where) {
  if (!are_recorded_)
    return 0;
  const auto alone = std::lock_guard{mutex_};
  const auto [known, is_new] = known_.try_emplace({where.file_name(), where.line()}, 0);
  if (!is_new)
    return known->second;
  const auto text = std::string(where.file_name()) + ":" + std::to_string(where.line());
  const auto end = std::string_view{text}.substr(text.size() - std::min(text.size(), length_max));
  for (auto failures = 0;;) {
    auto what = outcome::done;
    if (const auto guard = access_.lock())
      what = object_table(*guard).take_call_site(end, known->second);
    if (what == outcome::done || !growth_.grow_or_reap(what, failures))
      return known->second; // An object without a call site is better than none.
  }
}

} // namespace troupe::store::internal
