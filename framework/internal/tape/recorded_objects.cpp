#include <troupe/framework/internal/tape/recorded_objects.hpp>

#include <algorithm>

namespace troupe::internal {

void recorded_objects::add(const tape_object& piece) {
  if (piece.state != tape_object::how::bytes)
    return;
  make_room(piece.bytes.size());
  const key beginning{piece.link, piece.index, piece.generation, piece.offset};
  // A piece continues the object that was last added, or begins one.
  if (!order_.empty() && piece.offset > 0) {
    const auto& last = order_.back();
    const auto found = objects_.find(last);
    const auto is_same = last.link == piece.link && last.index == piece.index && last.generation == piece.generation;
    if (is_same && found != objects_.end() && last.offset + found->second.size() == piece.offset) {
      found->second.insert(found->second.end(), piece.bytes.begin(), piece.bytes.end());
      bytes_ += piece.bytes.size();
      return;
    }
  }
  if (piece.bytes.size() > bytes_max_)
    return;
  erase(beginning);
  objects_.emplace(beginning, byte_vector{piece.bytes.begin(), piece.bytes.end()});
  order_.push_back(beginning);
  bytes_ += piece.bytes.size();
}

std::optional<frame> recorded_objects::find(std::uint64_t link, std::uint32_t index, std::uint32_t generation,
                                            std::uint64_t offset, std::uint64_t size_bytes) const {
  // The last beginning that is not behind the wanted bytes.
  auto found = objects_.upper_bound({link, index, generation, offset});
  if (found == objects_.begin())
    return std::nullopt;
  --found;
  const auto& [at, bytes] = *found;
  if (at.link != link || at.index != index || at.generation != generation)
    return std::nullopt;
  const auto skipped = offset - at.offset;
  if (skipped > bytes.size() || size_bytes > bytes.size() - skipped)
    return std::nullopt;
  return frame::copy_of(bytes_view{bytes}.subspan(skipped, size_bytes));
}

void recorded_objects::forget(std::uint64_t link) {
  for (auto each = objects_.lower_bound({link, 0, 0, 0}); each != objects_.end() && each->first.link == link;) {
    bytes_ -= each->second.size();
    each = objects_.erase(each);
  }
  std::erase_if(order_, [&](const key& each) { return each.link == link; });
}

void recorded_objects::erase(const key& what) {
  const auto found = objects_.find(what);
  if (found == objects_.end())
    return;
  bytes_ -= found->second.size();
  objects_.erase(found);
  std::erase(order_, what);
}

/// Each object counts some bytes more than it has.
void recorded_objects::make_room(std::size_t bytes) {
  constexpr std::size_t overhead_bytes = 256;
  while (!order_.empty() && bytes_ + order_.size() * overhead_bytes + bytes > bytes_max_)
    erase(key{order_.front()});
}

} // namespace troupe::internal
