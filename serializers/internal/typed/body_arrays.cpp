#include <troupe/serializers/internal/typed/body_arrays.hpp>

#include <cstring>
#include <utility>

namespace troupe::detail {

bool body_arrays::is_again(const frame& elements, std::size_t frames_max, const encode_output& output) {
  const auto known = by_place_.find({elements.bytes().data(), elements.size_bytes()});
  if (known == by_place_.end())
    return false;
  auto& first = blocks_[known->second];
  if (first.elements.owner() != elements.owner())
    return false;
  constexpr std::size_t body_and_two = 3;
  if (output.frames().size() + repeats_ + body_and_two > frames_max)
    return false;
  if (!std::exchange(first.comes_again, true))
    ++repeats_;
  return true;
}

void body_arrays::wrote(const frame& elements, place at, const encode_output& output) {
  if (by_place_.try_emplace({elements.bytes().data(), elements.size_bytes()}, blocks_.size()).second)
    blocks_.push_back({elements, at, output.frames().size()});
}

std::size_t body_arrays::sum_of_repeats(std::size_t (*bytes_of)(std::size_t size_bytes)) const {
  std::size_t sum = 0;
  if (repeats_ > 0)
    for (const auto& each : blocks_)
      sum += each.comes_again ? bytes_of(each.elements.size_bytes()) : 0;
  return sum;
}

void body_arrays::settle(encode_output& output) const {
  if (repeats_ == 0)
    return;
  auto& body = output.body();
  auto* const begin = body.end() - body.size();
  const auto& before = output.frames();
  std::vector<frame> frames;
  frames.reserve(before.size() + repeats_);
  std::size_t read_at = 0;
  std::size_t write_at = 0;
  const auto keep_until = [&](std::size_t end) {
    std::memmove(begin + write_at, begin + read_at, end - read_at);
    write_at += end - read_at;
    read_at = end;
  };
  std::size_t next_frame = 0;
  for (const auto& each : blocks_) {
    if (!each.comes_again)
      continue;
    begin[each.at.mark_at] ^= std::byte{1};
    keep_until(each.at.data_at);
    read_at += each.elements.size_bytes();
    for (; next_frame < each.frames_before; ++next_frame)
      frames.push_back(before[next_frame]);
    frames.push_back(each.elements);
  }
  keep_until(body.size());
  frames.insert(frames.end(), before.begin() + static_cast<std::ptrdiff_t>(next_frame), before.end());
  body.advance_to(begin + write_at);
  output.replace(std::move(frames));
}

} // namespace troupe::detail
