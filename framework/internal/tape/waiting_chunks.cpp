#include <troupe/framework/internal/tape/waiting_chunks.hpp>

#include <algorithm>
#include <utility>

namespace troupe::internal {

namespace {

// Frames whose chunks wait; each takes some memory beside them.
constexpr std::size_t frames_max = 4096;

} // namespace

void waiting_chunks::add(std::uint8_t detail, bytes_view begin, bytes_view end) {
  byte_vector body{begin.begin(), begin.end()};
  body.insert(body.end(), end.begin(), end.end());
  const auto is_first = (detail & chunk_flags::first) != 0;
  packet_reader in{body};
  const auto head = read_chunk_head(in, is_first);
  if (!in.ok())
    return;
  if (is_first) {
    static_cast<void>(take(head.transfer)); // Of a message that never came.
    order_.push_back(head.transfer);
    frames_[head.transfer];
  }
  make_room(body.size());
  const auto found = frames_.find(head.transfer);
  if (found == frames_.end() || found->second.is_dropped)
    return;
  if (bytes_ + body.size() > bytes_max_) {
    bytes_ -= found->second.bytes;
    found->second = {.chunks = {}, .bytes = 0, .is_dropped = true};
    return;
  }
  bytes_ += body.size();
  found->second.bytes += body.size();
  found->second.chunks.push_back({detail, std::move(body)});
}

std::vector<waiting_chunks::chunk> waiting_chunks::take(std::uint64_t transfer) {
  auto found = frames_.extract(transfer);
  if (!found)
    return {};
  bytes_ -= found.mapped().bytes;
  std::erase(order_, transfer);
  return std::move(found.mapped().chunks);
}

void waiting_chunks::make_room(std::uint64_t bytes) {
  while (order_.size() > frames_max || (order_.size() > 1 && bytes_ + bytes > bytes_max_)) {
    const auto first = order_.front();
    static_cast<void>(take(first));
  }
}

} // namespace troupe::internal
