#include <troupe/framework/internal/handles/unfinished_parts.hpp>

#include <memory>

namespace troupe::internal::handles {

reference unfinished_parts::add(std::uint64_t size_bytes, std::span<const reference> captured) {
  const auto what = entries_.make(entry_state::remote);
  auto& made = entries_.at(what);
  made.size_bytes = size_bytes;
  made.parts = std::make_unique<std::vector<reference>>(captured.begin(), captured.end());
  entries_.refer(what);
  for (auto each : captured) {
    entries_.refer(each);
    part_of_.emplace(each, what);
  }
  size_bytes_ += size_bytes;
  entries_.touch(what); // A captured object may already be lost.
  return what;
}

void unfinished_parts::forget_parts(reference what) {
  const auto parts = std::exchange(entries_.at(what).parts, nullptr);
  if (!parts)
    return;
  for (auto each : *parts) {
    part_of_.erase({each, what});
    entries_.unrefer(each);
  }
  size_bytes_ -= entries_.at(what).size_bytes;
  actions_.want(forget_unfinished{what});
}

bool unfinished_parts::contains(reference what) const {
  const auto* which = entries_.find(what);
  return which != nullptr && which->parts;
}

const fetch_error* unfinished_parts::lost_part(reference what) const {
  const auto& which = entries_.at(what);
  if (!which.parts)
    return nullptr;
  for (auto each : *which.parts)
    if (const auto& part = entries_.at(entries_.resolve(each)); part.state == entry_state::lost)
      return &part.loss;
  return nullptr;
}

void unfinished_parts::touch_outer_of(reference part) {
  for (auto each = part_of_.lower_bound({part, {}}); each != part_of_.end() && each->first == part; ++each)
    entries_.touch(each->second);
}

std::string_view unfinished_parts::broken_invariant() const {
  std::string_view broken;
  std::set<std::pair<reference, reference>> parts;
  std::uint64_t size_bytes = 0;
  entries_.for_each([&](reference what, const entry& which) {
    if (!which.parts)
      return;
    for (auto part : *which.parts)
      parts.emplace(part, what);
    size_bytes += which.size_bytes;
    if (which.state != entry_state::remote || which.link != 0 || which.adoption.offer || lost_part(what) != nullptr)
      broken = "an unfinished object that cannot be finished";
  });
  if (size_bytes != size_bytes_)
    return "the bytes of unfinished objects are miscounted";
  return parts != part_of_ ? "an unfinished object whose parts do not know it" : broken;
}

} // namespace troupe::internal::handles
